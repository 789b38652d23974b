#!/bin/bash
# record and check, with each call of the system failing in turn, in the recorder and in the library: the program is unharmed
. "$(dirname "$0")/../shell/lib.sh"
need root bpf fake_cuda plain python3

# Of each kind of call, so many are let fail, one in each run. ERRORS_STEPS=0: all, for half an hour
STEPS=${ERRORS_STEPS:-4}
export FAKE_CUDA_INSTANT=1 PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH=$FAKE_CUDA
LIBRARY=$O/tests/tools/libfaults.so
mkdir empty

# sweep WHAT OPTION-OF-FAIL_EACH... -- COMMAND...
sweep()
{
	local what=$1 odd status
	shift

	odd=$(python3 "$TESTS/tools/fail_each.py" --faults "$LIBRARY" --perf-gpu "$PERF_GPU" --input empty \
		--steps "$STEPS" "$@" 2>sum)
	status=$?
	expect "$what: whatever fails, all is well" "0 " "$status $odd"
	sed 's/^/# /' sum
}

for stacks in process uprobe; do
	sweep "record --stacks $stacks" --record -- "$PERF_GPU" record --stacks $stacks "$WORKLOADS/launches" -n 50
	sweep "the library, --stacks $stacks" --record -- "$PERF_GPU" record --stacks $stacks \
		env FAULT_IN=libperf-gpu-inject '{faults}' "$WORKLOADS/launches" -n 50
done
# What is switched on by options
for option in "--max-size 100M" "--overwrite" "--probe api"; do
	# shellcheck disable=SC2086 # words
	sweep "record $option" --record --reason 'BTF.* can.t be read' -- \
		"$PERF_GPU" record $option "$WORKLOADS/launches" -n 50
done

# What a killed recorder has left. All of it is written by then.
for stacks in process uprobe; do
	mkdir "left-$stacks" && cd "left-$stacks" || exit
	cat >../kill.sh <<-END
		"$WORKLOADS/launches" -n 50 -l
		for ((i = 0; i < 6000; i++)); do
			[ "\$(cat perf.data.?????? | wc -c)" -lt 8000 ] || break
			[ $stacks = uprobe ] || break
			sleep 0.05
		done
		kill -KILL \$PPID
	END
	"$PERF_GPU" record --stacks $stacks bash ../kill.sh >/dev/null 2>&1
	cd ..
	sweep "inject --recover, of --stacks $stacks" --input "left-$stacks" --recover -- "$PERF_GPU" inject --recover
done
# How much room there is, and who else runs, can change meanwhile.
sweep check --check --ignore '[0-9]+ MiB free' --ignore '(?m)^  \S+ +profilers .*(\n {23}.*)*' \
	--reason 'written whole' -- "$PERF_GPU" check
