#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Says which lines tests have run: a figure for each folder, and what is left of the paths
that errors take, each with its place.

    coverage.py build-coverage [--paths FILE]

The folder is one that was built with COVERAGE=1 and in which tests then ran. A line
counts as one of an error's path if it returns or stores a negative errno, prints an
error, or goes to where a function gives up.
"""
import argparse
import collections
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

ERROR_PATH = re.compile(r"return\s+-E|return\s+-errno|=\s*-E[A-Z]+\b|=\s*-errno|\bpr_err\(|"
                        r"\bgoto\s+(out|fail|err)|return\s+(no_memory|print_)")


def notes(folder):
    for parent, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".gcno"):
                yield os.path.join(parent, name)


def run_gcov(paths):
    """What gcov knows of each of some objects; of one that never ran, that it has lines."""
    with tempfile.TemporaryDirectory() as work:
        for i in range(0, len(paths), 50):
            subprocess.run(["gcov", "--json-format", "--preserve-paths",
                            *map(os.path.abspath, paths[i:i + 50])],
                           cwd=work, check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        for name in os.listdir(work):
            with gzip.open(os.path.join(work, name)) as text:
                yield json.load(text)


def count_lines(folder):
    """{file: {line: runs}}, of the tree's own sources"""
    counts = collections.defaultdict(collections.Counter)
    for report in run_gcov(sorted(notes(folder))):
        for file in report["files"]:
            path = os.path.normpath(file["file"])
            if path.startswith(("perf-gpu/", "cupti_inject/")):
                for line in file["lines"]:
                    counts[path][line["line_number"]] += line["count"]
    return counts


def error_paths(counts):
    """(path, line, text) of each that no test takes"""
    for path in sorted(counts):
        with open(path) as source:
            lines = source.read().splitlines()
        for line, runs in sorted(counts[path].items()):
            if not runs and line <= len(lines) and ERROR_PATH.search(lines[line - 1]):
                yield path, line, lines[line - 1].strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("build")
    parser.add_argument("--paths", metavar="FILE", help="write the errors' paths there")
    arguments = parser.parse_args()
    counts = count_lines(arguments.build)
    if not counts:
        sys.exit(f"{arguments.build} has nothing that was built with COVERAGE=1")

    folders = collections.defaultdict(lambda: [0, 0])
    for path, lines in counts.items():
        for name in (os.path.dirname(path), "all"):
            folders[name][0] += sum(1 for runs in lines.values() if runs)
            folders[name][1] += len(lines)
    for name in sorted(folders):
        run, lines = folders[name]
        print(f"{name:24} {run:6} of {lines:6} lines {100 * run / lines:6.1f} %")

    left = list(error_paths(counts))
    text = "".join(f"{path}:{line}: {source}\n" for path, line, source in left)
    if arguments.paths:
        with open(arguments.paths, "w") as out:
            out.write(text)
    else:
        print(text, end="")
    print(f"{len(left)} lines of errors' paths are run by no test"
          + (f": {arguments.paths}" if arguments.paths else ""))


if __name__ == "__main__":
    main()
