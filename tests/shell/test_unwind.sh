#!/bin/bash
# Stacks that are hard to walk: whole where they can be, else [truncated]; never a crash
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda
[ -x "$WORKLOADS/odd_stacks" ] || need x86_64

odd_stacks=$WORKLOADS/odd_stacks
# From the launch to main(), and from there to the start
launch='plain_kernel__launch;launch_one'
start='main;libc;_start'

# record [OPTION...] -- COMMAND...
record()
{
	run_fake "$PERF_GPU" record "$@" 2>record.err
}

# The different stacks, a line each with their number: leaf first, without the kernel
# and the API; functions of other files than the program are the file's name, once.
stacks()
{
	"$PERF_GPU" script 2>/dev/null | awk '
		function finish() {
			if (is_sample)
				stacks[stack]++
			stack = ""
			before = ""
		}
		/gpu-kernel:/ { finish(); is_sample = 1; next }
		/\(\[GPU_Kernel\]\)$/ && !/\[truncated\]/ { next }
		NF > 1 {
			file = $NF
			name = $2
			sub(/\+0x[0-9a-f]*$/, "", name)
			sub(/\.constprop.*/, "", name)
			nr = split(file, parts, "/")
			if (parts[nr] ~ /^perf-[0-9]*\.map/ || file ~ /anon/)
				name = "jit"
			else if (sub(/^lib/, "", parts[nr]) && sub(/[-.].*/, "", parts[nr]))
				name = "lib" parts[nr]
			if (name == before && name ~ /^lib/)
				next
			before = name
			stack = stack (stack == "" ? "" : ";") name
		}
		END {
			finish()
			for (stack in stacks)
				print stacks[stack], stack
		}' | sort -k 2
}

# walk WHAT WANTED ARGUMENT...
walk()
{
	local what=$1 wanted=$2
	shift 2

	check_status "$what: the program is not harmed" 0 record -- "$odd_stacks" "$@"
	expect "$what: the stack" "$wanted" "$(stacks)"
}

# --- tables and frame pointers that lie ----------------------------------------------

walk "a table that leads to nowhere" "20 $launch;lie_unmapped;$start" lie-unmapped
walk "a table by a register that is no address" "20 $launch;lie_register;$start" lie-register
walk "a table that leads to other words" "20 $launch;lie_near;$start" lie-near
walk "a table that leads to nowhere, without a frame pointer" \
	"20 $launch;lie_lost;[truncated]" lie-lost
walk "garbage in the frame pointer" "20 $launch;garbage;$start" garbage
walk "a frame by another register" \
	"20 $launch;launch_below_realigned;realigned;$start" realigned

# --- stacks that are switched --------------------------------------------------------

walk "makecontext" "20 $launch;run_ucontext;libc" ucontext
walk "coroutines by hand" "80 $launch;run_coroutine" coroutines
walk "a coroutine that nobody called" "80 $launch;run_coroutine;[truncated]" coroutine-lost
walk "a signal handler on its own stack" "20 $launch;on_signal;libc;interrupted;$start" signal

# --- code without tables -------------------------------------------------------------

walk "code made at run time" "20 $launch;jit;use_jit;$start" jit
walk "the same, without a frame pointer" "20 $launch;jit;[truncated]" jit-lost

# --- long and short ------------------------------------------------------------------

# The frames that are in perf.data, and the outermost
frames()
{
	perf script -i perf.data -F ip,sym 2>/dev/null | awk '
		NF { nr++; last = $1 == "200000000000000" ? "[truncated]" : $2 }
		END { print nr, last }'
}

if has perf; then
	check_status "10,000 frames" 0 record -- "$odd_stacks" deep
	expect "perf's limit is kept, and it is told" "127 [truncated]" "$(frames)"
	record -- "$odd_stacks" exact 1
	nr_others=$(($(frames | cut -d ' ' -f 1) - 1))
	record -- "$odd_stacks" exact $((127 - nr_others))
	expect "a stack that is as long as the limit" "127 _start" "$(frames)"
	record -- "$odd_stacks" exact $((127 - nr_others + 1))
	expect "and one frame longer" "127 [truncated]" "$(frames)"
	record --max-stack 20 -- "$odd_stacks" exact 100
	expect "--max-stack, and that it goes on" "21 [truncated]" "$(frames)"
	record --max-stack $((10 + nr_others)) -- "$odd_stacks" exact 10
	expect "--max-stack that is enough" "$((10 + nr_others)) _start" "$(frames)"
	record --call-graph fp --max-stack 3 -- "$odd_stacks" exact 100
	expect "--max-stack with fp" 3 "$(frames | cut -d ' ' -f 1)"
else
	skip_one "long stacks" "need perf: perf isn't installed"
fi
check_status "--max-stack 0 is refused" 129 record --max-stack 0 -- true
check_status "--max-stack 128 is refused" 129 record --max-stack 128 -- true
expect_match "and why" '--max-stack takes 1 to 127 frames, not 128' "$(cat record.err)"

# What a launch of a new thread takes: most of it are the libraries' callers, which are
# the same without us. 16 KiB are all that the smallest stack has.
bare=$(run_fake "$odd_stacks" small)
record -- "$odd_stacks" small >small.out
ours=$(($(cat small.out) - bare))
echo "# we take $ours bytes of the stack"
check "we take less than 6 KiB of the stack" test "$ours" -lt 6144

# --- what changes in the process ------------------------------------------------------

check_status "libraries that take each other's place while others launch" 0 \
	record -- "$odd_stacks" close "$WORKLOADS/odd_library_40.so" \
	"$WORKLOADS/odd_library_1032.so"
expect "are at the same place" 1 "$(sort -u out | wc -l)"
expect "and every stack is whole" "20 $launch;call_back;$start" \
	"$(stacks | grep -v 'recurse;launch_all_the_time;libc$')"

# libunwind's own way needs a pipe, which it can't have here.
check_status "with five descriptors" 0 \
	record -- bash -c 'ulimit -n 5 && exec "$@"' - "$odd_stacks" exact 2
expect "stacks are walked" "1 plain_kernel__launch;recurse;recurse;$start" "$(stacks)"

# Its shadow memory may not fit where the kernel puts programs. It sees no atomics of the
# stand-in, which isn't built with it, and takes them for races: only crashes count.
export TSAN_OPTIONS=report_bugs=0
tsan=$WORKLOADS/odd_stacks_tsan
if [ -x "$tsan" ] && run_fake setarch -R "$tsan" exact 1 2>/dev/null; then
	check_status "threads end under ThreadSanitizer" 0 \
		record -- setarch -R "$tsan" close "$WORKLOADS/odd_library_40.so" \
		"$WORKLOADS/odd_library_1032.so"
	expect_no_match "with whole stacks" '\[truncated\]' "$(stacks)"
else
	skip_one "threads end under ThreadSanitizer" "it can't be used here"
fi
