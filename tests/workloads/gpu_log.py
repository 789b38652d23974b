#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads perf.data.gpu by its description (man/perf-gpu-data.5), not by our own
reader, so that tests have a second opinion on what was recorded.

As a program it prints, for each kernel (nm-style names, as CUPTI gave them):
    NAME EXECUTIONS TOTAL_NS MEDIAN_NS
With --durations: "NAME MEDIAN_NS", what the stand-in for CUDA takes.
With --account, what became of launches and kernels:
    launches N  samples N  lost N  kernels N  dropped N  unknown N  logs N  ids FIRST LAST
where a program that ended in order has launches = samples + lost, and the kernels
whose times are unknown are among kernels.
With --processes, a line for each log:
    PID NAME KERNELS LAUNCHES fork|-
With --messages, what the library said.
With --nodes, how many nodes of graphs the logs tell of:
    captured N  cloned N  updated N
With --kinds, how many records there are of each kind, of those that have any:
    kernel N  memcpy N  memset N  sync N  call N  memory N  fault N
With --functions, the names of the API functions whose calls were recorded, a line each.
"""
import argparse
import collections
import statistics
import struct
import sys
import zlib

MAGIC = 0x42555047
BLOCK = struct.Struct("<IIIIQQ")  # magic crc32 payload_bytes version log_id session
PROCESS, STRING, API, DEVICE, SHAPE, KERNEL, LOSS, MESSAGE, RECORDER, END = (
    1, 2, 3, 4, 6, 7, 8, 9, 10, 11)
GRAPH_NODE = 18
API_CALL, EVENTS, OPERATION, ACTIVITY, MEMORY = 21, 22, 23, 24, 25
KERNEL_KIND, MEMCPY, MEMSET, SYNC, MEMORY_KIND, FAULT = 0, 1, 2, 3, 5, 6  # an operation's kind
SYNC_STREAM_WAIT_EVENT = 2  # what it is: on the GPU
ALLOCATED, FREED = 1, 2
STATIC = (6, 7)  # kinds of memory: a module's variables
FAULT_BYTES = (1, 2, 8)  # HtoD, DtoH, DtoD
NO_DEVICE = 0xffffffff
NODE_CAPTURED, NODE_CLONED, NODE_UPDATED = 1, 2, 3
LOSS_UNFINISHED = 4  # these have a kernel record

Kernel = collections.namedtuple(
    "Kernel", "log name correlation start_ns end_ns stream graph_node device context")
Operation = collections.namedtuple(
    "Operation", "kind what src_kind dst_kind is_async device context stream src_device "
    "dst_device name graph graph_node")
Activity = collections.namedtuple("Activity", "log operation correlation start_ns end_ns bytes")
Memory = collections.namedtuple("Memory", "log operation correlation time_ns bytes address")
Call = collections.namedtuple("Call", "log name correlation start_ns end_ns tid")


class GpuLog:
    def __init__(self, path):
        self.kernels = []
        self.nr_lost = 0  # records that are missing; not those of kernels cut short
        self.nr_launches = collections.Counter()  # by log: as its process counted them
        self.logs = {}  # (pid, name, is forked)
        self.start_ns = {}  # by log
        self.end_ns = None  # of the recording
        self.cupti_versions = {}  # by log: cuptiGetVersion()
        self.launch_shapes = set()  # (name, grid, block, registers, shared bytes: two)
        self.messages = []
        self.nr_nodes = collections.Counter()  # by their origin
        self.recorder = None  # (nr_launches, nr_lost_ring, nr_lost_stack)
        self.activities, self.memory, self.calls = [], [], []
        self.events = {}  # by log: (events, kinds), each a set of bits
        self.uuids = {}  # by log and device
        self.strings, self.shapes, self.operations, self.apis = {}, {}, {}, {}
        with open(path, "rb") as f:
            data = f.read()
        offset = 0
        while offset < len(data):
            offset = self.read_block(data, offset)
        # A function's name can come after another thread's call of it.
        self.calls = [call._replace(name=self.apis[call.log, call.name]) for call in self.calls]

    def read_block(self, data, offset):
        if len(data) - offset < BLOCK.size:
            raise ValueError(f"offset {offset}: half a block header")
        magic, crc, size, version, log, _ = BLOCK.unpack_from(data, offset)
        payload = offset + BLOCK.size
        if magic != MAGIC or version != 1 or payload + size > len(data):
            raise ValueError(f"offset {offset}: no block of version 1")
        if zlib.crc32(data[offset + 8:payload + size]) != crc:
            raise ValueError(f"offset {offset}: wrong checksum")
        offset = payload
        while offset < payload + size:
            kind, length = struct.unpack_from("<HH", data, offset)
            if length < 8 or length % 8 or offset + length > payload + size:
                raise ValueError(f"offset {offset}: record of {length} bytes")
            self.read_record(log, kind, data[offset + 4:offset + length])
            offset += length
        return offset

    def read_record(self, log, kind, body):
        if kind == PROCESS:
            pid, _, is_forked = struct.unpack_from("<III", body)
            name = body[28:44].split(b"\0")[0].decode(errors="replace")
            self.logs[log] = (pid, name, bool(is_forked))
            self.start_ns[log], self.cupti_versions[log] = struct.unpack_from("<QI", body, 12)
        elif kind == STRING:
            ident, length = struct.unpack_from("<II", body)
            self.strings[log, ident] = body[8:8 + length].decode(errors="replace")
        elif kind == SHAPE:
            ident, name, device, context, stream = struct.unpack_from("<5I", body)
            node, = struct.unpack_from("<Q", body, 60)
            self.shapes[log, ident] = (self.string(log, name), stream, node, device, context)
            grid_to_shared = struct.unpack_from("<9I", body, 20)
            self.launch_shapes.add((self.string(log, name), grid_to_shared[:3],
                                    grid_to_shared[3:6], *grid_to_shared[6:]))
        elif kind == KERNEL:
            shape, correlation, start, end = struct.unpack_from("<IQQQ", body)
            name, *rest = self.shapes[log, shape]
            self.kernels.append(Kernel(log, name, correlation, start, end, *rest))
        elif kind in (API, DEVICE, API_CALL, EVENTS, OPERATION, ACTIVITY, MEMORY):
            self.read_event(log, kind, body)
        elif kind == LOSS:
            loss, nr_records = struct.unpack_from("<IQ", body)
            if loss != LOSS_UNFINISHED:
                self.nr_lost += nr_records
        elif kind == MESSAGE:
            severity, length = struct.unpack_from("<II", body)
            self.messages.append((severity, body[8:8 + length].decode(errors="replace")))
        elif kind == GRAPH_NODE:
            self.nr_nodes[struct.unpack_from("<I", body)[0]] += 1
        elif kind == RECORDER:
            self.recorder = struct.unpack_from("<IQQQ", body)[1:]
            if len(body) >= 60:  # of older recordings, the end isn't known
                self.end_ns, = struct.unpack_from("<Q", body, 52)
        elif kind == END:
            self.nr_launches[log], = struct.unpack_from("<Q", body, 4)

    def string(self, log, ident):
        return self.strings.get((log, ident), "")

    def read_event(self, log, kind, body):
        """Records that are of other events than gpu-kernel."""
        if kind == API:
            api, name = struct.unpack_from("<II", body)
            self.apis[log, api] = self.string(log, name)
        elif kind == DEVICE:
            self.uuids[log, struct.unpack_from("<I", body)[0]] = body[20:36]
        elif kind == API_CALL:
            api, *rest = struct.unpack_from("<IQQQI", body)
            self.calls.append(Call(log, api, *rest))
        elif kind == EVENTS:
            self.events[log] = struct.unpack_from("<II", body)
        elif kind == OPERATION:
            ident, *fields = struct.unpack_from("<13IQ", body)
            fields[10] = self.string(log, fields[10])
            self.operations[log, ident] = Operation(*fields)
        elif kind == ACTIVITY:
            operation, *rest = struct.unpack_from("<IQQQQ", body)
            self.activities.append(Activity(log, self.operations[log, operation], *rest))
        elif kind == MEMORY:
            operation, *rest = struct.unpack_from("<IQQQQ", body)
            self.memory.append(Memory(log, self.operations[log, operation], *rest))

    @staticmethod
    def duration_ns(kernel):
        """As the format has it: a start of 0 or an end before it is unknown."""
        if not kernel.start_ns or kernel.end_ns < kernel.start_ns:
            return 0
        return kernel.end_ns - kernel.start_ns

    def total_ns(self):
        return sum(map(self.duration_ns, self.kernels))

    def nr_timed(self):
        return sum(map(bool, map(self.duration_ns, self.kernels)))

    def account(self):
        samples, lost, _ = self.recorder
        ids = [kernel.correlation for kernel in self.kernels] or [0]
        return (f"launches {sum(self.nr_launches.values())}  samples {samples}  lost {lost}  "
                f"kernels {len(self.kernels)}  dropped {self.nr_lost}  "
                f"unknown {len(self.kernels) - self.nr_timed()}  logs {len(self.logs)}  "
                f"ids {min(ids)} {max(ids)}")

    def kinds(self):
        names = {MEMCPY: "memcpy", MEMSET: "memset", SYNC: "sync", FAULT: "fault"}
        nr = collections.Counter(names[activity.operation.kind] for activity in self.activities)
        nr.update(kernel=len(self.kernels), call=len(self.calls), memory=len(self.memory))
        order = ("kernel", "memcpy", "memset", "sync", "call", "memory", "fault")
        return "  ".join(f"{kind} {nr[kind]}" for kind in order if nr[kind])

    def nodes(self):
        return (f"captured {self.nr_nodes[NODE_CAPTURED]}  "
                f"cloned {self.nr_nodes[NODE_CLONED]}  updated {self.nr_nodes[NODE_UPDATED]}")

    def processes(self):
        nr_kernels = collections.Counter(kernel.log for kernel in self.kernels)
        for log, (pid, name, is_forked) in self.logs.items():
            yield (f"{pid} {name} {nr_kernels[log]} {self.nr_launches[log]} "
                   f"{'fork' if is_forked else '-'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--durations", action="store_true")
    parser.add_argument("--account", action="store_true")
    parser.add_argument("--processes", action="store_true")
    parser.add_argument("--nodes", action="store_true")
    parser.add_argument("--kinds", action="store_true")
    parser.add_argument("--functions", action="store_true")
    parser.add_argument("--messages", action="store_true")
    parser.add_argument("file")
    arguments = parser.parse_args()
    log = GpuLog(arguments.file)
    if arguments.account:
        print(log.account())
        return
    if arguments.messages:
        print(*(text for _, text in log.messages), sep="\n")
        return
    if arguments.kinds:
        print(log.kinds())
        return
    if arguments.functions:
        print(*sorted(set(log.apis.values())), sep="\n")
        return
    if arguments.nodes:
        print(log.nodes())
        return
    if arguments.processes:
        print(*log.processes(), sep="\n")
        return
    by_name = collections.defaultdict(list)
    for kernel in log.kernels:
        by_name[kernel.name].append(log.duration_ns(kernel))
    for name, ns in sorted(by_name.items(), key=lambda item: -sum(item[1])):
        median = round(statistics.median(ns))
        if arguments.durations:
            print(name, median)
        else:
            print(name, len(ns), sum(ns), median)


if __name__ == "__main__":
    sys.exit(main())
