#!/bin/bash
# perf-gpu script --folded: the lines that stackcollapse-perf.pl makes, of one event or one unit
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda python3

export PYTHONDONTWRITEBYTECODE=1

collapse()
{
	"$PERF_GPU" script "$@" | python3 "$TESTS/tools/fold_script.py" | LC_ALL=C sort
}

fold()
{
	"$PERF_GPU" script --folded "$@" 2>err | LC_ALL=C sort
}

sum()
{
	awk '{ sum += $NF } END { printf "%.0f\n", sum }'
}

check "a program with threads is recorded" \
	run_fake "$PERF_GPU" record -q "$WORKLOADS/launches" -n 200 -t 4
expect "its lines are those of the text" "$(collapse -e gpu-kernel)" "$(fold)"
expect "nothing is said" "" "$(cat err)"
expect "with short names too" "$(collapse -e gpu-kernel --names short)" "$(fold --names short)"
expect "with labels too" "$(collapse -e gpu-kernel --label device,stream)" \
	"$(fold --label device,stream)"
expect_match "labels are frames" ';\[stream [0-9]+\];\[GPU_Kernel\]' "$(fold --label stream)"

ns=$(fold | sum)
us=$(fold --unit us | awk '{ sum += $NF } END { printf "%.0f\n", sum * 1000 }')
ms=$(fold --unit ms | awk '{ sum += $NF } END { printf "%.0f\n", sum * 1000000 }')
expect "us add up to the same" "$ns" "$us"
expect "ms add up to the same" "$ns" "$ms"

check_status "a unit that there isn't is refused" 129 "$PERF_GPU" script --folded --unit s
expect_match "and those that there are are named" 'ns, us or ms' "$(cat err)"
check_status "-F has no place there" 129 "$PERF_GPU" script --folded -F comm
check_status "a unit needs --folded" 129 "$PERF_GPU" script --unit us
check_status "a closed pipe is no crash" 1 bash -c 'trap "" PIPE
	"$0" script --folded | true; exit "${PIPESTATUS[0]}"' "$PERF_GPU"
if [ -e /dev/full ]; then
	check_status "a full disk is told" 1 bash -c '"$0" script --folded >/dev/full' "$PERF_GPU"
	expect_match "by its name" 'cannot write to stdout: No space left' "$(cat err)"
fi

if ! has nvcc; then
	skip_one "events of other units" "need nvcc: $(why_not nvcc)"
	exit 0
fi
check "all events are recorded" run_fake "$PERF_GPU" record -q -e all \
	"$WORKLOADS/event_truth" -o did.txt copies memsets allocations waits
for event in gpu-kernel gpu-memcpy gpu-memset gpu-alloc gpu-sync gpu-launch gpu-idle; do
	expect "$event alone is that of the text" "$(collapse -e $event)" "$(fold -e $event)"
done
expect "without -e it is gpu-kernel" "$(fold -e gpu-kernel)" "$(fold)"
expect_match "and the others are named" \
	'folded stacks of gpu-kernel; there are gpu-memcpy, .*gpu-alloc.* too: choose with -e' \
	"$(fold >/dev/null; cat err)"
expect "events of one unit are added up" \
	"$({ fold -e gpu-memcpy; fold -e gpu-memset; } | LC_ALL=C sort)" \
	"$(fold -e gpu-memcpy,gpu-memset)"
expect "bytes are as well" "$(collapse -e gpu-memcpy --weight=bytes)" \
	"$(fold -e gpu-memcpy --weight=bytes)"
check_status "those of two units are not" 1 "$PERF_GPU" script --folded -e gpu-kernel,gpu-alloc
expect_match "and it is said why" 'gpu-alloc is in bytes, and gpu-kernel in ns' "$(cat err)"
check_status "nor is --unit of bytes" 1 "$PERF_GPU" script --folded -e gpu-alloc --unit us
expect_match "which is said too" '^perf-gpu script: --unit is of times, and gpu-alloc is in bytes' \
	"$(cat err)"
