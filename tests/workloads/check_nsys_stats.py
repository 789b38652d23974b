#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Whether "nsys stats" reads what perf-gpu export --sqlite has written, and counts the same.

    check_nsys_stats.py [--nsys PROGRAM] [--ranges NR] DATABASE REPORT

DATABASE is what was exported, REPORT what "perf-gpu report --csv" printed of the same
recording; of calls nsys tells the same only if gpu-launch was recorded. --ranges tells how
many NVTX ranges there are. All that nsys has to say is printed, then a line for each report.
Exit status 1 if a report fails or differs.

A report has two names: that of Nsight Systems 2023 and later, and that of before.
"""
import argparse
import collections
import csv
import re
import subprocess
import sys

DIRECTIONS = {"Host": "H", "Device": "D", "Array": "A", "Peer": "P"}


class Wrong(Exception):
    pass


class Nsys:
    def __init__(self, program, database):
        self.program, self.database = program, database
        # Its exit status is 1 in any case.
        self.known = self.run("stats", "--help-reports").stdout

    def run(self, *arguments):
        return subprocess.run([self.program, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)

    def rows(self, name, old_name):
        """The rows of a report, by its new name if this nsys doesn't know the other"""
        if re.search(rf"^\s*{old_name}\b", self.known, re.MULTILINE):
            name = old_name
        done = self.run("stats", "--format", "csv", "--report", name, self.database)
        print(done.stdout)
        lines = done.stdout.splitlines()
        said = [line for line in lines if re.match("ERROR|SKIPPED", line)]
        if done.returncode or said:
            raise Wrong(" ".join([f"status {done.returncode} of {name}", *said]))
        # Before the table's head are lines of its own.
        first = next((i for i, line in enumerate(lines) if "," in line and
                      not line.startswith("Processing ")), len(lines))
        return list(csv.DictReader(lines[first:]))


def column(row, *names):
    """A cell, by the beginning of its column's name: units are behind it"""
    for name in names:
        for key, value in row.items():
            if key and (key == name or key.startswith(f"{name} (")):
                return value
    raise Wrong(f"no column {' or '.join(names)} in {', '.join(map(str, row))}")


def number(row, *names):
    return int(float(column(row, *names)))


def sums(rows, key, *values):
    """For each key, the sums of columns; a report may have several rows of it"""
    total = collections.defaultdict(lambda: [0] * len(values))
    for row in rows:
        for i, value in enumerate(values):
            total[key(row)][i] += value(row)
    return {name: tuple(value) for name, value in total.items()}


def operation(name):
    """[CUDA memcpy Host-to-Device], or ... HtoD, as perf-gpu has it: HtoD"""
    match = re.fullmatch(r"\[CUDA mem(cpy|set) ?(.*)\]", name, re.IGNORECASE)
    if not match:
        raise Wrong(f"{name}: neither a copy nor a memset")
    if match[1].lower() == "set":
        return "memset"
    words = re.fullmatch("(.*)-to-(.*)", match[2])
    return "to".join(DIRECTIONS[word] for word in words.groups()) if words else match[2]


def recorded(path):
    """By event and name: (calls, ns, bytes)"""
    events = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0, 0]))
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["line"] != "row":
                continue
            event, name = row["event"], row["name"]
            if event == "gpu-memset":
                event, name = "memory", "memset"
            elif event == "gpu-memcpy":
                event, name = "memory", name.split()[0]
            sum_of = events[event][name]
            sum_of[0] += int(row["calls"])
            sum_of[1] += int(row["total"])
            sum_of[2] += int(row["bytes"] or 0)
    return events


def compare(what, wanted, got):
    for name in sorted(set(wanted) | set(got)):
        if wanted.get(name) != got.get(name):
            yield f"{what}: {name}: {got.get(name)} by nsys, {wanted.get(name)} by perf-gpu"


def nr_of(events):
    return sum(calls for calls, _, _ in events.values())


