#!/bin/bash
# Beside another profiler: whose CUPTI is, stacks anyway, and --share, which leaves it to him
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda

# Nobody waits for a kernel; the times are the same.
export FAKE_CUDA_INSTANT=1 DEBUGINFOD_URLS=
unset CUDA_INJECTION64_PATH

record()
{
	run_fake "$PERF_GPU" record "$@" >out 2>err
}

# The number before the word, in what record said last
said()
{
	tr -d , <err | grep -oE "[0-9]+ $1" | head -n 1 | cut -d ' ' -f 1
}

# unharmed WHAT PROFILED: the program's own profiler has recorded all
unharmed()
{
	expect "$1: the other profiler has recorded all" "profiled $2 of $2" "$(grep -E '^profiled|^refused' out)"
}

# stacks WHAT LAUNCHES [FUNCTION]: all of them, to the program's start
stacks()
{
	expect "$1: all launches are recorded" "$2" "$(said launches)"
	expect_match "$1: none is lost" '[ :]0 launches lost' "$(cat err)"
	expect "$1: with whole stacks" "$2" "$(perf script 2>/dev/null | grep -c " ${3:-_start}+")"
}

# --- --share: whoever comes finds CUPTI free -------------------------------------------------

# shared WHAT LAUNCHES PROFILED OPTION...
shared()
{
	local what=$1 launches=$2 profiled=$3
	shift 3

	check_status "$what: is recorded" 0 run_fake "$PERF_GPU" record --share "$WORKLOADS/profiled" "$@"
	unharmed "$what" "$profiled"
	stacks "$what" "$launches"
	expect_match "$what: is told" 'CUPTI is left to others \(--share\): the stacks .*, not what the GPU did$' \
		"$(cat err)"
	expect "$what: in one line" 1 "$(grep -vc '^\[ ' err)"
	"$PERF_GPU" inject -o none.data 2>inject.err
	expect_match "$what: inject says that there is nothing to weigh" \
		"the stacks of $launches launches were recorded, but no GPU records" "$(cat inject.err)"
	local reader
	for reader in report script; do
		check_status "$what: $reader has nothing" 0 "$PERF_GPU" $reader
		expect "$what: and says so, with the reason, in one line" \
			"$(sed "s/inject/$reader/" inject.err)" "$(cat err)"
	done
}

shared "it was there first" 100 100 -N nsys
shared "it comes later" 350 200 -b 100 -n 200 -a 50
shared "it comes later, with a name" 350 200 -b 100 -n 200 -a 50 -N nsys

check_status "many processes: are recorded" 0 run_fake "$PERF_GPU" record --share bash -c "
	for i in 1 2 3; do '$WORKLOADS/profiled' -b 50 & done; wait"
expect "many processes: each is unharmed" 3 "$(grep -c '^profiled 100 of 100' out)"
expect "many processes: all launches are recorded" 450 "$(said launches)"
expect "many processes: one line for all, and how many" 2 "$(grep -vc '^\[ ' err)"

check_status "frame pointers" 0 run_fake "$PERF_GPU" record --share --call-graph fp "$WORKLOADS/profiled"
# The C library has none.
stacks "frame pointers" 100 main

# --- several subscribers, from CUDA 13.2 on ---------------------------------------------------

# joined VERSION: what is launched once the other is there has its GPU records
joined()
{
	local inject

	check_status "CUPTI $1: is recorded" 0 run_fake env FAKE_CUDA_CUPTI_VERSION="$1" \
		FAKE_CUDA_DRIVER_VERSION=14000 \
		"$PERF_GPU" record --share "$WORKLOADS/profiled" -b 20 -s torch -l "is shared with" -n 200 -a 30
	unharmed "CUPTI $1" 200
	stacks "CUPTI $1" 250
	expect_match "CUPTI $1: is told" 'CUPTI is shared with another profiler \(torch\): what the GPU did before it' \
		"$(cat err)"
	inject=$("$PERF_GPU" inject 2>&1)
	expect_match "CUPTI $1: the GPU's time has stacks" '230 GPU kernels, .*; 100.0 % of GPU time has a stack' "$inject"
	expect_match "CUPTI $1: before, there are stacks alone" '20 hits of probes are of no API call' "$inject"
}
joined 13.2
joined 13.3
joined 13.4
joined 13.9

