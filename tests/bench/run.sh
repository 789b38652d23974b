#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a recorded launch costs, by each way to record it, beside CUPTI's activity records
# alone and Nsight Systems (if nsys is on PATH). See launch_loop.cu for how.
#
# usage: tests/bench/run.sh [PAIRS [PROCESSES]]
#   PAIRS      blocks recorded and not recorded in a process (100)
#   PROCESSES  per variant (5)
set -euo pipefail
cd "$(dirname "$0")/../.."
pairs=${1:-100}
processes=${2:-5}
# shellcheck source=tests/bench/lib.sh
. tests/bench/lib.sh

loop=$O/tests/bench/launch_loop
[[ -x $loop ]] || {
	echo "bench: $loop is not built: it needs nvcc" >&2
	exit 1
}

for ((i = 0; i < processes; i++)); do
	measure bare "${target_env[@]}" "$loop" -v bare -p "$pairs"
	measure activity "${target_env[@]}" "$loop" -v activity -p "$pairs"
	record "perf-gpu process" --stacks process -- "$loop" -v perf-gpu -p "$pairs"
	record "perf-gpu uprobe" --stacks uprobe -- "$loop" -v perf-gpu -p "$pairs"
	record "perf-gpu fp" --call-graph fp -- "$loop" -v perf-gpu -p "$pairs"
	record "perf-gpu dwarf" --call-graph dwarf -- "$loop" -v perf-gpu -p "$pairs"
	measure_processes "$loop" -p "$pairs"
done
print_table launch
exit "$failed"
