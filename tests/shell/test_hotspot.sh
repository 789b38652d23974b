#!/bin/bash
# hotspot's parser adds up what inject writes as the sidecar does
#
# What hotspot shows is what its parser sends it: costs are added up from there.

# shellcheck source=tests/shell/lib.sh
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda python3 c++filt hotspot

export HOME=$TMP # of perf's build-id cache
export PYTHONDONTWRITEBYTECODE=1
parser=$(find /usr/lib* /usr/libexec -name hotspot-perfparser 2>/dev/null | head -n 1)

costs()
{
	python3 "$TESTS/tools/hotspot_costs.py" "$@"
}

# Lines "NS KERNELS NAME" of the sidecar, with names as hotspot is to show them
kernels()
{
	python3 "$TESTS/workloads/gpu_log.py" perf.data.gpu |
		awk '{ print $(NF - 1), $(NF - 2), "[GPU_Kernel]" $1 }' | c++filt |
		LC_ALL=C sort -k 1,1nr -k 3
}

# looks_right WHAT COMMAND...: records COMMAND, and leaves the stacks in ./stacks
looks_right()
{
	local what=$1
	shift

	check "$what: is recorded" run_fake "$PERF_GPU" record -q "$@"
	check "$what: is injected" "$PERF_GPU" inject -q
	check "$what: hotspot's parser reads it" "$parser" --input perf.gpu.data --output stream
	check_status "$what: and has nothing to complain of" 0 \
		costs --event gpu-kernel stream
	expect "$what: each kernel has its time and its samples" "$(kernels)" \
		"$(LC_ALL=C sort -k 1,1nr -k 3 out)"
	costs --stacks stream | cut -d ' ' -f 3- >stacks
	expect_no_match "$what: every frame has a name, or its file's" '\[(unknown)?\]' "$(cat stacks)"
}

looks_right "a C program" "$WORKLOADS/launches" -n 100 -t 3
expect_match "threads' stacks are whole" \
	'launch_in_thread;.*cudaLaunchKernel;\[GPU_Kernel\]' "$(cat stacks)"

for workload in two_streams mini_llm; do
	if has nvcc; then
		looks_right $workload "$WORKLOADS/$workload"
	else
		skip_one $workload "need nvcc: $(why_not nvcc)"
	fi
done
if has nvcc; then
	expect_match "mini_llm's stacks show where its time goes" \
		'main;generate.*;forward.*;transformer_layer.*;attention.*;matmul.*;cudaLaunchKernel;\[GPU_Kernel\]matmul\(' \
		"$(cat stacks)"
fi
