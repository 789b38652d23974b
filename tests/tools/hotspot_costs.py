#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Adds up what hotspot shows of a perf.data: reads the stream that its parser makes,

    hotspot-perfparser --input perf.data --output FILE

by the description in hotspot's src/parsers/perf/perfparser.cpp. It prints for each
leaf, with --stacks for each stack (root first, ";" between frames), and with --threads
for each thread, by its name and the numbers of its process and itself:
    COST SAMPLES NAME

The stream: "QPERFSTREAM\\0", the version of QDataStream (le32), then events, each a
length (le32) and that many bytes, big-endian:
    0 type   1.. fields; strings are be32 length and bytes, -1 for none
Names are numbers of strings that came before. hotspot 1.4 has more fields, behind
those that are read here.
"""
import argparse
import collections
import struct
import sys

MAGIC = b"QPERFSTREAM\0"
COMMAND, LOCATION, SYMBOL, STRING, LOST, ERROR, ATTRIBUTES, SAMPLE, TRACE_POINT_SAMPLE = \
    2, 3, 4, 5, 6, 8, 11, 13, 14
ERROR_NAMES = ["tracepoints: {}", "missing file: {}", "kallsyms: {}"]

Attributes = collections.namedtuple("Attributes", "name uses_frequency period")


class Fields:
    """Takes big-endian fields off an event, one after the other."""

    def __init__(self, event):
        self.event, self.offset = event, 0

    def take(self, fields):
        values = struct.unpack_from(">" + fields, self.event, self.offset)
        self.offset += struct.calcsize(">" + fields)
        return values if len(values) > 1 else values[0]

    def take_string(self):
        length = max(self.take("i"), 0)
        return self.take(f"{length}s") if length else b""


class HotspotStream:
    """What came over: samples are (event name, cost, frames, leaf first, thread)."""

    def __init__(self, path):
        self.samples, self.errors, self.nr_lost = [], [], 0
        self.strings, self.attributes = {-1: ""}, {}
        self.parents, self.symbols, self.threads = {}, {}, {}
        with open(path, "rb") as f:
            data = f.read()
        if not data.startswith(MAGIC):
            raise ValueError("not a stream of hotspot-perfparser")
        offset = len(MAGIC) + 4
        while offset < len(data):
            length, = struct.unpack_from("<I", data, offset)
            offset += 4
            if length > len(data) - offset:
                raise ValueError(f"offset {offset}: half an event")
            self.read_event(Fields(data[offset:offset + length]))
            offset += length

    def read_event(self, event):
        kind = event.take("B")
        if kind == STRING:
            ident = event.take("i")
            self.strings[ident] = event.take_string().decode(errors="replace")
        elif kind == COMMAND:
            pid, tid, _, _, name = event.take("IIQIi")
            self.threads[pid, tid] = self.strings[name]
        elif kind == LOCATION:
            # address, file, pid, line, column
            ident, _, _, _, _, _, parent = event.take("iQiIiii")
            self.parents[ident] = parent
        elif kind == SYMBOL:
            ident, name, binary = event.take("iii")
            self.symbols[ident] = self.strings[name] or f"[{self.strings[binary]}]"
        elif kind == ATTRIBUTES:
            ident, _, _, name, uses_frequency, period = event.take("iIQi?Q")
            self.attributes[ident] = Attributes(self.strings[name], uses_frequency, period)
        elif kind in (SAMPLE, TRACE_POINT_SAMPLE):
            self.read_sample(event)
        elif kind == LOST:
            self.nr_lost += 1
        elif kind == ERROR:
            event.take("i")
            self.errors.append(event.take_string().decode("utf-16-be"))

    def read_sample(self, event):
        pid, tid, _, _ = event.take("IIQI")  # and time, cpu
        locations = [event.take("i") for _ in range(event.take("I"))]
        event.take("B")  # frames that were guessed
        frames = [name for location in locations for name in self.names(location)]
        for _ in range(event.take("I")):
            ident, cost = event.take("iQ")
            attributes = self.attributes[ident]
            if not cost and not attributes.uses_frequency:
                cost = attributes.period
            self.samples.append((attributes.name, cost, frames, (pid, tid)))

    def names(self, location):
        """Of a frame: what is inlined there first. A function's entry is a location
        too, the parent of one inside it, which has no symbol then."""
        while location != -1:
            parent = self.parents[location]
            if location not in self.symbols:
                location = parent
                parent = self.parents.get(location, -1)
            yield self.symbols.get(location, "[unknown]")
            location = parent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--event", help="only this event")
    parser.add_argument("--stacks", action="store_true")
    parser.add_argument("--threads", action="store_true")
    parser.add_argument("file")
    arguments = parser.parse_args()
    stream = HotspotStream(arguments.file)
    sums = collections.defaultdict(lambda: [0, 0])
    for event, cost, frames, thread in stream.samples:
        if arguments.event not in (None, event):
            continue
        key = ";".join(reversed(frames)) if arguments.stacks else frames[0]
        if arguments.threads:
            key = f"{stream.threads.get(thread, '?')} {thread[0]}/{thread[1]}"
        sums[key][0] += cost
        sums[key][1] += 1
    for name, (cost, nr) in sorted(sums.items(), key=lambda item: (-item[1][0], item[0])):
        print(cost, nr, name)
    for error in stream.errors:
        print(f"hotspot: {error}", file=sys.stderr)
    if stream.nr_lost:
        print(f"hotspot: {stream.nr_lost} records of losses", file=sys.stderr)
    return bool(stream.errors or stream.nr_lost)


if __name__ == "__main__":
    sys.exit(main())
