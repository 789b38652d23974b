#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What is to be shown on a real GPU, in one go, on a machine that has nothing but the
# driver, Python and the tree that was built elsewhere (make; scripts/gpu-bundle.sh):
# records the workloads, holds the recordings against what the programs say they
# launched, measures what recording costs, and ends with a table. As root.
#
# usage: [OUT=DIR] scripts/gpu-run.sh            all steps
#        [OUT=DIR] scripts/gpu-run.sh STEP       one of them, verbosely
#        [OUT=DIR] scripts/gpu-run.sh PATTERN    all whose names match, as "torch*"
#
#   OUT            gets summary.txt, log.txt and recordings.tar.gz (default build/gpu-run)
#   GPU_RUN_FAKE=1 on the stand-in for CUDA, to rehearse
#
# Everything is recorded from an installed tree, $stage, so that the paths in recordings
# which become fixtures are the same on every machine.
#
# A step that fails doesn't keep the others from running.
# shellcheck disable=SC2317 # steps are called by their names
set -euo pipefail
cd "$(dirname "$0")/.."
[[ ${GPU_RUN_FAKE:-} != 1 ]] || export FAKE_CUDA=1
stage=/opt/perf-gpu
export PERF_GPU=$stage/bin/perf-gpu BUNDLE=$stage/bundle
# shellcheck source=scripts/cuda-env.sh
. scripts/cuda-env.sh

workloads=$stage/workloads
work=$stage/run
skipped=77 # exit status of a step that can't be done here; its last line says why

# name and time limit in seconds
steps=(
	"check 20" "two_streams 30" "truth_shared 60" "truth_static 60" "truth_stripped 60"
	"truth_uprobe 60" "truth_process 60" "truth_nofp 60" "truth_fp 60"
	"graph_truth 60" "graph_truth_stripped 60" "graph_truth_process 60"
	"two_streams_dwarf 30" "no_root 30" "mini_llm 40" "mini_llm_tokens 60"
	"tour 60" "attach 120" "capture_range 60" "killed 30" "killed_process 30" "mini_llm_durations 40"
	"fault_exit 40" "fault_kill 40" "fault_term 30" "fault_fork 30" "fault_exec 40"
	"fault_threads 60" "fault_reset 30" "fault_error 30" "fault_loader 90"
	"torch_step 60" "torch_uprobe 60" "torch_trampoline 60" "torch_compile 90" "torch_graph 60"
	"torch_loader 60" "triton 60" "jax 90" "cupy 60" "onnx 30"
	"events 40" "events_process 40" "events_single 40" "events_torch 150" "cupti12 60"
	"nsys_stats 90" "scale 40" "ddp 200" "ddp_cost 400"
	"share_torch 90" "unshared_torch 120" "beside_nsys 120"
	"bench 180" "bench_torch 300" "bench_events 290"
)

skip() {
	echo "$*"
	exit "$skipped"
}

# What the recordings of the stand-in call the program with a static cudart.
if [[ $cuda_kind = gpu ]]; then
	static_suffix=
else
	static_suffix=_fake
fi

