#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what perf-gpu report --json or --csv prints with perf.data.gpu, which is read
and added up by nothing of ours that reads it (gpu_log.py, event_sums.py): the sums of all
events, each kernel's figures and shapes, by group too, and how GPUs spent their time.

    check_report.py perf.data.gpu report.json [--csv report.csv] [--launched launched.txt]

The report was made with --names mangled. With --launched, the callers of copies, memsets
and allocations are the functions that the program (event_truth.cu) says it called, each as
often. Prints what is wrong, and "wrong=N".
"""
import argparse
import collections
import csv
import json
import statistics
import sys

sys.dont_write_bytecode = True
import event_sums  # noqa: E402
import gpu_log  # noqa: E402


class Checker:
    def __init__(self, log, report):
        self.log, self.report = log, report
        self.nr_wrong = 0

    def expect(self, what, wanted, got):
        is_same = (abs(wanted - got) <= 1e-6 * abs(wanted) + 0.001
                   if isinstance(wanted, float) else wanted == got)
        if not is_same:
            self.nr_wrong += 1
            print(f"{what}: {wanted} expected, {got} reported")

    def check_sums(self):
        sums = event_sums.EventSums(self.log).sums
        totals, units = collections.defaultdict(lambda: [0, 0]), {}
        for row in self.report["rows"]:
            units[row["event"]] = row["unit"]
            totals[row["event"]][0] += row["calls"]
            totals[row["event"]][1] += row["total"]
        for event in self.report["events"]:
            name, unit = event["event"], event["unit"]
            wanted = sums.get((name, unit), [0, 0])
            self.expect(f"rows of {name}", wanted, totals[name])
            self.expect(f"unit of {name}", unit, units.get(name, unit))
            self.expect(f"calls of {name}", wanted[0], event["calls"] - event["empty"])
            self.expect(f"total of {name}", wanted[1], event["total"])
            if "bytes" in event and (name, "bytes") in sums:
                self.expect(f"bytes of {name}", sums[name, "bytes"][1], event["bytes"])

    def check_parts(self):
        for row in self.report["rows"]:
            name = f"{row['event']} {row['name']}"
            for part in ("callers", "shapes"):
                if part not in row:
                    continue
                self.expect(f"{part} of {name}", (row["calls"], row["total"]),
                            (sum(item["calls"] for item in row[part]),
                             sum(item["total"] for item in row[part])))

    def check_kernels(self):
        """Each row's figures; of rows of a stream, those of that stream's kernels."""
        rows = [row for row in self.report["rows"] if row["event"] == "gpu-kernel"]
        has_stream = any("stream" in row for row in rows)
        values = collections.defaultdict(list)
        for kernel in self.log.kernels:
            if self.log.duration_ns(kernel):
                key = (kernel.name, kernel.stream) if has_stream else (kernel.name,)
                values[key].append(self.log.duration_ns(kernel))
        keys = [(row["name"], row["stream"]) if has_stream else (row["name"],) for row in rows]
        if rows:
            self.expect("kernels", sorted(values), sorted(keys))
        for key, row in zip(keys, rows):
            of_row = values.get(key, [0])
            for what, wanted in (
                    ("calls", len(of_row)), ("total", sum(of_row)), ("min", min(of_row)),
                    ("max", max(of_row)), ("median", statistics.median(of_row)),
                    ("mean", float(statistics.fmean(of_row))),
                    ("stddev", statistics.stdev(of_row) if len(of_row) > 1 else 0.0)):
                self.expect(f"{what} of {key}", wanted, row[what])
        if rows:
            self.expect("shapes", self.log.launch_shapes, {
                (row["name"], tuple(shape["grid"]), tuple(shape["block"]), shape["registers"],
                 shape["static_shared_bytes"], shape["dynamic_shared_bytes"])
                for row in rows for shape in row["shapes"]})

    def check_gpus(self):
        covers = collections.defaultdict(lambda: {"kernels": [], "copies": [], "all": []})
        sums = event_sums.EventSums(self.log)
        has_stream = any("stream" in gpu for gpu in self.report["gpus"])

        def add(of, stream, what, activity):
            for key in [(of,), (of, stream)][:1 + has_stream]:
                covers[key][what].append((activity.start_ns, activity.end_ns))

        for kernel in filter(event_sums.is_timed, self.log.kernels):
            for what in ("kernels", "all"):
                add(sums.gpu(kernel.log, kernel.device), kernel.stream, what, kernel)
        for activity in filter(event_sums.is_timed, self.log.activities):
            operation = activity.operation
            if (operation.kind not in (gpu_log.MEMCPY, gpu_log.MEMSET)
                    or operation.device == gpu_log.NO_DEVICE):
                continue
            gpu = sums.gpu(activity.log, operation.device)
            add(gpu, operation.stream, "all", activity)
            if operation.kind == gpu_log.MEMCPY:
                add(gpu, operation.stream, "copies", activity)
        wanted = []
        for (_, *stream), cover in covers.items():
            whole, kernels, copies = (union(cover[what]) for what in ("all", "kernels", "copies"))
            both = length(kernels) + length(copies) - length(union(kernels + copies))
            wanted.append((*stream, whole[0][0], whole[-1][1], length(whole),
                           whole[-1][1] - whole[0][0] - length(whole), len(whole) - 1,
                           length(kernels), length(copies), both))
        got = [tuple(gpu[field] for field in (
            "stream", "first_ns", "last_ns", "busy_ns", "idle_ns", "gaps", "kernels_ns",
            "copies_ns", "overlap_ns") if field in gpu) for gpu in self.report["gpus"]]
        if got:
            self.expect("GPUs", sorted(wanted), sorted(got))

    def check_csv(self, path):
        with open(path, newline="") as f:
            lines = list(csv.DictReader(f))
        rows = [line for line in lines if line["line"] == "row"]
        for field in ("event", "name", "total", "calls", "min", "max", "mean", "median",
                      "stddev", "unit"):
            kind = str if field in ("event", "name", "unit") else float
            self.expect(f"{field} of CSV", [kind(row[field]) for row in self.report["rows"]],
                        [kind(row[field]) for row in rows])
        for part, array in (("caller", "callers"), ("shape", "shapes")):
            self.expect(f"{part} lines of CSV",
                        [item["total"] for row in self.report["rows"]
                         for item in row.get(array, [])],
                        [int(line["total"]) for line in lines if line["line"] == part])
        self.expect("GPU lines of CSV", 5 * len(self.report["gpus"]),
                    sum(line["line"] == "gpu" for line in lines))


    def check_callers(self, path):
        events = ("gpu-memcpy", "gpu-memset", "gpu-alloc")
        wanted, got = collections.Counter(), collections.Counter()
        unsure = set()  # it depends on the driver how often these are recorded
        with open(path) as f:
            for line in f:
                did, event, _, nr, *fields = line.rstrip("\n").split("\t") + [""] * 9
                if did != "did" or event not in events:
                    continue
                # Of a graph's, the function that captured them is behind the other's.
                leaf, function, captured = fields[3:6]
                if nr == "-":
                    unsure.add((event, function))
                else:
                    wanted[event, leaf, captured or function] += int(nr)
        for row in self.report["rows"]:
            for caller in row["callers"]:
                # Variables of modules are allocated by no call.
                if row["event"] in events and "static" not in row["name"]:
                    got[row["event"], row["name"], caller["name"]] += caller["calls"]
        for key in sorted(set(wanted) | set(got)):
            if (key[0], key[2]) not in unsure:
                self.expect(f"calls of {' '.join(key)}", wanted[key], got[key])


def union(spans):
    merged = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def length(spans):
    return sum(end - start for start, end in spans)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv")
    parser.add_argument("--launched")
    parser.add_argument("sidecar")
    parser.add_argument("report")
    arguments = parser.parse_args()
    with open(arguments.report) as f:
        checker = Checker(gpu_log.GpuLog(arguments.sidecar), json.load(f))
    checker.check_sums()
    checker.check_parts()
    checker.check_kernels()
    checker.check_gpus()
    if arguments.csv:
        checker.check_csv(arguments.csv)
    if arguments.launched:
        checker.check_callers(arguments.launched)
    print(f"wrong={checker.nr_wrong}")
    sys.exit(checker.nr_wrong != 0)


if __name__ == "__main__":
    main()
