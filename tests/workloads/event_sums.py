#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a recording comes to, for each event: computed from perf.data.gpu (gpu_log.py) by
what perf-gpu-inject(1) says of each event, and by nothing of ours that reads it.

As a program it prints, for each event that has any, and for "leaks":
    EVENT SAMPLES SUM UNIT
The sums of gpu-memcpy, gpu-memset and gpu-fault are there in bytes and in ns.
"""
import argparse
import collections
import sys

sys.dont_write_bytecode = True
import gpu_log  # noqa: E402


def is_timed(activity):
    return activity.start_ns and activity.end_ns >= activity.start_ns


class EventSums:
    def __init__(self, log):
        self.log = log
        self.sums = {}  # by event and unit: [samples, sum]
        self.add_kernels()
        self.add_activities()
        self.add_calls()
        self.add_idle()
        self.add_memory()

    def add(self, event, unit, value):
        """A sample of it; there is none of a period of 0."""
        if value:
            entry = self.sums.setdefault((event, unit), [0, 0])
            entry[0] += 1
            entry[1] += value

    def add_kernels(self):
        for kernel in filter(is_timed, self.log.kernels):
            self.add("gpu-kernel", "ns", kernel.end_ns - kernel.start_ns)

    def add_activities(self):
        events = {gpu_log.MEMCPY: "gpu-memcpy", gpu_log.MEMSET: "gpu-memset"}
        for activity in self.log.activities:
            kind, what = activity.operation.kind, activity.operation.what
            if kind in events and is_timed(activity):
                self.add(events[kind], "ns", activity.end_ns - activity.start_ns)
                self.add(events[kind], "bytes", activity.bytes)
            elif kind == gpu_log.SYNC and what != gpu_log.SYNC_STREAM_WAIT_EVENT:
                if is_timed(activity):
                    self.add("gpu-sync", "ns", activity.end_ns - activity.start_ns)
            elif kind == gpu_log.FAULT and what in gpu_log.FAULT_BYTES:
                self.add("gpu-fault", "bytes", activity.bytes)
                self.add("gpu-fault", "ns", activity.end_ns - activity.start_ns)

    def outermost_calls(self):
        """By log and correlation id: of calls within calls, the one around them."""
        calls = {}
        for call in filter(is_timed, self.log.calls):
            key = call.log, call.correlation
            if key not in calls or call.start_ns < calls[key].start_ns:
                calls[key] = call
        return calls

    def add_calls(self):
        calls = self.outermost_calls()
        for call in calls.values():
            self.add("gpu-launch", "ns", call.end_ns - call.start_ns)
        for kernel in filter(is_timed, self.log.kernels):
            call = calls.get((kernel.log, kernel.correlation))
            if call and kernel.start_ns > call.end_ns:
                self.add("gpu-queue", "ns", kernel.start_ns - call.end_ns)

    def add_idle(self):
        spans = collections.defaultdict(list)
        for kernel in filter(is_timed, self.log.kernels):
            spans[self.gpu(kernel.log, kernel.device)].append((kernel.start_ns, kernel.end_ns))
        for activity in filter(is_timed, self.log.activities):
            operation = activity.operation
            if (operation.kind in (gpu_log.MEMCPY, gpu_log.MEMSET)
                    and operation.device != gpu_log.NO_DEVICE):
                spans[self.gpu(activity.log, operation.device)].append(
                    (activity.start_ns, activity.end_ns))
        for of_gpu in spans.values():
            of_gpu.sort()
            last_ns = of_gpu[0][0]
            for start_ns, end_ns in of_gpu:
                if start_ns > last_ns:
                    self.add("gpu-idle", "ns", start_ns - last_ns)
                last_ns = max(last_ns, end_ns)

    def gpu(self, log, device):
        return self.log.uuids.get((log, device), (log, device))

    def add_memory(self):
        kept = {}
        for memory in self.log.memory:
            key = memory.log, memory.address
            if memory.operation.what == gpu_log.ALLOCATED:
                self.add("gpu-alloc", "bytes", memory.bytes)
                # Nobody frees a module's variable.
                is_static = memory.operation.dst_kind in gpu_log.STATIC
                kept[key] = 0 if is_static else memory.bytes
            else:
                kept.pop(key, None)
        for nr_bytes in kept.values():
            self.add("leaks", "bytes", nr_bytes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    arguments = parser.parse_args()
    sums = EventSums(gpu_log.GpuLog(arguments.file)).sums
    for (event, unit), (nr, total) in sums.items():
        print(event, nr, total, unit)


if __name__ == "__main__":
    main()