install_stage() {
	rm -rf "$stage"
	mkdir -p "$stage/bin" "$workloads" "$work"
	cp "$O/perf-gpu" "$stage/bin/"
	cp -r "$O/lib" "$stage/"
	if [[ -d $O/bundle ]]; then
		cp -r "$O/bundle" "$stage/"
		find "$stage/bundle" -name '*.gz' -exec gunzip {} +
	fi
	for program in "$O"/tests/workloads/*; do
		[[ ! -x $program || -d $program ]] || cp "$program" "$workloads/"
	done
}

# record_program NAME [option of record ...] -- PROGRAM ...
# Leaves perf.data, perf.data.gpu, launched.txt, script.txt and perf.gpu.data.
record_program() {
	local dir=$work/$1 options=()
	shift
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	mkdir -p "$dir"
	(
		cd "$dir"
		perf_gpu record "${options[@]}" -- "${target_env[@]}" "$@" > launched.txt
		perf_gpu script > script.txt
		perf_gpu inject
	)
}

# check_recording NAME [option of check_truth.py ...]
check_recording() {
	local dir=$work/$1
	shift
	python3 tests/workloads/check_truth.py "$dir/launched.txt" "$dir/script.txt" \
		--sidecar "$dir/perf.data.gpu" "$@"
}

record_truth() {
	local name=$1
	shift
	record_program "$name" "$@"
	check_recording "$name"
}

step_check() {
	uname -r
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2> /dev/null || true
	LD_LIBRARY_PATH=$target_library_path perf_gpu check
}

step_two_streams() {
	record_program two_streams -- "$workloads/two_streams" -n 10
	cp "$workloads/two_streams" "$work/two_streams/"
	check_recording two_streams
}

step_truth_shared() {
	record_truth truth_shared -- "$workloads/truth_shared"
}

step_truth_uprobe() {
	record_truth truth_uprobe --stacks uprobe -- "$workloads/truth_shared"
}

step_truth_process() {
	record_truth truth_process --stacks process -- "$workloads/truth_stripped_static$static_suffix"
}

step_truth_nofp() {
	record_truth truth_nofp -- "$workloads/truth_nofp"
	quality truth_nofp --require 100,100
}

step_truth_static() {
	record_truth truth_static -- "$workloads/truth_static$static_suffix"
}

step_truth_stripped() {
	record_truth truth_stripped -- "$workloads/truth_stripped_static$static_suffix"
}

# The kernel's chain ends at the first library built without frame pointers, which may
# be CUPTI: a stack that isn't there is no fault, a wrong one is.
step_truth_fp() {
	record_program truth_fp --call-graph fp -- "$workloads/truth_shared" -n 10000
	check_recording truth_fp --lost-launches
}

# The counts are to be compared: what the program made, and what CUPTI told of.
record_graph_truth() {
	record_program "$1" "${@:3}" -- "$workloads/$2"
	sed -n '/^nodes/s/\t/ /gp' "$work/$1/launched.txt"
	python3 tests/workloads/gpu_log.py --nodes "$work/$1/perf.data.gpu"
	check_recording "$1"
}

step_graph_truth() {
	record_graph_truth graph_truth graph_truth
}

step_graph_truth_stripped() {
	record_graph_truth graph_truth_stripped graph_truth_stripped
}

step_graph_truth_process() {
	record_graph_truth graph_truth_process graph_truth --stacks process
}

# As an ordinary user, who may nothing but run the program.
step_no_root() {
	local dir=$work/no_root
	mkdir -p "$dir"
	chown nobody "$dir"
	chmod a+rx "$stage" "$work"
	(
		cd "$dir"
		as_nobody=$dir/as_nobody
		printf '#!/bin/sh\nHOME=%q exec runuser -u nobody -- "%s" "$@"\n' "$dir" \
			"$PERF_GPU" > "$as_nobody"
		chmod +x "$as_nobody"
		PERF_GPU=$as_nobody perf_gpu record -- "${target_env[@]}" \
			"$workloads/two_streams" -n 10 > launched.txt
		perf_gpu script > script.txt
	)
	check_recording no_root
}

step_two_streams_dwarf() {
	record_truth two_streams_dwarf --call-graph dwarf -- "$workloads/two_streams" -n 2
}

step_mini_llm() {
	record_program mini_llm -- "$workloads/mini_llm" -n 4
	cp "$workloads/mini_llm" "$work/mini_llm/"
	check_recording mini_llm
}

# run_in_tour NAME PROGRAM [argument ...]
# A command's name as in the README, and not where this machine has its program and libraries
run_in_tour() {
	printf '#!/bin/sh\nexec %s "$@"\n' "$(printf '%q ' "${@:2}")" > "$1"
	chmod +x "$1"
}

# The README's first recording, which its pictures are made of, and its report: their outputs
# are in tour.txt.
step_tour() {
	local dir=$work/tour
	mkdir -p "$dir/training"
	(
		cd "$dir"
		run_in_tour mini_llm "${target_env[@]}" "$workloads/mini_llm"
		exec > >(tee tour.txt) 2>&1
		perf_gpu record -e gpu-kernel -- ./mini_llm
		perf_gpu inject
		cp "$workloads/mini_llm" .
		python3 -c 'import torch' 2> /dev/null || exit 0
		cp "$OLDPWD"/tests/workloads/torch_step.py .
		run_in_tour python "${target_env[@]}" "$(command -v python3)"
		perf_gpu record -e gpu-kernel -o training/perf.data -- ./python torch_step.py -n 3
		COLUMNS=80 perf_gpu report -i training/perf.data --names short --limit 5
	)
}

step_mini_llm_tokens() {
	python3 -c 'import torch' 2> /dev/null || skip "no PyTorch here"
	"${target_env[@]}" "$workloads/mini_llm" -n 16 | python3 tests/workloads/check_mini_llm.py
}

# record_killed NAME [option of record ...]
# A kill may lose what the GPU did in the last second, and no more; no kernel that is
# there may lack its launch.
record_killed() {
	local dir=$work/$1 status=0 nr_launches nr_kernels
	mkdir -p "$dir"
	(
		cd "$dir"
		perf_gpu record "${@:2}" -- "${target_env[@]}" timeout -s KILL 4 \
			"$workloads/mini_llm" -n 4000 2>&1 | tee record.txt
		exit "${PIPESTATUS[0]}"
	) || status=$?
	[[ $status = 137 ]] || { echo "the status is $status, not 137"; return 1; }
	perf_gpu script -q -i "$dir/perf.data" > "$dir/script.txt"
	nr_kernels=$(grep -c ' gpu-kernel: *$' "$dir/script.txt")
	nr_launches=$(sed -n 's/^\[ perf-gpu record: \([0-9,]*\) launch.*/\1/p' "$dir/record.txt" | head -n 1 | tr -d ,)
	! grep -q '\[unattributed\]' "$dir/script.txt" || { echo "kernels without a launch"; return 1; }
	echo "killed after 4 s: $nr_kernels kernels of $nr_launches launches"
	((nr_kernels * 2 > nr_launches))
}

