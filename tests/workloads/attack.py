#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A recorded program that attacks its recorder, with all that the recorder tells it.

    attack.py WAY [ARGUMENT...]

    spool VICTIM SECRET  puts links to the file VICTIM, FIFOs and folders among the logs,
                         under all names that the recorder could want to write or read, and
                         asks it for the logs that have them; SECRET is a folder of another
                         user's, which is moved there if it can be
    marker LOGS          hits the launch marker with forged sessions, logs and functions,
                         and with frames that aren't there or are too many; and once for
                         each of so many logs
    logs                 leaves logs of others, of no recording, cut, huge, and with names
                         of 65,000 bytes that a terminal would obey
    grow MB              leaves a log of kernels without a stack, of at least so many MB
    outlive SECONDS      ends, but for a child that makes a log longer all the time
    ask NUMBER           asks for logs so many times
    libraries NUMBER FILE  has copies of FILE mapped, each of another libcuda.so, among them
                         some that are none, or say to be terabytes large

Prints a line for each thing that the recorder did and should not have done: nothing, if all
is well. Needs nothing but Python and the injected library's marker.
"""
import ctypes
import mmap
import os
import socket
import stat
import struct
import sys
import time
import zlib

MAGIC, VERSION = 0x42555047, 1
BLOCK = struct.Struct("<IIIIQQ")  # magic crc32 payload_bytes version log_id session
PROCESS, STRING, SHAPE, KERNEL, MESSAGE, END = 1, 2, 6, 7, 9, 11
TAKEN, GRAPH_NODE = 0x40000000, 0x80000000

SPOOL = os.environ["PERF_GPU_SPOOL"]
SERVER = os.environ.get("PERF_GPU_LOG_SERVER", "")
SESSION = int(os.environ["PERF_GPU_SESSION"], 16)
ESCAPE = b"\x1b]0;owned\x07\x1b[2J\xc2\x9b31m\x9b31m\r\n\t<script>alert(1)</script>\"&'"


def record(kind, body):
    size = (4 + len(body) + 7) & ~7
    return struct.pack("<HH", kind, size) + body.ljust(size - 4, b"\0")


def block(log, payload, session=SESSION, payload_bytes=None, version=VERSION):
    if payload_bytes is None:
        payload_bytes = len(payload)
    rest = struct.pack("<IIQQ", payload_bytes, version, log, session) + payload
    return struct.pack("<II", MAGIC, zlib.crc32(rest)) + rest


def process(pid=0, name=b"attack", start_ns=0):
    return record(PROCESS, struct.pack("<IIIQII", pid or os.getpid(), 1, 0,
                                       start_ns or time.monotonic_ns(), 0, 0) + name[:16].ljust(16, b"\0"))


def string(ident, text):
    return record(STRING, struct.pack("<II", ident, len(text)) + text + b"\0")


def shape(ident, name):
    return record(SHAPE, struct.pack("<IIIII9III", ident, name, 0, 1, 7, *[1] * 9, 0, 0) +
                  struct.pack("<Q", 0)[:4])


def kernel(ident, correlation, start_ns, end_ns):
    return record(KERNEL, struct.pack("<IQQQ", ident, correlation, start_ns, end_ns))


def write(name, data):
    with open(os.path.join(SPOOL, name), "wb") as file:
        file.write(data)


def ask(log, pid=1, is_launch_log=0, session=SESSION):
    """A log of the recorder's: its descriptor, or a negative errno; None: no answer"""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind("")
        sock.settimeout(60)
        sock.sendto(struct.pack("<QQII", session, log, pid, is_launch_log), "\0" + SERVER)
        try:
            data, fds, _, _ = socket.recv_fds(sock, 16, 1)
        except TimeoutError:
            return None
    _, err, _ = struct.unpack("<QiI", data)
    return err or fds[0]


