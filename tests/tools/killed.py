#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Kill a command that writes files, at moments that are drawn, and see what it leaves.

usage: killed.py TIMES NAME... -- COMMAND...

The command runs in an empty folder. It is run to its end first, which gives what the NAMEs
(files, or folders) are when they are whole, and how long it takes. Then it is started
TIMES times in an empty folder, and as often where the output of another run is, and killed
at some moment by SIGINT, SIGTERM or SIGHUP in turn. Each time

  - it ended by that signal, or was done before;
  - there are all of the files that it writes, or those that were there, and none else;
  - each is whole: what it was after the first run.

Prints "N killed, N done" to stderr, and what isn't so to stdout; exits with 1 then.
"""
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def contents(folder):
    """Path below the folder -> digest; folders have none."""
    found = {}
    for at, folders, files in os.walk(folder):
        for name in folders:
            found[os.path.relpath(os.path.join(at, name), folder)] = None
        for name in files:
            path = os.path.join(at, name)
            with open(path, "rb") as file:
                digest = hashlib.blake2b(file.read()).hexdigest()
            found[os.path.relpath(path, folder)] = digest
    return found


def defaults():
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def run(command, folder, delay_s=None, number=None):
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, preexec_fn=defaults)
    if delay_s is not None:
        time.sleep(delay_s)
        process.send_signal(number)
    words = process.communicate()[1].decode(errors="replace")
    return process.returncode, words


def main():
    times = int(sys.argv[1])
    names = sys.argv[2:sys.argv.index("--")]
    command = sys.argv[sys.argv.index("--") + 1:]
    draw = random.Random(1).random
    wrong = []
    killed = done = 0

    with tempfile.TemporaryDirectory(dir=".") as parent:
        folder = os.path.abspath(os.path.join(parent, "run"))
        os.mkdir(folder)
        start = time.monotonic()
        status, words = run(command, folder)
        took_s = time.monotonic() - start
        whole = contents(folder)
        if status or any(name not in whole for name in names):
            sys.exit(f"it fails, with {status}, or writes other files: {sorted(whole)}\n{words}")
        for i in range(2 * times):
            has_old = i >= times
            if not has_old:
                shutil.rmtree(folder)
                os.mkdir(folder)
            elif i == times:
                run(command, folder)
            before = contents(folder)
            number = SIGNALS[i % len(SIGNALS)]
            # It may take less than the first time; who is killed at once is not done.
            delay_s = draw() * took_s if killed or i < 2 * times - 1 else 0
            start = time.monotonic()
            status, words = run(command, folder, delay_s, number)
            if status == 0:
                took_s = min(took_s, time.monotonic() - start)
            after = contents(folder)
            if status == -number:
                killed += 1
                if after not in (before, whole):
                    wrong.append(f"{number.name}: there is {sorted(after)}")
            elif status == 0:
                done += 1
                if after != whole:
                    wrong.append(f"done, and there is {sorted(after)}")
            else:
                wrong.append(f"{number.name}: status {status}: {words}")
            if has_old and after != whole:
                wrong.append(f"{number.name}: the old output is not what it was")
                break
    print(f"{killed} killed, {done} done", file=sys.stderr)
    if wrong:
        print("\n".join(wrong))
        sys.exit(1)
    if not killed:
        sys.exit("it was never killed")


main()