step_killed() {
	record_killed killed --stacks uprobe
}

step_killed_process() {
	record_killed killed_process --stacks process
}

# record_part NAME OPTION...: of process $pid. The kernels that are there have their
# launches; how many there must be isn't known.
record_part() {
	local dir=$work/attach/$1
	mkdir -p "$dir"
	cp "$work/attach/launched.txt" "$dir/"
	perf_gpu record -v -o "$dir/perf.data" -p "$pid" "${@:2}"
	perf_gpu script -q -i "$dir/perf.data" > "$dir/script.txt"
	check_recording "attach/$1" --lost-kernels || {
		# When CUPTI stopped to tell of launches, if it did
		python3 tests/workloads/untold.py "$dir/perf.data.gpu" | head -n 20
		return 1
	}
}

# In the middle of a process's life: again and again, with others of its kernels between
step_attach() {
	local loaded pid i ctl ack
	mkdir -p "$work/attach"
	"${target_env[@]}" "$workloads/truth_shared" -n 8000 |
		awk -F '\t' -v OFS='\t' '{ $2 = "1000000000000"; print }' > "$work/attach/launched.txt"
	mapfile -t loaded < <(perf_gpu wait --env)
	"${target_env[@]}" "${loaded[@]}" "$workloads/truth_shared" -n 1000000000000 > /dev/null &
	pid=$!
	# shellcheck disable=SC2064 # this process
	trap "kill $pid" EXIT
	sleep 2
	for i in 1 2 3; do
		record_part "uprobe$i" --stacks uprobe -- sleep 0.3
		record_part "process$i" --stacks process -- sleep 0.3
	done
	rm -f "$work"/attach/{ctl,ack}
	mkfifo "$work"/attach/{ctl,ack}
	exec {ctl}<> "$work/attach/ctl" {ack}<> "$work/attach/ack"
	for i in 1 2 3 4 5; do
		echo enable >&"$ctl"
		read -r -t 20 -u "$ack"
		sleep 0.1
		echo disable >&"$ctl"
		read -r -t 20 -u "$ack"
		sleep 0.1
	done && echo stop >&"$ctl" &
	record_part parts -D -1 --control "fd:$ctl,$ack"
}

