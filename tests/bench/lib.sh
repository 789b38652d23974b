# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # $failed, $pairs and $processes are the callers'
#
# What the benchmarks have in common. A process keeps to fast or slow cores of the
# machine for its life, so each variant is measured in several, by turns, and what is
# printed are medians over them.
#
#   measure NAME COMMAND...   appends the line that COMMAND prints, under NAME
#   record NAME [OPTION...] -- COMMAND...
#                             the same under perf-gpu record
#   measure_loops NAME COMMAND...
#                             the same of a command that prints a line for each loop
#   print_table UNIT          of all that was measured
#   print_machine             what it was measured on
#   $failed                   1 if something couldn't be measured

# shellcheck source=scripts/cuda-env.sh
. scripts/cuda-env.sh

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
: > "$tmp/results"

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

measure_loops() {
	local name=$1
	shift
	if "$@" > "$tmp/out" 2> "$tmp/err"; then
		awk -F '\t' -v name="$name" 'NF == 10 { print name, $0 }' OFS='\t' \
			"$tmp/out" >> "$tmp/results"
	else
		echo "bench: $name failed: $(tail -n 1 "$tmp/err")" >&2
		failed=1
	fi
}

record() {
	local name=$1 options=()
	shift
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	measure "$name" perf_gpu record -q -o "$tmp/perf.data" "${options[@]}" -- \
		"${target_env[@]}" "$@"
}

# What can't be switched within a process, in processes of their own, by turns: nothing,
# our library as `perf-gpu wait` loads it, and nsys.
measure_processes() {
	local loaded
	mapfile -t loaded < <(perf_gpu wait --env)
	measure bare-process "${target_env[@]}" "$@"
	measure idle-process "${target_env[@]}" "${loaded[@]}" "$@"
	if ! command -v nsys > /dev/null; then
		[[ -e $tmp/no_nsys ]] || echo "nsys is not installed: not compared with it"
		touch "$tmp/no_nsys"
		return
	fi
	measure nsys-process nsys profile -t cuda -s none -f true -o "$tmp/nsys" \
		"${target_env[@]}" "$@"
}

print_machine() {
	if [[ $cuda_kind = gpu ]]; then
		nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2> /dev/null || true
	else
		echo "On the stand-in for CUDA, whose launches cost next to nothing: read the differences only."
	fi
	echo "kernel $(uname -r), $processes processes of $pairs pairs of blocks"
}

print_table() {
	print_machine
	awk -v unit="$1" -f tests/bench/table.awk "$tmp/results"
}
