#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares how many kernels, copies and memsets several sources have of one program.

A source is KIND:FILE, where KIND is
    sidecar  perf.data.gpu
    script   text of perf-gpu script, of gpu-kernel, gpu-memcpy and gpu-memset
    cupti    what cupti_tee.c writes: CUPTI's own records, in the run of the sidecar
    trace    a Chrome trace of torch.profiler
    nsys     what nsys export --type sqlite writes
Counts and bytes must be the same in all that have them. Times must be so, to the
nanosecond, in the first three, which are of one run; runs of their own take their own time.

Prints a table, then what differs, then one line with wrong=0, or how many do.
"""
import argparse
import json
import sqlite3
import sys

sys.dont_write_bytecode = True
import check_events  # noqa: E402
import event_sums  # noqa: E402
import gpu_log  # noqa: E402

EVENTS = "gpu-kernel", "gpu-memcpy", "gpu-memset"


class Counts:
    """By event: how many, ns, bytes; None where the source doesn't tell."""

    def __init__(self, has_ns, has_bytes):
        self.nr = dict.fromkeys(EVENTS, 0)
        self.ns = dict.fromkeys(EVENTS, 0 if has_ns else None)
        self.bytes = {event: 0 if has_bytes and event != "gpu-kernel" else None
                      for event in EVENTS}

    def add(self, event, nr, ns=0, nr_bytes=0):
        self.nr[event] += nr
        if self.ns[event] is not None:
            self.ns[event] += ns
        if self.bytes[event] is not None:
            self.bytes[event] += nr_bytes


def of_sidecar(path):
    sums = event_sums.EventSums(gpu_log.GpuLog(path)).sums
    counts = Counts(True, True)
    for event in EVENTS:
        nr, ns = sums.get((event, "ns"), (0, 0))
        counts.add(event, nr, ns, sums.get((event, "bytes"), (0, 0))[1])
    return counts


def of_script(path):
    counts = Counts(True, False)
    with open(path, errors="replace") as lines:
        for sample in check_events.samples(lines):
            if sample.event in EVENTS:
                counts.add(sample.event, 1, sample.period)
    return counts


def of_cupti(path):
    counts = Counts(True, True)
    with open(path) as lines:
        for line in lines:
            event, *numbers = line.rstrip("\n").split("\t")
            counts.add(event, *map(int, numbers))
    return counts


def of_trace(path):
    categories = {"kernel": "gpu-kernel", "gpu_memcpy": "gpu-memcpy", "gpu_memset": "gpu-memset"}
    counts = Counts(False, True)
    with open(path) as f:
        for event in json.load(f)["traceEvents"]:
            name = categories.get(event.get("cat", "").lower())
            if name and event.get("ph") == "X":
                counts.add(name, 1, 0, int(event.get("args", {}).get("bytes", 0)))
    return counts


def of_nsys(path):
    tables = {"gpu-kernel": "KERNEL", "gpu-memcpy": "MEMCPY", "gpu-memset": "MEMSET"}
    counts = Counts(False, True)
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    there = {name for name, in database.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table'")}
    for event, table in tables.items():
        table = f"CUPTI_ACTIVITY_KIND_{table}"
        if table not in there:
            continue  # nsys makes none for what there was none of
        nr_bytes = "0" if event == "gpu-kernel" else "coalesce(sum(bytes), 0)"
        nr, total = database.execute(f"SELECT count(*), {nr_bytes} FROM {table}").fetchone()
        counts.add(event, nr, 0, total)
    return counts


READERS = {"sidecar": of_sidecar, "script": of_script, "cupti": of_cupti, "trace": of_trace,
           "nsys": of_nsys}


def differences(sources):
    first_name, first = next(iter(sources.items()))
    for name, counts in sources.items():
        for event in EVENTS:
            for what in "nr", "ns", "bytes":
                wanted, got = (getattr(source, what)[event] for source in (first, counts))
                if None not in (wanted, got) and wanted != got:
                    yield (f"{event}: {got} {'' if what == 'nr' else what + ' '}by {name}, "
                           f"{wanted} by {first_name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", nargs="+", help="KIND:FILE, first what to compare with")
    arguments = parser.parse_args()

    sources = {}
    for source in arguments.source:
        kind, _, path = source.partition(":")
        if kind not in READERS or not path:
            parser.error(f"{source}: there are {', '.join(READERS)}, each with :FILE")
        sources[kind] = READERS[kind](path)
    print(f"{'':10}" + "".join(f"{event:>12} {'ns':>14} {'bytes':>12}" for event in EVENTS))
    for kind, counts in sources.items():
        print(f"{kind:10}" + "".join(
            f"{counts.nr[event]:12} "
            f"{'-' if counts.ns[event] is None else counts.ns[event]:>14} "
            f"{'-' if counts.bytes[event] is None else counts.bytes[event]:>12}"
            for event in EVENTS))
    wrong = list(differences(sources))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    first = next(iter(sources.values()))
    print(f"wrong={len(wrong)} sources={','.join(sources)} "
          + " ".join(f"{event}={first.nr[event]}" for event in EVENTS))
    return 1 if wrong or not first.nr["gpu-kernel"] or len(sources) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
