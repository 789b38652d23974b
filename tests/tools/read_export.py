#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what perf-gpu export writes, by the formats' own descriptions, and prints it alike.

read_export.py chrome|perfetto|firefox FILE   checks a timeline, and prints "track NAME" of each,
                                      "arrows NR", "CATEGORY NAME NR NS" of slices, and
                                      "stack ROOT;...;LEAF NS" of kernels
read_export.py speedscope FILE [SCHEMA]   checks it by the published schema, if that is
                                      given, and prints as for pprof
read_export.py pprof FILE             prints "type NAME UNIT SUM", "program PATH" (the
                                      first file), "label KEY VALUE NR", and
                                      "EVENT stack ROOT;...;LEAF SUM"

Protobuf is decoded here from the wire, with the numbers of the published formats.
"""
import collections
import gzip
import json
import sys
from decimal import Decimal


def ns(us):
    """Microseconds as they are in JSON, exact"""
    value = us * 1000
    if value != value.to_integral_value():
        raise ValueError(f"{us} us are no whole ns")
    return int(value)


class Slices:
    """What is on a track, to see that slices are beside or within each other"""

    def __init__(self):
        self.tracks = collections.defaultdict(list)

    def add(self, track, start, end, name):
        self.tracks[track].append((start, -end, name))

    def check(self):
        for track, slices in self.tracks.items():
            open_ends = []
            for start, end, name in sorted(slices):
                while open_ends and open_ends[-1] <= start:
                    open_ends.pop()
                if open_ends and -end > open_ends[-1]:
                    raise ValueError(f"{name} at {start} sticks out of another on {track}")
                if -end > start:
                    open_ends.append(-end)

    def has(self, track, time):
        return any(start <= time <= -end for start, end, _ in self.tracks[track])


def check_ranges(events):
    """B and E of a track are in the order of time, and no E lacks its B"""
    depths, times = collections.Counter(), {}
    for event in events:
        if event["ph"] not in "BE":
            continue
        track = event["pid"], event["tid"]
        if event["ts"] < times.get(track, 0):
            raise ValueError(f"{event} goes back in time")
        times[track] = event["ts"]
        depths[track] += 1 if event["ph"] == "B" else -1
        if depths[track] < 0:
            raise ValueError(f"{event} ends nothing")


def chrome_stack(frames, frame):
    names = []
    while frame is not None:
        names.append(frames[str(frame)]["name"])
        frame = frames[str(frame)].get("parent")
    return ";".join(reversed(names))


def read_chrome(path):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file, parse_float=Decimal, parse_int=Decimal)
    events, frames = trace["traceEvents"], trace["stackFrames"]
    names = {(e["name"], e["pid"], e.get("tid")): e["args"]["name"] for e in events
             if e["ph"] == "M" and "name" in e["args"]}
    slices, sums, stacks = Slices(), collections.Counter(), collections.Counter()
    numbers, arrows = collections.Counter(), collections.defaultdict(dict)
    for event in events:
        if event["ph"] == "M":
            continue
        track = event["pid"], event["tid"]
        if not any(key[0] == "thread_name" and key[1:] == track for key in names):
            raise ValueError(f"{event} is on a track without a name")
        if event["ph"] in "sf":
            arrows[event["id"]][event["ph"]] = (track, ns(event["ts"]))
        if event["ph"] in "XiB":
            numbers[event["cat"], event["name"]] += 1
        if event["ph"] != "X":
            continue
        start, length = ns(event["ts"]), ns(event["dur"])
        slices.add(track, start, start + length, event["name"])
        sums[event["cat"], event["name"]] += length
        if event["cat"] == "kernel":
            stacks[f"{chrome_stack(frames, event['sf'])};{event['name']}"] += length
    slices.check()
    check_ranges(events)
    for arrow in arrows.values():
        for end in "sf":
            if not slices.has(*arrow[end]):
                raise ValueError(f"arrow {arrow} is at no slice")
        if arrow["s"][1] > arrow["f"][1]:
            raise ValueError(f"arrow {arrow} goes back in time")
    for name in sorted(names.values()):
        print("track", name)
    print("arrows", len(arrows))
    for key in sorted(numbers):
        print(*key, numbers[key], sums[key])
    for stack in sorted(stacks):
        print("stack", stack, stacks[stack])


# --- Firefox ---------------------------------------------------------------------------------


def check_tables(shared):
    """Arrays are as long as their tables say, and numbers lead somewhere"""
    for name, table in shared.items():
        if name == "stringArray":
            continue
        for key, column in table.items():
            if key != "length" and len(column) != table["length"]:
                raise ValueError(f"{name}.{key} isn't as long as its table")
    lengths = {name: table["length"] for name, table in shared.items() if name != "stringArray"}
    lengths["stringArray"] = len(shared["stringArray"])
    for table, column, target in (
            ("stackTable", "frame", "frameTable"), ("frameTable", "func", "funcTable"),
            ("funcTable", "name", "stringArray"), ("funcTable", "resource", "resourceTable"),
            ("resourceTable", "name", "stringArray")):
        if any(number >= lengths[target] for number in shared[table][column]):
            raise ValueError(f"{table}.{column} leads nowhere")


def firefox_stack(shared, stack):
    names = []
    while stack is not None:
        function = shared["frameTable"]["func"][shared["stackTable"]["frame"][stack]]
        names.append(shared["stringArray"][shared["funcTable"]["name"][function]])
        stack = shared["stackTable"]["prefix"][stack]
    return ";".join(reversed(names))


def read_firefox(path):
    with open(path, encoding="utf-8") as file:
        profile = json.load(file, parse_float=Decimal)
    shared, slices, nr_arrows = profile["shared"], Slices(), 0
    check_tables(shared)
    numbers, sums, stacks = (collections.Counter() for _ in range(3))
    for number, thread in enumerate(profile["threads"]):
        print("track", thread["name"])
        check_tables({"samples": {key: value for key, value in thread["samples"].items()
                                  if key != "weightType"}, "markers": thread["markers"],
                      "stringArray": [], **{name: {"length": 0, "frame": [], "func": [],
                      "name": [], "resource": []} for name in ("stackTable", "frameTable",
                      "funcTable", "resourceTable")}})
        times = thread["samples"]["time"]
        if times != sorted(times):
            raise ValueError("samples aren't in the order of time")
        is_gpu = thread["processName"].startswith("GPU ")
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
            if is_gpu:
                stacks[firefox_stack(shared, stack)] += ns(weight * 1000)
            else:
                nr_arrows += 1
        markers = thread["markers"]
        for name, start, end, data in zip(markers["name"], markers["startTime"],
                                          markers["endTime"], markers["data"]):
            key = data["kind"], shared["stringArray"][name]
            numbers[key] += 1
            if end is not None:
                sums[key] += ns(end * 1000) - ns(start * 1000)
                slices.add(number, ns(start * 1000), ns(end * 1000), key)
            if data["kind"] == "kernel":
                firefox_stack(shared, data["cause"]["stack"])
    slices.check()
    for name in sorted({thread["processName"] for thread in profile["threads"]}):
        print("track", name)
    print("arrows", nr_arrows)
    for key in sorted(numbers):
        print(*key, numbers[key], sums[key])
    for stack in sorted(stacks):
        if "[GPU_Kernel]" in stack:
            print("stack", stack.replace("[GPU_Kernel]", ""), stacks[stack])


# --- speedscope -------------------------------------------------------------------------


def check_schema(value, schema, definitions, where="file"):
    """By what speedscope's schema uses of JSON Schema"""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        check_schema(value, definitions[name], definitions, where)
    if "anyOf" in schema:
        errors = []
        for choice in schema["anyOf"]:
            try:
                check_schema(value, choice, definitions, where)
                break
            except ValueError as error:
                errors.append(str(error))
        else:
            raise ValueError("; ".join(errors))
    types = {"object": dict, "array": list, "string": str, "number": (int, float)}
    if "type" in schema and not isinstance(value, types[schema["type"]]):
        raise ValueError(f"{where} is no {schema['type']}")
    if "const" in schema and value != schema["const"]:
        raise ValueError(f"{where} isn't {schema['const']}")
    if "enum" in schema and value not in schema["enum"]:
        raise ValueError(f"{where} is none of {schema['enum']}")
    for name in schema.get("required", []):
        if name not in value:
            raise ValueError(f"{where} has no {name}")
    for name, part in schema.get("properties", {}).items():
        if name in value:
            check_schema(value[name], part, definitions, f"{where}.{name}")
    if "items" in schema:
        for item in value:
            check_schema(item, schema["items"], definitions, f"{where}[]")


