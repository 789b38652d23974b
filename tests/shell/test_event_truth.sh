#!/bin/bash
# Each event is what the program did: bytes and counts exactly, times by its own clock
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda nvcc python3

events=gpu-kernel,gpu-memcpy,gpu-memset,gpu-sync,gpu-launch,gpu-queue,gpu-idle,gpu-alloc,gpu-fault
# What the CPU touches, the stand-in doesn't know.
parts=(copies memsets graphs peers allocations waits gaps calls queues faults)
"$WORKLOADS/event_truth" -d >durations
"$WORKLOADS/event_truth" -m >migrations
export FAKE_CUDA_DURATIONS=$TMP/durations FAKE_CUDA_MIGRATIONS=$TMP/migrations
export FAKE_CUDA_DEVICES=2

# record EVENTS PROGRAM [PART...]: with $options
options=()
record()
{
	run_fake "$PERF_GPU" record -e "$1" "${options[@]}" "$WORKLOADS/$2" -o launched.txt "${@:3}" 2>err
}

# is_right EVENTS: what perf-gpu script prints of them is what was done, and what was recorded
is_right()
{
	"$PERF_GPU" script -q -e "$1" >script.txt &&
		"$PERF_GPU" script -q -e "$1" --weight=bytes >bytes.txt &&
		if [[ $1 = *gpu-alloc* ]]; then
			"$PERF_GPU" script -q -e gpu-alloc --leaks >leaks.txt
		fi &&
		compare launched.txt "$1"
}

# compare LAUNCHED EVENTS: the texts that is_right has left
compare()
{
	local texts=()

	[[ $2 != *gpu-mem* ]] || texts+=(--bytes bytes.txt)
	[[ $2 != *gpu-alloc* ]] || texts+=(--leaks leaks.txt)
	python3 "$TESTS/workloads/check_events.py" "$1" script.txt "${texts[@]}" \
		--events "$2" --sidecar perf.data.gpu
}

# The same through perf.data, which stock perf reads
by_perf()
{
	"$PERF_GPU" inject 2>inject.err && perf script -i perf.gpu.data >perf.txt 2>perf.err &&
		[ ! -s perf.err ] &&
		python3 "$TESTS/workloads/check_events.py" launched.txt perf.txt \
			--events "$events" --sidecar perf.data.gpu
}

# all_together WHAT PROGRAM
all_together()
{
	check "$1: is recorded" record "$events" "$2" "${parts[@]}"
	expect_match "$1: nothing is lost" ': 0 (launches|calls) lost, 0 GPU records dropped ]$' "$(cat err)"
	check "$1: script prints what was done" is_right "$events"
	check "$1: so does perf script, behind inject" by_perf
}

# --- all together ------------------------------------------------------------------------

options=(--stacks uprobe)
all_together "through uprobes" event_truth
options=(--stacks process)
all_together "in the process, static cudart" event_truth_static_fake

# would_notice WHAT SED: that the program had done something else
would_notice()
{
	sed -E "$2" launched.txt >other.txt
	check_status "it would be noticed if $1" 1 compare other.txt "$events"
	expect "it is all that is wrong if $1" "$3" "$(grep -o '^wrong=[0-9]*' out)"
}

would_notice "a copy had a byte more" '/\tcopy_dtod$/s/\t2097177\t/\t2097178\t/' wrong=1
would_notice "one more had been made" '/\tcopy_dtod$/s/\t2\t2097177\t/\t3\t2097177\t/' wrong=1
would_notice "another function had made it" 's/\tset_2d$/\tset_by_driver/' wrong=3
would_notice "less had leaked" '/^did\tleaks.*\tleak_async$/s/1049088/1049087/' wrong=1
would_notice "a wait had been longer" '/\twait_for_event$/s/(gpu-sync\tns\t1\t[0-9]*)\t[0-9]*/\1\t99999999999/' wrong=1

# --- each alone --------------------------------------------------------------------------

# alone EVENT PART...: nothing else is there, and what is doesn't need it
alone()
{
	check "$1 alone: is recorded" record "$1" event_truth "${@:2}"
	check "$1 alone: script prints what was done" is_right "$1"
	"$PERF_GPU" script -q >all.txt
	expect "$1 alone: there is no other" "$1:" "$(grep -o '\bgpu-[a-z]*:' all.txt | sort -u)"
}

alone gpu-kernel waits
alone gpu-memcpy copies graphs peers
alone gpu-memset memsets graphs
alone gpu-sync waits
alone gpu-launch calls
alone gpu-queue queues
alone gpu-idle gaps
alone gpu-alloc allocations
alone gpu-fault faults

# --- CUPTI's own records -----------------------------------------------------------------

# Another reader of the same buffers comes to the same sums, to the nanosecond and byte.
rm -f cupti.txt
export CUPTI_TEE_LIBRARY=$FAKE_CUDA/libcupti.so.13 CUPTI_TEE_OUTPUT=$TMP/cupti.txt
PERF_GPU_CUPTI=$WORKLOADS/libcupti_tee.so check "with a second reader: is recorded" \
	record gpu-kernel,gpu-memcpy,gpu-memset event_truth "${parts[@]}"
"$PERF_GPU" script -q >script.txt
check "with a second reader: sums are those of CUPTI's records" \
	python3 "$TESTS/workloads/event_counts.py" sidecar:perf.data.gpu script:script.txt cupti:cupti.txt

# --- what others count: files as torch.profiler and nsys write them ------------------------

# others NR_KERNELS: with the copies and memsets of the recording
others()
{
	rm -f nsys.sqlite
	python3 "$TESTS/workloads/event_sums.py" perf.data.gpu | python3 -c '
import json, sqlite3, sys
sums = {(event, unit): (int(nr), int(total)) for event, nr, total, unit in map(str.split, sys.stdin)}
database, events = sqlite3.connect("nsys.sqlite"), []
for event, category, table in (("gpu-kernel", "kernel", "KERNEL"), ("gpu-memcpy", "gpu_memcpy", "MEMCPY"),
                               ("gpu-memset", "gpu_memset", "MEMSET")):
    nr, total = sums.get((event, "bytes"), (0, 0)) if event != "gpu-kernel" else (int(sys.argv[1]), 0)
    database.execute(f"CREATE TABLE CUPTI_ACTIVITY_KIND_{table} (start INT, end INT, bytes INT)")
    for i in range(nr):
        nr_bytes = total // nr + (total % nr if i == 0 else 0)
        database.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_{table} VALUES (1, 2, ?)", (nr_bytes,))
        events.append({"ph": "X", "cat": category, "ts": 1, "dur": 1, "args": {"bytes": nr_bytes}})
events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel"}, {"ph": "f", "cat": "ac2g"}]
json.dump({"traceEvents": events}, open("trace.json", "w"))
database.commit()' "$1"
	python3 "$TESTS/workloads/event_counts.py" sidecar:perf.data.gpu trace:trace.json nsys:nsys.sqlite
}

nr_kernels=$(python3 "$TESTS/workloads/event_sums.py" perf.data.gpu | awk '/^gpu-kernel/ { print $2 }')
check "others that count the same" others "$nr_kernels"
check_status "others that count a kernel more" 1 others $((nr_kernels + 1))
expect "each of them is told" "gpu-kernel: $((nr_kernels + 1)) by trace, $nr_kernels by sidecar
gpu-kernel: $((nr_kernels + 1)) by nsys, $nr_kernels by sidecar" "$(grep ^gpu-kernel: out)"