# What the program marks, and nothing else, by uprobes and by processes
step_capture_range() {
	local way
	for way in uprobe process; do
		record_truth "capture_range_$way" --stacks "$way" --capture-range=cudaProfilerApi \
			-- "$workloads/capture_range"
	done
}

# The README's figures, and what the stand-in plays from then on.
step_mini_llm_durations() {
	mkdir -p "$work/mini_llm"
	record_program mini_llm_64 -- "$workloads/mini_llm"
	cp "$workloads/mini_llm" "$work/mini_llm_64/"
	python3 tests/workloads/gpu_log.py --durations "$work/mini_llm_64/perf.data.gpu" \
		> "$work/mini_llm/durations"
	python3 tests/workloads/gpu_log.py "$work/mini_llm_64/perf.data.gpu"
	cat "$work/mini_llm_64/launched.txt"
	check_recording mini_llm_64
}

# quality NAME [option of stack_quality.py ...]: the README's table
quality() {
	local name=$1
	shift
	perf_gpu script -q -i "$work/$name/perf.data" -e gpu-kernel \
		-F comm,pid,tid,time,period,event,ip,sym,dso |
		python3 tests/workloads/stack_quality.py - "$@"
}

# record_python NAME MODULE [option of record ...] -- SCRIPT [its arguments ...]: a script of
# tests/workloads that needs MODULE, which finds its own cudart.
record_python() {
	local name=$1 module=$2 options=()
	shift 2
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	python3 -c "import $module" 2> /dev/null || skip "no $module here"
	target_env=(env -u LD_LIBRARY_PATH ${LD_LIBRARY_PATH:+"LD_LIBRARY_PATH=$LD_LIBRARY_PATH"})
	cp tests/workloads/*_step.py "$work/"
	record_program "$name" "${options[@]}" -- python3 "../$1" "${@:2}"
	cat "$work/$name/launched.txt"
	check_recording "$name" --unknown
	quality "$name" --python "$1" --require 100,99.9,99
}

step_torch_step() {
	record_python torch_step torch -- torch_step.py -n 3
}

step_torch_uprobe() {
	record_python torch_uprobe torch --stacks uprobe -- torch_step.py -n 20
}

step_torch_trampoline() {
	record_python torch_trampoline torch --python trampoline -- torch_step.py -n 3
}

step_torch_compile() {
	record_python torch_compile torch -- torch_step.py --compile -n 10
}

step_torch_graph() {
	record_python torch_graph torch -- torch_step.py --graph -n 10
}

step_torch_loader() {
	record_python torch_loader torch -- torch_step.py --loader -n 10
}

step_triton() {
	record_python triton triton -- triton_step.py
}

step_jax() {
	record_python jax jax -- jax_step.py
}

step_cupy() {
	record_python cupy cupy -- cupy_step.py
}

step_onnx() {
	python3 -c 'import onnxruntime as o; exit("CUDAExecutionProvider" not in o.get_available_providers())' \
		2> /dev/null || skip "no onnxruntime with CUDA here"
	record_python onnx onnxruntime -- onnx_step.py
}

# Everything else that the GPU did
# shellcheck source=scripts/gpu-steps-events.sh
. scripts/gpu-steps-events.sh
# shellcheck source=scripts/gpu-steps-share.sh
. scripts/gpu-steps-share.sh

# shellcheck source=scripts/gpu-steps-faults.sh
. scripts/gpu-steps-faults.sh

# shellcheck source=scripts/gpu-steps-ddp.sh
. scripts/gpu-steps-ddp.sh

# What the benchmarks need: nsys, which Nsight Compute brings, and CUPTI.
find_profilers() {
	# Where pip has put it, if the loader doesn't find one.
	local cupti
	cupti=$(compgen -G "$(python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
		)/nvidia/*/lib/libcupti.so.1?" | head -n 1 || true)
	if [[ $cuda_kind = gpu && -n $cupti ]]; then
		export CUPTI_LIBRARY=$cupti
	fi
	PATH=$PATH:$(compgen -G "/opt/nvidia/nsight-compute/*/host/target-linux-x64" | tail -n 1 || true)
}

