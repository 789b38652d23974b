#!/bin/bash
# What valgrind says of the library in a process, and what it then records
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda valgrind

nr_launches=100

# record OPTION... -- COMMAND...: under valgrind, whose complaints go to valgrind.*
record()
{
	local options=()

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	rm -f valgrind.*
	run_fake "$PERF_GPU" record "${options[@]}" -- valgrind -q --error-exitcode=99 \
		--leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
		--log-file=valgrind.%p "$@" >out 2>err
}

for program in launches event_truth; do
	[ -x "$WORKLOADS/$program" ] || continue # without nvcc
	check "$program: valgrind finds no fault of the library's" \
		record --stacks process -e all -- "$WORKLOADS/$program"
	expect "$program: and says nothing" "" "$(cat valgrind.*)"
done

check "launches' stacks are recorded" record --stacks process -- "$WORKLOADS/launches"
"$PERF_GPU" script -q -e gpu-kernel --folded >folded
expect "each has its own" "$nr_launches" \
	"$("$PERF_GPU" script -q -e gpu-kernel -F event | grep -c gpu-kernel)"
expect_match "down to main" '^[^;]*;.*main;plain_kernel__launch;cudaLaunchKernel;\[GPU_Kernel\]' \
	"$(cat folded)"

# A probe is a breakpoint there, which would be the end of the process.
check "with probes the program lives" record --stacks uprobe -- "$WORKLOADS/launches"
expect "and has no faults" "" "$(cat valgrind.*)"
expect "its launches are said to be without stacks, once" 1 \
	"$(grep -c 'valgrind runs this program, and can.t run probes: .* record with --stacks process' err)"
expect_match "and are missing" "$nr_launches launches of the command are missing" "$(cat err)"
expect "the kernels are there" "$nr_launches" \
	"$("$PERF_GPU" script -q -e gpu-kernel -F event | grep -c gpu-kernel)"
