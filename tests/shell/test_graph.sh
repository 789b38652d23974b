#!/bin/bash
# Kernels of CUDA graphs are under what launched the graph, and under what made the node
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda nvcc python3

export FAKE_CUDA_INSTANT=1

# record PROGRAM [OPTION...]
record()
{
	local program=$1
	shift

	run_fake "$PERF_GPU" record -m 16M "$@" -- "$WORKLOADS/$program" -o launched.txt 2>err
}

truth_of()
{
	python3 "$TESTS/workloads/check_truth.py" launched.txt - --sidecar perf.data.gpu
}
by_script()
{
	"$PERF_GPU" script | truth_of
}
by_inject_and_perf()
{
	"$PERF_GPU" inject "$@" && perf script -i perf.gpu.data 2>perf.err | truth_of &&
		[ ! -s perf.err ]
}
account()
{
	python3 "$TESTS/workloads/gpu_log.py" --account perf.data.gpu
}

# stacks WHAT PROGRAM [OPTION of record...]
stacks()
{
	local what=$1
	shift

	check "$what: is recorded" record "$@"
	check "$what: perf-gpu script has 0 wrong stacks" by_script
	check "$what: inject and perf script have 0 wrong stacks" by_inject_and_perf
	expect "$what: each node is told of, and no copy twice" \
		"$(sed -nE 's/^nodes\t(.*)\tadded [0-9]*\t(.*)\t(.*)/\1  \2  \3/p' launched.txt)" \
		"$(python3 "$TESTS/workloads/gpu_log.py" --nodes perf.data.gpu)"
	expect_match "$what: nodes are no launches, and none is lost" \
		'^launches ([0-9]+)  samples \1  lost 0  ' "$(account)"
}

stacks "frame pointers" graph_truth
stacks "no frame pointers, stripped" graph_truth_stripped
stacks "--call-graph fp" graph_truth --call-graph fp

# frames WHICH: how many samples have each of the frames that tell the stacks apart
frames()
{
	"$PERF_GPU" script --graph-stacks="$1" | awk '
		/gpu-kernel:/ { nr++ }
		/\[CUDA graph\]/ { joints++ }
		/ cudaGraphLaunch / { launches++ }
		/ cudaLaunchKernel / { captures++ }
		/ cudaGraphAddKernelNode / { additions++ }
		/\[graph made before recording\]/ { unknown++ }
		/\[unattributed\]/ { unattributed++ }
		END {
			print nr, joints + 0, launches + 0, captures + 0, additions + 0,
				unknown + 0, unattributed + 0
		}'
}

# launched COLUMN REGEX: how many kernels the program launched of those
launched()
{
	awk -F '\t' -v column="$1" -v regex="$2" \
		'$1 == "launched" && $column ~ regex { nr += $2 } END { print nr + 0 }' launched.txt
}

all=$(launched 4 .)
graph=$(launched 4 ^replay)
direct=$(launched 4 ^capture)
captured=$(($(launched 5 ^capture) + direct))
added=$(launched 5 ^add)
unknown=$(launched 5 before)
expect "both stacks, with a frame between them" \
	"$all $graph $graph $captured $added $unknown 0" "$(frames both)"
expect "--graph-stacks=launch" "$all 0 $graph $direct 0 0 0" "$(frames launch)"
expect "--graph-stacks=capture: what isn't known is [unattributed]" \
	"$all 0 0 $captured $added $unknown $unknown" "$(frames capture)"
"$PERF_GPU" inject --graph-stacks=capture 2>inject.err
expect_match "--graph-stacks=capture: inject tells what isn't known" \
	"$(sed -E ':a; s/([0-9])([0-9]{3})\b/\1,\2/; ta' <<<"$unknown") kernels without a stack" \
	"$(cat inject.err)"
check_status "another word is refused" 129 "$PERF_GPU" script --graph-stacks=other

# For perf, it is a function like others.
"$PERF_GPU" inject 2>/dev/null
perf report -i perf.gpu.data --stdio --no-children -g caller 2>/dev/null >report.txt
expect_match "perf report goes through [CUDA graph]" '^ +\[CUDA graph\]$' "$(cat report.txt)"

# Copied stacks can be joined once they are unwound; perf walks that of the launch.
check "--call-graph dwarf: is recorded" record graph_truth --call-graph dwarf,4096
check "--call-graph dwarf: perf-gpu script has 0 wrong stacks" by_script
check "--call-graph dwarf: inject --unwind and perf script have 0 wrong stacks" \
	by_inject_and_perf --unwind
"$PERF_GPU" inject 2>/dev/null
perf script -i perf.gpu.data >script.txt 2>/dev/null
expect "--call-graph dwarf: inject leaves perf the stacks of launches" "$graph 0" \
	"$(grep -c ' cudaGraphLaunch.*\[GPU_Kernel\])$' script.txt) $(grep -c 'CUDA graph' script.txt)"

# A recording of two_streams on an H200, from before nodes were told of
"$PERF_GPU" script -i "$TESTS/data/before_graph_nodes/perf.data" -q 2>/dev/null >old.txt
expect_match "older recordings have graphs" ' cudaGraphLaunch ' "$(cat old.txt)"
expect_no_match "older recordings have the stacks of launches" \
	'CUDA graph|before recording' "$(cat old.txt)"
