#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares a recording with what the recorded program says it launched.

The program's output has a line a kernel, with tabs between the fields:
    launched  LAUNCHES  KERNEL  [CALLER]  [MAKER]
Every sample of KERNEL must have CALLER, if it is named, above it, and none of the other
callers. If MAKER is named, too, the kernel is a CUDA graph's, and it is so with MAKER
below the frame [CUDA graph] and with CALLER above.
There must be as many samples of it as launches, and the periods of all samples must
add up to the time in the sidecar, to the nanosecond. (Kernels whose times CUPTI didn't
know have no samples.)

Reads the text of `perf script` and of `perf-gpu script` alike.
"""
import argparse
import collections
import re
import sys

sys.dont_write_bytecode = True
import gpu_log  # noqa: E402

# main 1234/1240 56.789: 2345 gpu-kernel:
HEADER = re.compile(r"^\s*\S.*\s[\d.]+:\s+(\d+)\s+gpu-kernel:")


# Between the frames of a graph's node and those of its launch
UNATTRIBUTED = "[unattributed]"
JOINT = "[CUDA graph]"


def samples(lines):
    """Yields (period, [frame text, leaf first]) of each gpu-kernel sample."""
    period, frames = None, []
    for line in lines:
        header = HEADER.match(line)
        if header or not line.strip():
            if period is not None:
                yield period, frames
            period, frames = int(header.group(1)) if header else None, []
        elif period is not None:
            frames.append(line.strip())
    if period is not None:
        yield period, frames


class Names:
    """Finds which of some names a frame's text holds, as a whole word. The file's path,
    behind it in brackets, is none of it: a function can be called as a folder there is."""

    def __init__(self, names):
        longest_first = sorted(names, key=len, reverse=True)
        any_name = "|".join(map(re.escape, longest_first)) or "(?!)"
        self.pattern = re.compile(rf"(?<!\w)({any_name})(?!\w)")
        self.known = {}

    def find(self, text):
        if text not in self.known:
            match = self.pattern.search(text.rsplit(" (", 1)[0])
            self.known[text] = match.group(1) if match else None
        return self.known[text]


class Checker:
    def __init__(self, path):
        self.launches, self.callers, self.makers = {}, {}, {}
        with open(path) as lines:
            for line in lines:
                fields = line.rstrip("\n").split("\t")
                if fields[0] == "launched":
                    self.launches[fields[2]] = int(fields[1])
                    self.callers[fields[2]] = fields[3] if len(fields) > 3 else None
                    self.makers[fields[2]] = fields[4] if len(fields) > 4 else None
        self.kernel_names = Names(self.launches)
        self.caller_names = Names(set(filter(None, [*self.callers.values(),
                                                    *self.makers.values()])))
        self.seen = collections.Counter()
        self.total_ns = self.nr_samples = self.nr_wrong = self.nr_unattributed = 0
        self.nr_frames = 0
        self.complaints = []

    def complain(self, text):
        self.complaints.append(text)

    def add(self, period, frames):
        self.total_ns += period
        self.nr_samples += 1
        self.nr_frames += len(frames)
        if self.is_unattributed(frames):
            self.nr_unattributed += 1
        elif self.launches:
            self.check_caller(frames)
        if self.launches:
            self.seen[self.kernel_names.find(frames[0]) if frames else None] += 1

    def is_unattributed(self, frames):
        """Not, if that is what is to be expected of the kernel."""
        return (any(UNATTRIBUTED in frame for frame in frames) and
                self.callers.get(self.kernel_names.find(frames[0])) != UNATTRIBUTED)

    def callers_in(self, frames):
        return {self.caller_names.find(frame) for frame in frames} - {None}

    def check_caller(self, frames):
        kernel = self.kernel_names.find(frames[0])
        caller, maker = self.callers.get(kernel), self.makers.get(kernel)
        above, is_right = frames[1:], True
        if maker:
            joints = [i for i, frame in enumerate(above) if JOINT in frame] or [0]
            is_right = self.callers_in(above[:joints[0]]) == {maker} and len(joints) == 1
            above = above[joints[0]:]
        if not kernel or not is_right or (caller and self.callers_in(above) != {caller}):
            self.nr_wrong += 1
            self.complain(f"{kernel or 'unknown kernel'}, not by {caller}"
                          + (f" and {maker}" if maker else "") + ": "
                          + " | ".join(frames[:16]))

    def compare_counts(self, may_lack):
        for kernel, launches in self.launches.items():
            seen = self.seen[kernel]
            if seen > launches or (seen < launches and not may_lack):
                self.complain(f"{kernel}: {launches} launches, {seen} samples")
        if self.seen[None]:
            self.complain(f"{self.seen[None]} samples of kernels the program doesn't name")
        if not self.nr_samples:
            self.complain("not one sample")

    def compare_time(self, where, nr_kernels, total_ns):
        if nr_kernels != self.nr_samples:
            self.complain(f"{self.nr_samples} samples, {where}: {nr_kernels} kernels")
        if total_ns != self.total_ns:
            self.complain(f"periods add up to {self.total_ns} ns, {where}: {total_ns} ns")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("launched", help="the program's output")
    parser.add_argument("script", help="perf script text, - for stdin")
    parser.add_argument("--unknown", action="store_true",
                        help="the program doesn't know what it launched: leave that out")
    parser.add_argument("--sidecar", help="perf.data.gpu to compare with")
    parser.add_argument("--total-ns", type=int, help="what the periods must add up to")
    parser.add_argument("--lost-launches", action="store_true",
                        help="launches were lost on purpose: [unattributed] is fine")
    parser.add_argument("--lost-kernels", action="store_true",
                        help="GPU records were lost on purpose: counts may be lower")
    arguments = parser.parse_args()

    checker = Checker(arguments.launched)
    if not checker.launches and not arguments.unknown:
        parser.error(f"{arguments.launched} names no launched kernel")
    with (sys.stdin if arguments.script == "-" else
          open(arguments.script, errors="replace")) as lines:
        for period, frames in samples(lines):
            checker.add(period, frames)
    checker.compare_counts(arguments.lost_kernels)
    if checker.nr_unattributed and not arguments.lost_launches:
        checker.complain(f"{checker.nr_unattributed} samples without a stack")
    if arguments.total_ns is not None:
        checker.compare_time("--total-ns", checker.nr_samples, arguments.total_ns)
    if arguments.sidecar:
        log = gpu_log.GpuLog(arguments.sidecar)
        checker.compare_time(arguments.sidecar, log.nr_timed(), log.total_ns())

    for complaint in checker.complaints[:10]:
        print(complaint)
    print(f"wrong={checker.nr_wrong} samples={checker.nr_samples} "
          f"unattributed={checker.nr_unattributed} total_ns={checker.total_ns} "
          f"frames={checker.nr_frames / max(checker.nr_samples, 1):.1f} "
          f"complaints={len(checker.complaints)}")
    return 1 if checker.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
