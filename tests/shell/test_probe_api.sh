#!/bin/bash
# Stacks by probes on what libcuda exports (--probe api), joined with GPU records by time
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda python3

# Nobody waits for a kernel; the times are the same.
export FAKE_CUDA_INSTANT=1 DEBUGINFOD_URLS=

# record [OPTION...] PROGRAM [ARG...]
record()
{
	run_fake "$PERF_GPU" record --probe api -m 64M "$@" >out.txt 2>record.err
}
# With small rings
record_lossy()
{
	run_fake "$PERF_GPU" record --probe api -m 1 "$@" >out.txt 2>record.err
}

# The number behind the word, in what record said last
said()
{
	tr -d , <record.err | grep -oE "[0-9]+ $1" | head -n 1 | cut -d ' ' -f 1
}

truth_of()
{
	python3 "$TESTS/workloads/check_truth.py" launched.txt - --sidecar perf.data.gpu "$@"
}
by_script()
{
	"$PERF_GPU" script 2>script.err | truth_of "$@"
}
by_inject_and_perf()
{
	"$PERF_GPU" inject --unwind 2>inject.err &&
		perf script -i perf.gpu.data 2>perf.err | truth_of "$@" && [ ! -s perf.err ]
}

# --- the right stacks ---------------------------------------------------------------------

# exact WHAT PROGRAM [OPTION of record...]
exact()
{
	local what=$1 program=$2
	shift 2

	check "$what: is recorded" record "$@" "$program" -n 5000 -o launched.txt
	expect_match "$what: no launch is lost" '[ :]0 launches lost' "$(cat record.err)"
	check "$what: perf-gpu script has 0 wrong stacks" by_script
	check "$what: inject and perf script have 0 wrong stacks" by_inject_and_perf
	expect_match "$what: inject says how they were joined" \
		": $(said launches | sed -E ':a; s/([0-9])([0-9]{3})\b/\1,\2/; ta') launches were joined with their GPU records by time" \
		"$(cat inject.err)"
	expect_match "$what: all GPU time has a stack" '100.0 % of GPU time has a stack' "$(cat inject.err)"
}

if has nvcc; then
	exact "shared cudart, dwarf" "$WORKLOADS/truth_shared"
	expect_match "the whole stack" '(_start|clone3)\+' "$("$PERF_GPU" script 2>/dev/null)"
	exact "shared cudart, fp" "$WORKLOADS/truth_shared" --call-graph fp
	exact "static cudart, dwarf" "$WORKLOADS/truth_static_fake" --call-graph dwarf,4096
	exact "static cudart, fp" "$WORKLOADS/truth_static_fake" --call-graph fp
	exact "stripped, static cudart" "$WORKLOADS/truth_stripped_static_fake"
	exact "no frame pointers" "$WORKLOADS/truth_nofp"

	# Most hits are lost: what remains must not move to other launches.
	check "launches lost: is recorded" record_lossy --call-graph fp \
		"$WORKLOADS/truth_shared" -n 50000 -o launched.txt
	expect_match "launches lost: some are" '^[1-9]' "$(said 'launches lost')"
	check "launches lost: 0 wrong stacks" by_script --lost-launches
else
	skip_one "truth programs" "no nvcc to build them"
fi

# --- whose launches -------------------------------------------------------------------------

# Another program that uses the same libcuda all the time
while run_fake "$WORKLOADS/launches" -n 1000 >/dev/null; do :; done &
noise=$!
check "beside another program: is recorded" record "$WORKLOADS/launches" -n 500
kill $noise
wait $noise 2>/dev/null
expect "beside another program: only the command's launches" 500 "$(said launches)"

check "children: are recorded" record "$WORKLOADS/processes" spawn 20
expect "children: launches of all of them" \
	"$(awk '/^launches/ { sum += $3 } END { print sum }' out.txt)" "$(said launches)"
expect "children: as many processes" "$(grep -c ^launches out.txt)" "$(said processes)"
check "a program that becomes another: is recorded" record "$WORKLOADS/processes" exec 20
expect "a program that becomes another: launches of both" \
	"$(awk '/^launches/ { sum += $3 } END { print sum }' out.txt)" "$(said launches)"
"$PERF_GPU" inject 2>inject.err
expect_match "a program that becomes another: all have stacks" '100.0 % of GPU time has a stack' "$(cat inject.err)"

if unshare -p -f --mount-proc true 2>/dev/null; then
	check "a pid namespace: is recorded" record --call-graph fp unshare -p -f --mount-proc \
		"$WORKLOADS/launches" -n 50
	expect "a pid namespace within ours: launches are seen" 50 "$(said launches)"
	check "ours is a pid namespace: is recorded" env LD_LIBRARY_PATH="$FAKE_CUDA" unshare -p -f --mount-proc \
		"$PERF_GPU" record --probe api "$WORKLOADS/launches" -n 50
	"$PERF_GPU" inject 2>inject.err
	expect_match "ours is a pid namespace: all have stacks" '100.0 % of GPU time has a stack' "$(cat inject.err)"
else
	skip_one "pid namespaces" "unshare can't make one"
fi

# --- a libcuda that isn't known before --------------------------------------------------------

