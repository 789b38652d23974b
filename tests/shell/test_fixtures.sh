#!/bin/bash
# Recordings of a real GPU, read as they were when somebody last looked at the result
. "$(dirname "$0")/lib.sh"

fixtures=$TESTS/data/h200

check "perf-gpu script prints what is expected of each" \
	env O="$O" "$TESTS/../scripts/update-fixtures.sh" --check

for name in two_streams mini_llm; do
	"$PERF_GPU" script -q -i "$fixtures/$name/perf.data" --symfs "$fixtures/$name/symfs" \
		>script.txt
	check "$name: each kernel has its own caller, and all of its time" \
		python3 "$TESTS/workloads/check_truth.py" "$fixtures/$name/launched.txt" script.txt \
		--sidecar "$fixtures/$name/perf.data.gpu"
done

"$PERF_GPU" script -q -i "$fixtures/torch_step/perf.data" --symfs "$fixtures/torch_step/symfs" \
	>script.txt
check "torch_step: all of the time of a training step" \
	python3 "$TESTS/workloads/check_truth.py" --unknown "$fixtures/torch_step/launched.txt" \
	script.txt --sidecar "$fixtures/torch_step/perf.data.gpu"
depths=$(awk '/gpu-kernel:/ { if (n) print n; n = 0; next } NF { n++ } END { print n }' script.txt |
	sort -n | head -n 1)
check "torch_step: the shortest stack has more than ten frames" test "$depths" -gt 10
