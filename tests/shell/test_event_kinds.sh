#!/bin/bash
# What is recorded for each event: its kinds of records, calls of functions that have such, and nothing else
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda nvcc python3

export FAKE_CUDA_INSTANT=1 FAKE_CUDA_DEVICES=2

gpu_log()
{
	python3 "$TESTS/workloads/gpu_log.py" "$@" perf.data.gpu
}

# The kinds of which there are records
recorded()
{
	gpu_log --kinds | sed -E 's/ [0-9]+ */ /g; s/ $//'
}

# record EVENTS [OPTION...]: to out and err
record()
{
	local events=$1
	shift

	rm -rf perf.data*
	run_fake "$PERF_GPU" record -e "$events" "$@" "$WORKLOADS/event_truth" -o launched.txt >out 2>err
}

launches='cudaGraphLaunch|cudaLaunchKernel'
# Those that tell where a graph's nodes come from
graphs='cuda(Graph(Instantiate|Clone|ExecUpdate|AddKernelNode|AddMemcpyNode1D|AddMemsetNode|AddNode|AddChildGraphNode))'
copies='(cuda|cu)Memcpy[A-Za-z0-9_]*|cudaMemPrefetchAsync'
memsets='(cuda|cu)Memset[A-Za-z0-9_]*'
waits='cuda(Device|Stream|Event)Synchronize|cuda(Stream|Event)Query|cudaStreamWaitEvent'
allocations='cudaMalloc[A-Za-z0-9]*|cudaHostAlloc|cudaHostRegister|cudaMemPoolCreate|cu(Library|Module)LoadData[A-Za-z]*'
allocations+='|cuMem(Create|Map|SetAccess)|cuda(Memcpy(To|From)Symbol[A-Za-z]*|GetSymbol[A-Za-z]*)'
freeing='cudaFree(Host|Array)?|cuMem(Unmap|Release)|cudaHostUnregister|cudaMemPoolDestroy|cudaDeviceReset|cu(Library|Module)Unload'

# only EVENTS KINDS FUNCTIONS: no other records, no other functions have stacks
only()
{
	check "$1: is recorded" record "$1"
	expect "$1: its kinds of records" "$2" "$(recorded)"
	expect "$1: only functions that have some" "" "$(gpu_log --functions | grep -vxE "$3")"
	expect_match "$1: nothing is lost" ': 0 (launches|calls) lost, 0 GPU records dropped ]$' "$(cat err)"
	# What unified memory does is of no call, and CUPTI tells of none for a variable.
	[ "$1" = gpu-fault ] || expect "$1: each record has its stack" "" \
		"$("$PERF_GPU" script -q -e "$1" -F event,ip,sym | grep -B 1 '\[unattributed\]' |
			grep -vE '\[unattributed\]|\[GPU_Alloc\]device static |^--$')"
}

only gpu-kernel "kernel" "$launches|$graphs"
only gpu-memcpy "memcpy" "cudaGraphLaunch|$copies|$graphs"
only gpu-memset "memset" "cudaGraphLaunch|$memsets|$graphs"
only gpu-sync "sync" "$waits|$copies|$memsets|$freeing"
only gpu-launch "call" "$launches|$copies|$memsets"
only gpu-queue "kernel call" "$launches|$graphs"
only gpu-idle "kernel memcpy memset" "$launches|$copies|$memsets|$graphs"
only gpu-alloc "memory" "$allocations|$freeing|cudaFreeAsync"
only gpu-fault "kernel fault" "$launches|cudaMemPrefetchAsync|$graphs"

# What is switched on in CUPTI, by its numbers of kinds: 10 kernels, 1 and 22 copies, 2 memsets,
# 38 waits, 49 allocations, 25 unified memory, 9 contexts; and so nothing else can cost anything.
while read -r event kinds; do
	rm -f truth
	FAKE_CUDA_TRUTH=$TMP/truth run_fake "$PERF_GPU" record -q -e "$event" -o on.data "$WORKLOADS/launches" -n 3 >/dev/null
	expect "$event: CUPTI records nothing else" "$kinds" "$(sed -n 's/^# left kind //p' truth | xargs)"
