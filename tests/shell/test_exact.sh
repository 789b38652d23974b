#!/bin/bash
# Every kernel is under the function that launched it, and no time is lost or doubled
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda nvcc python3

# Nobody waits for a kernel; the times are the same.
export FAKE_CUDA_INSTANT=1

# Fields of what the sidecar says of itself, by a reader that isn't ours
account()
{
	local field

	for field; do
		grep -oE "\b$field [0-9]+" account.txt | cut -d ' ' -f 2
	done | xargs
}

# What the stand-in says it ran, without what the test made it spoil: NAME RUNS NS
ran()
{
	awk -F '\t' 'NF > 1 { runs[$7] += $1 - $3; ns[$7] += $2 - $4 - $6 }
		END { for (name in runs) print name, runs[name], ns[name] }' truth.txt | sort
}

# record PROGRAM NR_LAUNCHES [OPTION...], with what went before in files here
record()
{
	local program=$1 nr_launches=$2
	shift 2

	rm -f truth.txt
	FAKE_CUDA_TRUTH=$TMP/truth.txt run_fake "$PERF_GPU" record "$@" \
		"$program" -n "$nr_launches" -o launched.txt 2>err &&
		python3 "$TESTS/workloads/gpu_log.py" --account perf.data.gpu >account.txt
}

# counts WHAT: nothing is missing without being counted
counts()
{
	expect "$1: launches that the library saw are samples or lost" \
		"$(account launches)" $(($(account samples) + $(account lost)))
	expect "$1: kernels are delivered or dropped" \
		"$(awk -F '\t' 'NF > 1 { sum += $1 } END { print sum }' truth.txt)" \
		$(($(account kernels) + $(account dropped)))
	expect_match "$1: record tells the losses" \
		"^\[ perf-gpu record: $(account lost) launch(es)? lost, $(account dropped) GPU records? dropped \]$" \
		"$(tr -d , <err | sed 's/lost /lost, /')"
}

# Both ways from the recording to text
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
	"$PERF_GPU" inject 2>inject.err &&
		perf script -i perf.gpu.data 2>perf.err | truth_of "$@" && [ ! -s perf.err ]
}

# stacks WHAT [OPTION of check_truth.py...]
stacks()
{
	local what=$1
	shift

	check "$what: perf-gpu script has 0 wrong stacks" by_script "$@"
	check "$what: inject and perf script have 0 wrong stacks" by_inject_and_perf "$@"
}

# --- nothing is lost ---------------------------------------------------------------------

# exact WHAT PROGRAM NR_LAUNCHES [OPTION of record...]
exact()
{
	local what=$1
	shift

	# Rings that hold all of it, since other work on the machine can stop the recorder.
	check "$what: is recorded" record "$@" -m 64M
	expect "$what: nothing is lost" "0 0 0" "$(account lost dropped unknown)"
	counts "$what"
	expect "$what: each kernel has its executions and its time" "$(ran)" \
		"$(python3 "$TESTS/workloads/gpu_log.py" perf.data.gpu | cut -d ' ' -f -3 | sort)"
	stacks "$what"
}

exact "shared cudart" "$WORKLOADS/truth_shared" 100000
expect "inject's sum" "[ perf-gpu inject: 103,000 GPU kernels, $(ran |
	awk '{ sum += $3 } END { print sum / 1e6 }' CONVFMT=%.3f OFMT=%.3f |
	sed -E 's/([0-9])([0-9]{3}\.)/\1,\2/') ms; 100.0 % of GPU time has a stack ]" "$(cat inject.err)"
exact "no frame pointers" "$WORKLOADS/truth_nofp" 100000
exact "static cudart" "$WORKLOADS/truth_static_fake" 100000
exact "stripped, static cudart" "$WORKLOADS/truth_stripped_static_fake" 100000

# Without its names: each kernel has one stack that it is launched with, no two the same.
cp "$WORKLOADS/truth_stripped_static_fake" stripped
check "no names at all: is recorded" record ./stripped 20000
"$PERF_GPU" script --graph-stacks=launch -F event,ip,sym,dso | awk '
	function take() {
		if (!kernel) return
		if ((kernel in stacks) && stacks[kernel] != stack) print kernel " has two stacks"
		if ((stack in taken) && taken[stack] != kernel) print kernel " has the stack of " taken[stack]
		stacks[kernel] = stack; taken[stack] = kernel; kernel = ""
	}
	/gpu-kernel:/ { take(); getline; kernel = $0; getline; apis[$2]++; stack = ""; next }
	{ stack = stack " " $1 }
	/stripped/ && $2 != "[unknown]" { print "the name " $2 " is known" }
	END { take(); for (kernel in stacks) nr++
		print nr, "kernels,", apis["cudaLaunchKernel"], apis["cudaGraphLaunch"] }' >stacks
expect "no names at all: every kernel has its stack, and its API's name" \
	"68 kernels, 20000 600" "$(cat stacks)"

