#!/bin/bash
# Recordings of a real GPU, read as they were when somebody last looked at the result
. "$(dirname "$0")/lib.sh"

fixtures=$TESTS/data/h200

check "perf-gpu script prints what is expected of each" \
	env O="$O" "$TESTS/../scripts/update-fixtures.sh" --check

for name in two_streams mini_llm; do
	"$PERF_GPU" script -q -i "$fixtures/$name/perf.data" --symfs "$fixtures/$name/symfs" \
		>script.txt
	check "$name: each kernel has its own caller, and all of its time" \
		python3 "$TESTS/workloads/check_truth.py" "$fixtures/$name/launched.txt" script.txt \
		--sidecar "$fixtures/$name/perf.data.gpu"
done

"$PERF_GPU" script -q -i "$fixtures/torch_step/perf.data" --symfs "$fixtures/torch_step/symfs" \
	>script.txt
check "torch_step: all of the time of a training step" \
	python3 "$TESTS/workloads/check_truth.py" --unknown "$fixtures/torch_step/launched.txt" \
	script.txt --sidecar "$fixtures/torch_step/perf.data.gpu"
depths=$(awk '/gpu-kernel:/ { if (n) print n; n = 0; next } NF { n++ } END { print n }' script.txt |
	sort -n | head -n 1)
check "torch_step: the shortest stack has more than ten frames" test "$depths" -gt 10

# All events, by CUPTI 13 and 12: each is what the program says that it did, within 1 %.
events=gpu-kernel,gpu-memcpy,gpu-memset,gpu-sync,gpu-launch,gpu-queue,gpu-idle,gpu-alloc,gpu-fault
script_events()
{
	"$PERF_GPU" script -q -i "$fixtures/$name/perf.data" --symfs "$fixtures/$name/symfs" "$@"
}
right_events()
{
	script_events -e "$events" >script.txt &&
		script_events -e gpu-memcpy,gpu-memset --weight=bytes >bytes.txt &&
		script_events -e gpu-alloc --leaks >leaks.txt &&
		python3 "$TESTS/workloads/check_events.py" "$fixtures/$name/launched.txt" script.txt \
			--bytes bytes.txt --leaks leaks.txt --events "$events" --within 1 \
			"${without[@]}" --sidecar "$fixtures/$name/perf.data.gpu"
}
without=()
for name in events events_cupti12; do
	# CUPTI 12 beside a driver for CUDA 13 has no record of cudaDeviceSynchronize().
	[ "$name" = events ] || without=(--without "gpu-sync context")
	if [ -d "$fixtures/$name" ]; then
		check "$name: each event is what the program did" right_events
	else
		skip_one "$name: each event is what the program did" "it isn't recorded yet"
	fi
done

# Two ranks that train together, each on a GPU of its own
name=ddp
right_ranks()
{
	script_events -F comm,pid,tid,time,period,event,ip,sym,dso,device,rank,bytes >script.txt &&
		python3 "$TESTS/workloads/check_ddp.py" "$fixtures/$name/launched.txt" \
			"$fixtures/$name/perf.data.gpu" script.txt
}
if [ -d "$fixtures/$name" ]; then
	check "ddp: each rank's work, with whole stacks, on its GPU, and its peer copies" right_ranks
else
	skip_one "ddp: each rank's work" "it isn't recorded yet"
fi