def kernels(nsys, events, _):
    got = sums(nsys.rows("cuda_gpu_kern_sum", "gpukernsum"), lambda row: column(row, "Name"),
               lambda row: number(row, "Instances"), lambda row: number(row, "Total Time"))
    wanted = {name: (nr, ns) for name, (nr, ns, _) in events["gpu-kernel"].items()}
    return wanted, got


def memory_time(nsys, events, _):
    got = sums(nsys.rows("cuda_gpu_mem_time_sum", "gpumemtimesum"),
               lambda row: operation(column(row, "Operation")),
               lambda row: number(row, "Count", "Operations"),
               lambda row: number(row, "Total Time"))
    wanted = {name: (nr, ns) for name, (nr, ns, _) in events["memory"].items()}
    return wanted, got


def memory_size(nsys, events, _):
    """In MB, of three digits; which is all that nsys tells"""
    got = sums(nsys.rows("cuda_gpu_mem_size_sum", "gpumemsizesum"),
               lambda row: operation(column(row, "Operation")),
               lambda row: number(row, "Count", "Operations"),
               lambda row: round(float(column(row, "Total")), 3))
    wanted = {name: (nr, round(size / 1e6, 3)) for name, (nr, _, size)
              in events["memory"].items()}
    return wanted, got


def calls(nsys, events, _):
    """nsys cuts the version off a name: _v7000"""
    def named(name):
        return name[:-6] if name[-6:-4] == "_v" else name
    got = sums(nsys.rows("cuda_api_sum", "cudaapisum"), lambda row: column(row, "Name"),
               lambda row: number(row, "Num Calls"), lambda row: number(row, "Total Time"))
    wanted = {named(name): (nr, ns) for name, (nr, ns, _) in events["gpu-launch"].items()}
    return wanted or got, got


def call_trace(nsys, events, _):
    rows = nsys.rows("cuda_api_trace", "cudaapitrace")
    got = {"calls": (len(rows), sum(number(row, "Duration") for row in rows))}
    wanted = {"calls": (nr_of(events["gpu-launch"]),
                        sum(ns for _, ns, _ in events["gpu-launch"].values()))}
    return wanted if events["gpu-launch"] else got, got


def gpu_trace(nsys, events, _):
    rows = nsys.rows("cuda_gpu_trace", "gputrace")
    both = [*events["gpu-kernel"].values(), *events["memory"].values()]
    return ({"work": (sum(nr for nr, _, _ in both), sum(ns for _, ns, _ in both))},
            {"work": (len(rows), sum(number(row, "Duration") for row in rows))})


def queued(nsys, events, _):
    """Kernels with the call that launched them"""
    rows = nsys.rows("cuda_kern_exec_sum", "kernexecsum")
    return ({"kernels": nr_of(events["gpu-kernel"])},
            {"kernels": sum(number(row, "Count") for row in rows)})


def ranges(nsys, _, nr_ranges):
    rows = nsys.rows("nvtx_sum", "nvtxsum")
    return {"ranges": nr_ranges}, {"ranges": sum(number(row, "Instances") for row in rows)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--nsys", default="nsys")
    parser.add_argument("--ranges", type=int, default=0)
    parser.add_argument("database")
    parser.add_argument("report")
    arguments = parser.parse_args()

    events = recorded(arguments.report)
    nsys = Nsys(arguments.nsys, arguments.database)
    wrong, lines = [], []
    for check in (kernels, memory_time, memory_size, calls, ranges, gpu_trace, call_trace,
                  queued):
        try:
            wanted, got = check(nsys, events, arguments.ranges)
        except Wrong as error:
            wrong.append(f"{check.__name__}: {error}")
            continue
        wrong += compare(check.__name__, wanted, got)
        lines.append(f"{check.__name__}: {got}")
    print(*lines, *(f"wrong: {line}" for line in wrong), sep="\n")
    print(f"reports={len(lines)} wrong={len(wrong)}")
    return 1 if wrong or not nr_of(events["gpu-kernel"]) else 0


if __name__ == "__main__":
    sys.exit(main())
