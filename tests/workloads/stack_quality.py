#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How good are a recording's stacks? By shares of GPU time: kernels that have a stack,
stacks that are whole, and stacks with a Python function of the program's own file.

Reads the text of `perf-gpu script -F comm,pid,tid,time,period,event,ip,sym,dso`.

A stack is whole if it isn't said to be truncated, and its outermost frame is where
threads begin: _start, clone or clone3, or code without a symbol in libc or in an
executable, as these are in stripped ones.
A thread that has no function of that file in any stack is one of the framework's own (PyTorch's
backward pass): it is counted apart, and named.
"""
import argparse
import collections
import os
import re
import sys

# python3 1234/1240 56.789: 2345 gpu-kernel:
HEADER = re.compile(r"^\s*(\S.*?)\s+(\d+)/(\d+)\s+(?:\[\d+\]\s+)?[\d.]+:\s+(\d+)\s+gpu-kernel:")
#          129ecb clone3+0x2b (/usr/lib/x86_64-linux-gnu/libc.so.6)
FRAME = re.compile(r"^\s*[0-9a-f]+ (.*) \((.*)\)$")
STARTS = {"_start", "__clone3", "clone3", "__clone", "clone", "start_thread", "thread_start"}


class Sample:
    def __init__(self, header):
        self.comm, self.pid, self.tid = header.group(1), header.group(2), header.group(3)
        self.period = int(header.group(4))
        self.frames = []  # (symbol, file), leaf first

    def has_stack(self):
        return len(self.frames) > 2 and not any(
            symbol == "[unattributed]" for symbol, _ in self.frames)

    def is_whole(self):
        if not self.has_stack() or any(symbol == "[truncated]" for symbol, _ in self.frames):
            return False
        symbol, path = self.frames[-1]
        name = os.path.basename(path)
        return symbol.split("+")[0] in STARTS or (
            symbol == "[unknown]" and ".so" not in name.replace("libc.so.6", "libc"))

    def python_files(self):
        return {symbol.rsplit(":", 1)[1].split("+")[0]
                for symbol, _ in self.frames if symbol.startswith("py::")}


def read_samples(lines):
    sample = None
    for line in lines:
        header = HEADER.match(line)
        frame = FRAME.match(line)
        if header:
            if sample:
                yield sample
            sample = Sample(header)
        elif frame and sample:
            sample.frames.append(frame.groups())
    if sample:
        yield sample


class Quality:
    def __init__(self, python_file):
        self.python_file = python_file
        self.nr_kernels = 0
        self.ns = collections.Counter()
        self.by_thread = collections.defaultdict(collections.Counter)

    def add(self, sample):
        files = sample.python_files()
        thread = self.by_thread[sample.pid, sample.tid, sample.comm]
        self.nr_kernels += 1
        self.ns["all"] += sample.period
        self.ns["stack"] += sample.period * sample.has_stack()
        self.ns["whole"] += sample.period * sample.is_whole()
        thread["all"] += sample.period
        thread["own"] += sample.period * any(
            os.path.basename(file) == self.python_file for file in files)

    def share(self, ns, of):
        """In percent, rounded down: 100.0 is all of it."""
        return f"{1000 * ns // of / 10:.1f}" if of else "-"

    def row(self):
        own_threads = [t for t in self.by_thread.values() if t["own"]]
        others = {key: t for key, t in self.by_thread.items() if not t["own"]}
        others_ns = sum(t["all"] for t in others.values())
        names = sorted({comm for _, _, comm in others})
        return [self.nr_kernels,
                self.share(self.ns["stack"], self.ns["all"]),
                self.share(self.ns["whole"], self.ns["all"]),
                self.share(sum(t["own"] for t in own_threads),
                           sum(t["all"] for t in own_threads)),
                self.share(others_ns, self.ns["all"]),
                " ".join(names) if others_ns else ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("script", help="the text, - for stdin")
    parser.add_argument("--python", metavar="FILE", help="the program, by its file's name")
    parser.add_argument("--require", metavar="STACK,WHOLE,PYTHON",
                        help="fail if a share is below, e.g. 100,99.9,99")
    arguments = parser.parse_args()

    quality = Quality(arguments.python)
    with (sys.stdin if arguments.script == "-" else
          open(arguments.script, errors="replace")) as lines:
        for sample in read_samples(lines):
            quality.add(sample)
    row = quality.row()
    print("kernels=%d stack=%s whole=%s python=%s framework-threads=%s %s" % tuple(row))
    if not quality.nr_kernels:
        return 1
    required = [float(text) for text in (arguments.require or "").split(",") if text]
    return any(share == "-" or float(share) < need
               for share, need in zip(row[1:4], required))


if __name__ == "__main__":
    sys.exit(main())
