#!/bin/bash
# perf-gpu export: what it writes has all that was recorded, for readers of each format
#
# Every format is read by tools/read_export.py. test_export_perfetto and test_export_viewers
# have it read by the viewers' own code.
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda python3

export PYTHONDONTWRITEBYTECODE=1
read_export=$TESTS/tools/read_export.py

# built_with FEATURE
built_with()
{
	local features

	features=$("$PERF_GPU" version --build-options)
	[[ $features == *" $1: [ on"* && ! ($1 = protobuf-c && $features == *"protoc-c: [ OFF"*) ]]
}

# "NR SUM" of an event in the text of script
script_sum()
{
	"$PERF_GPU" script -F period,event -e "$@" |
		awk '{ sum += $1; nr++ } END { printf "%d %.0f\n", nr, sum }'
}

# The same of a category that read_export.py prints
read_sum()
{
	awk -v category="$1" '$1 == category { nr += $(NF - 1); sum += $NF }
		END { printf "%d %.0f\n", nr, sum }' read.txt
}

# Kernels' stacks, as --folded has them, without the process
folded_stacks()
{
	"$PERF_GPU" script --folded --names short | sed 's/^[^;]*;/stack /' | LC_ALL=C sort
}

read_stacks()
{
	sed -n "s/^${1:-}\(stack .*\)/\1/p" read.txt | LC_ALL=C sort
}

# export_to FORMAT [OPTION...]: into ./exported, and what is read of that into ./read.txt
export_to()
{
	local format=$1
	shift
	"$PERF_GPU" export -q "--$format" -o exported "$@" &&
		python3 "$read_export" "$format" exported >read.txt
}

timelines="chrome firefox"
if built_with protobuf-c; then
	timelines+=" perfetto"
else
	check_status "perfetto isn't built in" 1 "$PERF_GPU" export --perfetto
	expect_match "which is said" 'perfetto needs protobuf-c' "$(cat err)"
	skip_one "perfetto and pprof" "built without protobuf-c"
fi

# --- the command line --------------------------------------------------------------------

RANK=0 check "a program is recorded" run_fake "$PERF_GPU" record -q "$WORKLOADS/launches" \
	-n 50 -t 3
check_status "no format is an error" 129 "$PERF_GPU" export
check_status "two formats are one" 129 "$PERF_GPU" export --chrome --pprof
expect_match "which is said" 'chrome and --pprof: one format at a time' "$(cat err)"
check_status "a file is an error" 129 "$PERF_GPU" export --chrome perf.data
expect_match "which says how it is read" 'unexpected argument perf.data: a recording is named by -i perf.data' "$(cat err)"
check_status "the input isn't overwritten" 1 "$PERF_GPU" export --chrome -o perf.data
expect_match "which is said" 'perf.data is what is read' "$(cat err)"
check_status "a folder is no file to write" 1 "$PERF_GPU" export --chrome -o "$TMP"
check_status "no recording is an error" 1 "$PERF_GPU" export --chrome -i none
expect "nothing is left of that" "" "$(find . -name 'perf.gpu.trace.json*')"
if [ -e /dev/full ]; then
	check_status "a full disk is told" 1 bash -c '"$0" export --chrome -o - >/dev/full' "$PERF_GPU"
fi
check "a file of the usual name is written" "$PERF_GPU" export --chrome --names short
"$PERF_GPU" export --chrome --names short -o - >stdout.json 2>err
expect "the same is written to a pipe" "$(cat perf.gpu.trace.json)" "$(cat stdout.json)"
"$PERF_GPU" export -q --chrome -o named.json --names short
expect "and to a file that is named" "$(cat perf.gpu.trace.json)" "$(cat named.json)"

# --- timelines ---------------------------------------------------------------------------

for format in $timelines; do
	check "$format: it is whole" export_to "$format" --names short
	expect "$format: all kernels are there" "$(script_sum gpu-kernel)" "$(read_sum kernel)"
	expect "$format: with their stacks" "$(folded_stacks | sed 's/\[GPU_Kernel\]//')" \
		"$(read_stacks)"
	expect "$format: with an arrow to each" "arrows 150" "$(grep ^arrows read.txt)"
	expect_match "$format: on a stream of a GPU" '^track GPU 0 \(Fake GPU\)$' "$(cat read.txt)"
	expect_match "$format: of the process" '^track stream [0-9]+, launches [0-9]+, rank 0$' \
		"$(cat read.txt)"
