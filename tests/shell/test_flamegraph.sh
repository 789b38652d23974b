#!/bin/bash
# perf-gpu script -e gpu-kernel | stackcollapse-perf.pl | flamegraph.pl: all GPU time is in the picture
#
# FlameGraph is in no distribution. Without it on PATH its rules are kept by
# tools/fold_script.py, which is compared with the real one where that is there.

# shellcheck source=tests/shell/lib.sh
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda python3

export PYTHONDONTWRITEBYTECODE=1
has_flamegraph=yes
for program in stackcollapse-perf.pl flamegraph.pl; do
	command -v $program >/dev/null || has_flamegraph=""
done

# Time on the GPU in all, by a reader that isn't ours
total_ns()
{
	python3 "$TESTS/workloads/gpu_log.py" perf.data.gpu |
		awk '{ sum += $(NF - 1) } END { printf "%.0f\n", sum }'
}

sum()
{
	awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$@"
}

# It is well-formed, and its lowest frame has all time
check_svg()
{
	python3 -c '
import sys, xml.etree.ElementTree as tree
titles = [e.text for e in tree.parse("gpu.svg").iter("{http://www.w3.org/2000/svg}title")]
ns = f"{int(sys.argv[1]):,} ns, 100%"
sys.exit(not any(ns in title for title in titles) or
	 not any("[GPU_Kernel]" in title for title in titles))' "$(total_ns)"
}

# draw WHAT COMMAND...: records COMMAND; its folded stacks are in ./folded then
draw()
{
	local what=$1
	shift

	check "$what: is recorded" run_fake "$PERF_GPU" record -q "$@"
	check_status "$what: script prints it" 0 "$PERF_GPU" script -e gpu-kernel
	expect "$what: and says nothing else" "" "$(cat err)"
	mv out script
	check_status "$what: it folds by stackcollapse's rules" 0 \
		python3 "$TESTS/tools/fold_script.py" <script
	mv out folded
	expect "$what: all time is in the stacks" "$(total_ns)" "$(sum folded)"
	expect "$what: kernels are the leaves" "" \
		"$(sed 's/ [0-9]*$//; s/.*;//; /^\[GPU_Kernel\]./d' folded)"
	check_status "$what: --folded folds it" 0 "$PERF_GPU" script --folded
	expect "$what: and the same" "$(LC_ALL=C sort folded)" "$(LC_ALL=C sort out)"
	[ -n "$has_flamegraph" ] || return
	check_status "$what: stackcollapse folds it" 0 stackcollapse-perf.pl script
	expect "$what: without complaints" "" "$(cat err)"
	expect "$what: and the same" "$(LC_ALL=C sort folded)" "$(LC_ALL=C sort out)"
	mv out stacks
	check_status "$what: flamegraph draws it" 0 flamegraph.pl --countname ns stacks
	expect "$what: without complaints" "" "$(cat err)"
	mv out gpu.svg
	check "$what: the picture has all time" check_svg
}

# kernel WHAT MANGLED FOLDED: a kernel's name, as it is to be in the folded text
kernel()
{
	export PLAIN_KERNEL_NAME=$2
	draw "$1" "$WORKLOADS/launches" -n 10
	unset PLAIN_KERNEL_NAME
	expect "$1: is in the picture" "[GPU_Kernel]$3" "$(sed 's/ [0-9]*$//; s/.*;//' folded)"
}

kernel "a template" _Z5scaleIfLi4EEvPT_i 'void scale<float, 4>'
kernel "an anonymous namespace" _ZN2at12_GLOBAL__N_14copyIfEEvPT_ \
	'void at::(anonymous namespace)::copy<float>'
kernel "a lambda" '_Z8for_eachIZ4mainEUlfE_EvPfT_' 'void for_each<main::{lambda'
kernel "a name that isn't mangled" sm80_xmma_gemm_f32 sm80_xmma_gemm_f32
kernel "a name with what separates" "a b;c\"d'+0x1f" "a b:cd"

draw "threads" "$WORKLOADS/launches" -n 100 -t 5
expect_match "threads have their own stacks" 'launches;.*launch_in_thread;.*;\[GPU_Kernel\]' \
	"$(cat folded)"

for workload in two_streams mini_llm; do
	if has nvcc; then
		draw $workload "$WORKLOADS/$workload"
	else
		skip_one $workload "need nvcc: $(why_not nvcc)"
	fi
done
if has nvcc; then
	expect_match "mini_llm shows where its time goes" \
		';main;generate;forward;transformer_layer;attention;matmul;.*;\[GPU_Kernel\]matmul [0-9]+$' \
		"$(cat folded)"
fi
[ -n "$has_flamegraph" ] ||
	skip_one "FlameGraph does the same" "need stackcollapse: FlameGraph isn't on PATH"
