#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The demo, once everything is built (`make demo` does both): records an LLM inference,
# joins CPU stacks and GPU times, and shows the result with perf.
#
# usage: scripts/demo.sh [TOKENS]
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/cuda-env.sh
. scripts/cuda-env.sh

tokens=${1:-64}
out=${O#"$PWD"/}/demo
program=$O/tests/workloads/mini_llm

if [[ ! -x $program ]]; then
	echo "demo: $program is not built: it needs nvcc (package nvidia-cuda-toolkit," \
		"or CUDA from developer.nvidia.com)" >&2
	exit 1
fi
mkdir -p "$out"

if [[ $cuda_kind = gpu ]]; then
	echo "This machine has an NVIDIA GPU: the demo runs on it."
else
	echo "This machine has no NVIDIA GPU: the demo runs on a stand-in for CUDA. Kernels are not"
	echo "executed there; their durations are scripted, from tests/data/mini_llm.durations."
	target_env+=("FAKE_CUDA_DURATIONS=$PWD/tests/data/mini_llm.durations")
fi

step() {
	echo
	echo "\$ $*"
}

step "perf-gpu record -o $out/perf.data -- mini_llm -n $tokens"
if ! perf_gpu record -o "$out/perf.data" -- "${target_env[@]}" "$program" -n "$tokens"; then
	if [[ $(id -u) != 0 ]]; then
		hint="sudo make demo, or see what \`${O#"$PWD"/}/perf-gpu check\` says"
	else
		hint="\`${O#"$PWD"/}/perf-gpu check\` says what is missing"
	fi
	echo "demo: recording failed: $hint" >&2
	exit 1
fi

step "perf-gpu inject -i $out/perf.data -o $out/perf.gpu.data"
perf_gpu inject -i "$out/perf.data" -o "$out/perf.gpu.data"

# A perf that some distributions install under its version's name isn't looked for.
if command -v perf > /dev/null; then
	report() {
		step "perf report -i $out/perf.gpu.data --stdio -g none $*"
		# A section for each event, below its name
		perf report -i "$out/perf.gpu.data" --stdio -g none "$@" |
			sed -n "s/^# Samples: .* of event '\(.*\)'/\1/p; t; /^#\|^$/!p" | sed -n 1,28p
	}
	report --no-children -F overhead,sample,sym
	# and with what each function launched, however deep
	report -F overhead_children,overhead,sym --percent-limit 1
else
	echo "perf is not installed; with it: perf report -i $out/perf.gpu.data"
fi

# The page is there if npm was at build time; the picture always is.
graph=$out/flamegraph.html
perf_gpu flamegraph -q -i "$out/perf.data" -o "$graph" || {
	graph=$out/flamegraph.svg
	perf_gpu flamegraph -q --svg -i "$out/perf.data" -o "$graph"
}
echo
echo "The flame graph is in $graph. To go on with the tour in README.md:"
printf '  export PATH=%q:$PATH' "$O"
if [[ $cuda_kind = stand-in ]]; then
	printf ' LD_LIBRARY_PATH=%q' "$O/fake_cuda"
	printf ' FAKE_CUDA_DURATIONS=%q' "$PWD/tests/data/mini_llm.durations"
fi
printf '\n  mkdir -p /tmp/tour && cp -r %q/. /tmp/tour && cd /tmp/tour\n' "$O/tests/workloads"
