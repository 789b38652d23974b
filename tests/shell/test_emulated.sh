#!/bin/bash
# A build for another machine in an emulator: programs on the stand-in, recorded and read
. "$(dirname "$0")/lib.sh"
need emulator fake_cuda

export FAKE_CUDA_INSTANT=1
read -r -a emulator <<<"$EMULATOR"
machine=${emulator[0]##*qemu-}

emulated()
{
	"${emulator[@]}" "$PERF_GPU" "$@"
}

# The recorder and the program in an emulator each; there are no uprobes in it.
record()
{
	local program=$1
	shift

	rm -f perf.data*
	run_fake "${emulator[@]}" "$PERF_GPU" record --stacks process -- \
		"${emulator[@]}" "$WORKLOADS/$program" "$@"
}

# The stacks with their numbers, leaf first, without the kernel. What isn't of the
# program has its library's name, once.
stacks()
{
	emulated script -F event,ip,sym,dso 2>script.err | awk '
		/gpu-kernel:/ { next }
		NF == 0 { stacks[stack]++; stack = before = ""; next }
		$2 ~ /^\[GPU_Kernel\]|^cuda/ { next }
		{
			name = $2
			if ($NF ~ /\/lib[^\/]*\)$/) {
				name = $NF
				sub(/.*\/lib/, "", name)
				sub(/[-.].*/, "", name)
			}
			sub(/\.constprop.*/, "", name)
			if (name != before)
				stack = stack (stack == "" ? "" : ";") name
			before = name
		}
		END {
			if (stack != "")
				stacks[stack]++
			for (stack in stacks)
				print stacks[stack], stack
		}' | sort -k 2
}

# walk WHAT WANTED PROGRAM [ARGUMENT...]
walk()
{
	local what=$1 wanted=$2
	shift 2

	check_status "$what: recorded" 0 record "$@"
	expect_match "$what: nothing is lost" '^\[ .* 0 launches lost, 0 GPU records dropped' \
		"$(cat err)"
	expect "$what: the stacks are whole" "$wanted" "$(stacks)"
}

main='main;c;_start'
walk "one thread" "100 plain_kernel__launch;$main" launches -n 100
walk "threads" "800 plain_kernel__launch;launch_in_thread;c" launches -n 100 -t 8
walk "code made at run time, with names" \
	"50 plain_kernel__launch;launch;jit_first;run;$main
50 plain_kernel__launch;launch;jit_second;run;$main" jit -d -n 50
walk "libraries that are opened and closed" \
	"30 plain_kernel__launch;run_in_plugin_a;$main
30 plain_kernel__launch;run_in_plugin_b;$main" plugins 6 10

check_status "deep stacks: recorded" 0 record deep_stack -n 64
expect "deep stacks: each is another one, and whole" 64 \
	"$(emulated script -F ip,sym | awk -v RS= '/ _start/ { stacks[$0] } END { print length(stacks) }')"
expect "deep stacks: none is cut off" "" "$(emulated script -F ip,sym | grep -F '[truncated]')"

# qemu 7.2 takes MADV_WIPEONFORK, and doesn't wipe: a child would write its parent's log.
skip_one "forked children" "the emulator doesn't wipe the page that they are told by"

# --- what is made of it ---------------------------------------------------------------------

check_status "inject" 0 emulated inject
expect_match "all GPU time has a stack" '100\.0 % of GPU time has a stack' "$(cat err)"
expect_match "the file of names is of that machine" "Machine: *$machine" \
	"$(readelf -h 'perf.gpu.data.dso/[GPU_Kernel]' | tr '[:upper:]' '[:lower:]' |
		sed 's/^ *machine/Machine/')"
if has perf; then
	expect "stock perf of this machine reads it" 64 \
		"$(perf script -i perf.gpu.data -F event,ip,sym 2>/dev/null |
			grep -c '\[GPU_Kernel\]plain_kernel()')"
else
	skip_one "stock perf of this machine reads it" "perf isn't installed"
fi
if [ -x "$TESTS/../build/perf-gpu" ]; then
	expect "perf-gpu of this machine reads the same" "$(emulated script)" \
		"$("$TESTS/../build/perf-gpu" script)"
else
	skip_one "perf-gpu of this machine reads the same" "it isn't built"
fi
expect_match "check names the machine" "ok +kernel +Linux .*, $machine" "$(emulated check 2>&1)"