def attack_spool(victim, secret):
    # What the recorder would write to, or wait on, if it did not look.
    for log, plant in enumerate((lambda path: os.symlink(victim, path),
                                 lambda path: os.link(victim, path), os.mkfifo, os.mkdir), 1):
        for pid, suffix in ((1, "gpulog"), (2, "gpulaunch")):
            path = f"{SPOOL}/{pid}-{log:016x}.{suffix}"
            try:
                plant(path)
            except PermissionError:  # as of fs.protected_hardlinks
                continue
            got = ask(log, pid, suffix == "gpulaunch")
            if got is None or got >= 0:
                print(f"{path}, {stat.filemode(os.lstat(path).st_mode)}: got {got}")
    # One that it has made is there again, but only as long as it is that one.
    mine = ask(77)
    again = ask(77)
    if mine < 0 or again < 0 or not os.path.sameopenfile(mine, again):
        print(f"a log of its own isn't given out again: {mine}, {again}")
    os.unlink(f"{SPOOL}/1-{77:016x}.gpulog")
    os.mkfifo(f"{SPOOL}/1-{77:016x}.gpulog")
    if (got := ask(77)) is None or got >= 0:
        print(f"what is in the place of a log that it made: got {got}")
    # Folders within folders, and one that isn't ours to remove
    path = SPOOL
    for depth in range(20):
        path += f"/{depth}"
        os.mkdir(path)
        write(path + "/file", b"")
    os.mkdir(f"{SPOOL}/around")
    try:
        os.rename(os.path.dirname(secret), f"{SPOOL}/around/secret")
    except OSError:
        pass
    marker = find_marker()
    for suffix in ("probed", "unprobed"):
        os.mkfifo(f"{SPOOL}/{0x1234:016x}.{suffix}")
        os.symlink(victim, f"{SPOOL}/{0x1235:016x}.{suffix}")
    for log in (0x1234, 0x1235):
        marker(SESSION, log, 1, TAKEN, None, 0)


def find_marker():
    library = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
    library.perf_gpu_launch_forked.argtypes = [
        ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_void_p,
        ctypes.c_uint64]
    library.perf_gpu_launch_forked.restype = None
    return library.perf_gpu_launch_forked


def attack_marker(logs):
    marker = find_marker()
    frames = (ctypes.c_uint64 * 4096)(*range(0x1000, 0x1000 + 4096))
    wild = (ctypes.c_uint64 * 8)(0, 1, 2 ** 64 - 1, 2 ** 63, 0xfffffffffffffe00, 0x7fff, 5, 6)
    end = ctypes.addressof(frames) + ctypes.sizeof(frames)
    # Of another recording, and of none: not seen at all
    for session in (0, 1, SESSION ^ 1, 2 ** 64 - 1):
        marker(session, 5, 1, 1, frames, 4)
    # 20 launches of logs that there are none of, whose stacks are not to be had
    for i, pointer in enumerate((0, 1, 8, 0x1000, 2 ** 47 - 8, 2 ** 47, 2 ** 63, 2 ** 64 - 8,
                                 2 ** 64 - 1024, 0xffffffff81000000)):
        marker(SESSION, 2 ** 63 + i, i, 1, pointer, 16)
        marker(SESSION, 2 ** 64 - 1 - i, 2 ** 64 - 1, 0x3fffffff, pointer, 2 ** 64 - 1)
    # 6 whose stacks are nonsense, or longer than there may be any
    marker(SESSION, 1, 1, 1, wild, 8)
    for nr in (128, 4096, 2 ** 32, 2 ** 63, 2 ** 64 - 1):
        marker(SESSION, 1, 2, 1, frames, nr)
    # Its last 4 frames are there, and what is behind them isn't: perhaps no stack
    marker(SESSION, 1, 3, 1, end - 32, 127)
    # Nodes of graphs, no launches; processes that can't open their log; that aren't recorded
    for i in range(10):
        marker(SESSION, 3, i, GRAPH_NODE | 1, wild, 8)
        marker(SESSION, 0, 2 ** 64 - 1 - i, 1, wild, 8)
        marker(SESSION, 7 + i, 2 ** 64 - 1, TAKEN, wild, 8)
    # More logs than there is room for, perhaps
    for i in range(int(logs)):
        marker(SESSION, i + 1, 0, 1, None, 0)


