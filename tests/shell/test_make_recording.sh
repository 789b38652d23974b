#!/bin/bash
# tests/bench/make_recording: what it makes is a recording, to us and to stock perf
. "$(dirname "$0")/lib.sh"
need perf python3

make_recording=$O/tests/bench/make_recording
nr=20000

# Kernels in the sidecar and their time, by a reader that isn't ours
ran()
{
	python3 "$TESTS/workloads/gpu_log.py" perf.data.gpu |
		awk '{ nr += $(NF - 2); ns += $(NF - 1) } END { printf "%d %.0f\n", nr, ns }'
}

# The same in the output of inject, by perf
shown()
{
	perf script -i perf.gpu.data -F period,event 2>/dev/null |
		awk '$2 == "gpu-kernel:" { nr++; ns += $1 } END { printf "%d %.0f\n", nr, ns }'
}

bytes_per_launch()
{
	echo $(($(stat -c %s "$1") / nr))
}

# made WHAT NR_STACKS [OPTION...]
made()
{
	local what=$1 nr_stacks=$2
	shift 2

	rm -rf perf.*
	check "$what: is made" "$make_recording" "$@" $nr perf.data
	cp perf.data first
	cp perf.data.gpu first.gpu
	check "$what: is made once more" "$make_recording" "$@" $nr perf.data
	check "$what: and is the same" cmp perf.data first
	check "$what: with the same GPU records" cmp perf.data.gpu first.gpu

	check_status "$what: perf script reads it" 0 perf script -F tid,ip
	expect "$what: all launches" $nr "$(grep -c '^ *[0-9]\+ *$' out)"
	expect "$what: of 16 threads" 16 "$(grep '^ *[0-9]\+ *$' out | sort -u | wc -l)"
	expect "$what: with 40 frames" $((41 * nr)) "$(grep -c . out)"
	expect "$what: its stacks" "$nr_stacks" "$(awk 'BEGIN { RS = "" }
		{ sub(/^[^\n]*/, ""); seen[$0] } END { print length(seen) }' out)"
	check_status "$what: perf inject reads it" 0 perf inject -i perf.data -o perf.injected
	check_status "$what: perf-gpu inject reads it" 0 "$PERF_GPU" inject
	expect_match "$what: and finds all stacks" \
		'kernels, .*; 100.0 % of GPU time has a stack' "$(cat err)"
	expect "$what: perf script has all time" "$(ran)" "$(shown)"
	expect "$what: perf.data has up to 450 bytes for each launch" 1 \
		"$(($(bytes_per_launch perf.data) <= 450))"
	# 220 KiB of names and shapes come to something here.
	expect "$what: the sidecar has up to 50" 1 "$(($(bytes_per_launch perf.data.gpu) <= 50))"
}

made "500 stacks" 500
made "distinct stacks" $nr -d
# The most memory that a command has had, in MiB
memory_of()
{
	python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$@"
}

# It grows with distinct stacks, not with launches, and not with the files.
if has plain; then
	rm -rf perf.*
	check "180 MB are made" "$make_recording" 400000 perf.data
	for command in "inject" "script --folded" "report"; do
		# shellcheck disable=SC2086 # words
		used=$(memory_of "$PERF_GPU" $command)
		expect "$command: they are read in up to 120 MiB" 1 "$((${used:-999} <= 120))"
	done
else
	skip_one "memory" "need plain: $(why_not plain)"
fi

check_status "no number of launches is refused" 2 "$make_recording" x perf.data
