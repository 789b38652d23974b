#!/bin/bash
# Eight GPUs, 64 streams of each, 200 threads: counts and sums of each event are exact
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda nvcc python3

# Nobody waits for a kernel; the times are the same.
export FAKE_CUDA_INSTANT=1 FAKE_CUDA_DEVICES=8
events=gpu-kernel,gpu-memcpy,gpu-memset,gpu-sync,gpu-launch,gpu-queue,gpu-idle,gpu-alloc

# record NR_LAUNCHES [OPTION...]: of each thread; leaves launched.txt and the recording
record()
{
	local nr_launches=$1
	shift

	rm -f truth.txt
	FAKE_CUDA_TRUTH=$TMP/truth.txt run_fake "$PERF_GPU" record "$@" \
		"$WORKLOADS/multi_gpu" -n "$nr_launches" -o launched.txt 2>err
}

# What the stand-in says it ran: NAME RUNS NS
ran()
{
	awk -F '\t' 'NF > 1 { print $7, $1, $2 }' truth.txt | sort
}

# Each has its stack, too.
kernels()
{
	"$PERF_GPU" script -q -e gpu-kernel >kernels.txt &&
		python3 "$TESTS/workloads/check_truth.py" launched.txt kernels.txt \
			--sidecar perf.data.gpu
}

all_events()
{
	"$PERF_GPU" script -q -e "$events" >script.txt &&
		"$PERF_GPU" script -q -e gpu-memcpy,gpu-memset --weight=bytes >bytes.txt &&
		python3 "$TESTS/workloads/check_events.py" launched.txt script.txt \
			--bytes bytes.txt --events "$events" --sidecar perf.data.gpu
}

# Labels, and lanes, of which there is one for each stream
labelled()
{
	"$PERF_GPU" script -q -e gpu-kernel,gpu-memcpy,gpu-memset -F +device,stream >labels.txt &&
		python3 "$TESTS/workloads/check_streams.py" launched.txt perf.data.gpu --script labels.txt
}
lanes()
{
	"$PERF_GPU" script -q -e gpu-kernel --threads=stream -F comm,tid,event |
		awk '$1 ~ /^GPU/ { lanes[$1 " " $3]++; tids[$4]++ } END {
			for (lane in lanes) { nr++; samples += lanes[lane] }
			for (tid in tids) nr_tids++
			print nr, nr_tids, samples }'
}

# scale WHAT NR_LAUNCHES [OPTION...]
scale()
{
	local what=$1
	shift

	check "$what: is recorded" record "$@"
	expect_match "$what: nothing is lost" ': 0 (launches|calls) lost, 0 GPU records dropped ]$' "$(cat err)"
	expect "$what: each kernel has its executions and its time" "$(ran)" \
		"$(python3 "$TESTS/workloads/gpu_log.py" perf.data.gpu | cut -d ' ' -f -3 | sort)"
	check "$what: each stream of each GPU has what was put into it" \
		python3 "$TESTS/workloads/check_streams.py" launched.txt perf.data.gpu
	check "$what: each kernel is below the function that launched it" kernels
}

scale "in the process" 250 --stacks process
# Rings that hold all of it, since other work on the machine can stop the recorder.
scale "through uprobes" 100 --stacks uprobe -m 64M
scale "all events" 50 -e all
check "all events: each sample has its GPU and its stream" labelled
expect "all events: each stream of each GPU is a thread of its own" "512 512 10000" "$(lanes)"
check "all events: counts, bytes and sums are exact" all_events
