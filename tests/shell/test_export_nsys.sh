#!/bin/bash
# perf-gpu export --sqlite: nsys stats reads it, and counts what perf-gpu report does
#
# nsys is the one that is installed, or else what tests/viewers/fetch-nsys.sh brings.
. "$(dirname "$0")/lib.sh"
need python3 nsys

"$PERF_GPU" version --build-options | grep ' sqlite3: \[ on' >/dev/null || {
	echo "1..0 # SKIP built without sqlite3"
	exit 0
}
nsys=$(command -v nsys || echo "$O/nsys/target-linux-x64/nsys")
echo "# $("$nsys" --version)"

# agrees WHAT RECORDING [option of check_nsys_stats.py...]
agrees()
{
	local what=$1 recording=$2
	shift 2

	rm -f exported.sqlite
	check "$what: is exported" "$PERF_GPU" export -q --sqlite -i "$recording" -o exported.sqlite
	"$PERF_GPU" report --csv -i "$recording" >report.csv 2>/dev/null
	check_status "$what: nsys stats counts the same" 0 \
		python3 "$TESTS/workloads/check_nsys_stats.py" --nsys "$nsys" "$@" exported.sqlite report.csv
	expect "$what: in all reports" "reports=8 wrong=0" "$(tail -n 1 out)"
}

agrees "all events, of an H200" "$TESTS/data/h200/events/perf.data"
check_status "all usual reports can be made" 0 "$nsys" stats --format csv exported.sqlite
expect "without a complaint" "" "$(grep -hi '^error' out err)"
agrees "an LLM, of which calls weren't recorded" "$TESTS/data/h200/mini_llm/perf.data"
expect_match "its launches are calls without a length" '^call_trace: .*\([1-9][0-9]*, 0\)' "$(cat out)"

if has fake_cuda && [ -x "$WORKLOADS/nvtx" ]; then
	run_fake "$PERF_GPU" record -q --nvtx -e +gpu-launch -o nvtx.data "$WORKLOADS/nvtx" domains \
		>/dev/null
	agrees "NVTX ranges" nvtx.data --ranges 4
	expect_match "each has its name" ',PushPop,([a-z]*:)?step$' "$(cat out)"
else
	skip_one "NVTX ranges" "nvtx3/nvToolsExt.h isn't there to build the program of"
fi
