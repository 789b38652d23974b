#!/bin/bash
# record without memory: from any allocation on, or at any one, the program is unharmed, and what there is can be read
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda plain

export FAKE_CUDA_INSTANT=1
LIBRARY=$O/tests/tools/libno-memory.so
STEPS=${STEPS:-15} # of each sweep; more take longer, and try more

record()
{
	timeout -s KILL 300 env LD_LIBRARY_PATH="$FAKE_CUDA" LD_PRELOAD="$LIBRARY" "$1" \
		"$PERF_GPU" record --stacks "$2" "$WORKLOADS/launches" -n 50 >out 2>err
}

# Kernels with a stack, of a recording that is there or can be recovered
nr_kernels()
{
	[ -e perf.data ] || "$PERF_GPU" inject --recover -o recovered.data >recover.out 2>&1
	"$PERF_GPU" script 2>script.err | grep -c 'plain_kernel__launch'
}

# What is wrong of a run that has just ended, with this status; nothing if nothing is
trouble()
{
	local status=$1

	[ "$status" -lt 128 ] || echo "record was ended by signal $((status - 128))"
	if ! grep -q '^launches ' out; then
		# It was not begun: there is a reason, and nothing is left.
		[ "$status" -ne 0 ] || echo "the program has said nothing"
		grep -q '^perf-gpu record: ' err || echo "no reason is told"
		[ "$(find . -name 'perf.data*' ! -name '*.lock')" = "" ] || echo "there is $(echo perf.data*)"
		return
	fi
	if [ "$status" -ne 0 ]; then
		grep -q '^perf-gpu record: ' err || echo "no reason is told"
	fi
	if [ -e perf.data ] || grep -q 'what was recorded is kept' err; then
		[ "$(nr_kernels)" -eq 50 ] || echo "$(nr_kernels) kernels are there: $(cat recover.out script.err 2>&1)"
	elif ! grep -q "can't be recovered" err; then
		echo "nothing is kept"
	fi
}

# sweep STACKS AT|ONCE
sweep()
{
	local stacks=$1 how=$2 nr step odd="" what nr_run=0 nr_read=0

	record NO_MEMORY_COUNT=count "$stacks"
	nr=$(cat count)
	for step in $(seq "$STEPS"); do
		# Those at the beginning lie closer: they are of more kinds.
		nth=$((step * step * step * nr / (STEPS * STEPS * STEPS)))
		[ $nth -ge "$step" ] || nth=$step
		rm -rf perf.* recover* script.err
		record "NO_MEMORY_$how=$nth" "$stacks"
		what=$(trouble $?)
		[ -z "$what" ] || odd+="$nth of $nr: $what"$'\n'"$(grep -v '^ ' err | tail -n 3)"$'\n'
		nr_run=$((nr_run + $(grep -c '^launches ' out)))
		[ ! -e perf.data ] || nr_read=$((nr_read + 1))
	done
	expect "--stacks $stacks, $how: no allocation that fails does harm" "" "$odd"
	echo "# $nr allocations, $STEPS tried: the program ran $nr_run times, $nr_read recordings"
}

for stacks in uprobe process; do
	sweep $stacks AT
	sweep $stacks ONCE
done
