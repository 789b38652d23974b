#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a recorded launch costs, beside CUPTI's activity records alone and Nsight Systems
# (if nsys is on PATH): a table of medians and quartiles. See launch_loop.cu for how.
#
# usage: tests/bench/run.sh [PAIRS [PROCESSES]]
#   PAIRS      blocks recorded and not recorded per variant (300)
#   PROCESSES  with and without nsys (5)
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/cuda-env.sh
. scripts/cuda-env.sh

pairs=${1:-300}
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

# Not recorded and recorded, by turns, as nsys can't be switched within a process.
measure_nsys() {
	local i
	for ((i = 0; i < processes; i++)); do
		measure bare-process "${target_env[@]}" "$loop" -p "$((pairs / 4 + 1))"
		measure nsys-process nsys profile -t cuda -s none -f true -o "$tmp/nsys" \
			"${target_env[@]}" "$loop" -p "$((pairs / 4 + 1))"
	done
}

failed=0
: > "$tmp/results"
measure bare "${target_env[@]}" "$loop" -v bare -p "$pairs"
measure activity "${target_env[@]}" "$loop" -v activity -p "$pairs"
measure "perf-gpu unwind" record unwind
measure "perf-gpu fp" record fp
if command -v nsys > /dev/null; then
	measure_nsys
else
	echo "nsys is not installed: not compared with it"
fi

if [[ $cuda_kind = gpu ]]; then
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2> /dev/null || true
else
	echo "On the stand-in for CUDA, whose launches cost next to nothing: read the differences only."
fi
echo "kernel $(uname -r), $pairs pairs of blocks; ns a launch: median (quartiles)"
awk -F '\t' '
	function cell(a, b, c) { return sprintf("%6d (%d-%d)", b, a, c) }
	function median(list, n,    i, j, swap, v) {
		n = split(list, v, " ")
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) {
				swap = v[j]; v[j] = v[j - 1]; v[j - 1] = swap
			}
		return v[int((n + 1) / 2)]
	}
	BEGIN {
		printf "%-17s %-22s %-22s %-22s %s\n", "", "not recorded", "recorded",
			"difference", "ratio"
	}
	/-process\t/ { processes[$1] = processes[$1] " " $3; next }
	{
		printf "%-17s %-22s %-22s %-22s %.2f\n", $1, cell($2, $3, $4),
			cell($5, $6, $7), cell($8, $9, $10), $6 / $3
		cost[$1] = $9
	}
	END {
		if ("nsys-process" in processes) {
			off = median(processes["bare-process"])
			on = median(processes["nsys-process"])
			printf "%-17s %6d%16s %6d%16s %6d%16s %.2f  (medians of processes)\n",
				"nsys, no stacks", off, "", on, "", on - off, "", on / off
		}
		if (("perf-gpu unwind" in cost) && ("activity" in cost))
			printf "perf-gpu over CUPTI activity alone: %+d ns a launch\n",
				cost["perf-gpu unwind"] - cost["activity"]
	}' "$tmp/results"
exit "$failed"
