#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts the stacks of launches in a perf.data, where there is no perf to look with.

Of each sample of a launch event it is told whether it has a call chain beyond the launch
function, or a copy of the stack; with --require PERCENT, so many must.
"""
import argparse
import collections
import struct
import sys

SAMPLE = 9
SW_BPF_OUTPUT = 10
# Bits of sample_type, in the order of their members, with the bytes of those of a fixed size
MEMBERS = [
    (1 << 16, 8), (1 << 0, 8), (1 << 1, 8), (1 << 2, 8), (1 << 3, 8), (1 << 6, 8),
    (1 << 9, 8), (1 << 7, 8), (1 << 8, 8),
]
CALLCHAIN, RAW, REGS_USER, STACK_USER = 1 << 5, 1 << 10, 1 << 12, 1 << 13
CONTEXT_MAX = (1 << 64) - 4095  # of PERF_CONTEXT_*


def events_of(data):
    """By id: sample_type and the mask of registers, of events that launches go through."""
    header = struct.unpack_from("<8s8Q", data)
    attr_bytes, attrs, attrs_bytes = header[2:5]
    events = {}
    for at in range(attrs, attrs + attrs_bytes, attr_bytes):
        kind, _, config, _, sample_type = struct.unpack_from("<IIQQQ", data, at)
        registers, = struct.unpack_from("<Q", data, at + 80)
        ids, ids_bytes = struct.unpack_from("<QQ", data, at + attr_bytes - 16)
        if kind != 1 or config != SW_BPF_OUTPUT:
            continue
        for number in struct.unpack_from(f"<{ids_bytes // 8}Q", data, ids):
            events[number] = sample_type, registers
    return events, header[5], header[6]


def describe(data, at, sample_type, registers):
    """What a sample has of a stack: "chain", "copy", or "none"."""
    found = "none"
    at += sum(size for bit, size in MEMBERS if sample_type & bit)
    if sample_type & CALLCHAIN:
        nr, = struct.unpack_from("<Q", data, at)
        ips = struct.unpack_from(f"<{nr}Q", data, at + 8)
        at += 8 + 8 * nr
        if sum(ip < CONTEXT_MAX for ip in ips) > 1:
            found = "chain"
    if sample_type & RAW:
        size, = struct.unpack_from("<I", data, at)
        at += 4 + size
    if sample_type & REGS_USER:
        abi, = struct.unpack_from("<Q", data, at)
        at += 8 + (8 * bin(registers).count("1") if abi else 0)
    if sample_type & STACK_USER:
        size, = struct.unpack_from("<Q", data, at)
        if size and struct.unpack_from("<Q", data, at + 8 + size)[0]:
            found = "copy"
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("perfdata")
    parser.add_argument("--require", type=float, default=0, metavar="PERCENT")
    arguments = parser.parse_args()

    with open(arguments.perfdata, "rb") as file:
        data = file.read()
    events, at, size = events_of(data)
    stacks = collections.Counter()
    end = at + size
    while at < end:
        kind, _, record_bytes = struct.unpack_from("<IHH", data, at)
        if kind == SAMPLE:
            number, = struct.unpack_from("<Q", data, at + 8)
            if number in events:
                stacks[describe(data, at + 8, *events[number])] += 1
        at += record_bytes
    total = sum(stacks.values())
    whole = total - stacks["none"]
    print(f"{total} launches: {stacks['chain']} with a call chain, {stacks['copy']} with a "
          f"copy of the stack, {stacks['none']} without")
    if not total or 100 * whole < arguments.require * total:
        sys.exit(f"fewer than {arguments.require:g} % of the launches have a stack")


if __name__ == "__main__":
    main()
