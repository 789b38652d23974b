#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What recording each event costs a launch, a copy, a memset, a wait, an allocation (and
# its freeing) and an NVTX range: alone, together, and with what is recorded by default. See
# launch_loop.cu for how. Stacks are kept in the process, which is the cheapest way.
#
# usage: tests/bench/events.sh [PAIRS [PROCESSES]]
#   PAIRS      blocks recorded and not recorded in a process (30)
#   PROCESSES  for each set of events (2)
set -euo pipefail
cd "$(dirname "$0")/../.."
pairs=${1:-30}
processes=${2:-2}
# shellcheck source=tests/bench/lib.sh
. tests/bench/lib.sh

loop=$O/tests/bench/launch_loop
loops=launch,copy,memset,sync,alloc,range
default=gpu-kernel,gpu-memcpy,gpu-memset
[[ -x $loop ]] || {
	echo "bench: $loop is not built: it needs nvcc" >&2
	exit 1
}

# The libraries that launch_loop needs are found where it is.
run=("${target_env[@]}" "$loop" -w "$loops" -p "$pairs")

record_events() {
	local name=$1
	shift
	measure_loops "$name" perf_gpu record -q -o "$tmp/perf.data" --stacks process "$@" -- \
		"${run[@]}" -v perf-gpu
}

for ((i = 0; i < processes; i++)); do
	measure_loops bare "${run[@]}" -v bare
	measure_loops "activity of kernels alone" "${run[@]}" -v activity
	for event in kernel memcpy memset sync launch queue idle alloc fault; do
		record_events "gpu-$event" -e "gpu-$event"
	done
	record_events "default" -e "$default"
	for event in sync launch queue idle alloc fault; do
		record_events "default, gpu-$event" -e "$default,gpu-$event"
	done
	record_events "all" -e all
	record_events "all, nvtx" -e all --nvtx
done
print_machine
awk -f tests/bench/events.awk "$tmp/results"
exit "$failed"