def read_speedscope(path, schema_path=None):
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    if schema_path:
        with open(schema_path, encoding="utf-8") as file:
            schema = json.load(file)
        check_schema(profile, schema, schema["definitions"])
    frames = [frame["name"] for frame in profile["shared"]["frames"]]
    for part in profile["profiles"]:
        if len(part["samples"]) != len(part["weights"]):
            raise ValueError("a sample hasn't a weight")
        if part["endValue"] - part["startValue"] != sum(part["weights"]):
            raise ValueError("the end isn't at the sum")
        print("type", part["name"], part["unit"], sum(part["weights"]))
        lines = [";".join(frames[number] for number in stack) + f" {weight}"
                 for stack, weight in zip(part["samples"], part["weights"])]
        for line in sorted(lines):
            print(part["name"], "stack", line)


# --- protobuf (https://protobuf.dev/programming-guides/encoding/) ---------------------------


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """{number: [value, ...]}: int, or bytes"""
    at, found = 0, collections.defaultdict(list)
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        elif key & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            if len(value) != length:
                raise ValueError("a message is cut off")
        else:
            raise ValueError(f"wire type {key & 7}")
        found[key >> 3].append(value)
    return found


def one(message, number, default=0):
    return message[number][-1] if number in message else default


def packed(message, number):
    """Numbers of a repeated field, whichever way it is encoded"""
    values = []
    for value in message.get(number, []):
        at = 0
        if isinstance(value, int):
            values.append(value)
            continue
        while at < len(value):
            number_, at = varint(value, at)
            values.append(number_)
    return values


