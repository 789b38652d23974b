#!/bin/bash
# What has no samples replaces nothing that is there, and every reader says why it is empty
. "$(dirname "$0")/lib.sh"
need fake_cuda

"$PERF_GPU" record --stacks process -o empty.data true 2>err
expect_match "a program without CUDA: record warns" 'no process initialized CUDA' "$(cat err)"

# Files of the usual names, which a good recording may be in
for command in inject flamegraph "flamegraph --svg" "export --chrome" "export --perfetto" \
	"export --pprof" "export --speedscope" "export --firefox" "export --sqlite"; do
	rm -rf here && mkdir here && cd here || exit 1
	# shellcheck disable=SC2086 # two words
	if ! "$PERF_GPU" $command -i ../empty.data -o ../written 2>../err; then
		cd ..
		if grep -E 'which this perf-gpu was built without|no page can be written' err >why; then
			skip_one "$command" "$(cat why)"
		else
			fail "$command: -o writes an empty one" "$(cat err)"
		fi
		continue
	fi
	ok "$command: -o writes an empty one"
	expect_match "$command: and says why" 'no GPU kernels: none ran, or none was recorded' \
		"$(cat ../err)"
	# shellcheck disable=SC2086
	check_status "$command: without -o, it fails" 1 "$PERF_GPU" $command -i ../empty.data
	expect "$command: and writes nothing" "" "$(ls)"
	expect_match "$command: which it says, and why" \
		'^perf-gpu [a-z]*: .* is not written: ../empty.data has no samples; -o .* writes an empty one$' \
		"$(cat "$TMP/err")"
	usual=$(sed -n 's/^perf-gpu [a-z]*: \(.*\) is not written: .*/\1/p' "$TMP/err")
	echo good >"$usual"
	# shellcheck disable=SC2086
	"$PERF_GPU" $command -q -i ../empty.data 2>/dev/null
	expect "$command: what was there stays" good "$(cat "$usual")"
	cd ..
done
for command in report script "script --folded"; do
	# shellcheck disable=SC2086
	check_status "$command: prints what there is" 0 "$PERF_GPU" $command -i empty.data
	expect_match "$command: and says why it is nothing" \
		'no GPU kernels: none ran, or none was recorded' "$(cat "$TMP/err")"
done

# Kernels whose times CUPTI didn't know are no samples either: there are no shares of no time.
FAKE_CUDA_UNKNOWN_TIME=1 check "kernels without a time are recorded" run_fake "$PERF_GPU" record \
	-q --stacks process -o timeless.data "$WORKLOADS/launches" -n 101
check_status "inject: they are no samples" 1 "$PERF_GPU" inject -i timeless.data
expect_match "inject: which it says" 'perf.gpu.data is not written: timeless.data has no samples' \
	"$(cat "$TMP/err")"
check_status "inject: -o writes what there is" 0 "$PERF_GPU" inject -i timeless.data -o timeless.gpu.data
expect_match "inject: and tells of them" '^\[ perf-gpu inject: 101 GPU kernels without a time \]$' \
	"$(cat "$TMP/err")"
check_status "report: reads that" 0 "$PERF_GPU" report -i timeless.data
expect "report: without a share" "gpu-kernel 101 0.000 ms -" \
	"$(sed -n 's/^\(gpu-kernel\) */\1 /p' "$TMP/out" | tr -s ' ')"
