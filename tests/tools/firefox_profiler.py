# SPDX-License-Identifier: GPL-2.0-or-later
"""Open a profile in the Firefox Profiler's own code, and print what it made of it.

usage: firefox_profiler.py FOLDER PROFILE

FOLDER has its version for a terminal: the npm package @firefox-devtools/profiler-cli. Prints
of each thread, which it has all that is on a track for,

    thread PROCESS|NAME|PID|TID
    markers PROCESS|NAME|MARKER|HOW MANY|NS      of that name
    self PROCESS|NAME|FUNCTION|NS                of samples
    tree PROCESS|NAME|NS                         of all of its call tree
"""
import json
import os
import subprocess
import sys
import tempfile
import time

# Who starts a profiler gives it half a second; on a busy machine it is there later.
PATIENCE_S = 240


class Profiler:
    def __init__(self, folder, home):
        self.command = ["node", os.path.join(folder, "dist/profiler-cli.js")]
        self.environment = {**os.environ, "HOME": home}

    def run(self, *words):
        return subprocess.run([*self.command, *words], env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)

    def ask(self, *words):
        answer = self.run(*words, "--json")
        if answer.returncode:
            raise RuntimeError(f"{' '.join(words)}: {answer.stderr.strip()}")
        return json.loads(answer.stdout)

    def load(self, path):
        first = self.run("load", path)
        deadline = time.monotonic() + PATIENCE_S
        while self.run("thread", "list", "--json").returncode:
            if first.returncode and "has not exited" not in first.stderr:
                raise RuntimeError(first.stderr.strip())
            if time.monotonic() > deadline:
                raise RuntimeError("its daemon isn't there")
            time.sleep(0.2)


def ns(milliseconds):
    return round(milliseconds * 1e6)


def print_thread(profiler, thread):
    place = f"{thread['processName']}|{thread['name']}"
    handle = "--thread", thread["threadHandle"]
    print(f"thread {place}|{thread['pid']}|{thread['tid']}")
    markers = profiler.ask("thread", "markers", *handle, "--limit", "0")
    for kind in markers["byType"]:
        mean = kind["durationStats"]["avg"] if kind.get("durationStats") else 0
        print(f"markers {place}|{kind['markerName']}|{kind['count']}|{ns(mean * kind['count'])}")
    for function in profiler.ask("thread", "functions", *handle, "--limit", "0")["functions"]:
        if function["selfSamples"]:
            print(f"self {place}|{function['name']}|{ns(function['selfSamples'])}")
    tree = profiler.ask("thread", "samples-top-down", *handle)["regularCallTree"]
    print(f"tree {place}|{ns(tree['totalSamples'])}")


def main():
    with tempfile.TemporaryDirectory() as home:
        profiler = Profiler(sys.argv[1], home)
        try:
            profiler.load(os.path.abspath(sys.argv[2]))
            for thread in profiler.ask("thread", "list", "--limit", "0")["threads"]:
                print_thread(profiler, thread)
        except RuntimeError as error:
            return str(error)
        finally:
            profiler.run("stop", "--all")
    return 0


sys.exit(main())