# alone WHAT VERSION DRIVER OPTION...: CUPTI is somebody's alone, or can't be shared
alone()
{
	local what=$1 version=$2 driver=$3
	shift 3

	FAKE_CUDA_CUPTI_VERSION=$version FAKE_CUDA_DRIVER_VERSION=$driver \
		shared "$what" 120 100 -b 20 -w 300 "$@"
}
alone "one who knows of no others" 13.4 14000
alone "one who allows no others" 13.4 14000 -N nsys
alone "an older driver than CUPTI" 13.4 13000 -s torch
export FAKE_CUDA_CUPTI_ERRORS=cuptiActivityGetAttribute_v2=1
alone "nobody says whether he allows others" 13.4 14000 -s torch
unset FAKE_CUDA_CUPTI_ERRORS

# We end while kernels still run: they aren't taken from the other, who waits for them.
check_status "we end before the other: is recorded" 0 run_fake env FAKE_CUDA_CUPTI_VERSION=13.4 \
	FAKE_CUDA_DRIVER_VERSION=14000 FAKE_CUDA_LATE_UNTIL="$TMP/behind-us" \
	"$PERF_GPU" record --share "$WORKLOADS/profiled" -b 20 -s torch -l "is shared with" -x "$TMP/behind-us"
unharmed "we end before the other" 100

# Joining that fails half-way: we leave, and the other goes on.
FAKE_CUDA_CUPTI_ERRORS=cuptiActivitySetAttribute_v2=1 \
	check_status "joining fails: is recorded" 0 run_fake env FAKE_CUDA_CUPTI_VERSION=13.4 \
	FAKE_CUDA_DRIVER_VERSION=14000 "$PERF_GPU" record --share "$WORKLOADS/profiled" -b 20 -s torch \
	-l "cuptiSetThreadIdType failed"
unharmed "joining fails" 100
stacks "joining fails" 120
expect_match "joining fails: what has failed is told" 'libcupti.*: cuptiSetThreadIdType failed: CUPTI_ERROR_INVALID_PARAMETER' \
	"$(cat err)"

# What is loaded into the process may be the only hint.
mkdir torch
cp "$(ldconfig -p | sed -n 's/.*libm\.so\.6 .*=> //p' | head -n 1)" torch/libtorch_cpu.so

# --- without it ------------------------------------------------------------------------------

check_status "we were there first: is recorded" 0 run_fake "$PERF_GPU" record "$WORKLOADS/profiled" -b 10
expect "we were there first: the other is refused" "refused 39" "$(grep -E '^profiled|^refused' out)"
expect "we were there first: all launches are recorded" 110 "$(said launches)"
"$PERF_GPU" inject 2>inject.err
expect_match "we were there first: all have stacks" '110 GPU kernels, .*; 100.0 % of GPU time has a stack' \
	"$(cat inject.err)"

check_status "Kineto is loaded: is recorded" 0 run_fake "$PERF_GPU" record -v \
	env LD_PRELOAD="$TMP/torch/libtorch_cpu.so" "$WORKLOADS/profiled" -b 10
expect_match "Kineto is loaded: that it was refused can't be known, and is told with -v" \
	'torch.profiler \(Kineto\) is in this process: if it was to record meanwhile, CUPTI refused it' "$(cat err)"
check_status "Kineto is loaded: is recorded quietly" 0 run_fake "$PERF_GPU" record \
	env LD_PRELOAD="$TMP/torch/libtorch_cpu.so" "$WORKLOADS/launches"
expect "Kineto is loaded: not without -v" 0 "$(grep -vc '^\[ ' err)"

# --- the other was there first: its process is recorded by probes -----------------------------

