#!/bin/bash
# perf-gpu check: the verdict, its exit status, and the line that says why
# Whom it finds at work are the processes that it has started, and no others.
if [ -z "${IS_ALONE:-}" ] && unshare -p -f --mount-proc true 2>/dev/null; then
	IS_ALONE=1 exec unshare -p -f --mount-proc bash "$0"
fi
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda setpriv

SECCOMP_DENY=$O/tests/tools/seccomp-deny
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
unset CUDA_INJECTION64_PATH PERF_GPU_CUPTI CUDA_VISIBLE_DEVICES

# Lines of one thing, unwrapped: the text of a line and how to mend it
lines_of()
{
	sed -E ':again; N; $!b again; s/\n {23,}/ /g' out | sed -nE "s/ +/ /g; s/^ ([^ ]+) $1 /\1: /p"
}

check_status "with the stand-in" 0 run_fake "$PERF_GPU" check
expect_match "says so" '^record works here' "$(tail -n 1 out)"
expect_no_match "no line fails" '^  FAIL ' "$(cat out)"
expect "nothing is on stderr" "" "$(cat err)"
expect_match "probe" '^ok: .*uprobe_multi|^ok: .*perf events' "$(lines_of uprobes)"
expect_match "driver" "^ok: $FAKE_CUDA/libcuda.so.1, for CUDA up to 13\.[0-9]" "$(lines_of driver)"
expect_match "GPU" '^ok: .*compute capability [0-9]+\.[0-9]' "$(lines_of 'GPU 0')"
expect_match "GPU's UUID, as nvidia-smi has it" \
	'^ok: .*, GPU-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' "$(lines_of 'GPU 0')"
expect "no line of MPS, which isn't there" "" "$(lines_of MPS)"
expect_match "CUPTI and its release" "^ok: $FAKE_CUDA/libcupti.so.*, of CUDA 1[1-9]\.[0-9]" \
	"$(lines_of CUPTI)"
expect_match "room for one profiler" '^-: CUPTI has room for one profiler .* unless it is with --share' \
	"$(lines_of sharing)"
expect_match "no other profiler" '^ok: none, nor a debugger, in [0-9]+ process(es that use| that uses) CUDA' \
	"$(lines_of profilers)"
expect "no line is longer than a terminal, but for paths" "" "$(grep -v / out | grep -E '.{81}')"
check_status "-v" 0 run_fake "$PERF_GPU" check -v
expect_match "-v says more" 'effective: [0-9a-f]{16}' "$(cat out)"

# MPS's daemon, as far as it can be seen
mkdir mps
check_status "with a folder of MPS, and no daemon" 0 run_fake env CUDA_MPS_PIPE_DIRECTORY="$TMP/mps" "$PERF_GPU" check
expect_match "says so" "^-: CUDA_MPS_PIPE_DIRECTORY is $TMP/mps, where no daemon runs: " "$(lines_of MPS)"
mkfifo mps/control
echo $$ >mps/nvidia-cuda-mps-control.pid
check_status "with MPS" 0 run_fake env CUDA_MPS_PIPE_DIRECTORY="$TMP/mps" "$PERF_GPU" check
expect_match "says what is different" \
	"^-: its daemon runs, in $TMP/mps: processes share GPUs, .* -> record programs as the user .*--run-as" \
	"$(lines_of MPS)"
sleep 0 &
echo $! >mps/nvidia-cuda-mps-control.pid
wait
check_status "with what a killed daemon left" 0 run_fake env CUDA_MPS_PIPE_DIRECTORY="$TMP/mps" "$PERF_GPU" check
expect_match "there is no daemon" "where no daemon runs" "$(lines_of MPS)"
check_status "a CUPTI with room for several" 0 run_fake env \
	FAKE_CUDA_CUPTI_VERSION=13.3 FAKE_CUDA_DRIVER_VERSION=13030 "$PERF_GPU" check
