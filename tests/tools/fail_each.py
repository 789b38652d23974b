#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Run a command again and again, each time with another call of the system that fails
(libfaults.so), and say where what it does then isn't in order.

    fail_each.py --faults libfaults.so --input FOLDER [--old FILE]... -- COMMAND...

The command runs in a copy of the folder, where each FILE is an older output. Without faults
it must end with 0, and do the same again. With each of the calls that fail

- it ends by itself, not by a signal, nor by a sanitizer;
- with 0, it has written and printed what it does without; or, if it was possible to do less,
  has said so in a warning;
- with another status, it has said once what failed, and why; there is no file that wasn't
  there before, and the old ones are what they were.

A call that did only a part of its work (part, some) makes no difference at all.

With --record, COMMAND records a program that prints "launches PID NR" when it has launched so
many kernels, by perf-gpu, which --perf-gpu names:

- the program does what it does without, or isn't begun;
- all its kernels are in perf.data, with their stacks, or in what inject --recover makes of
  what is left; or record has said that some are not;
- if it isn't begun, record has said once why, and leaves nothing.

The call that fails is record's, or the program's: COMMAND has {faults} in the place of
"env LD_PRELOAD=..." then.

With --recover, COMMAND is perf-gpu inject --recover, and the folder has what a recorder of such
a program, which was killed, has left:

- all kernels are in the recording, or, if it failed, in what is made of the rest without a
  fault; or a warning has said what isn't there;
- if it failed, it has said so once, and why; no other files are left than it had, or makes.

With --check, COMMAND is perf-gpu check: it comes to a verdict, and says in its lines what
failed, and why.

Of a class with many calls, --steps are tried: the first, and from there on at equal
distances. 0: all.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

# What an error of each class is called; None: there is none
REASONS = {
    "memory": "[Nn]o memory|out of memory|Cannot allocate memory",
    "open": "Too many open files",
    "denied": "Permission denied",
    "write": "No space left on device",
    "part": None,
    "read": "Input/output error",
    "some": None,
    "map": "[Nn]o memory|Cannot allocate memory",
    "stat": "Input/output error",
    "file": "Input/output error",
    "thread": "Resource temporarily unavailable",
    "process": "Resource temporarily unavailable",
}
SANITIZER = re.compile(r"Sanitizer|runtime error:")
Run = collections.namedtuple("Run", "status out err files counts fired trace")


def read_tree(folder):
    """{name: its bytes}, of all in it; each folder has a name of its own, of one length"""
    here, there = folder.encode(), b"." * len(folder)
    tree = {}
    for parent, folders, names in os.walk(folder):
        for name in folders:
            tree[os.path.relpath(os.path.join(parent, name), folder) + "/"] = b""
        for name in names:
            path = os.path.join(parent, name)
            with open(path, "rb") as file:
                tree[os.path.relpath(path, folder)] = file.read().replace(here, there)
    return tree