# fallback WHAT LAUNCHES PROFILED OPTION... -- [OPTION of record...]
fallback()
{
	local what=$1 launches=$2 profiled=$3 options=()
	shift 3

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	check_status "$what: is recorded" 0 run_fake "$PERF_GPU" record "$@" "$WORKLOADS/profiled" "${options[@]}"
	unharmed "$what" "$profiled"
	stacks "$what" "$launches" "$outermost"
	expect "$what: in one line" 1 "$(grep -vc '^\[ ' err)"
}

outermost=_start
fallback "no name" 150 100 -a 50 --
expect_match "no name: is told" \
	'another profiler has CUPTI in this process: the stacks of its launches are recorded, not what' "$(cat err)"
fallback "a name" 100 100 -N nsys --
expect_match "a name: is told" 'another profiler \(nsys\) has CUPTI in this process: the stacks' "$(cat err)"
expect "perf shows the probes' event alone" "gpu-launch-api" "$(perf script -F event 2>/dev/null | sed -n 's/^ *\(gpu[^:]*\):.*/\1/p' | sort -u)"
outermost=main
fallback "frame pointers" 100 100 -- --call-graph fp
outermost=_start
fallback "copied stacks" 100 100 -- --call-graph dwarf

check_status "Kineto: is recorded" 0 run_fake "$PERF_GPU" record \
	env LD_PRELOAD="$TMP/torch/libtorch_cpu.so" "$WORKLOADS/profiled"
expect_match "Kineto: is named" 'another profiler \(torch.profiler \(Kineto\): libtorch_cpu.so is loaded\) has' \
	"$(cat err)"

# Others go on as ever, with their GPU records.
check_status "beside others: are recorded" 0 run_fake "$PERF_GPU" record bash -c "
	'$WORKLOADS/profiled'; '$WORKLOADS/launches' -n 50
	'$WORKLOADS/profiled' -n 30 & '$WORKLOADS/launches' -n 70; wait"
expect "beside others: all launches" 250 "$(said launches)"
expect "beside others: all profilers are unharmed" 2 "$(grep -cE '^profiled (100 of 100|30 of 30)' out)"
check "beside others: inject" "$PERF_GPU" inject
"$PERF_GPU" inject 2>inject.err
expect_match "beside others: they have all their GPU time" '120 GPU kernels, .*; 100.0 % of GPU time has a stack' \
	"$(cat inject.err)"
expect_match "beside others: what there is no GPU time of is counted" '130 hits of probes' "$(cat inject.err)"

# A process that has become another, with CUPTI to itself, is recorded in the one way only.
check_status "exec: is recorded" 0 run_fake "$PERF_GPU" record bash -c "
	FAKE_CUDA_SUBSCRIBER=nsys '$WORKLOADS/launches' -n 10; exec '$WORKLOADS/launches' -n 20"
expect "exec: all launches, once" 30 "$(said launches)"
FAKE_CUDA_SUBSCRIBER=nsys check_status "children: are recorded" 0 run_fake \
	"$PERF_GPU" record "$WORKLOADS/processes" spawn 20
expect "children: each by itself" "$(awk '/^launches/ { sum += $3 } END { print sum }' out)" "$(said launches)"

# A profiler that the command begins takes the place of our library, as nsys does.
"${CC:-gcc}" -shared -fPIC -x c -o libToolsInjection64.so - <<<'int InitializeInjection(void) { return 1; }'
# A library that isn't ours is noticed when libcuda is mapped: what was launched before is lost.
# noticed WHAT COMMAND...: the server launches again when its libcuda is probed
noticed()
{
	local what=$1 line
	shift

	rm -f server.in server.out && mkfifo server.in server.out
	run_fake "$PERF_GPU" record -v "$@" "$WORKLOADS/server" <server.in >server.out 2>err &
	exec {in}>server.in {out}<server.out
	read -r -u "$out" line
	echo "first 1" >&"$in"
	read -r -u "$out" line
	until grep -q 'launch functions of .* are probed' err || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
	echo "then 1000" >&"$in"
	read -r -u "$out" line
	exec {in}>&- {out}<&-
	wait $!
	expect "$what: is recorded" "0 done then 1000" "$? $line"
	check "$what: all launches are recorded from then on" test "$(said launches)" -ge 1000
	expect "$what: with their stacks" 1000 "$(perf script -F ip,sym 2>/dev/null | grep -c ' serve$' |
		awk '{ print ($1 > 1000 ? 1000 : $1) }')"
}

