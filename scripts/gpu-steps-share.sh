# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2317 # $work, $workloads, ... are gpu-run.sh's, which calls
#
# Steps of scripts/gpu-run.sh that are about other profilers in the recorded program: what
# they record beside us, and what we say and have beside them.

# beside NAME REGEX COMMAND ...: runs a recorder in $work/NAME; what it says has a line that
# matches, and launches are in perf.data, with their stacks. Leaves $nr_launches.
beside() {
	local dir=$work/$1 regex=$2
	shift 2
	(cd "$dir" && "$@") 2>&1 | tee "$dir/record.txt"
	[[ ${PIPESTATUS[0]} = 0 ]] || { echo "the recorder has failed"; return 1; }
	grep -qE "$regex" "$dir/record.txt" || { echo "no line matches: $regex"; return 1; }
	nr_launches=$(sed -nE 's/^\[ perf-gpu record: ([0-9,]+) launch.*/\1/p' "$dir/record.txt" | head -n 1 | tr -d ,)
	((${nr_launches:-0} > 0)) || { echo "no launches are recorded"; return 1; }
	python3 tests/workloads/hit_stacks.py "$dir/perf.data" --require 90
}

# torch.profiler begins in the middle of a training: with --share it has all kernels that it
# has when nobody else is there, and we have the stacks.
step_share_torch() {
	local dir=$work/share_torch alone shared
	python3 -c 'import torch' 2> /dev/null || skip "no torch here"
	target_env=(env -u LD_LIBRARY_PATH ${LD_LIBRARY_PATH:+"LD_LIBRARY_PATH=$LD_LIBRARY_PATH"})
	mkdir -p "$dir"
	cp tests/workloads/torch_{step,profiled}.py "$work/"
	(cd "$dir" && "${target_env[@]}" python3 ../torch_profiled.py) | tee "$dir/alone.txt"
	beside share_torch 'CUPTI is (left to others|shared with)' \
		perf_gpu record --share -- "${target_env[@]}" python3 ../torch_profiled.py
	alone=$(grep '^profiled' "$dir/alone.txt")
	shared=$(grep '^profiled' "$dir/record.txt")
	[[ -n $alone && $alone != "profiled 0 "* ]] || { echo "torch.profiler has no kernels without us"; return 1; }
	[[ $alone = "$shared" ]] || { echo "torch.profiler alone: $alone; beside record --share: $shared"; return 1; }
	echo "torch.profiler has $alone, beside $nr_launches launches with their stacks"
}

# The same without --share: one of the two has CUPTI. If it is torch.profiler, as it begins
# before CUDA does, that is told, and the stacks are recorded anyway.
step_unshared_torch() {
	local dir=$work/unshared_torch when option
	python3 -c 'import torch' 2> /dev/null || skip "no torch here"
	target_env=(env -u LD_LIBRARY_PATH ${LD_LIBRARY_PATH:+"LD_LIBRARY_PATH=$LD_LIBRARY_PATH"})
	mkdir -p "$dir"
	cp tests/workloads/torch_{step,profiled}.py "$work/"
	for when in first later; do
		option=()
		[[ $when = later ]] || option=(--first)
		beside unshared_torch 'another profiler.* has CUPTI in this process: the stacks|^profiled 0 ' \
			perf_gpu record -- "${target_env[@]}" python3 ../torch_profiled.py "${option[@]}"
		mv "$dir/record.txt" "$dir/$when.txt"
	done
	echo "torch.profiler first: $(grep '^profiled' "$dir/first.txt"); later: $(grep '^profiled' "$dir/later.txt")"
}

# nsys around the recorder, and as what it records, with --share and without. The recorder
# is to find libcuda before the program runs, wherever the stand-in's is.
step_beside_nsys() {
	local dir=$work/beside_nsys LD_LIBRARY_PATH=$target_library_path
	export LD_LIBRARY_PATH
	local profile=(nsys profile -t cuda -s none -f true -o nsys)
	local program=("${target_env[@]}" "$workloads/two_streams" -n 500)
	find_profilers
	command -v nsys > /dev/null || skip "no nsys here"
	mkdir -p "$dir"
	nsys --version 2> /dev/null | head -n 1 || true
	# shellcheck disable=SC2016 # for the inner shell
	beside beside_nsys 'is set to .*libToolsInjection.*, which stays: Nsight Systems .* the stacks' \
		"${profile[@]}" env "PERF_GPU=$PERF_GPU" "BUNDLE=${BUNDLE:-}" \
		bash -c '. "$1"; shift; perf_gpu record -- "$@"' - "$PWD/scripts/cuda-env.sh" "${program[@]}"
	# The stand-in's program ends before it is noticed who is in it.
	[[ $cuda_kind != gpu ]] ||
		beside beside_nsys 'is set to .*libToolsInjection.* in process .*Nsight Systems .* the stacks' \
			perf_gpu record -- "${profile[@]}" "${program[@]}"
	beside beside_nsys 'launch' perf_gpu record --share -- "${profile[@]}" "${program[@]}"
	rm -f "$dir"/nsys.*
	echo "nsys is named, and $nr_launches launches have their stacks"
}
