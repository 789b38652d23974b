#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares two recordings of one program, as with CUPTI 12 and with 13: they must be the
same but for times.

Takes two folders, each with script.txt (of perf-gpu script), bytes.txt (the same with
--weight=bytes) and perf.data.gpu. The same are: how many samples there are of each stack of
each event whose samples don't depend on time, the bytes in them, and kernels' shapes. Which
kernels waited, and when the GPU idled, does depend on it. All times must be plausible: none
before its process was recorded, and none behind the recording's end.
"""
import argparse
import collections
import os
import sys

sys.dont_write_bytecode = True
import check_events  # noqa: E402
import gpu_log  # noqa: E402

COUNTED = {"gpu-kernel", "gpu-memcpy", "gpu-memset", "gpu-sync", "gpu-launch", "gpu-alloc"}
# What a CUPTI before 13.0 has no record of, beside a driver for CUDA 13: told, not wrong
FIRST_VERSION = 130000
LATER = "[GPU_Sync]context;cudaDeviceSynchronize;", "[GPU_Sync]stream;cudaStreamQuery;"
WEIGHED = {"gpu-memcpy", "gpu-memset", "gpu-alloc"}  # which have bytes
SUMMED = {"gpu-fault"}  # in pieces that the driver chooses


def frame_name(text):
    """Without its address, offset and DSO: synthetic ones depend on the order of names."""
    return check_events.BEHIND.sub("", check_events.ADDRESS.sub("", text))


def stacks(path, has_bytes):
    """(event, frames, bytes) -> how many; of SUMMED: event -> bytes"""
    counts, sums = collections.Counter(), collections.Counter()
    with open(path, errors="replace") as lines:
        for sample in check_events.samples(lines):
            frames = ";".join(map(frame_name, sample.frames))
            if sample.event in (WEIGHED if has_bytes else COUNTED):
                counts[sample.event, frames, sample.period if has_bytes else None] += 1
            elif sample.event in SUMMED and has_bytes:
                sums[sample.event, sample.leaf] += sample.period
    return counts, sums


def compare(what, first, second, names):
    """Yields (is it of LATER, text) of what is in one and not in the other."""
    for key in sorted(first.keys() | second.keys(), key=str):
        if first[key] != second[key]:
            yield str(key[1]).startswith(LATER), (
                f"{what}: {first[key]} with {names[0]}, {second[key]} with {names[1]}: "
                + " ".join(str(part) for part in key if part is not None))


def implausible(log, name):
    times = [(item.start_ns, item.end_ns) for item in (*log.kernels, *log.activities)
             if item.start_ns]
    if not times:
        yield False, f"{name}: nothing that has a time"
        return
    first, last = min(log.start_ns.values()), log.end_ns
    for start_ns, end_ns in times:
        if not first <= start_ns <= end_ns <= last:
            yield False, (f"{name}: from {start_ns} to {end_ns}, in a recording from {first} "
                         f"to {last}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs=2)
    arguments = parser.parse_args()

    names = [os.path.basename(os.path.normpath(folder)) for folder in arguments.folders]
    logs = [gpu_log.GpuLog(os.path.join(folder, "perf.data.gpu"))
            for folder in arguments.folders]
    complaints, nr_samples = [], 0
    for file, has_bytes in (("script.txt", False), ("bytes.txt", True)):
        texts = [stacks(os.path.join(folder, file), has_bytes) for folder in arguments.folders]
        nr_samples = max(nr_samples, texts[0][0].total())
        complaints += compare(file, texts[0][0], texts[1][0], names)
        complaints += compare(file, texts[0][1], texts[1][1], names)
    shapes = [collections.Counter(log.launch_shapes) for log in logs]
    complaints += compare("shape", *shapes, names)
    for log, name in zip(logs, names):
        complaints += implausible(log, name)
        for severity, text in log.messages:
            print(f"{name} says: {text}")
    is_older = any(version < FIRST_VERSION
                   for log in logs for version in log.cupti_versions.values())
    for is_later, text in complaints[:40]:
        print("differs:" if is_later and is_older else "wrong:", text)
    complaints = [text for is_later, text in complaints if not (is_later and is_older)]
    versions = ["/".join(map(str, sorted(set(log.cupti_versions.values())))) for log in logs]
    print(f"wrong={len(complaints)} samples={nr_samples} shapes={len(shapes[0])} "
          f"CUPTI API versions {' and '.join(versions)}")
    return 1 if complaints or not nr_samples else 0


if __name__ == "__main__":
    sys.exit(main())
