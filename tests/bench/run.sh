#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a recorded launch costs, beside CUPTI's activity records alone and Nsight Systems
# (if nsys is on PATH): a table of medians and quartiles. See launch_loop.cu for how.
#
# A process keeps to fast or slow cores of the machine for its life, so each variant is
# measured in several, by turns, and what is printed are medians over them.
#
# usage: tests/bench/run.sh [PAIRS [PROCESSES]]
#   PAIRS      blocks recorded and not recorded in a process (100)
#   PROCESSES  per variant (5)
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/cuda-env.sh
. scripts/cuda-env.sh

pairs=${1:-100}
processes=${2:-5}
loop=$O/tests/bench/launch_loop
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

[[ -x $loop ]] || {
	echo "bench: $loop is not built: it needs nvcc" >&2
	exit 1
}

# Appends the loop's line, under the name given, to the results.
measure() {
	local name=$1
	shift
	if "$@" > "$tmp/out" 2> "$tmp/err"; then
		awk -F '\t' -v name="$name" 'NF == 10 { $1 = name; print }' OFS='\t' \
			"$tmp/out" >> "$tmp/results"
	else
		echo "bench: $name failed: $(tail -n 1 "$tmp/err")" >&2
		failed=1
	fi
}

# shellcheck disable=SC2317 # by measure
record() {
	perf_gpu record -q -o "$tmp/perf.data" --call-graph "$1" -- \
		"${target_env[@]}" "$loop" -v perf-gpu -p "$pairs"
}

# nsys can't be switched within a process: processes without it and with it, by turns.
measure_nsys() {
	measure bare-process "${target_env[@]}" "$loop" -p "$pairs"
	measure nsys-process nsys profile -t cuda -s none -f true -o "$tmp/nsys" \
		"${target_env[@]}" "$loop" -p "$pairs"
}

failed=0
: > "$tmp/results"
command -v nsys > /dev/null || echo "nsys is not installed: not compared with it"
for ((i = 0; i < processes; i++)); do
	measure bare "${target_env[@]}" "$loop" -v bare -p "$pairs"
	measure activity "${target_env[@]}" "$loop" -v activity -p "$pairs"
	measure "perf-gpu unwind" record unwind
	measure "perf-gpu fp" record fp
	if command -v nsys > /dev/null; then
		measure_nsys
	fi
done

if [[ $cuda_kind = gpu ]]; then
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2> /dev/null || true
else
	echo "On the stand-in for CUDA, whose launches cost next to nothing: read the differences only."
fi
echo "kernel $(uname -r), $processes processes of $pairs pairs of blocks;"
echo "ns a launch: median (quartiles) of a process, by the median of the processes"
awk -F '\t' '
	function median(list,    n, i, j, swap, v) {
		n = split(list, v, " ")
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) {
				swap = v[j]; v[j] = v[j - 1]; v[j - 1] = swap
			}
		return v[int((n + 1) / 2)]
	}
	function cell(name, column) {
		return sprintf("%6d (%d-%d)", median(values[name, column + 1]),
			median(values[name, column]), median(values[name, column + 2]))
	}
	function row(name) {
		printf "%-17s %-22s %-22s %-22s %.2f\n", name, cell(name, 2), cell(name, 5),
			cell(name, 8), median(values[name, 6]) / median(values[name, 3])
	}
	!($1 in seen) { seen[$1] = 1; names[++nr_names] = $1 }
	{
		for (column = 2; column <= NF; column++)
			values[$1, column] = values[$1, column] " " $column
	}
	END {
		printf "%-17s %-22s %-22s %-22s %s\n", "", "not recorded", "recorded",
			"difference", "ratio"
		for (i = 1; i <= nr_names; i++)
			if (names[i] !~ /-process$/)
				row(names[i])
		if ("nsys-process" in seen) {
			off = median(values["bare-process", 3])
			on = median(values["nsys-process", 3])
			printf "%-17s %6d%16s %6d%16s %6d%16s %.2f  (without and with, in processes of their own)\n",
				"nsys, no stacks", off, "", on, "", on - off, "", on / off
		}
		if (("perf-gpu unwind" in seen) && ("activity" in seen))
			printf "perf-gpu over CUPTI activity alone: %+d ns a launch\n",
				median(values["perf-gpu unwind", 9]) - median(values["activity", 9])
	}' "$tmp/results"
exit "$failed"