done <<'END'
gpu-kernel 9 10
gpu-memcpy 1 9 22
gpu-memset 2 9
gpu-sync 9 38
gpu-launch
gpu-queue 9 10
gpu-idle 1 2 9 10 22
gpu-alloc 9 49
gpu-fault 9 10 25
END
rm -f truth
FAKE_CUDA_TRUTH=$TMP/truth run_fake "$WORKLOADS/launches" -n 3 >/dev/null
expect "without perf-gpu, nothing is on" "" "$(grep '^# left' truth)"

# What is recorded for one event is the same beside others.
record gpu-kernel
alone=$(gpu_log --kinds)
record all
expect "all: every kind" "kernel memcpy memset sync call memory fault" \
	"$(recorded)"
expect_match "all: as many kernels" "^$alone( |$)" "$(gpu_log --kinds)"

# --- what can't be switched on within cuInit() -----------------------------------------

# Recording begins from another thread, perhaps within cuInit(), or nobody tells of its end.
run_fake "$WORKLOADS/event_truth" -m >migrations
for options in "--probe api" "-D 0" "-D 1" "-D 2"; do
	# shellcheck disable=SC2086 # one or two words
	FAKE_CUDA_MIGRATIONS=$TMP/migrations record gpu-fault $options
	expect_match "faults with $options" '^.*fault [1-9][0-9]*' "$(gpu_log --kinds)"
	expect_no_match "faults with $options: nothing is refused" "can't record" "$(cat err)"
done

FAKE_CUDA_LATE_FAULTS=1 FAKE_CUDA_MIGRATIONS=$TMP/migrations record gpu-fault
expect_match "faults, from the first context on" '^.*fault [1-9][0-9]*' "$(gpu_log --kinds)"
expect_no_match "faults, from the first context on: nothing is refused" "can't record" "$(cat err)"
export FAKE_CUDA_CUPTI_ERRORS=cuptiActivityConfigureUnifiedMemoryCounter=13
record gpu-kernel,gpu-fault
expect_match "faults that are never ready: the user is told" \
	"can't record faults of unified memory: CUPTI_ERROR_NOT_READY" "$(cat err)"
record gpu-kernel,gpu-fault --probe api
expect_match "so he is with --probe api" \
	"can't record faults of unified memory: CUPTI_ERROR_NOT_READY" "$(cat err)"
run_fake "$PERF_GPU" record -e gpu-kernel,gpu-fault -- python3 -c \
	'import ctypes; assert ctypes.CDLL("libcuda.so.1").cuInit(0) == 0' 2>err
expect_match "who doesn't use the GPU is recorded" 'record: 0 launches' "$(cat err)"
expect_no_match "and misses no faults" "can't record" "$(cat err)"

# --- what CUPTI refuses ------------------------------------------------------------------

# kinds: what the log says is recorded, a bit each
kinds()
{
	python3 - "$TESTS/workloads" perf.data.gpu <<-'EOF'
		import sys
		sys.path.insert(0, sys.argv[1])
		import gpu_log
		print(*(f"{kinds:x}" for _, kinds in gpu_log.GpuLog(sys.argv[2]).events.values()))
	EOF
}

export FAKE_CUDA_CUPTI_ERRORS=cuptiActivityConfigureUnifiedMemoryCounter=36
check "faults refused: the rest is recorded" record gpu-kernel,gpu-fault
expect "faults refused: only kernels" "kernel" "$(recorded)"
expect "faults refused: the log says so" 1 "$(kinds)"
expect_match "faults refused: the user is told" \
	"warning: event_truth \(pid [0-9]+\): .*libcupti[^ ]* can't record faults of unified memory: " "$(cat err)"
expect "faults refused: once" 1 "$(grep -c "can't record" err)"
expect "without errors: the log has all kinds" 41 \
	"$(FAKE_CUDA_CUPTI_ERRORS='' record gpu-kernel,gpu-fault && kinds)"

export FAKE_CUDA_CUPTI_ERRORS=cuptiActivityEnable=35
record gpu-memcpy,gpu-memset
expect_match "all refused: in words" "can't record copies, memsets: .*forbidden to this user" "$(cat err)"
expect "all refused: nothing is" "" "$(gpu_log --kinds)"