noticed "our place is taken" env CUDA_INJECTION64_PATH="$TMP/libToolsInjection64.so"
expect "our place is taken: whose it is, is told, once" 1 \
	"$(grep -cE 'is set to .*/libToolsInjection64.so in process [0-9]+: Nsight Systems \(nsys\) has the only place .* the stacks' err)"
noticed "our place is gone" env -u CUDA_INJECTION64_PATH
expect_match "our place is gone: is told" "CUDA_INJECTION64_PATH isn't set any more in process [0-9]+: the stacks" \
	"$(cat err)"

# What puts other work on the GPU is probed, too, if it is asked for.
check_status "copies: are recorded" 0 run_fake "$PERF_GPU" record -e gpu-memcpy \
	env FAKE_CUDA_SUBSCRIBER=nsys "$WORKLOADS/event_truth" copies
nr_copies=$(said launches)
check_status "copies: are recorded without another" 0 run_fake "$PERF_GPU" record -e gpu-memcpy \
	"$WORKLOADS/event_truth" copies
expect "copies: as many as without another profiler" "$(said launches)" "$nr_copies"

if unshare -p -f --mount-proc true 2>/dev/null; then
	check_status "a pid namespace within ours" 0 run_fake "$PERF_GPU" record \
		unshare -p -f --mount-proc env FAKE_CUDA_SUBSCRIBER=nsys "$WORKLOADS/launches"
	stacks "a pid namespace within ours" 100
	check_status "ours is a pid namespace" 0 run_fake unshare -p -f --mount-proc \
		"$PERF_GPU" record env FAKE_CUDA_SUBSCRIBER=nsys "$WORKLOADS/launches"
	stacks "ours is a pid namespace" 100
else
	skip_one "pid namespaces" "unshare can't make one"
fi

# A recorder that doesn't answer: the program goes on after some seconds.
mkdir spool
check_status "nobody answers: the program isn't hurt" 0 run_fake env FAKE_CUDA_SUBSCRIBER=nsys \
	CUDA_INJECTION64_PATH="$O/lib/perf-gpu/libperf-gpu-inject.so" PERF_GPU_SPOOL="$TMP/spool" \
	PERF_GPU_SESSION=0123456789abcdef "$WORKLOADS/launches"
expect_match "nobody answers: its log tells" 'another profiler \(nsys\) has CUPTI in this process, which has room for one' \
	"$(cat spool/*.gpulog | tr '\0' '\n')"

# Where there is nobody to set probes, it is as before.
check_status "no uprobes: is told" 1 run_fake "$PERF_GPU" record --stacks process "$WORKLOADS/profiled"
unharmed "no uprobes" 100
expect_match "no uprobes: what to do" 'is not recorded: another profiler has CUPTI .*: run without it, or .* --share' \
	"$(cat err)"

# --- what doesn't go with it -------------------------------------------------------------------

# refused WHAT REGEX OPTION...
refused()
{
	check_status "$1" 129 "$PERF_GPU" record --share "${@:3}"
	expect_match "$1: says why" "$2" "$(cat err)"
}
refused "another probe" '--share has only --probe api' --probe marker true
refused "a running process" '--share is for a command, not for -p' -p 1
refused "stacks within the command" '--share takes --call-graph dwarf or fp' --call-graph unwind true
refused "stacks from within" '--stacks process has only --probe marker' --stacks process true
refused "a delay" "--share can't be switched on and off" -D 100 true