# CUPTI's correlation ids have 32 bits.
for start in 0xfffff000 0xffffffff 0x7ffff000; do
	FAKE_CUDA_CORRELATION_START=$start exact "ids from $start" "$WORKLOADS/truth_shared" 20000
	read -r _ first last < <(grep -o 'ids .*' account.txt)
	check "ids from $start: they go on where they were" test $((last - first)) -lt 100000
done

exact "--call-graph fp" "$WORKLOADS/truth_shared" 100000 --call-graph fp

# perf walks the stacks itself, and takes its time.
check "--call-graph dwarf: is recorded" record "$WORKLOADS/truth_shared" 2000 \
	--call-graph dwarf,2048
counts "--call-graph dwarf"
check "--call-graph dwarf: inject and perf script have 0 wrong stacks" by_inject_and_perf

# --- losses on purpose -------------------------------------------------------------------

# Small rings; the other losses are the stand-in's.
for mode in unwind fp; do
	what="$mode, launches lost"
	check "$what: is recorded" record "$WORKLOADS/truth_shared" 100000 -m 1 --call-graph $mode
	expect_match "$what: some are" '^[1-9]' "$(account lost)"
	expect_match "$what: some aren't" '^[1-9]' "$(account samples)"
	expect "$what: no kernel is" "0 0" "$(account dropped unknown)"
	counts "$what"
	stacks "$what" --lost-launches
	expect "$what: inject and script tell it" 2 "$(tr -d , <inject.err | cat - <(tr -d , <script.err) |
		grep -cE ": $(account lost) launch(es were| was) lost while recording: (their|its) kernels have no stack")"
	expect_match "$what: inject tells what it came to" \
		'kernels? without a stack, .* ms, (is|are) under \[unattributed\]' "$(cat inject.err)"
done

export FAKE_CUDA_DROP=7
check "GPU records dropped: is recorded" record "$WORKLOADS/truth_shared" 100000 -m 64M
expect "GPU records dropped: one of seven" $((103000 / 7)) "$(account dropped)"
counts "GPU records dropped"
expect "GPU records dropped: the others have their time" "$(ran)" \
	"$(python3 "$TESTS/workloads/gpu_log.py" perf.data.gpu | cut -d ' ' -f -3 | sort)"
stacks "GPU records dropped" --lost-kernels
expect "GPU records dropped: inject and script tell it" 2 "$(cat inject.err script.err |
	grep -c ': 14,714 GPU records were lost while recording: their time is missing')"

FAKE_CUDA_UNKNOWN_TIME=11 check "all losses at once: is recorded" \
	record "$WORKLOADS/truth_shared" 100000 -m 1
expect_no_match "all losses at once: there are" '\b0\b' "$(account samples lost dropped unknown)"
counts "all losses at once"
stacks "all losses at once" --lost-launches --lost-kernels
unset FAKE_CUDA_DROP

FAKE_CUDA_UNKNOWN_TIME=10 check "times unknown: is recorded" record "$WORKLOADS/truth_shared" 10000 -m 16M
expect "times unknown: one of ten" 1028 "$(account unknown)"
counts "times unknown"
expect "times unknown: the others have theirs" "$(ran)" \
	"$(python3 "$TESTS/workloads/gpu_log.py" perf.data.gpu | cut -d ' ' -f -3 | sort)"
stacks "times unknown" --lost-kernels
expect "times unknown: record, inject and script tell it" 3 "$(cat err inject.err script.err |
	grep -c "1,028 kernels have no time, CUPTI didn't know it: they are left out")"

# Records that CUPTI still owes at the end: they are asked for, and come without times.
FAKE_CUDA_LATE_UNTIL=$TMP/never FAKE_CUDA_LATE_AFTER=5000 check "late records: are recorded" record "$WORKLOADS/truth_shared" 10000 -m 16M
expect_match "late records: some are too late" '^[1-9]' "$(account unknown)"
counts "late records"
stacks "late records" --lost-kernels
unknown=$(account unknown | sed -E ':a; s/([0-9])([0-9]{3})\b/\1,\2/; ta')
expect "late records: record, inject and script tell it" 3 "$(cat err inject.err script.err |
	grep -cE "$unknown kernels? ha(ve|s) no time, CUPTI didn't know it: (they are|it is) left out")"
expect "late records: each is counted once" 0 "$(cat err inject.err script.err | grep -cE '[1-9] GPU records')"

# CUPTI tells of no launch any more, and records on: with the id of the last one.
FAKE_CUDA_UNTOLD=1000 check "untold launches: are recorded" record "$WORKLOADS/truth_shared" 20000 -m 16M
expect "untold launches: each kernel is there" \
	"$(awk -F '\t' 'NF > 1 { sum += $1 } END { print sum }' truth.txt)" "$(account kernels)"
stacks "untold launches" --lost-launches
expect_match "untold launches: record tells of them" \
	'CUPTI has recorded [1-9][0-9,]* kernels or copies without telling of their launches: they have no stack' \
	"$(cat err)"
