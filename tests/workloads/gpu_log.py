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
With --nodes, how many nodes of graphs the logs tell of:
    captured N  cloned N  updated N
"""
import argparse
import collections
import statistics
import struct
import sys
import zlib

MAGIC = 0x42555047
BLOCK = struct.Struct("<IIIIQQ")  # magic crc32 payload_bytes version log_id session
PROCESS, STRING, SHAPE, KERNEL, LOSS, MESSAGE, RECORDER, END = 1, 2, 6, 7, 8, 9, 10, 11
GRAPH_NODE = 18
NODE_CAPTURED, NODE_CLONED, NODE_UPDATED = 1, 2, 3
LOSS_UNFINISHED = 4  # these have a kernel record

Kernel = collections.namedtuple("Kernel", "log name correlation start_ns end_ns stream graph_node")


class GpuLog:
    def __init__(self, path):
        self.kernels = []
        self.nr_lost = 0  # records that are missing; not those of kernels cut short
        self.nr_launches = collections.Counter()  # by log: as its process counted them
        self.logs = {}  # (pid, name, is forked)
        self.messages = []
        self.nr_nodes = collections.Counter()  # by their origin
        self.recorder = None  # (nr_launches, nr_lost_ring, nr_lost_stack)
        self.strings, self.shapes = {}, {}
        with open(path, "rb") as f:
            data = f.read()
        offset = 0
        while offset < len(data):
            offset = self.read_block(data, offset)

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
        elif kind == STRING:
            ident, length = struct.unpack_from("<II", body)
            self.strings[log, ident] = body[8:8 + length].decode(errors="replace")
        elif kind == SHAPE:
            ident, name, _, _, stream = struct.unpack_from("<5I", body)
            node, = struct.unpack_from("<Q", body, 60)
            self.shapes[log, ident] = (self.strings.get((log, name), ""), stream, node)
        elif kind == KERNEL:
            shape, correlation, start, end = struct.unpack_from("<IQQQ", body)
            name, stream, node = self.shapes[log, shape]
            self.kernels.append(Kernel(log, name, correlation, start, end, stream, node))
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
        elif kind == END:
            self.nr_launches[log], = struct.unpack_from("<Q", body, 4)

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
    parser.add_argument("file")
    arguments = parser.parse_args()
    log = GpuLog(arguments.file)
    if arguments.account:
        print(log.account())
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