expect_match "room for several profilers" '^-: this CUPTI has room for several profilers' "$(lines_of sharing)"
check_status "the same with an older driver" 0 run_fake env FAKE_CUDA_CUPTI_VERSION=13.3 "$PERF_GPU" check
expect_match "has room for one" '^-: CUPTI has room for one profiler' "$(lines_of sharing)"

# Who is at work in running processes, known by names of files and of commands
mkdir others
for name in libToolsInjection64.so libtorch_cpu.so; do
	cp "$(ldconfig -p | sed -n 's/.*libm\.so\.6 .*=> //p' | head -n 1)" "others/$name"
done
cp "$(command -v sleep)" others/nv-hostengine
LD_PRELOAD=$TMP/others/libToolsInjection64.so:$TMP/others/libtorch_cpu.so \
	run_fake "$WORKLOADS/launches" -w 300000 >nsys.txt &
running=$!
LD_PRELOAD=$TMP/others/libtorch_cpu.so run_fake "$WORKLOADS/launches" -w 300000 >torch.txt &
running+=" $!"
others/nv-hostengine 300 &
running+=" $!"
for _ in {1..1200}; do
	[ -s nsys.txt ] && [ -s torch.txt ] && break
	sleep 0.1
done
check_status "others run" 0 run_fake "$PERF_GPU" check
expect_match "whose profiler is in which process" \
	'^-: launches \(pid [0-9]+\) has Nsight Systems \(nsys\): libToolsInjection64.so is loaded' "$(lines_of profiler)"
expect "only where it is sure" 1 "$(lines_of profiler | wc -l)"
expect_match "and who could be" '^-: 1 process could use torch.profiler \(Kineto\)' "$(lines_of profilers)"
expect_match "DCGM" '^-: nv-hostengine \(pid [0-9]+\) runs: it reads the GPU.s counters' "$(lines_of DCGM)"
# shellcheck disable=SC2086 # several
kill $running
wait 2>/dev/null
if has gdb; then
	run_fake gdb -q -batch -ex run -ex "shell sleep 300" --args "$WORKLOADS/launches" -e abort >gdb.txt 2>&1 &
	running=$!
	for _ in {1..1200}; do
		grep -q ^launches gdb.txt && break
		sleep 0.1
	done
	check_status "a debugger runs" 0 run_fake "$PERF_GPU" check
	expect_match "which process it traces" '^-: launches \(pid [0-9]+\) is traced by gdb, pid [0-9]+' \
		"$(lines_of debugger)"
	pkill -P $running
	kill $running
	wait 2>/dev/null
else
	skip_one "a debugger runs" "gdb isn't installed"
fi

if ! has gpu; then
	check_status "no driver" 1 "$PERF_GPU" check
	expect_match "names libcuda" '^FAIL: libcuda\.so\.1: .* -> install NVIDIA' "$(lines_of driver)"
	expect_match "counts it" '^record does not work here: 1 to mend' "$(tail -n 1 out)"
else
	skip_one "no driver" "this machine has one"
fi

check_status "no libcupti" 1 run_fake env PERF_GPU_CUPTI=/nonexistent/libcupti.so "$PERF_GPU" check
expect_match "names the variable" '^FAIL: PERF_GPU_CUPTI=/nonexistent/libcupti.so cannot' \
	"$(lines_of CUPTI)"

check_status "another profiler in the environment" 1 \
	run_fake env CUDA_INJECTION64_PATH=/opt/other.so "$PERF_GPU" check
expect_match "names it" '^FAIL: CUDA_INJECTION64_PATH is set to /opt/other\.so' "$(lines_of environment)"

