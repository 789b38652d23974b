#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""hostile_archive.py TAR FOLDER KIND...: what a stranger may make of an archive

TAR is that of a good archive; FOLDER/KIND.tar is written. All kinds but those that are about
sums have right ones.
"""
import io
import sys
import zlib
import tarfile

MARK, SUMS = "perf-gpu-archive", "perf-gpu-archive.sums"
ID = "symfs/.debug/.build-id/"


def regular(name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    return [info, data]


def special(name, kind, target=""):
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return [info, b""]


def read(path):
    with tarfile.open(fileobj=io.BytesIO(open(path, "rb").read())) as tar:
        return [[info, tar.extractfile(info).read()] for info in tar]


def index(files, name):
    return [info.name for info, _ in files].index(name)


def sums(files):
    lines = [f"{zlib.crc32(data):08x} {info.size} {info.name}\n" for info, data in files]
    return regular(SUMS, "".join(lines).encode())


def sparse(name):
    """A file of 10 MB whose only piece is at its end, in GNU's old form"""
    size, data = 10_000_000, b"piece" * 100
    head = bytearray(special(name, tarfile.GNUTYPE_SPARSE)[0].tobuf(tarfile.GNU_FORMAT))
    number = lambda value: b"\x80" + value.to_bytes(11, "big")
    head[124:136] = number(len(data))
    head[386:410] = number(size - len(data)) + number(len(data))
    head[483:495] = number(size)
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + data + bytes(-len(data) % tarfile.BLOCKSIZE)


class Zeros:
    """A file of zeros that takes no memory"""

    def __init__(self, size):
        self.left = size

    def read(self, size):
        size = min(size, self.left)
        self.left -= size
        return bytes(size)


def change(kind, files):
    """files: all but the sums; returns what is written behind them, sums included"""
    extra = {
        "absolute-path": lambda: regular("/etc/passwd", b"root::0:0::/:/bin/sh\n"),
        "path-upwards": lambda: regular("symfs/../../evil", b"evil"),
        "path-in-the-midst": lambda: regular("symfs/a/../../../evil", b"evil"),
        "other-file": lambda: regular("README", b"read me"),
        "symlink": lambda: special("symfs/link", tarfile.SYMTYPE, "/etc/passwd"),
        "hard-link": lambda: special("symfs/link", tarfile.LNKTYPE, "perf.data"),
        "device": lambda: special("symfs/device", tarfile.BLKTYPE),
        "fifo": lambda: special("symfs/fifo", tarfile.FIFOTYPE),
        "folder": lambda: special("symfs/folder", tarfile.DIRTYPE),
        "two-perfdata": lambda: files[index(files, "perf.data")],
        "two-of-a-build": lambda: next(f for f in files if f[0].name.startswith(ID)),
    }
    if kind in extra:
        files.append(extra[kind]())
    elif kind == "symlink-for-perfdata":
        files[index(files, "perf.data")] = special("perf.data", tarfile.SYMTYPE, "/etc/passwd")
    elif kind == "no-perfdata":
        del files[index(files, "perf.data")]
    elif kind == "empty-perfdata":
        files[index(files, "perf.data")] = regular("perf.data", b"")
    elif kind == "later-version":
        files[0] = regular(MARK, b"perf-gpu archive 2\nand more\n")
    elif kind == "many-files":
        files += [regular(f"symfs/opt/file{i}", b"x") for i in range(200)]
    elif kind == "long-name":
        files.append(regular("symfs/" + "n" * 1_000_000, b"x"))
    elif kind == "no-mark":
        del files[0]
    elif kind == "empty-tar":
        return []

    last = sums(files)
    if kind == "wrong-checksum":
        last = regular(SUMS, last[1].replace(last[1][:1], b"x", 1))
    elif kind == "checksums-of-others":
        last = regular(SUMS, last[1] + last[1])
    elif kind == "no-checksums":
        return files
    elif kind == "behind-the-end":
        return files + [last, regular("symfs/more", b"more")]
    return files + [last]


def write(kind, files, to):
    with tarfile.open(fileobj=to, mode="w|", format=tarfile.GNU_FORMAT) as tar:
        if kind in ("bomb", "huge-size", "sparse"):
            for info, data in files[:3]:
                tar.addfile(info, io.BytesIO(data))
            info = tarfile.TarInfo("symfs/zeros")
            info.size = 200_000_000
            if kind == "bomb":
                tar.addfile(info, Zeros(info.size))
                return
            # The header alone: what it says it has isn't there
            info.size = 1 << 60
            tar.fileobj.write(info.tobuf(tarfile.GNU_FORMAT) if kind == "huge-size" else
                              sparse("symfs/sparse"))
            return
        for info, data in change(kind, files):
            tar.addfile(info, io.BytesIO(data))


def main():
    good, folder, *kinds = sys.argv[1:]
    for kind in kinds:
        files = read(good)
        del files[index(files, SUMS)]
        with open(f"{folder}/{kind}.tar", "wb") as to:
            write(kind, files, to)


main()
