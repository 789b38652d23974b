#!/bin/bash
# Copied stacks (--call-graph dwarf), unwound by inject and script, are those that the program had
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda python3

# Nobody waits for a kernel; the times are the same.
export FAKE_CUDA_INSTANT=1 DEBUGINFOD_URLS=
export HOME=$TMP # of perf's build-id cache

# record MODE PROGRAM [ARG...]: into $MODE.data
record()
{
	local mode=$1
	shift

	run_fake "$PERF_GPU" record -m 64M --call-graph "$mode" -o "${mode%%,*}.data" -- "$@" 2>record.err
}

# Stacks and their GPU time, of perf-script text, whoever printed it
folded()
{
	python3 "$TESTS/tools/fold_script.py" | sort
}

# --- the same program, walked in the process and later -----------------------------------

# compare WHAT PROGRAM [ARG...]
compare()
{
	local what=$1
	shift

	check "$what: is recorded by unwind" record unwind "$@"
	check "$what: is recorded by dwarf" record dwarf,65528 "$@"
	"$PERF_GPU" script -i unwind.data | folded >unwind.txt
	expect_match "$what: has stacks" '(_start;|clone3;).*;cudaLaunchKernel;\[GPU_Kernel\]' "$(cat unwind.txt)"

	"$PERF_GPU" script -i dwarf.data 2>err | folded >script.txt
	expect "$what: script's stacks are the same" "$(cat unwind.txt)" "$(cat script.txt)"
	expect "$what: script has nothing to say" "" "$(cat err)"

	check "$what: inject --unwind" "$PERF_GPU" inject -q --unwind -i dwarf.data -o unwound.data
	perf script -i unwound.data 2>err | folded >perf.txt
	expect "$what: perf script's stacks are the same" \
		"$("$PERF_GPU" inject -q -i unwind.data -o walked.data &&
			perf script -i walked.data 2>err2 | folded)" "$(cat perf.txt)"
	expect "$what: perf script has nothing to say" "" "$(cat err)"
}

compare "a program in C" "$WORKLOADS/deep_stack" -n 50
expect_no_match "no copy of a stack is left" STACK_USER "$(perf evlist -v -i unwound.data)"
expect_no_match "no registers are left" REGS_USER "$(perf evlist -v -i unwound.data)"
"$PERF_GPU" inject -q -i dwarf.data -o kept.data
expect_match "without --unwind they are" 'REGS_USER\|STACK_USER' "$(perf evlist -v -i kept.data)"

if has nvcc; then
	for program in shared nofp static_fake stripped_static_fake; do
		compare "truth_$program" "$WORKLOADS/truth_$program" -n 500
	done
fi

# --- stacks that can't be walked ------------------------------------------------------------

# Frames that a stack ends with, of `script` on a recording
ends()
{
	"$PERF_GPU" script -F event,ip,sym -i "$@" 2>err | awk '!NF { print last } { last = $2 }' | sort | uniq -c |
		awk '{ print $1, $2 }'
}

check "a copy that is too short: is recorded" record dwarf,4096 "$WORKLOADS/deep_stack" -n 10
expect "a copy that is too short: the stack says that it goes on" "10 [truncated]" "$(ends dwarf.data)"
expect_match "a copy that is too short: script tells it" \
	'the stacks of 10 launches end early, in \[truncated\]' "$(cat err)"
expect "a copy that is too short: what there is, is right" "padding" \
	"$("$PERF_GPU" script -F event,ip,sym -i dwarf.data 2>/dev/null |
		awk '/^\t/ && $2 !~ /GPU_Kernel|plain_kernel__launch|cudaLaunchKernel|truncated/ { print $2 }' | sort -u)"

# Another build of the program at its place: its tables are of other code.
cp "$WORKLOADS/deep_stack" program
check "a program that is built anew: is recorded" record dwarf,65528 ./program -n 10
expect "a program that is built anew: it has the whole stack at first" "10 _start" "$(ends dwarf.data)"
cp "$WORKLOADS/launches" program
expect "a program that is built anew: the stack ends at it" "10 [truncated]" "$(ends dwarf.data)"
expect_match "a program that is built anew: is told" "program is not the one that was recorded" "$(cat err)"
cp "$WORKLOADS/deep_stack" kept
perf buildid-cache -a kept
expect "a program that is built anew: the recorded one is found in perf's cache" "10 _start" "$(ends dwarf.data)"

# --- the ring -------------------------------------------------------------------------------

# Each record is half of the ring, so every other one wraps around its end. The stack is
# the launch's number, and that is in the last of 50 KiB. A launch that is lost has none.
numbers()
{
	"$PERF_GPU" script -F event,ip,sym -i "$1" 2>err |
		awk '/gpu-kernel/ { bits = ""; api = 0 } $2 == "cudaLaunchKernel" { api = 1 } $2 ~ /^one/ { bits = "1" bits } $2 ~ /^zero/ { bits = "0" bits }
			!NF && api { print bits (last == "_start" ? "" : " and ends in " last) } { last = $2 }' | sort
}
wanted()
{
	local i bit bits

	for ((i = 0; i < $1; i++)); do
		bits=
		for ((bit = 11; bit >= 0; bit--)); do bits+=$((i >> bit & 1)); done
		echo "$bits"
	done
}

check "records that wrap around: are recorded" run_fake "$PERF_GPU" record -q -m 32 \
	--call-graph dwarf,65528 -o wrapped.data -- "$WORKLOADS/deep_stack" -n 300 -p 2000
nr=$(numbers wrapped.data | wc -l)
check "records that wrap around: many aren't lost" test "$nr" -ge 50
expect "records that wrap around: every stack is a launch's own" "" \
	"$(comm -23 <(numbers wrapped.data) <(wanted 300))"
expect "records that wrap around: no two are of one launch" "" "$(numbers wrapped.data | uniq -d)"

# So that it is known that this would show
dd if=/dev/zero of=wrapped.data bs=1024 seek=680 count=16 conv=notrunc 2>/dev/null
expect_match "records that wrap around: damage behind their first 4 KiB is seen" '.' \
	"$(comm -23 <(numbers wrapped.data) <(wanted 300))"
