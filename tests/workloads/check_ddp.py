#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds a recording of ddp_step.py against what its ranks say.

Takes what they printed, perf.data.gpu, and the text of
    perf-gpu script -F comm,pid,tid,time,period,event,ip,sym,dso,device,rank,bytes
Each rank must have run kernels on one GPU of its own, all with whole stacks, NCCL's among
them; its peer copies must be as many, of as many bytes, from its GPU to another, by
copy_to_peer. With --cupti FILE (cupti_tee.c's, with .RANK behind it), a rank's kernels,
copies and memsets must be as many, and take as long, as CUPTI's own records of it.
"""
import argparse
import collections
import re
import sys

sys.dont_write_bytecode = True
import event_counts  # noqa: E402
import gpu_log  # noqa: E402
import stack_quality  # noqa: E402

EVENTS = "gpu-kernel", "gpu-memcpy", "gpu-memset"
# python3 1234/1240 device=0 rank=1  56.789:  2345  gpu-kernel:  bytes=3
HEADER = re.compile(r"^\s*(\S.*?)\s+(\d+)/(\d+)\s.*?([\d.]+):\s+(\d+)\s+(gpu-[a-z]+):")
LABEL = re.compile(r"\b(device|rank|bytes)=(\S+)")


class Rank:
    def __init__(self):
        self.count, self.ns = collections.Counter(), collections.Counter()
        self.devices, self.bad = collections.Counter(), []
        self.nr_nccl = self.nr_peer = self.peer_bytes = 0

    def take(self, event, labels, sample):
        leaf = sample.frames[0][0]
        self.count[event] += 1
        self.ns[event] += sample.period
        if event == "gpu-kernel":
            self.devices[labels.get("device")] += 1
        if not sample.is_whole():
            self.bad.append(sample)
        self.nr_nccl += event == "gpu-kernel" and "nccl" in leaf.lower()
        if "PtoP" in leaf and any("copy_to_peer" in symbol for symbol, _ in sample.frames):
            self.nr_peer += 1
            self.peer_bytes += int(labels.get("bytes", 0))


def samples(path):
    """(event, labels, stack_quality.Sample)"""
    header, frames = None, []
    with open(0 if path == "-" else path, errors="replace") as lines:
        for line in lines:
            found = HEADER.match(line)
            if found:
                header, frames = (found, dict(LABEL.findall(line))), []
            elif line.strip():
                frame = stack_quality.FRAME.match(line)
                frames.append(frame.groups() if frame else (line.strip(), ""))
            elif header:
                sample = stack_quality.Sample.__new__(stack_quality.Sample)
                sample.comm, sample.pid, sample.tid = header[0].group(1, 2, 3)
                sample.period, sample.frames = int(header[0].group(5)), frames
                yield header[0].group(6), header[1], sample
                header = None


def said(path):
    with open(path) as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if fields[0] == "rank":
                yield fields[1], fields[2], int(fields[3]), int(fields[4])


def differences(name, rank, nr_copies, nr_bytes, cupti):
    if not rank.count["gpu-kernel"]:
        yield f"rank {name}: no kernels"
    if len(rank.devices) != 1:
        yield f"rank {name}: on {len(rank.devices)} GPUs: {dict(rank.devices)}"
    for sample in rank.bad[:3]:
        yield f"rank {name}: {' < '.join(symbol for symbol, _ in sample.frames)}: not whole"
    if not rank.nr_nccl:
        yield f"rank {name}: no kernels of NCCL"
    if (rank.nr_peer, rank.peer_bytes) != (nr_copies, nr_bytes):
        yield (f"rank {name}: {rank.nr_peer} peer copies of {rank.peer_bytes} bytes, "
               f"not {nr_copies} of {nr_bytes}")
    for event in EVENTS if cupti else ():
        if (rank.count[event], rank.ns[event]) != (cupti.nr[event], cupti.ns[event]):
            yield (f"rank {name}: {rank.count[event]} {event}, {rank.ns[event]} ns; by CUPTI "
                   f"{cupti.nr[event]}, {cupti.ns[event]} ns")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in "launched", "sidecar", "script":
        parser.add_argument(name)
    parser.add_argument("--cupti", metavar="FILE")
    arguments = parser.parse_args()

    ranks = collections.defaultdict(Rank)
    for event, labels, sample in samples(arguments.script):
        if event in EVENTS:
            ranks[labels.get("rank")].take(event, labels, sample)
    wrong, uuids = [], {}
    expected = sorted(said(arguments.launched))
    for name, uuid, nr_copies, nr_bytes in expected:
        uuids[name] = uuid.removeprefix("GPU-").replace("-", "")
        cupti = (event_counts.of_cupti(f"{arguments.cupti}.{name}") if arguments.cupti
                 else None)
        wrong += differences(name, ranks[name], nr_copies, nr_bytes, cupti)
        rank = ranks[name]
        print(f"rank {name}: {uuid}", *(f"{event} {rank.count[event]} {rank.ns[event]} ns"
                                       for event in EVENTS),
              f"NCCL {rank.nr_nccl}, peer {rank.nr_peer} {rank.peer_bytes} bytes", sep="  ")
    if set(ranks) != set(uuids):
        wrong.append(f"ranks {sorted(map(str, ranks))}, not {sorted(uuids)}")
    if len(set(uuids.values())) != len(uuids):
        wrong.append("ranks share a GPU")
    devices = [next(iter(ranks[name].devices), None) for name in uuids]
    if len(set(devices)) != len(devices):
        wrong.append(f"ranks' GPUs are not told apart: {devices}")
    recorded = {uuid.hex() for uuid in gpu_log.GpuLog(arguments.sidecar).uuids.values()}
    for name, uuid in uuids.items():
        if uuid not in recorded:
            wrong.append(f"rank {name}: its GPU {uuid} isn't among {sorted(recorded)}")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"wrong={len(wrong)} ranks={len(uuids)} "
          f"kernels={sum(rank.count['gpu-kernel'] for rank in ranks.values())}")
    return 1 if wrong or not uuids else 0


if __name__ == "__main__":
    sys.exit(main())
