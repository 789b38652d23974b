#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a recorded PyTorch training step costs, by each way to record it, beside CUPTI's
# activity records alone and Nsight Systems (if nsys is on PATH). See torch_cost.py.
#
# usage: tests/bench/torch.sh [PAIRS [PROCESSES]]
#   PAIRS      blocks of steps recorded and not recorded in a process (15)
#   PROCESSES  per variant (2)
set -euo pipefail
cd "$(dirname "$0")/../.."
pairs=${1:-15}
processes=${2:-2}
# shellcheck source=tests/bench/lib.sh
. tests/bench/lib.sh

# It finds its own cudart.
target_env=(env -u LD_LIBRARY_PATH ${LD_LIBRARY_PATH:+"LD_LIBRARY_PATH=$LD_LIBRARY_PATH"})
python3 -c 'import torch' 2> /dev/null || {
	echo "bench: no PyTorch here" >&2
	exit 1
}
step=(python3 tests/bench/torch_cost.py --switch "$O/tests/bench/libswitch.so" -p "$pairs")

for ((i = 0; i < processes; i++)); do
	measure bare "${target_env[@]}" "${step[@]}" -v bare
	measure activity "${target_env[@]}" "${step[@]}" -v activity
	record "perf-gpu process, walk" --stacks process --python walk -- "${step[@]}" -v perf-gpu
	record "perf-gpu process, tramp." --stacks process --python trampoline -- \
		"${step[@]}" -v perf-gpu
	record "perf-gpu process, off" --stacks process --python off -- "${step[@]}" -v perf-gpu
	record "perf-gpu uprobe, walk" --stacks uprobe --python walk -- "${step[@]}" -v perf-gpu
	measure_processes "${step[@]}" -v bare
done
# Trampolines cost also while nothing is recorded.
measure "bare, trampolines" "${target_env[@]}" env PYTHONPERFSUPPORT=1 "${step[@]}" -v bare
print_table "step"
exit "$failed"