done

if [ -x "$WORKLOADS/nvtx" ]; then
	run_fake "$PERF_GPU" record -q --nvtx -o nvtx.data "$WORKLOADS/nvtx" \
		threads process domains >/dev/null
	for format in $timelines; do
		check "$format: ranges nest" export_to "$format" -i nvtx.data
		expect_match "$format: ranges are there" '^nvtx step ' "$(cat read.txt)"
		expect_match "$format: on tracks of their domains" \
			'^track NVTX lib, thread [0-9]+$' "$(cat read.txt)"
	done
else
	skip_one "NVTX ranges" "nvtx3/nvToolsExt.h isn't there to build the program of"
fi

# --- recordings of an H200 ----------------------------------------------------------------

for recording in events mini_llm two_streams; do
	"$PERF_GPU" script -i "$TESTS/data/h200/$recording/perf.data" -e gpu-kernel -F period \
		2>/dev/null >periods
	for format in $timelines; do
		check "$format: slices of $recording nest" \
			export_to "$format" -i "$TESTS/data/h200/$recording/perf.data"
		expect "$format: all kernels of $recording are there" \
			"$(awk '{ sum += $1; nr++ } END { printf "%d %.0f\n", nr, sum }' periods)" \
			"$(read_sum kernel)"
	done
done

# --- profiles -----------------------------------------------------------------------------

if built_with protobuf-c; then
	check "pprof: it is whole" export_to pprof --names short
	expect "pprof: kernels are counted and summed" "$(script_sum gpu-kernel)" \
		"$(awk '$1 == "type" { print $4 }' read.txt | paste -sd ' ')"
	expect "pprof: with their stacks" "$(folded_stacks)" "$(read_stacks 'gpu_kernel ')"
	expect "pprof: it opens with kernels" "default gpu_kernel" "$(grep ^default read.txt)"
	expect "pprof: the first file is the program, though stacks begin in libc" \
		"program $(realpath "$WORKLOADS/launches")" "$(grep ^program read.txt)"
	expect "pprof: they have labels" "device pid process rank stream tid" \
		"$(awk '$1 == "label" { print $2 }' read.txt | sort -u | paste -sd ' ')"
	expect "pprof: numbers that may be 0 are in words" "device GPU 0,rank rank 0" \
		"$(sed -n 's/^label \(\(device\|rank\) .*\) [0-9]*$/\1/p' read.txt | paste -sd ,)"
fi

check "speedscope: it is whole" export_to speedscope --names short
expect "speedscope: it has all kernels" \
	"$("$PERF_GPU" script --folded --names short | sed 's/^/gpu-kernel stack /' | LC_ALL=C sort)" \
	"$(grep ' stack ' read.txt | LC_ALL=C sort)"

# --- tables --------------------------------------------------------------------------------

# query FILE SQL: rows, with | between their columns
query()
{
	python3 -c '
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):
	print(*row, sep="|")' "$1" "$2"
}

has_sqlite=""
if ! built_with sqlite3; then
	check_status "sqlite isn't built in" 1 "$PERF_GPU" export --sqlite
	skip_one "sqlite" "built without sqlite3"
elif ! python3 -c 'import sqlite3' 2>/dev/null; then
	skip_one "sqlite" "Python has no sqlite3"
