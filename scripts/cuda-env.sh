# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# Sourced by scripts that record CUDA programs, in the repository's root: on the GPU if
# this machine has one, else on the stand-in for CUDA. Takes O (the build folder) and
# FAKE_CUDA=1 (the stand-in, whatever there is), makes O absolute, and gives
#
#   cuda_kind     "gpu" or "stand-in"
#   target_env    array, to put before a recorded program
#   perf_gpu ...  runs the built perf-gpu, or $PERF_GPU, with the libraries of
#                 scripts/gpu-bundle.sh if they are there (or in $BUNDLE)

O=${O:-build}
have_gpu() {
	[[ -e /dev/nvidiactl || -e /dev/dxg ]] || return 1
	local dirs
	IFS=: read -ra dirs <<< "${LD_LIBRARY_PATH:-}:/usr/lib/wsl/lib"
	local dir
	for dir in "${dirs[@]}"; do
		[[ -n $dir && -e $dir/libcuda.so.1 ]] && return 0
	done
	PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep 'libcuda\.so\.1 ' >/dev/null
}

[[ $O = /* ]] || O=$PWD/$O
bundle=${BUNDLE:-$O/bundle}
target_library_path=${LD_LIBRARY_PATH:-}
if [[ ${FAKE_CUDA:-} != 1 ]] && have_gpu; then
	cuda_kind=gpu
	# Last: only where this machine has no cudart of its own.
	[[ -d $bundle/cuda ]] && target_library_path=$target_library_path:$bundle/cuda
else
	cuda_kind=stand-in
	target_library_path=$O/fake_cuda:$target_library_path
fi
# The libraries that perf-gpu is given must not get into the program it records. An
# empty directory would mean the current one.
target_library_path=${target_library_path#:}
target_library_path=${target_library_path%:}
target_env=(env -u LD_LIBRARY_PATH)
[[ -z $target_library_path ]] || target_env+=("LD_LIBRARY_PATH=$target_library_path")

perf_gpu() {
	if [[ -d $bundle ]]; then
		LD_LIBRARY_PATH=$bundle${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "${PERF_GPU:-$O/perf-gpu}" "$@"
	else
		"${PERF_GPU:-$O/perf-gpu}" "$@"
	fi
}
