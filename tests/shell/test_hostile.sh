#!/bin/bash
# perf-gpu record and inject with programs and callers that do the unexpected
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda

record()
{
	run_fake "$PERF_GPU" record "$@"
}

samples()
{
	"$PERF_GPU" script 2>/dev/null | grep -c gpu-kernel:
}

# --- the program -----------------------------------------------------------------------

check_status "files of its own, where our descriptors were, are left alone" 0 \
	record "$WORKLOADS/hostile" descriptors
expect "and all is recorded" 60 "$(samples)"

check_status "the first launch may come from a thread with a small stack" 0 \
	record "$WORKLOADS/hostile" small
expect "which is recorded" 10 "$(samples)"

check_status "it launches after CUPTI's last flush" 0 record "$WORKLOADS/hostile" atexit
expect_match "which is told" 'hostile \(pid [0-9]+\): 2 launches came while the process was ending' \
	"$(cat err)"

for stacks in uprobe process; do
	check_status "--stacks $stacks: a cancelled thread ends where the program says" 0 \
		record --stacks $stacks "$WORKLOADS/hostile" cancel
	expect "--stacks $stacks: and holds up nobody" 20010 "$(samples)"
done

# A child that goes on when the recording has ended, with a log that is in no folder
cat >outlive.sh <<'END'
"$1" outlive >pid
until [ -s pid ]; do sleep 0.05; done
until find "/proc/$(cat pid)/fd" -lname '*.gpulog*' | grep .; do sleep 0.05; done
END
check_status "a child outlives the recording" 0 record bash outlive.sh "$WORKLOADS/hostile"
child=$(cat pid)
expect "with its log" 1 "$(grep -c . out)"
for ((i = 0; i < 4000; i++)); do
	logs=$(find "/proc/$child/fd" -lname '*.gpulog*')
	[ -n "$logs" ] || break
	sleep 0.05
done
expect "and stops recording" "" "$logs"
check "and goes on" kill "$child"

# --- the caller ------------------------------------------------------------------------

record "$WORKLOADS/hostile" small >&- 2>err
expect "the program's output is closed" 10 "$(samples)"
record "$WORKLOADS/hostile" small <&- >&- 2>&-
expect "and everything else" 10 "$(samples)"

# Behind the first block, which says whose log it is
truncate -s -50 perf.data.gpu
"$PERF_GPU" inject -o injected.data 2>err
expect_match "a damaged sidecar is told" 'perf.data.gpu is damaged' "$(cat err)"
cp injected.data told.data
rm -r injected.data*
"$PERF_GPU" inject -o injected.data 2>&-
check "with errors closed, they don't get into the file" cmp told.data injected.data
