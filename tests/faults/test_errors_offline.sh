#!/bin/bash
# What reads recordings, with each call of the system failing in turn: nothing crashes, hangs or is half written, all is said
. "$(dirname "$0")/../shell/lib.sh"
need python3

# Of each kind of call, so many are let fail, one in each run. ERRORS_STEPS=0: all, for an hour
STEPS=${ERRORS_STEPS:-8}
EVENTS=$TESTS/data/h200/events
export PYTHONDONTWRITEBYTECODE=1 ASAN_OPTIONS=verify_asan_link_order=0:allocator_may_return_null=1

features=$("$PERF_GPU" version --build-options)
mkdir one two packed
cp "$EVENTS"/perf.data{,.gpu} one/
cp "$EVENTS"/perf.data{,.gpu} two/
cp "$TESTS/data/h200/two_streams/perf.data" two/b.data
cp "$TESTS/data/h200/two_streams/perf.data.gpu" two/b.data.gpu
[[ $features != *" libarchive: [ on"* ]] ||
	"$PERF_GPU" archive -q -i one/perf.data --symfs "$EVENTS/symfs" \
		-o packed/perf.data.tar.zst 2>err

# sweep FOLDER "FILES THAT ARE THERE BEFORE" COMMAND...
sweep()
{
	local folder=$1 odd status name options=()
	for name in $2; do
		options+=(--old "$name")
	done
	shift 2
	# SQLite has words of its own.
	[ "$1 ${2:-}" != "export --sqlite" ] ||
		options+=(--reason 'disk is full|readonly database|malformed')

	odd=$(python3 "$TESTS/tools/fail_each.py" --faults "$O/tests/tools/libfaults.so" --input "$folder" \
		--steps "$STEPS" "${options[@]}" -- "$PERF_GPU" "$@" 2>sum)
	status=$?
	expect "${*%"$EVENTS"*}: whatever fails, all is well" "0 " "$status $odd"
	sed 's/^/# /' sum
}

# built_with LIBRARY COMMAND...: if it is, the sweep
built_with()
{
	local library=$1
	shift

	if [[ $features == *" $library: [ on"* ]]; then
		"$@"
	else
		skip_one "${*:4}" "built without $library"
	fi
}

symfs=(--symfs "$EVENTS/symfs")
sweep one "perf.gpu.data" inject "${symfs[@]}"
sweep one "perf.gpu.data" inject --aggregate "${symfs[@]}"
sweep one "" script "${symfs[@]}"
sweep one "" script --folded "${symfs[@]}"
sweep one "" script --threads stream --names short \
	-F +pid,srcline,device,stream,context,graph,nvtx,rank,bytes "${symfs[@]}"
sweep one "" report "${symfs[@]}"
sweep one "" report --csv "${symfs[@]}"
sweep one "" report --json "${symfs[@]}"
sweep one "perf.gpu.trace.json" export --chrome "${symfs[@]}"
built_with protobuf-c sweep one "perf.gpu.pftrace" export --perfetto "${symfs[@]}"
built_with protobuf-c sweep one "perf.gpu.pb.gz" export --pprof "${symfs[@]}"
sweep one "perf.gpu.speedscope.json" export --speedscope "${symfs[@]}"
sweep one "perf.gpu.firefox.json" export --firefox "${symfs[@]}"
built_with sqlite3 sweep one "perf.gpu.sqlite" export --sqlite "${symfs[@]}"
sweep one "flamegraph.html" flamegraph "${symfs[@]}"
sweep one "flamegraph.svg" flamegraph --svg "${symfs[@]}"
built_with libarchive sweep one "perf.data.tar.zst" archive "${symfs[@]}"
built_with libarchive sweep packed "perf.gpu.data" inject -i perf.data.tar.zst
built_with libarchive sweep packed "" script -i perf.data.tar.zst
sweep two "merged.data merged.data.gpu" merge -o merged.data perf.data b.data