def check_numbers(items, what):
    """Parca takes only numbers in order, from 1 on."""
    for at, item in enumerate(map(fields, items), 1):
        if one(item, 1) != at:
            raise ValueError(f"{what} {one(item, 1)} is the {at}th")


def read_pprof(path):
    with gzip.open(path) as file:
        profile = fields(file.read())
    strings = [string.decode("utf-8") for string in profile[6]]
    if strings[0] != "":
        raise ValueError("the first string isn't empty")
    types = [(strings[one(t, 1)], strings[one(t, 2)]) for t in map(fields, profile[1])]
    if any("-" in name for name, _ in types):
        raise ValueError("Pyroscope takes no type with a -")
    for number, what in (3, "mapping"), (4, "location"), (5, "function"):
        check_numbers(profile[number], what)
    if 11 not in profile or not one(profile, 12):
        raise ValueError("it hasn't a period")
    functions = {one(f, 1): f for f in map(fields, profile[5])}
    mappings = {one(m, 1): m for m in map(fields, profile[3])}
    names = {}
    for location in map(fields, profile[4]):
        if one(location, 1) in names or not one(location, 1):
            raise ValueError("a location's id is 0, or comes twice")
        if one(location, 2) and one(location, 2) not in mappings:
            raise ValueError("a location's mapping isn't there")
        line, = map(fields, location[4])
        names[one(location, 1)] = strings[one(functions[one(line, 1)], 2)]
    sums, stacks, labels = collections.Counter(), collections.Counter(), collections.Counter()
    for sample in map(fields, profile[2]):
        values = packed(sample, 2)
        if len(values) != len(types):
            raise ValueError("a sample hasn't a value of each type")
        stack = ";".join(names[number] for number in reversed(packed(sample, 1)))
        for (name, _), value in zip(types, values):
            sums[name] += value
            if value and not name.endswith("_count"):
                stacks[name, stack] += value
        for label in map(fields, sample[3]):
            value = strings[one(label, 2)] if 2 in label else one(label, 3)
            if not value:
                raise ValueError("readers take a label that is 0 for none")
            labels[strings[one(label, 1)], value] += 1
    for name, unit in types:
        print("type", name, unit, sums[name])
    print("default", strings[one(profile, 14)])
    if 3 in profile:
        print("program", strings[one(fields(profile[3][0]), 5)])
    for key, value in sorted(labels, key=str):
        print("label", key, value, labels[key, value])
    for (name, stack), value in sorted(stacks.items()):
        print(name, "stack", stack, value)


