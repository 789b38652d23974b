#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the stacks of a recording with what python_stacks.py says of them.

    perf-gpu script -F ip,sym,dso,srcline | check_python_stacks.py TRUTH [--no-lines]

Each stack must have the program's Python functions, all of them, in order and with their
lines; a stack that ends in [truncated] the innermost ones. Where Python was called back
by libc, libc must be between.
"""
import argparse
import json
import re
import sys

FRAME = re.compile(r"^\t\s*[0-9a-f]+ (.*) \((.*)\)$")
LINE = re.compile(r"^  (.*):(\d+)$")
# Lines are counted from the definition's, up to here; what is further down has none.
FAR = 65535


def samples(lines):
    """Yields [(function, file of code, line)], leaf first."""
    frames = []
    for text in lines:
        text = text.rstrip("\n")
        frame, line = FRAME.match(text), LINE.match(text)
        if frame:
            frames.append([frame.group(1), frame.group(2), None])
        elif line and frames:
            frames[-1][2] = int(line.group(2))
        elif frames:
            yield frames
            frames = []
    if frames:
        yield frames


def compare(frames, truth, has_lines):
    """What is wrong with a stack; nothing if it is right."""
    python = [[name, line] for name, dso, line in frames if name.startswith("py::")]
    wanted = [[name, line if line <= FAR else None] for name, line in truth]
    is_cut = frames[-1][0] == "[truncated]"
    if is_cut:
        wanted = wanted[:len(python)]
    if not has_lines:
        python = [name for name, line in python]
        wanted = [name for name, line in wanted]
    if python == wanted and python:
        return None
    for i, (a, b) in enumerate(zip(python + [None] * 200, wanted)):
        if a != b:
            return "frame %d is %s, not %s" % (i, a, b)
    return "%d Python frames, not %d" % (len(python), len(wanted))


def has_libc_between(frames):
    inner = [i for i, frame in enumerate(frames) if "compare" in frame[0]][0]
    outer = [i for i, frame in enumerate(frames) if "from_callback:" in frame[0] or
             frame[0].endswith("from_callback")][0]
    return any("libc.so" in frame[1] for frame in frames[inner:outer])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("truth")
    parser.add_argument("--no-lines", action="store_true")
    args = parser.parse_args()
    with open(args.truth, encoding="utf-8") as file:
        truth = json.load(file)
    native = set(truth["native"])
    seen, wrong = set(), []

    sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    for frames in samples(sys.stdin):
        kernel = frames[0][0].replace("[GPU_Kernel]", "")
        seen.add(kernel)
        why = compare(frames, truth["stacks"][kernel], not args.no_lines)
        if not why and kernel in native and not has_libc_between(frames):
            why = "libc isn't between"
        if why:
            wrong.append("%s: %s" % (kernel, why))
    missing = set(truth["stacks"]) - seen
    if missing:
        wrong.append("%d kernels have no sample" % len(missing))
    for text in wrong[:20]:
        print(text)
    print("%d stacks, %d wrong" % (len(seen), len(wrong)))
    sys.exit(bool(wrong) or not seen)


main()
