#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How fast recordings are written for viewers, and how large that is: of realistic launches
# (make_recording.c: 40 frames, 500 stacks, 200 kernels, 16 threads).
#
# usage: tests/bench/exports.sh [LAUNCHES [RUNS [FORMAT...]]]
#   LAUNCHES  1000000
#   RUNS      of each, of which the fastest counts (3)
#   FORMAT    of export: all of them
#
# What is counted is CPU time, user's and the kernel's, of all threads: it is the same on a
# busy machine, but for what others do to caches. "time" is how long the fastest run took: on
# a machine that does nothing else, less than its CPU time, as one thread reads ahead, one
# looks for idle time, and two compress. The files are in the page cache, what is exported
# goes to a pipe (a database to a file). "ns over joining" is CPU time that is more than
# script --folded takes, which reads and joins the same and writes next to nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
launches=${1:-1000000}
runs=${2:-3}
formats=(chrome perfetto pprof speedscope firefox sqlite)
[ $# -lt 3 ] || formats=("${@:3}")
O=${O:-build}

tmp=$(mktemp -d "${TMPDIR:-/var/tmp}/bench-exports.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
"$O/tests/bench/make_recording" "$launches" "$tmp/perf.data"

# cost NAME OUTPUT COMMAND...: a line of the table; OUTPUT is a file, or "-", stdout in a pipe
cost()
{
	python3 - "$launches" "$runs" "$tmp" "$@" <<'PYTHON'
import os, subprocess, sys, time

launches, runs, folder, name, output, *command = sys.argv[1:]
launches = int(launches)
best = fastest = None
for _ in range(int(runs)):
    start = time.monotonic()
    counter = subprocess.Popen(["wc", "-c"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process = subprocess.Popen(command, cwd=folder, stdout=counter.stdin,
                               stderr=subprocess.DEVNULL)
    counter.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    took = time.monotonic() - start
    fastest = took if fastest is None else min(fastest, took)
    bytes_out = int(counter.stdout.read())
    counter.wait()
    if status:
        sys.exit(f"{name} failed: {' '.join(command)}")
    seconds = usage.ru_utime + usage.ru_stime
    best = seconds if best is None else min(best, seconds)
base_path = os.path.join(folder, "base")
if not os.path.exists(base_path):
    with open(base_path, "w") as file:
        file.write(str(best))
with open(base_path) as file:
    base = float(file.read())
if output != "-":
    bytes_out = os.path.getsize(os.path.join(folder, output))
bytes_in = os.path.getsize(os.path.join(folder, "perf.data"))
print(f"{name:22} {fastest:6.2f} {best:7.2f} {launches / best / 1e6:8.2f} {1e9 * (best - base) / launches:8.0f}"
      f" {bytes_out / 1e6:11.1f} {bytes_out / launches:8.1f} {bytes_in / bytes_out:8.1f}")
PYTHON
}

perf_gpu=$(realpath "$O/perf-gpu")
echo "$(cut -d ' ' -f 1 /proc/loadavg) processes run or wait at the beginning"
echo "$(nproc) cores of $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), kernel $(uname -r)"
echo "$launches launches: perf.data $(stat -c %s "$tmp/perf.data") bytes, GPU records $(stat -c %s "$tmp/perf.data.gpu") bytes"
echo
echo "                         time     CPU million/s  ns over      output    bytes perf.data"
echo "                            s       s  of a CPU  joining          MB a launch by output"
cost "script --folded" - "$perf_gpu" script --folded
cost "report" - "$perf_gpu" report -q
for format in "${formats[@]}"; do
	if [ "$format" = sqlite ]; then
		cost "export --$format" out "$perf_gpu" export -q "--$format" -o out
	else
		cost "export --$format" - "$perf_gpu" export -q "--$format" -o -
	fi
done
cost "inject" perf.gpu.data "$perf_gpu" inject -q
cost "inject --aggregate" sum.data "$perf_gpu" inject -q --aggregate -o sum.data
