#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what a recording has of each stream of each GPU with what multi_gpu says.

A stream is known by the size of its memsets, which no other stream has (see multi_gpu.cu):
so CUPTI's number of it, on one GPU, must be that of all its kernels, copies and memsets.
With --script, text of perf-gpu script -F +device,stream must have as many of each.
"""
import argparse
import collections
import re
import sys

sys.dont_write_bytecode = True
import gpu_log  # noqa: E402

# multi_gpu  8522 [001] device=0 stream=7  3104.500351:      32768  gpu-memcpy:
HEADER = re.compile(r"\sdevice=(\d+)\s+stream=(\d+)\s.*\s(gpu-kernel|gpu-memcpy|gpu-memset):")

Counts = collections.namedtuple("Counts", "kernels copies bytes memsets")


def said(path):
    """By tag: (GPU, Counts)"""
    streams = {}
    with open(path) as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if fields[0] == "stream":
                gpu, _, tag, *counts = map(int, fields[1:])
                streams[tag] = gpu, Counts(*counts)
    return streams


def recorded(log):
    """By GPU and stream as CUPTI has them: (tags, Counts)"""
    tags = collections.defaultdict(set)
    kernels, copies, nr_bytes, memsets = (collections.Counter() for _ in range(4))
    for kernel in log.kernels:
        kernels[kernel.device, kernel.context, kernel.stream] += 1
    for activity in log.activities:
        operation = activity.operation
        stream = operation.device, operation.context, operation.stream
        if operation.kind == gpu_log.MEMCPY:
            copies[stream] += 1
            nr_bytes[stream] += activity.bytes
        elif operation.kind == gpu_log.MEMSET:
            memsets[stream] += 1
            tags[stream].add(activity.bytes)
    return {stream: (tags[stream], Counts(kernels[stream], copies[stream], nr_bytes[stream],
                                          memsets[stream]))
            for stream in {*kernels, *copies, *memsets}}


def shown(path):
    """By GPU, stream and event, how many samples"""
    with open(path, errors="replace") as lines:
        matches = filter(None, map(HEADER.search, lines))
        return collections.Counter((int(match.group(1)), int(match.group(2)), match.group(3))
                                   for match in matches)


def compare_shown(path, found):
    samples = shown(path)
    for (gpu, _, stream), (_, counts) in sorted(found.items()):
        for event, nr in (("gpu-kernel", counts.kernels), ("gpu-memcpy", counts.copies),
                          ("gpu-memset", counts.memsets)):
            if samples[gpu, stream, event] != nr:
                yield (f"{path}: {samples[gpu, stream, event]} samples of {event} in GPU {gpu} "
                       f"stream {stream}, not {nr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("said", help="multi_gpu's output")
    parser.add_argument("sidecar", help="perf.data.gpu")
    parser.add_argument("--script", help="with device= and stream= in each sample's first line")
    arguments = parser.parse_args()

    log = gpu_log.GpuLog(arguments.sidecar)
    wanted, found = said(arguments.said), recorded(log)
    complaints, seen = [], set()
    for (gpu, context, stream), (tags, counts) in sorted(found.items()):
        name = f"GPU {gpu} context {context} stream {stream}"
        if len(tags) != 1:
            complaints.append(f"{name}: memsets of {sorted(tags)} bytes, not of one size")
            continue
        tag, = tags
        if wanted.get(tag) != (gpu, counts):
            complaints.append(f"{name}: {counts}, not {wanted.get(tag)}")
        seen.add(tag)
    complaints += [f"nothing of {wanted[tag]}" for tag in sorted(wanted.keys() - seen)]
    if arguments.script:
        complaints += compare_shown(arguments.script, found)
    uuids = set(log.uuids.values())
    nr_gpus = len({gpu for gpu, _ in wanted.values()})
    if len(uuids) != nr_gpus:
        complaints.append(f"{len(uuids)} UUIDs of {nr_gpus} GPUs")
    print(*complaints[:10], sep="\n", end="\n" if complaints else "")
    print(f"wrong={len(complaints)} gpus={nr_gpus} streams={len(found)} "
          f"kernels={sum(counts.kernels for _, counts in found.values())} "
          f"copies={sum(counts.copies for _, counts in found.values())} "
          f"memsets={sum(counts.memsets for _, counts in found.values())}")
    return 1 if complaints or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