mkdir elsewhere
cp "$FAKE_CUDA"/*.so.* elsewhere
mkfifo server.in server.out
"$PERF_GPU" record -v --probe api -- env LD_LIBRARY_PATH="$TMP/elsewhere" "$WORKLOADS/server" \
	<server.in >server.out 2>record.err &
exec {in}>server.in {out}<server.out
read -r -u "$out" line
# Before, it isn't there.
echo "first 1" >&"$in"
read -r -u "$out" line
until grep -q 'launch functions of .* are probed' record.err || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
echo "then 300" >&"$in"
read -r -u "$out" line
exec {in}>&- {out}<&-
wait $!
expect "libcuda elsewhere: is recorded" "0 done then 300" "$? $line"
expect_match "libcuda elsewhere: it is found when it is mapped" 'launch functions of .* are probed' \
	"$(cat record.err)"
check "libcuda elsewhere: launches are recorded from then on" test "$(said launches)" -ge 300

# --- processes without our GPU records ----------------------------------------------------------

# no_gpu WHAT
no_gpu()
{
	expect "$1: launches are recorded" 50 "$(said launches)"
	check "$1: inject runs" "$PERF_GPU" inject -o none.data
	"$PERF_GPU" inject -o none.data 2>inject.err
	expect_match "$1: inject says that there is nothing to weigh" \
		'the stacks of 50 launches were recorded, but no GPU records' "$(cat inject.err)"
	expect_match "$1: perf shows the stacks" '\bcuLaunchKernel\b' "$(perf script 2>/dev/null)"
}

export CUDA_INJECTION64_PATH=/nowhere/other.so
check "another profiler is injected: is recorded" record "$WORKLOADS/launches" -n 50
expect_match "another profiler is injected: is told" \
	'CUDA_INJECTION64_PATH is set to /nowhere/other.so, which stays' "$(cat record.err)"
no_gpu "another profiler is injected"
check_status "another profiler is injected: probes are what record takes by itself" 0 \
	run_fake env CUDA_INJECTION64_PATH=/opt/nsys/libToolsInjection64.so \
	"$PERF_GPU" record "$WORKLOADS/launches" -n 50
expect_match "another profiler is injected: whose it is, is told" \
	'is set to /opt/nsys/libToolsInjection64.so, which stays: Nsight Systems \(nsys\) has' "$(cat err)"
cp err record.err
no_gpu "record takes probes by itself"
check_status "another profiler is injected: by the marker nothing can be done" 1 \
	"$PERF_GPU" record --probe marker "$WORKLOADS/launches"
expect_match "another profiler is injected: api is recommended" 'record --probe api' "$(cat err)"
unset CUDA_INJECTION64_PATH

FAKE_CUDA_SUBSCRIBER="NVIDIA Nsight" check "another user of CUPTI: is recorded" record "$WORKLOADS/launches" -n 50
expect_match "another user of CUPTI: is told, by name" \
	'another profiler \(NVIDIA Nsight\) has CUPTI in this process' "$(cat record.err)"
no_gpu "another user of CUPTI"

check "no library in the command: is recorded" record env -u CUDA_INJECTION64_PATH "$WORKLOADS/launches" -n 50
no_gpu "no library in the command"

# An older CUPTI can't record single functions.
FAKE_CUDA_CUPTI_ERRORS=cuptiActivityEnableDriverApi=99,cuptiActivityEnableRuntimeApi=99 \
	check "an older CUPTI: is recorded" record "$WORKLOADS/launches" -n 50
"$PERF_GPU" inject 2>inject.err
expect_match "an older CUPTI: all have stacks" '100.0 % of GPU time has a stack' "$(cat inject.err)"

# --- other events than kernels: their functions are probed, too --------------------------------

if has nvcc; then
	check "all events: are recorded" record -e all "$WORKLOADS/event_truth" -o launched.txt
	for event in gpu-kernel gpu-memcpy gpu-memset gpu-sync gpu-launch gpu-alloc; do
		"$PERF_GPU" script -q -e $event >script.txt
		expect_match "$event: there are samples" " $event: " "$(cat script.txt)"
		# A module's variables are allocated by no call.
		expect "$event: each has a stack" 0 "$(awk '/\[unattributed\]/ && last !~ /device static/ { n++ }
			{ last = $0 } END { print n + 0 }' script.txt)"
	done
	expect "gpu-launch: of what puts work on the GPU alone" "" "$(
		"$PERF_GPU" script -q -e gpu-launch | grep -oE '\[GPU_Launch\][^ ]*' | grep -vE 'Launch|Memcpy|Memset|Prefetch')"
else
	skip_one "all events: are recorded" "need nvcc"
fi

# --- options ------------------------------------------------------------------------------------

check_status "stacks aren't walked in the command" 129 "$PERF_GPU" record --probe api --call-graph unwind true
expect_match "says why" '--probe api takes --call-graph dwarf or fp' "$(cat err)"
check_status "stacks don't go out by the process" 129 "$PERF_GPU" record --probe api --stacks process true
expect_match "names what it would need" '--stacks process has only --probe marker' "$(cat err)"
check_status "another word" 129 "$PERF_GPU" record --probe cuda true
expect_match "says which there are" '--probe takes marker, api or none' "$(cat err)"
check_status "it can't be paused" 129 "$PERF_GPU" record --probe api -D 100 true
expect_match "says so" "--probe api can't be switched on and off" "$(cat err)"