def attack_logs():
    now = time.monotonic_ns()
    whole = process(name=ESCAPE) + string(1, ESCAPE + b"A" * 60000) + shape(1, 1)
    write("1-1.gpulog", block(1, whole + kernel(1, 1, now, now + 1000)))
    write("2-2.gpulog", block(2, whole, session=SESSION ^ 1))  # another recording's
    write("3-3.gpulog", block(0, whole))  # of the recorder itself
    write("4-4.gpulog", block(4, whole, payload_bytes=2 ** 32 - 1))
    write("5-5.gpulog", block(5, whole, version=2))
    write("6-6.gpulog", block(6, whole)[:-20])
    write("7-7.gpulog", b"")
    write("8-8.gpulog", os.urandom(100000))
    with open(f"{SPOOL}/9-9.gpulog", "wb") as file:
        file.truncate(2 ** 42)  # without any room for it
    # Two logs in one, and one that says to be another's, whose pid is init's
    write("10-10.gpulog", block(10, whole) + block(1, whole))
    write("11-11.gpulog", block(11, process(pid=1, name=b"init") + record(
        END, struct.pack("<IQ", 0, 2 ** 64 - 1))))
    for ident in range(300):  # messages without end, each another
        text = ESCAPE + str(ident).encode() + b"B" * 1000 * (ident % 60)
        write(f"12-{ident}.gpulog", block(1000 + ident, process(name=b"\x1b[31mred") + record(
            MESSAGE, struct.pack("<II", 2, len(text)) + text + b"\0")))
    # The name itself, and one of a launch log's
    write("13\n\x1b[31m.gpulog", b"nothing")
    write("14\n\x1b[31m.gpulaunch", b"nothing")


def attack_grow(megabytes):
    now = time.monotonic_ns()
    kernels = b"".join(kernel(1, i + 1, now + i, now + i + 1) for i in range(8000))
    with open(f"{SPOOL}/1-1.gpulog", "wb") as file:
        file.write(block(1, process() + string(1, b"_Z4growv") + shape(1, 1)))
        data = block(1, kernels)
        for _ in range(int(megabytes) * 1000000 // len(data) + 1):
            file.write(data)


def attack_outlive(seconds):
    if os.fork():
        # Not before the log is there
        while not os.path.exists(f"{SPOOL}/1-1.gpulog"):
            time.sleep(0.01)
        return
    end = time.monotonic() + float(seconds)
    now = time.monotonic_ns()
    data = block(1, b"".join(kernel(1, 1, now, now + 1) for i in range(30000)))
    with open(f"{SPOOL}/1-1.gpulog", "wb") as file:
        file.write(block(1, process() + string(1, b"_Z7outlivev") + shape(1, 1)))
        while time.monotonic() < end and os.fstat(file.fileno()).st_size < 2 * 10 ** 9:
            file.write(data)
            file.flush()


def attack_libraries(number, file):
    with open(file, "rb") as original:
        data = original.read()
    # Tables that are larger than the file, or than anything
    sections, = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3a)
    huge = bytearray(data)
    for i in range(count):
        struct.pack_into("<Q", huge, sections + i * size + 0x20, 1 << 40)
    many = bytearray(data)
    struct.pack_into("<H", many, 0x38, 0xfffe)  # program headers
    kinds = [data, bytes(huge), bytes(many), data[:4096], b"\x7fELF" + b"\xff" * 8192, b"#" * 4096]
    prot = mmap.PROT_READ | mmap.PROT_EXEC
    # The first ones stay as they are: more than the recorder probes.
    for i in range(200):
        name = f"{SPOOL}/libcuda.so.{i}"
        with open(name, "wb") as copy:
            copy.write(data)
        with open(name, "rb") as copy:
            mmap.mmap(copy.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=prot).close()
    for i in range(200, int(number)):
        name = f"{SPOOL}/libcuda.so.{i}"
        with open(name, "wb") as copy:
            copy.write(kinds[i % len(kinds)])
        if i % 16 == 15:
            os.truncate(name, 1 << 40)
        with open(name, "rb") as copy:
            mapping = mmap.mmap(copy.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=prot)
        # It is gone, cut, or something else, when the recorder looks.
        if i % 4 == 1:
            os.unlink(name)
        elif i % 4 == 2:
            os.truncate(name, 100)
        elif i % 4 == 3:
            os.unlink(name)
            os.mkfifo(name)
        mapping.close()


def attack_ask(number):
    for log in range(1, int(number) + 1):
        got = ask(log)
        if got is None:
            print("no answer")
            return
        if got >= 0:
            os.close(got)


if __name__ == "__main__":
    globals()["attack_" + sys.argv[1]](*sys.argv[2:])
