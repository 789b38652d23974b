#!/bin/bash
# What perf probe and perf record make on their own is joined with our GPU records
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda python3

export FAKE_CUDA_INSTANT=1 DEBUGINFOD_URLS=
# A copy, so that these probes are on nobody else's library
cp -r "$FAKE_CUDA" cuda
export LD_LIBRARY_PATH=$TMP/cuda
group=probe_libcuda own_group=test_$$

remove_probes()
{
	perf probe -q -d "$group:*" 2>/dev/null
	perf probe -q -d "$own_group:*" 2>/dev/null
}
trap 'status=$?; remove_probes; (exit $status); cleanup' EXIT

# They are the machine's, and others may have such ones: another run of this test ends first.
exec {lock}<"$(command -v perf)"
flock -w 600 "$lock"
if perf probe -l 2>/dev/null | grep "^ *$group:" >/dev/null; then
	echo "1..0 # SKIP there are probes of the group $group already"
	exit 0
fi
for function in cuLaunchKernel cuGraphLaunch; do
	if ! perf probe -q -x cuda/libcuda.so.1 $function 2>err; then
		echo "1..0 # SKIP perf probe doesn't work: $(head -n 1 err)"
		exit 0
	fi
done
perf probe -q -x cuda/libcuda.so.1 "$own_group:go=cuLaunchKernel"
perf probe -q -x cuda/libcuda.so.1 "$own_group:graph=cuGraphLaunch"
perf probe -q -x cuda/libcuda.so.1 "$own_group:other=cuMemAlloc_v2"
perf probe -q -x cuda/libcuda.so.1 "$own_group:back=cuLaunchKernel%return"

# record EVENTS [OPTION of perf record...] -- PROGRAM [ARG...]
record()
{
	local events=$1
	shift

	"$PERF_GPU" record --probe none -- perf record -q -e "$events" "$@" >out.txt 2>record.err
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

# joined WHAT: of whatever was recorded last
joined()
{
	check "$1: perf-gpu script has 0 wrong stacks" by_script
	check "$1: inject and perf script have 0 wrong stacks" by_inject_and_perf
	expect_match "$1: inject says that time has joined them" \
		'2,112 launches were joined with their GPU records by time' "$(cat inject.err)"
	expect_match "$1: all GPU time has a stack" '100.0 % of GPU time has a stack' "$(cat inject.err)"
}

if has nvcc; then
	program=$WORKLOADS/truth_shared
	check "perf's names: are recorded" record "$group:*" -k CLOCK_MONOTONIC -g -m 16M -- \
		"$program" -n 2000 -o launched.txt
	expect_match "perf's names: record says that it wrote the sidecar" \
		'GPU records of 1 process in perf\.data\.gpu' "$(cat record.err)"
	joined "perf's names"

	check "copied stacks: are recorded" record "$group:*" -k CLOCK_MONOTONIC --call-graph dwarf,16384 -m 64M -- \
		"$program" -n 2000 -o launched.txt
	joined "copied stacks"
	expect_match "copied stacks: reach the beginning" '(_start|clone3)\+' "$("$PERF_GPU" script 2>/dev/null)"

	# Rings of one page, of which perf itself tells what it lost
	record "$group:*" -k CLOCK_MONOTONIC --call-graph dwarf,16384 -m 1 -- \
		"$program" -n 20000 -o launched.txt
	"$PERF_GPU" script 2>script.err >script.txt
	expect_match "lost hits: are told of" '[1-9][0-9,]* launch(es were| was) lost while recording' "$(cat script.err)"

	# Another group's name, with events in it that are none: known by the functions.
	check "other names: are recorded" record "$own_group:*" -k CLOCK_MONOTONIC -g -m 16M -- \
		"$program" -n 2000 -o launched.txt
	joined "other names"

	check "beside other events: are recorded" record "$group:*" -e cpu-clock -k CLOCK_MONOTONIC -g -m 16M -- \
		"$program" -n 2000 -o launched.txt
	joined "beside other events"
	check "beside other events: they can be kept" "$PERF_GPU" inject -q --keep-cpu -o kept.data
	expect "beside other events: probes aren't kept" "gpu-kernel cpu-clock" \
		"$(perf evlist -i kept.data 2>/dev/null | sed 's/:u*$//; /^#/d' | xargs)"

	cp perf.data.gpu other.gpu
else
	skip_one "truth programs" "no nvcc to build them"
	check "a recording is made" record "$group:*" -k CLOCK_MONOTONIC -g -- "$WORKLOADS/launches" -n 50
	cp perf.data.gpu other.gpu
fi

# --- pairs that aren't -------------------------------------------------------------------------

# refused WHAT REGEX [OPTION...]
refused()
{
	local what=$1 regex=$2
	shift 2

	check_status "$what" 1 "$PERF_GPU" inject "$@"
	expect_match "$what: says why" "$regex" "$(cat err)"
}

check "perf's own clock: is recorded" record "$group:*" -g -- "$WORKLOADS/launches" -n 50
refused "perf's own clock" 'make it with perf record -k CLOCK_MONOTONIC'

check "another run: is recorded" record "$group:*" -k CLOCK_MONOTONIC -g -- "$WORKLOADS/launches" -n 50
refused "another run's GPU records" 'other\.gpu is of another time than perf\.data' -g other.gpu
check "its own: are joined" "$PERF_GPU" inject

mv perf.data stock.data
check "a recording by the marker: is made" run_fake "$PERF_GPU" record -q -o marker.data "$WORKLOADS/launches" -n 50
refused "GPU records without API calls" 'has no records of API calls, .* --probe none' -i stock.data -g marker.data.gpu
refused "a perf.data of perf-gpu's with another's sidecar" 'is of another recording' -i marker.data -g other.gpu

check "no launches: is recorded" record "cpu-clock" -k CLOCK_MONOTONIC -g -- "$WORKLOADS/launches" -n 50
refused "no launches" "not recorded by perf-gpu record, nor with probes on libcuda's launch functions"

# --- what record --probe none leaves alone ------------------------------------------------------

echo mine >perf.data
check "only the sidecar is written" "$PERF_GPU" record -q --probe none -- "$WORKLOADS/launches" -n 50
expect "perf.data stays as it was" mine "$(cat perf.data)"
check "the older sidecar is kept" test -s perf.data.old.gpu
expect "nothing else is left" "" "$(find . -maxdepth 1 -name 'perf.data?*' ! -name perf.data.gpu ! -name perf.data.old ! -name perf.data.old.gpu)"
check_status "the command's status is passed on" 7 "$PERF_GPU" record -q --probe none -- sh -c 'exit 7'
check_status "stacks are the other's" 129 "$PERF_GPU" record --probe none --call-graph fp true