step_bench() {
	find_profilers
	tests/bench/run.sh | tee "$work/launch_loop.txt"
}

step_bench_torch() {
	python3 -c 'import torch' 2> /dev/null || skip "no torch here"
	find_profilers
	tests/bench/torch.sh 15 1 | tee "$work/torch_step.txt"
}

step_bench_events() {
	find_profilers
	tests/bench/events.sh 20 | tee "$work/events.txt"
}

# One step is a process of its own: `timeout` can end it, and a failed command too.
if [[ $# -gt 0 && $(type -t "step_$1") = function ]]; then
	if [[ ! -d $work ]]; then
		install_stage
		exec "$0" "$@" # which finds what has been installed
	fi
	echo "recordings are in $work"
	"step_$1"
	exit
fi

# The small ones, which can become fixtures and pictures, without what is made of them.
# After each step: who runs this may end it.
pack_recordings() (
	cd "$work"
	rm -f ./*/perf.gpu.data ./*/script.txt
	rm -rf ./*/perf.gpu.data.dso
	find . -mindepth 1 -maxdepth 1 \( -name '*.txt' -o -type d \) \
		-exec sh -c 'test "$(du -sk "$1" | cut -f 1)" -le 12288' sh {} \; -print0 |
		tar -czf recordings.tar.gz --null -T -
	mv recordings.tar.gz "$OUT/"
)

OUT=${OUT:-$O/gpu-run}
mkdir -p "$OUT"
install_stage
trap 'rm -rf "$stage"' EXIT
failed=0
: > "$OUT/log.txt"
: > "$OUT/summary.txt"
for entry in "${steps[@]}"; do
	read -r step limit_s <<< "$entry"
	# shellcheck disable=SC2053 # a pattern
	[[ $step == ${1:-*} ]] || continue
	start_s=$SECONDS
	status=0
	timeout -k 5 "$limit_s" "$0" "$step" > "$work/step.txt" 2>&1 || status=$?
	{
		echo "==== $step"
		cat "$work/step.txt"
	} >> "$OUT/log.txt"
	case $status in
	0) result=ok ;;
	"$skipped") result=skipped ;;
	124 | 137) result="timeout" ;;
	*) result="FAILED" ;;
	esac
	[[ $status = 0 || $status = "$skipped" ]] || failed=1
	printf '%-20s %-8s %3d s  %s\n' "$step" "$result" "$((SECONDS - start_s))" \
		"$(tail -n 1 "$work/step.txt" | cut -c 1-150)" | tee -a "$OUT/summary.txt"
	pack_recordings
done

# Last, as the end is what is sure to be seen.
for entry in "${steps[@]}"; do
	read -r step _ <<< "$entry"
	if grep -q "^$step *\(FAILED\|timeout\)" "$OUT/summary.txt"; then
		sed -n "/^==== $step\$/,/^==== /p" "$OUT/log.txt" | head -n 30
	fi
done
cat "$work/launch_loop.txt" "$work/torch_step.txt" "$work/events.txt" 2> /dev/null || true
echo
cat "$OUT/summary.txt"
ls -sh "$OUT"
exit "$failed"