# A CUDA whose cuInit() crashes, and one that has no GPU
stub()
{
	mkdir -p "$1"
	for function in cuGetErrorName cuDriverGetVersion cuDeviceGetCount cuDeviceGet \
		cuDeviceGetName cuDeviceGetAttribute cuDeviceTotalMem_v2; do
		echo "int $function(void) { return 1; }"
	done >"$1/stub.c"
	echo "int cuInit(unsigned int flags) { (void)flags; $2 }" >>"$1/stub.c"
	"${CC:-gcc}" -shared -fPIC -o "$1/libcuda.so.1" "$1/stub.c"
}
stub crash '__builtin_trap();'
check_status "a driver that crashes" 1 env LD_LIBRARY_PATH="$TMP/crash" "$PERF_GPU" check
expect_match "says what crashed" '^FAIL: cuInit: the process died of signal' "$(lines_of CUDA)"
stub refuse 'return 100;'
check_status "a driver without a GPU" 1 env LD_LIBRARY_PATH="$TMP/refuse" "$PERF_GPU" check
expect_match "says that cuInit failed" '^FAIL: .*libcuda\.so\.1: cuInit failed: .* -> ' \
	"$(lines_of driver)"

# An unprivileged user must get at the files, wherever the build is.
mkdir -p tree/lib && cp "$PERF_GPU" tree/ && cp -r "$O/lib/perf-gpu" tree/lib/ &&
	cp -r "$FAKE_CUDA" fake && chmod -R a+rX . && mkdir -m 1777 tree/out
run_there()
{
	(cd tree/out && LD_LIBRARY_PATH=$TMP/fake "$@")
}

expect_match "which way stacks take" '^ok: record takes them through uprobes; .*--stacks process' \
	"$(lines_of stacks)"
check_status "without capabilities" 0 run_there "${nobody[@]}" ../perf-gpu check
expect_match "names them" \
	'^warn: CAP_BPF and CAP_PERFMON are missing .*sudo.*setcap cap_bpf,cap_perfmon' \
	"$(lines_of capabilities)"
expect_match "and the way that stacks take then" '^ok: record takes them within the process' \
	"$(lines_of stacks)"
expect_match "which is a limit" '^record works here, with [0-9] limits' "$(tail -n 1 out)"
check_status "with one of them" 0 run_there "${nobody[@]}" \
	--inh-caps=+bpf --ambient-caps=+bpf ../perf-gpu check
expect_match "names the other" '^warn: CAP_PERFMON is missing' "$(lines_of capabilities)"
if [ "$(printf '%s\n' 6.6 "$(uname -r)" | sort -V | head -n 1)" = 6.6 ]; then
	check_status "with CAP_BPF and CAP_PERFMON" 0 run_there "${nobody[@]}" \
		--inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon ../perf-gpu check
	expect_match "through uprobe_multi" 'uprobe_multi' "$(lines_of uprobes)"
else
	skip_one "with CAP_BPF and CAP_PERFMON" "Linux 6.6 has uprobe_multi, this is $(uname -r)"
fi
chmod 755 tree/out
check_status "a folder of another's" 1 run_there "${nobody[@]}" \
	--inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon ../perf-gpu check
expect_match "names it" "^FAIL: perf.data can't be written to .*/tree/out: Permission denied" \
	"$(lines_of output)"

for denied in bpf perf_event_open; do
	check_status "with $denied forbidden" 0 "$SECCOMP_DENY" $denied \
		env LD_LIBRARY_PATH="$FAKE_CUDA" "$PERF_GPU" check
	expect_match "names the filter" '^warn: .*seccomp filter .* -> let the filter pass bpf and' \
		"$(lines_of container)"
	expect_match "and the way that is left" '^ok: record takes them within the process' \
		"$(lines_of stacks)"
done
expect_match "names the side-band" '^warn: .*perf_event_open: Operation not permitted' \
	"$(lines_of side-band)"

mv tree/lib/perf-gpu/libunwind.so.8 .
check_status "without our libunwind" 0 run_there ../perf-gpu check
expect_match "warns" '^warn: not beside' "$(lines_of libunwind)"
mv tree/lib elsewhere
check_status "without the library" 1 run_there ../perf-gpu check
expect_match "names it" '^FAIL: libperf-gpu-inject.so is neither in' "$(lines_of library)"
