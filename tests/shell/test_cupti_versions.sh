#!/bin/bash
# The CUPTI of CUDA 11.0 to one that there isn't yet: the same recording, and words for what is missing
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda nvcc python3

export FAKE_CUDA_INSTANT=1 FAKE_CUDA_DEVICES=2 DEBUGINFOD_URLS=
unset CUDA_INJECTION64_PATH PERF_GPU_CUPTI

# An older CUPTI doesn't know what the runtime of CUDA 13 calls for migrations.
parts=(copies memsets graphs peers allocations waits gaps calls queues)

# record VERSION EVENTS [OPTION...]: into a folder of that name
record()
{
	mkdir -p "$1"
	run_fake env FAKE_CUDA_CUPTI_VERSION="$1" "$PERF_GPU" record -o "$1/perf.data" -e "$2" "${@:3}" \
		"$WORKLOADS/event_truth" -o "$1/launched.txt" "${parts[@]}" >"$1/out" 2>"$1/err" || return
	(cd "$1" && "$PERF_GPU" script -q -e "$2" >script.txt &&
		"$PERF_GPU" script -q -e "$2" --weight=bytes >bytes.txt)
}

same()
{
	python3 "$TESTS/workloads/compare_recordings.py" "$@"
}

events=gpu-kernel,gpu-memcpy,gpu-memset,gpu-sync,gpu-launch
for version in 11.1 11.2 11.5 11.6 11.8 12.0 12.4 12.6 12.8 12.9 13.1 13.4 99.0; do
	[ "$version" = 11.2 ] && events+=,gpu-alloc
	[ -e "13.0-$events" ] || {
		record 13.0 "$events" && mv 13.0 "13.0-$events"
	}
	check "$version: is recorded" record "$version" "$events"
	check "$version: the same as 13.0, but for times" same "13.0-$events" "$version"
	expect_match "$version: nothing is lost" ': 0 (launches|calls) lost, 0 GPU records dropped ]$' "$(cat "$version/err")"
	expect "$version: nothing else is said" "" "$(grep -v '^\[ perf-gpu record: ' "$version/err")"
done

# Its records have no graph's number: it is made of the node's.
events=gpu-kernel,gpu-memcpy,gpu-memset,gpu-sync,gpu-launch
check "11.0: is recorded" record 11.0 "$events"
# It has no records of queries and of waits for a context, though.
samples_of()
{
	grep -oE ' gpu-[a-z]+: *$' "$1/script.txt" | grep -v gpu-sync | sort | uniq -c
}
expect "11.0: as many samples of each event" "$(samples_of "13.0-$events")" "$(samples_of 11.0)"
check "11.0: the same as 13.0, but for times" same "13.0-$events" 11.0

parts=(faults)
for version in 11.0 12.4 13.4; do
	check "$version: faults are recorded" record "$version" gpu-fault
	expect "$version: as they are" "fault 16" \
		"$(python3 "$TESTS/workloads/gpu_log.py" --kinds "$version/perf.data.gpu" | grep -oE 'fault [0-9]+')"
done

parts=(allocations calls)
record 11.1 gpu-kernel,gpu-alloc 2>/dev/null
expect_match "11.1: allocations are said to be missing" \
	'warning: event_truth \(pid [0-9]+\): .*libcupti[^ ]* \(API version 14\) is too old to record allocations: ' \
	"$(cat 11.1/err)"
expect_match "11.1: the rest is recorded" '^kernel [0-9]+$' \
	"$(python3 "$TESTS/workloads/gpu_log.py" --kinds 11.1/perf.data.gpu)"
record 11.1 gpu-alloc 2>/dev/null
expect_match "11.1: alone, that is an error" 'too old to record allocations' "$(cat 11.1/err)"

# A CUPTI that can't record single functions' calls records all.
check "12.4: --probe api" record 12.4 gpu-kernel --probe api
expect "12.4: --probe api has all stacks" 0 "$(grep -c '\[unattributed\]' 12.4/script.txt)"

# --- the stand-in's structs are of its own header's; ours are as long ---------------------

# sizes VERSION VERDICT KINDS: of records of so many kinds
sizes()
{
	rm -f sizes.txt sums.txt
	run_fake env FAKE_CUDA_CUPTI_VERSION="$1" PERF_GPU_CUPTI="$WORKLOADS/libcupti_tee.so" \
		CUPTI_TEE_LIBRARY="$FAKE_CUDA/libcupti.so.13" CUPTI_TEE_OUTPUT="$TMP/sums.txt" \
		CUPTI_TEE_SIZES="$TMP/sizes.txt" "$PERF_GPU" record -q -e all \
		"$WORKLOADS/event_truth" >out 2>err
	expect "$1: sizes of records" "$2" "$(cut -f 1 sizes.txt | sort -u)"
	expect "$1: of all kinds" "$3" "$(cut -f 2 sizes.txt | sort -u | grep -c .)"
}
sizes 11.0 ok 7 # no allocations
sizes 11.1 ok 7
for version in 11.2 11.5 11.6 11.8 12.0 12.4 12.5 12.6 12.8 12.9 13.0; do
	sizes "$version" ok 8
done
sizes 99.0 longer 8

# --- check says what a version lacks -----------------------------------------------------

# check_says VERSION REGEX: beside the release
check_says()
{
	local lines

	lines=$(run_fake env FAKE_CUDA_CUPTI_VERSION="$1" "$PERF_GPU" check |
		sed -E ':again; N; $!b again; s/\n {23,}/ /g' | sed -nE 's/ +/ /g; s/^ ([^ ]+) CUPTI /\1: /p')
	expect_match "check, $1: the release" "^ok: .*libcupti[^ ]*, of CUDA ${1//./\\.}" "$lines"
	expect_match "check, $1: $2" "^[a-z-]+: .*$2" "$lines"
}
check_says 11.0 'gpu-alloc can.t be recorded'
check_says 11.4 'times are shifted from CLOCK_REALTIME'
check_says 12.4 '--probe api records all API calls'
check_says 12.9 'cudaGraphExecUpdate'
check_says 13.4 'newer than this perf-gpu knows'
