#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tells which kernels of a sidecar CUPTI has recorded without telling of their launches
(they have correlation id 0), stream by stream: how many, and when, beside the others.

Prints nothing if there are none. Times are in ms since the first kernel.
"""
import collections
import sys

sys.dont_write_bytecode = True
import gpu_log  # noqa: E402


def span(kernels, first_ns):
    if not kernels:
        return "0"
    starts = [kernel.start_ns for kernel in kernels]
    return (f"{len(kernels)} from {(min(starts) - first_ns) / 1e6:.3f} "
            f"to {(max(starts) - first_ns) / 1e6:.3f} ms")


def main():
    log = gpu_log.GpuLog(sys.argv[1])
    streams = collections.defaultdict(lambda: ([], []))
    for kernel in log.kernels:
        if kernel.start_ns:
            streams[kernel.device, kernel.stream][kernel.correlation == 0].append(kernel)
    if not any(untold for _, untold in streams.values()):
        return
    first_ns = min(kernel.start_ns for both in streams.values() for part in both
                   for kernel in part)
    for (device, stream), (told, untold) in sorted(streams.items()):
        print(f"GPU {device} stream {stream}: told {span(told, first_ns)}; "
              f"untold {span(untold, first_ns)}")


if __name__ == "__main__":
    main()