class Case:
    def __init__(self, options):
        self.options = options
        self.before = None
        self.whole = None

    def prepare(self, folder):
        shutil.copytree(self.options.input, folder)
        for name in self.options.old:
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write("old\n")

    def run(self, fault=None):
        with tempfile.TemporaryDirectory() as work:
            folder = os.path.join(work, "files")
            self.prepare(folder)
            if self.before is None:
                self.before = read_tree(folder)
            counts, trace = os.path.join(work, "counts"), os.path.join(work, "trace")
            preload = {"LD_PRELOAD": self.options.faults, "FAULT_COUNT": counts,
                       "FAULT_TRACE": trace}
            if fault:
                preload["FAULT_AT"] = fault
            command = self.options.command
            environment = {**os.environ, "TMPDIR": folder}
            if "{faults}" in command:
                at = command.index("{faults}")
                command = [*command[:at], "env", *(f"{key}={value}" for key, value
                                                   in preload.items()), *command[at + 1:]]
            else:
                environment.update(preload)
            try:
                done = subprocess.run(command, cwd=folder, env=environment,
                                      stdin=subprocess.DEVNULL, capture_output=True,
                                      timeout=self.options.timeout, check=False)
                status, out, err = done.returncode, done.stdout, done.stderr
            except subprocess.TimeoutExpired as late:
                status, out, err = None, late.stdout or b"", late.stderr or b""
            out, err = (text.replace(folder.encode(), b"FOLDER") for text in (out, err))
            run = self.result(status, out, err, read_tree(folder), counts, trace)
            return self.look_at(run, folder)

    def look_at(self, run, _folder):
        return run

    @staticmethod
    def result(status, out, err, files, counts_path, trace_path):
        counts, trace = {}, []
        if os.path.exists(counts_path):
            with open(counts_path, encoding="ascii") as lines:
                for line in lines:
                    name, *nr = line.split()
                    counts[name] = int(nr[0]) if nr else 1
        if os.path.exists(trace_path):
            with open(trace_path, encoding="utf-8") as lines:
                trace = lines.read().splitlines()
        fired = counts.pop("fired", None)
        return Run(status, out, err.decode(errors="replace"), files, counts, fired, trace)

    def run_whole(self):
        self.whole = self.run()
        again = self.run()
        if self.whole.status != 0:
            sys.exit(f"status {self.whole.status} without a fault: {self.whole.err}")
        if self.is_same(again) is False:
            sys.exit("does something else each time")
        if not self.whole.counts:
            sys.exit("nobody has counted")

    def normal(self, out):
        for regex in self.options.ignore:
            out = re.sub(regex.encode(), b"", out)
        return out

    def is_same(self, run):
        return (self.normal(run.out) == self.normal(self.whole.out)
                and run.files == self.whole.files and run.status == 0)

    def points(self):
        for name, nr in self.whole.counts.items():
            if self.options.classes and name not in self.options.classes.split(","):
                continue
            steps = self.options.steps or nr
            yield from ((name, n) for n in
                        sorted({1 + i * nr // steps for i in range(steps)} if nr > steps
                               else range(1, nr + 1)))

    def trouble(self, name, run):
        """What isn't in order, and how it was taken: same, told or less"""
        lines = [line for line in run.err.splitlines() if line]
        errors = [line for line in lines
                  if line.startswith("perf-gpu ") and ": warning: " not in line]
        stray = [line for line in lines if not line.startswith(("perf-gpu ", "[ perf-gpu "))]
        what = None
        if not run.fired and self.is_same(run):
            return None, "uncalled"
        # It prints this, and exits.
        if run.status == 1 and "Fatal Internal Error in libarchive: " in run.err:
            return None, "ended by libarchive"
        if run.status is None:
            what = "it hangs"
        elif SANITIZER.search(run.err):
            what = "a sanitizer has something to say"
        elif run.status < 0 or run.status > 128:
            what = f"it ends with {run.status}"
        elif stray:
            what = "not a line of ours"
        elif self.is_same(run):
            return None, "same"
        elif REASONS[name] is None:
            what = "it is no error, and makes a difference"
        elif run.status == 0:
            news = set(lines) - set(self.whole.err.splitlines())
            if any(": warning: " in line for line in news):
                return None, "less"
            what = "it is said nowhere"
        elif len(errors) != 1:
            what = f"{len(errors)} errors are told"
        elif not re.search("|".join([REASONS[name], *self.options.reason]), errors[0]):
            what = "the reason isn't told"
        elif run.files != self.before:
            what = "files are left: " + " ".join(
                sorted(path for path in run.files.keys() | self.before.keys()
                       if run.files.get(path) != self.before.get(path)))
        return what, "told"


class RecordCase(Case):
    """`out` is what there is of the recording, behind what the program has printed."""

    def perf_gpu(self, folder, *arguments):
        return subprocess.run([self.options.perf_gpu, *arguments], cwd=folder, check=False,
                              capture_output=True, text=True)

    def look_at(self, run, folder):
        if not re.search(rb"^launches \d+ \d+$", run.out, re.M):
            return run._replace(out=b"not begun")
        if "perf.data" not in run.files:
            self.perf_gpu(folder, "inject", "--recover", "-o", "recovered.data")
        script = self.perf_gpu(folder, "script").stdout
        nr = len(re.findall("plain_kernel__launch", script))
        return run._replace(out=re.sub(rb"\d+", b"PID", run.out, 1) + b"%d kernels" % nr)

    def is_same(self, run):
        return run.out == self.whole.out and run.status == self.whole.status

    def trouble(self, name, run):
        lines = [line for line in run.err.splitlines() if line]
        errors = [line for line in lines if line.startswith("perf-gpu record: ")
                  and ": warning: " not in line]
        told = [line for line in lines if ": warning: " in line
                or re.search(r" [1-9][0-9,]* (launch|launches|GPU record|GPU records) (lost|dropped)", line)]
        stray = [line for line in lines if not line.startswith(("perf-gpu ", "[ perf-gpu "))]
        left = [path for path in run.files if path not in self.before
                and not path.startswith("perf.data")]
        is_kept = any("what was recorded is kept" in line for line in lines)
        what = None
        if not run.fired and self.is_same(run):
            return None, "uncalled"
        if run.status is None:
            what = "it hangs"
        elif SANITIZER.search(run.err):
            what = "a sanitizer has something to say"
        elif run.status < 0 or run.status > 128:
            what = f"it ends with {run.status}"
        elif stray:
            what = "not a line of ours"
        elif left:
            what = "files are left: " + " ".join(left)
        elif run.out == b"not begun":
            left = [path for path in run.files if path not in self.before
                    and not path.endswith(".lock")]
            if "{faults}" in self.options.command:
                what = "the program is hurt"
            elif run.status == 0 or len(errors) != 1:
                what = f"it isn't begun, and {len(errors)} errors are told"
            elif left:
                what = "it isn't begun, and files are left: " + " ".join(left)
            elif not re.search("|".join([REASONS[name] or "$^", *self.options.reason]), errors[0]):
                what = "the reason isn't told"
        elif run.out.split(b"\n")[0] != self.whole.out.split(b"\n")[0]:
            what = f"the program is hurt: {run.out}"
        elif REASONS[name] is None and not self.is_same(run):
            what = f"it is no error, and makes a difference: {run.out}"
        elif run.status != 0 and not errors:
            what = "no error is told"
        elif errors and not re.search(REASONS[name], " ".join(errors)):
            what = "the reason isn't told"
        elif not self.is_same(run) and run.out != self.whole.out and not errors and not told:
            what = f"it is said nowhere: {run.out}"
        elif is_kept != ("perf.data" not in run.files) and run.status != 0 and is_kept:
            what = "what is kept isn't there"
        return what, "same" if self.is_same(run) else "told" if errors else "less"


class RecoverCase(Case):
    """`out` is what there is of the recording then, for who tries again if it failed."""

    def look_at(self, run, folder):
        if "perf.data" not in run.files:
            subprocess.run([self.options.perf_gpu, "inject", "--recover"], cwd=folder,
                           check=False, capture_output=True)
        script = subprocess.run([self.options.perf_gpu, "script"], cwd=folder, check=False,
                                capture_output=True, text=True).stdout
        return run._replace(out=b"%d kernels" % len(re.findall("plain_kernel__launch", script)))

    def is_same(self, run):
        return run.out == self.whole.out and run.status == 0

    def trouble(self, name, run):
        lines = [line for line in run.err.splitlines() if line]
        errors = [line for line in lines
                  if line.startswith("perf-gpu inject: ") and ": warning: " not in line]
        left = [path for path in run.files
                if path not in self.before and path not in self.whole.files]
        what = None
        if run.status is None:
            what = "it hangs"
        elif SANITIZER.search(run.err):
            what = "a sanitizer has something to say"
        elif run.status < 0 or run.status > 128:
            what = f"it ends with {run.status}"
        elif any(not line.startswith(("perf-gpu ", "[ perf-gpu ")) for line in lines):
            what = "not a line of ours"
        elif run.out != self.whole.out and (run.status or ": warning: " not in run.err):
            what = f"it is lost: {run.out}"
        elif left:
            what = "files are left: " + " ".join(left)
        elif run.status and REASONS[name] is None:
            what = "it is no error, and makes a difference"
        elif run.status and len(errors) != 1:
            what = f"{len(errors)} errors are told"
        elif run.status and not re.search(REASONS[name], errors[0]):
            what = "the reason isn't told"
        return what, "same" if self.is_same(run) else "told" if errors else "less"


class CheckCase(Case):
    @staticmethod
    def things(out):
        """The names at the beginning of a report's lines"""
        return {line[8:22].strip() for line in out.decode().splitlines()
                if re.match(r"  (ok|-|warn|FAIL) ", line)}

    def is_same(self, run):
        return (self.normal(run.out) == self.normal(self.whole.out)
                and run.status == self.whole.status)

    def trouble(self, name, run):
        lines = [line for line in run.err.splitlines() if line]
        errors = [line for line in lines if line.startswith("perf-gpu check: ")]
        missing = self.things(self.whole.out) - self.things(run.out)
        what = None
        if run.status is None:
            what = "it hangs"
        elif SANITIZER.search(run.err + run.out.decode()):
            what = "a sanitizer has something to say"
        elif run.status not in (0, 1):
            what = f"it ends with {run.status}"
        elif len(errors) != len(lines):
            what = "not a line of ours"
        elif run.files != self.before:
            what = "files are left"
        elif errors and run.status == 0:
            what = "it has failed, and doesn't say so"
        elif not self.is_same(run) and not re.search(
                "|".join([REASONS[name] or "$^", *self.options.reason]),
                " ".join((run.out.decode() + run.err).split())):
            what = "the reason isn't told, nor anything of " + ", ".join(sorted(missing))
        elif not errors and not re.search(rb"^record (works|does not)", run.out, re.M):
            what = "there is no verdict"
        how = "same" if self.is_same(run) else "told" if errors else "less"
        return what, how if run.fired else "uncalled"


def symbols(trace):
    """backtrace_symbols() as functions, innermost first, of those frames that have a line"""
    names = []
    for line in trace[1:]:
        place = re.match(r"(.*)\((.*)\)\[", line)
        if not place or "libfaults" in place[1]:
            continue
        if not place[2].startswith("+"):
            names.append(place[2].split("+")[0])
            continue
        offset = hex(int(place[2][1:], 16) - 1)
        text = subprocess.run(["addr2line", "-sfie", place[1], offset], check=False,
                              capture_output=True, text=True).stdout.splitlines()
        names += [f"{name}({at})" for name, at in zip(text[::2], text[1::2])
                  if not at.startswith("??")] or [os.path.basename(place[1])]
    return " < ".join(names[:14])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--faults", required=True, metavar="LIBRARY")
    parser.add_argument("--input", required=True, metavar="FOLDER")
    parser.add_argument("--old", action="append", default=[], metavar="FILE")
    parser.add_argument("--ignore", action="append", default=[], metavar="REGEX",
                        help="of what is printed, this may differ")
    parser.add_argument("--reason", action="append", default=[], metavar="REGEX",
                        help="an error may give this reason, too")
    parser.add_argument("--classes", help="these alone; with --steps, what fails")
    parser.add_argument("--at", type=int, help="this call alone, and show what is said")
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--timeout", type=int, default=280, help="seconds; a hang behind it")
    parser.add_argument("--messages", metavar="FILE", help="append all errors and warnings")
    parser.add_argument("command", nargs="+")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--recover", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--perf-gpu", metavar="PATH")
    options = parser.parse_args()
    case = (RecordCase if options.record else RecoverCase if options.recover else
            CheckCase if options.check else Case)(options)
    case.run_whole()
    points = list(case.points())
    if case.options.at:
        points = [(case.options.classes, case.options.at)]
    tally = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        runs = workers.map(lambda point: case.run(f"{point[0]}:{point[1]}"), points)
        for (name, n), run in zip(points, runs):
            what, how = case.trouble(name, run)
            tally["odd" if what else how] += 1
            if case.options.messages:
                with open(case.options.messages, "a", encoding="utf-8") as file:
                    file.writelines(f"{name} {n}: {line}\n" for line in run.err.splitlines()
                                    if line not in case.whole.err.splitlines())
            if what or case.options.at:
                print(f"{name} {n} of {case.whole.counts[name]}: {what}, status {run.status}")
                print("    in", symbols(run.trace))
                print("".join(f"    {line}\n" for line in run.err.splitlines()[:30]
                              if line not in case.whole.err.splitlines()), end="")
    # How many calls there are can differ a little from run to run, and where threads wait for
    # each other, more than a little.
    if tally["uncalled"] * (2 if options.record else 10) > len(points):
        sys.exit(f"{tally['uncalled']} of {len(points)} calls never came")
    print(f"{len(points)} calls failed: " + ", ".join(
        f"{nr} {how}" for how, nr in sorted(tally.items())), file=sys.stderr)
    sys.exit(1 if tally["odd"] else 0)


if __name__ == "__main__":
    main()