else
	has_sqlite=yes
	check "sqlite: it is written" "$PERF_GPU" export -q --sqlite -o exported
	expect "sqlite: it is whole" ok "$(query exported 'PRAGMA integrity_check')"
	expect "sqlite: all kernels are there" "$(script_sum gpu-kernel)" "$(query exported \
		'SELECT COUNT(*) || " " || SUM(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL')"
	expect "sqlite: each is joined with its call, as with nsys" 150 "$(query exported '
		SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
		JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r ON k.correlationId = r.correlationId
			AND k.globalPid = r.globalTid / 0x1000000 * 0x1000000
		JOIN StringIds AS s ON s.id = r.nameId WHERE s.value LIKE "cuda%"')"
	expect "sqlite: with its stack" \
		"$("$PERF_GPU" script --folded | grep ';launch_in_thread;' |
			awk '{ sum += $NF } END { printf "%.0f\n", sum }')" \
		"$(query exported 'SELECT SUM(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
			JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r USING (correlationId)
			WHERE r.callchainId IN (SELECT c.id FROM CUDA_CALLCHAINS AS c
				JOIN StringIds AS s ON s.id = c.symbol
				WHERE s.value = "launch_in_thread")')"
	expect "sqlite: processes and threads have names" "launches|launches" "$(query exported '
		SELECT DISTINCT p.name, s.value FROM PROCESSES AS p, ThreadNames AS t
		JOIN StringIds AS s ON s.id = t.nameId
		WHERE t.globalTid / 0x1000000 % 0x1000000 = p.pid')"
	expect_match "sqlite: and so has the GPU" '^Fake GPU\|' \
		"$(query exported 'SELECT name, uuid FROM TARGET_INFO_GPU')"
	expect "sqlite: it begins and ends with what was recorded" 1 "$(query exported '
		SELECT d.startTime = r.first AND d.stopTime = k.last AND d.duration = k.last - r.first
		FROM ANALYSIS_DETAILS AS d,
			(SELECT MIN(start) AS first FROM CUPTI_ACTIVITY_KIND_RUNTIME) AS r,
			(SELECT MAX(end) AS last FROM CUPTI_ACTIVITY_KIND_KERNEL) AS k')"
	expect "sqlite: which was within this hour" 1 "$(query exported '
		SELECT ABS((s.utcEpochNs + d.startTime) / 1000000000 - strftime("%s", "now")) < 3600
		FROM TARGET_INFO_SESSION_START_TIME AS s, ANALYSIS_DETAILS AS d')"
	check_status "sqlite: it can't be a pipe" 1 "$PERF_GPU" export --sqlite -o -
	if [ -e nvtx.data ]; then
		"$PERF_GPU" export -q --sqlite -i nvtx.data -o exported
		expect_match "sqlite: NVTX ranges are there" '^step\|59\|1$' "$(query exported '
			SELECT s.value, n.eventType, n.end > n.start FROM NVTX_EVENTS AS n
			JOIN StringIds AS s ON s.id = n.textId')"
		expect_match "sqlite: and have the names of their domains" '^lib:step$' "$(query exported '
			SELECT d.value || ":" || s.value FROM NVTX_EVENTS AS n
			JOIN NVTX_EVENTS AS made ON made.domainId = n.domainId AND made.eventType = 75
				AND made.globalTid >> 24 = n.globalTid >> 24
			JOIN StringIds AS d ON d.id = made.textId
			JOIN StringIds AS s ON s.id = n.textId WHERE n.eventType = 59')"
	fi
fi

# --- names -------------------------------------------------------------------------------

PLAIN_KERNEL_NAME=$'a"b\\c\xff\xc3\xa9\x01' run_fake "$PERF_GPU" record -q -o names.data \
	"$WORKLOADS/launches" -n 1 >/dev/null
for format in $timelines; do
	check "$format: any name can be written" export_to "$format" -i names.data
	expect_match "$format: and is read" $'^kernel a"b\\\\c\xef\xbf\xbd\xc3\xa9' "$(cat read.txt)"
done
if built_with protobuf-c; then
	check "pprof: any name can be written" export_to pprof -i names.data
	expect_match "pprof: and is read" $';\\[GPU_Kernel\\]a"b\\\\c\xef\xbf\xbd\xc3\xa9' "$(cat read.txt)"
fi

check "speedscope: any name can be written" export_to speedscope -i names.data
expect_match "speedscope: and is read" $';\\[GPU_Kernel\\]a"b\\\\c\xef\xbf\xbd\xc3\xa9' "$(cat read.txt)"

# --- all events --------------------------------------------------------------------------

if ! has nvcc; then
	skip_one "all events" "need nvcc: $(why_not nvcc)"
	exit 0
fi
check "all events are recorded" run_fake "$PERF_GPU" record -q -e all \
	"$WORKLOADS/event_truth" -o did.txt copies memsets allocations waits gaps graphs
for format in $timelines; do
	check "$format: slices of all kinds fit in" export_to "$format"
	for event in gpu-kernel:kernel gpu-memcpy:memcpy gpu-memset:memset gpu-sync:sync \
		gpu-launch:api gpu-idle:idle; do
		expect "$format: all of ${event%:*} is there" "$(script_sum "${event%:*}")" \
			"$(read_sum "${event#*:}")"
	done
	expect "$format: allocations are instants" "$(script_sum gpu-alloc | sed 's/ .*/ 0/')" \
		"$(read_sum alloc)"
done
if [ -n "$has_sqlite" ]; then
	check "sqlite: it has all events" "$PERF_GPU" export -q --sqlite -o exported
	for event in gpu-kernel:KERNEL gpu-memcpy:MEMCPY gpu-memset:MEMSET \
		gpu-sync:SYNCHRONIZATION gpu-launch:RUNTIME; do
		expect "sqlite: all of ${event%:*} is there" "$(script_sum "${event%:*}")" \
			"$(query exported "SELECT COUNT(*) || ' ' || SUM(end - start)
				FROM CUPTI_ACTIVITY_KIND_${event#*:}")"
	done
	expect "sqlite: what nsys stats asks for is there" 0 "$(query exported '
		SELECT COUNT(k.greenContextId) + COUNT(c.greenContextId) + COUNT(s.value)
			+ COUNT(s.greenContextId)
		FROM CUPTI_ACTIVITY_KIND_KERNEL AS k, CUPTI_ACTIVITY_KIND_MEMCPY AS c,
			CUPTI_ACTIVITY_KIND_MEMSET AS s')"
	expect "sqlite: of calls, too" 0 "$(query exported '
		SELECT COUNT(returnValue) FROM CUPTI_ACTIVITY_KIND_RUNTIME')"
	expect "sqlite: all bytes are" \
		"$(script_sum gpu-memcpy --weight bytes) $(script_sum gpu-alloc)" \
		"$(query exported 'SELECT COUNT(*) || " " || SUM(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY
			UNION ALL SELECT COUNT(*) || " " || SUM(bytes)
			FROM CUDA_GPU_MEMORY_USAGE_EVENTS' | paste -sd ' ')"
	expect_match "sqlite: directions have names" '^Host-to-Device\|' "$(query exported '
		SELECT e.label, SUM(m.bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY AS m
		JOIN ENUM_CUDA_MEMCPY_OPER AS e ON e.id = m.copyKind GROUP BY e.id')"
fi
"$PERF_GPU" export -q --chrome
expect_match "chrome: copies have their bandwidth" '"GB/s":"[0-9.]+"' "$(cat perf.gpu.trace.json)"
check "speedscope: it has all events" export_to speedscope
for event in gpu-kernel gpu-memcpy gpu-idle gpu-queue gpu-alloc; do
	expect "speedscope: all of $event is there" "$(script_sum $event | cut -d ' ' -f 2)" \
		"$(awk -v event="$event" '$1 == "type" && $2 == event { print $4 }' read.txt)"
done
expect_match "speedscope: allocations are in bytes" '^type gpu-alloc bytes ' "$(cat read.txt)"
if built_with protobuf-c; then
	check "pprof: it has all events" export_to pprof
	for event in gpu-kernel gpu-memcpy gpu-memset gpu-sync gpu-launch gpu-queue gpu-idle gpu-alloc; do
		expect "pprof: all of $event is there" "$(script_sum $event)" \
			"$(awk -v event="${event/-/_}" '$1 == "type" && ($2 == event || $2 == event "_count") { print $4 }' \
				read.txt | paste -sd ' ')"
	done
	expect_match "pprof: allocations are in bytes" '^type gpu_alloc bytes ' "$(cat read.txt)"
	check "pprof: copies can be" export_to pprof --weight bytes
	expect_match "pprof: and are" \
		"^type gpu_memcpy bytes $(script_sum gpu-memcpy --weight bytes | cut -d ' ' -f 2)$" \
		"$(cat read.txt)"
fi
