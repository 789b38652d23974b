#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Folds perf-script text as FlameGraph's stackcollapse-perf.pl does, by its rules:

- a line that begins with a word, and has a number behind it, begins a sample; the
  weight is the number before "EVENT:" at its end, and 1 if that isn't there;
- an indented line "ADDRESS NAME (FILE)" is a frame, unless NAME begins with "(";
- an empty line ends the sample: a last one without it is lost;
- in a name, "->" separates inlined functions, ";" becomes ":", and all from the first
  "(" on is left out, but of "(anonymous namespace)"; +0x1f at the end, " and ' too;
- [unknown] becomes the file's name.

Where that script would guess, or leave out, this one ends with an error: text it is
happy with can be relied on to come out whole. Prints "COMM;FRAME;...;FRAME NS".
"""
import collections
import re
import sys

HEADER = re.compile(r"(\S.+?)\s+\d+(/\d+)?\s+.*:\s+(\d+)\s+(\S+):\s*$")
FRAME = re.compile(r"\s+[0-9a-f]+ (.+) \(([^()]*(?: \(deleted\))?)\)$")


class Folder:
    def __init__(self):
        self.folded = collections.Counter()
        self.comm, self.weight, self.event, self.frames = None, 0, None, []

    def take_line(self, line):
        if not line:
            self.end_sample()
        elif not line[0].isspace():
            self.begin_sample(line)
        else:
            self.take_frame(line)

    def begin_sample(self, line):
        header = HEADER.match(line)
        if not header:
            raise ValueError("a sample without weight")
        if self.comm is not None:
            raise ValueError("a sample that doesn't end before the next")
        comm, _, weight, event = header.groups()
        if self.event not in (None, event):
            raise ValueError(f"a sample of {event}, where the first is of {self.event}")
        self.comm, self.weight, self.event = comm.replace(" ", "_"), int(weight), event

    def take_frame(self, line):
        frame = FRAME.match(line)
        if not frame or self.comm is None:
            raise ValueError("neither a sample nor a frame of one")
        name, path = frame.groups()
        if name.startswith("("):
            raise ValueError("a frame that is taken for a process")
        if name == "[unknown]":
            self.frames.append(f"[{path.rpartition('/')[2].strip('[]')}]")
            return
        name = re.sub(r"\+0x[0-9a-f]+$", "", name).replace(";", ":")
        # What is cut off at "(" is cut off each part.
        parts = [re.sub(r"\((?!anonymous namespace\)).*", "", part)
                 for part in name.split("->")]
        if not all(parts):
            raise ValueError("a frame without a name")
        self.frames += [re.sub("[\"']", "", part) for part in reversed(parts)]

    def end_sample(self):
        if self.comm is None:
            raise ValueError("an end without a sample")
        self.folded[";".join([self.comm, *reversed(self.frames)])] += self.weight
        self.comm, self.frames = None, []


def main():
    folder, nr = Folder(), 0
    for line in sys.stdin:
        nr += 1
        try:
            folder.take_line(line.rstrip("\n"))
        except ValueError as error:
            return f"line {nr}: {error}: {line}"
    if folder.comm is not None:
        return f"line {nr}: a last sample that doesn't end"
    for stack, weight in sorted(folder.folded.items()):
        print(stack, weight)
    return 0


if __name__ == "__main__":
    sys.exit(main())