class Interned:
    """What packets told by number"""
    kinds = {1: "category", 2: "event", 3: "annotation", 5: "function", 6: "frame", 7: "stack"}

    def __init__(self):
        self.known = collections.defaultdict(dict)

    def take(self, data):
        for number, items in fields(data).items():
            for item in map(fields, items):
                kind, iid = self.kinds[number], one(item, 1)
                if not iid or iid in self.known[kind]:
                    raise ValueError(f"{kind} {iid} is told twice")
                if kind == "stack":
                    value = ";".join(self.known["frame"][f] for f in packed(item, 2))
                elif kind == "frame":
                    value = self.known["function"][one(item, 2)]
                else:
                    value = one(item, 2, b"").decode("utf-8")
                self.known[kind][iid] = value

    def name(self, kind, iid):
        return self.known[kind][iid]


class Perfetto:
    BEGIN, END, INSTANT = 1, 2, 3

    def __init__(self):
        self.interned, self.tracks = Interned(), {}
        self.flows = collections.defaultdict(list)
        self.events = collections.defaultdict(list)

    def take_track(self, descriptor):
        uuid, parent = one(descriptor, 1), one(descriptor, 5)
        if not uuid or uuid in self.tracks:
            raise ValueError("a track's id is 0, or comes twice")
        if parent and parent not in self.tracks:
            raise ValueError("a track comes before its parent")
        if 3 in descriptor:
            name = one(fields(descriptor[3][0]), 6)
        elif 4 in descriptor:
            name = one(fields(descriptor[4][0]), 5)
        else:
            name = one(descriptor, 2)
        self.tracks[uuid] = name.decode("utf-8")

    def take(self, packet):
        if one(packet, 10) == 0:
            raise ValueError("a packet without a sequence")
        if 12 in packet:
            self.interned.take(packet[12][0])
        if 60 in packet:
            self.take_track(fields(packet[60][0]))
        if 11 in packet:
            event, time = fields(packet[11][0]), one(packet, 8)
            if one(event, 11) not in self.tracks:
                raise ValueError("an event on no track")
            self.events[one(event, 11)].append((time, event))
            for flow in event.get(47, []):
                self.flows[flow].append(time)

    def print(self):
        numbers, sums, stacks = (collections.Counter() for _ in range(3))
        for events in self.events.values():
            opened = []
            for time, event in sorted(events, key=lambda event: event[0]):
                if one(event, 9) == self.END:
                    category, name, stack, start = opened.pop()
                    sums[category, name] += time - start
                    if category == "kernel":
                        stacks[f"{stack};{name}"] += time - start
                    continue
                category = self.interned.name("category", packed(event, 3)[0])
                name = self.interned.name("event", one(event, 10))
                stack = self.interned.name("stack", one(event, 56)) if 56 in event else ""
                numbers[category, name] += 1
                for annotation in map(fields, event.get(4, [])):
                    self.interned.name("annotation", one(annotation, 1))
                if one(event, 9) == self.BEGIN:
                    opened.append((category, name, stack, time))
        for name in sorted(self.tracks.values()):
            print("track", name)
        print("arrows", sum(len(times) - 1 for times in self.flows.values()))
        for key in sorted(numbers):
            print(*key, numbers[key], sums[key])
        for stack in sorted(stacks):
            print("stack", stack, stacks[stack])


def read_perfetto(path):
    with open(path, "rb") as file:
        packets = fields(file.read())
    if set(packets) != {1}:
        raise ValueError("a trace has packets, and nothing else")
    trace = Perfetto()
    for packet in packets[1]:
        trace.take(fields(packet))
    trace.print()


def main():
    readers = {"chrome": read_chrome, "perfetto": read_perfetto, "pprof": read_pprof,
               "speedscope": read_speedscope, "firefox": read_firefox}
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in readers:
        return __doc__
    try:
        readers[sys.argv[1]](*sys.argv[2:])
    except (ValueError, LookupError) as error:
        return f"{sys.argv[2]}: {error!r}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
