#!/bin/bash
# perf-gpu export --perfetto, --chrome: Perfetto's own trace processor finds all in them
#
# That is what ui.perfetto.dev has behind it, as WebAssembly in node (tests/viewers/fetch.sh
# brings it). What it has in its tables is compared with what script prints and, of calls,
# ranges and kernels' details, with the tables of export --sqlite.
. "$(dirname "$0")/lib.sh"
need viewers python3

export PYTHONDONTWRITEBYTECODE=1
features=$("$PERF_GPU" version --build-options)
formats=chrome
if [[ $features == *" protobuf-c: [ on"* && $features != *"protoc-c: [ OFF"* ]]; then
	formats="perfetto chrome"
else
	skip_one "perfetto" "built without protobuf-c"
fi
has_sqlite=""
if [[ $features == *" sqlite3: [ on"* ]] && python3 -c 'import sqlite3' 2>/dev/null; then
	has_sqlite=yes
else
	skip_one "calls, ranges and details by export --sqlite" \
		"built without sqlite3, or Python has none"
fi

# --- what is asked -----------------------------------------------------------------------

# A lane's name, and that of its GPU, or of a thread, its process: by format. In JSON, lanes
# are threads, with numbers that no thread has.
declare -A places=()
places[perfetto]="SELECT t.id, IFNULL(p.pid, parent.name) AS whose, IFNULL(th.tid, t.name) AS lane
	FROM track t LEFT JOIN track parent ON t.parent_id = parent.id
	LEFT JOIN thread_track tt ON tt.id = t.id LEFT JOIN thread th USING (utid)
	LEFT JOIN process_track pt ON pt.id = t.id
	LEFT JOIN process p ON p.upid = IFNULL(th.upid, pt.upid)"
places[chrome]="SELECT t.id, iif(th.tid >= 1500000000 AND p.pid >= 2000000000, p.name, p.pid) AS whose,
		iif(th.tid >= 1500000000, th.name, th.tid) AS lane
	FROM thread_track t JOIN thread th USING (utid) JOIN process p USING (upid)"

# By track: slices, and their ns
work="SELECT whose, lane, category, COUNT(*), SUM(dur) FROM slice JOIN place ON place.id = track_id
	WHERE category NOT IN ('launch', 'nvtx') GROUP BY 1, 2, 3"
threads="SELECT DISTINCT p.pid, p.name, th.tid, th.name FROM thread_track t
	JOIN thread th USING (utid) JOIN process p USING (upid) WHERE th.tid < 1500000000"
# From where an arrow leads, over others where one launch put more than one there, and to
# where
arrows="WITH RECURSIVE arrow(source, target) AS (
		SELECT id, id FROM slice WHERE category IN ('api', 'launch')
		UNION ALL SELECT source, slice_in FROM flow JOIN arrow ON slice_out = target)
	SELECT a.ts, b.ts, b.category FROM arrow JOIN slice a ON a.id = source
	JOIN slice b ON b.id = target WHERE source != target"
ranges="SELECT name, ts, dur FROM slice WHERE category = 'nvtx'"
bytes="SELECT category, SUM(EXTRACT_ARG(arg_set_id, prefix || 'bytes')) FROM slice, args_prefix
	WHERE category IN ('memcpy', 'memset', 'alloc', 'fault') GROUP BY 1"
# Slices whose bandwidth isn't their bytes in their ns
bandwidth="SELECT name, ts FROM slice, args_prefix WHERE category IN ('memcpy', 'memset', 'fault')
	AND dur > 0 AND IFNULL(EXTRACT_ARG(arg_set_id, prefix || 'GB/s'), '') !=
		printf('%.3f', EXTRACT_ARG(arg_set_id, prefix || 'bytes') * 1.0 / dur)"
kernels="SELECT name, EXTRACT_ARG(arg_set_id, prefix || 'grid'),
		EXTRACT_ARG(arg_set_id, prefix || 'block'),
		EXTRACT_ARG(arg_set_id, prefix || 'registers'),
		EXTRACT_ARG(arg_set_id, prefix || 'static shared memory'),
		EXTRACT_ARG(arg_set_id, prefix || 'dynamic shared memory'), COUNT(*)
	FROM slice, args_prefix WHERE category = 'kernel' GROUP BY 1, 2, 3, 4, 5, 6"
stacks="WITH RECURSIVE stack(id, text) AS (
		SELECT c.id, f.name FROM stack_profile_callsite c
		JOIN stack_profile_frame f ON f.id = c.frame_id WHERE c.parent_id IS NULL
		UNION ALL SELECT c.id, text || ';' || f.name FROM stack
		JOIN stack_profile_callsite c ON c.parent_id = stack.id
		JOIN stack_profile_frame f ON f.id = c.frame_id)
	SELECT text || ';[GPU_Kernel]' || s.name || ' ' || SUM(s.dur) FROM slice s
	JOIN __intrinsic_track_event_callstacks c ON c.slice_id = s.id
	JOIN stack ON stack.id = c.callsite_id WHERE s.category = 'kernel' GROUP BY text, s.name"
# In which a slice on the same track begins, and doesn't end
overlaps="SELECT name, next_name, ts FROM (
		SELECT name, ts, dur, LEAD(name) OVER w AS next_name, LEAD(ts) OVER w AS next_ts
		FROM slice WHERE category NOT IN ('nvtx', 'api', 'sync', 'alloc', 'launch')
		WINDOW w AS (PARTITION BY track_id ORDER BY ts, dur))
	WHERE ts + dur > next_ts"

# ask FORMAT NAME=SQL...: answers in ./answers
ask()
{
	local format=$1 prefix="debug." query queries=()
	shift

	[ "$format" = perfetto ] || prefix="args."
	for query; do
		if [[ ${query#*=} == INCLUDE* ]]; then
			queries+=("$query")
			continue
		fi
		queries+=("${query%%=*}=WITH place AS MATERIALIZED (${places[$format]}),
			args_prefix AS (SELECT '$prefix' AS prefix) SELECT * FROM (${query#*=})")
	done
	node "$TESTS/tools/trace_processor.mjs" "$O/viewers/perfetto" trace "${queries[@]}" >answers
}

answer()
{
	sed -n "s/^$1|//p" answers | LC_ALL=C sort
}

# --- what is expected ----------------------------------------------------------------------

# By track, as above, without names of GPUs and of processes
recorded_work()
{
	"$PERF_GPU" script "$@" --weight ns -F comm,pid,tid,event,period,device,stream,context |
		awk '{
			line = $0
			match(line, /[0-9]+\/[0-9]+ +device=/)
			split(substr(line, RSTART), field, /[ \/=]+/)
			pid = field[1]; tid = field[2]; device = field[4]; context = field[6]; stream = field[8]
			ns = field[9]; category = field[10]
			gsub(/gpu-|:/, "", category)
			lane = "GPU " device
			if (category == "idle")
				lane = lane "|idle"
			else if (category == "fault")
				lane = lane "|unified memory"
			else if (category ~ /^(kernel|memcpy|memset)$/)
				lane = lane "|stream " stream ", " pid (context > 1 ? ", context " context : "")
			else
				lane = pid "|" tid
			if (category == "launch")
				category = "api"
			if (category == "queue")
				next
			key = lane "|" category
			nr[key]++
			sum[key] += category == "alloc" ? 0 : ns
		}
		END {
			for (key in nr)
				printf "%s|%d|%.0f\n", key, nr[key], sum[key]
		}' | LC_ALL=C sort
}

answered_work()
{
	answer work | sed 's/^\(GPU [0-9]*\) ([^|]*)|/\1|/
		s/|stream \([0-9]*\), .* \([0-9]*, context [0-9]*\)|/|stream \1, \2|/
		/, context [0-9]*|/!s/|stream \([0-9]*\), .* \([0-9]*\)|\([a-z]\)/|stream \1, \2|\3/' | LC_ALL=C sort
}

recorded_threads()
{
	"$PERF_GPU" script "$@" -F comm,pid,tid |
		sed -n 's/^ *\(.*[^ ]\)  *\([0-9]*\)\/\([0-9]*\) *$/\2|\3|\1/p' | LC_ALL=C sort -u
}

recorded_bytes()
{
	local event sum

	for event in memcpy memset alloc fault; do
		sum=$("$PERF_GPU" script "$@" -e "gpu-$event" --weight bytes -F period 2>/dev/null |
			awk '{ sum += $1 } END { if (NR) printf "%.0f\n", sum }')
		[ -z "$sum" ] || echo "$event|$sum"
	done | LC_ALL=C sort
}

# Rows of export --sqlite
rows()
{
	python3 -c '
import sqlite3, sys
database = sqlite3.connect("tables")
database.text_factory = lambda text: text.decode(errors="replace")
tables = {name for name, in database.execute("SELECT name FROM sqlite_master")}
for sql in sys.argv[1:]:
	table, sql = sql.split(":", 1)
	if table in tables:
		for row in database.execute(sql):
			print(*row, sep="|")' "$@" | LC_ALL=C sort
}

recorded_arrows()
{
	local kind queries=()

	for kind in KERNEL MEMCPY MEMSET; do
		queries+=("CUPTI_ACTIVITY_KIND_$kind:SELECT r.start, k.start, '${kind,,}'
			FROM CUPTI_ACTIVITY_KIND_$kind k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r
			ON r.correlationId = k.correlationId AND r.globalTid >> 24 = k.globalPid >> 24")
	done
	rows "${queries[@]}"
}

recorded_ranges()
{
	rows "NVTX_EVENTS:SELECT s.value, n.start, IFNULL(n.end, n.start) - n.start
		FROM NVTX_EVENTS n JOIN StringIds s ON s.id = n.textId WHERE n.eventType != 75"
}

recorded_kernels()
{
	rows "CUPTI_ACTIVITY_KIND_KERNEL:SELECT s.value, gridX || 'x' || gridY || 'x' || gridZ,
		blockX || 'x' || blockY || 'x' || blockZ, registersPerThread, staticSharedMemory,
		dynamicSharedMemory, COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL
		JOIN StringIds s ON s.id = shortName GROUP BY 1, 2, 3, 4, 5, 6"
}

recorded_stacks()
{
	"$PERF_GPU" script "$@" --folded --names short -e gpu-kernel | sed 's/^[^;]*;//' |
		awk '{ ns = $NF; sub(/ [0-9]*$/, ""); sum[$0] += ns }
			END { for (stack in sum) printf "%s %.0f\n", stack, sum[stack] }' | LC_ALL=C sort
}

# all_is_there WHAT RECORDING [EVENTS]: of all formats
all_is_there()
{
	local what format input=(-i "$2") events=()

	[ -z "${3:-}" ] || events=(-e "$3")
	if [ -n "$has_sqlite" ]; then
		rm -f tables
		"$PERF_GPU" export -q --sqlite --names short "${input[@]}" -o tables
	fi
	for format in $formats; do
		what="$1, $format"
		check "$what: it is exported" "$PERF_GPU" export -q "--$format" --names short \
			"${input[@]}" -o trace
		check_status "$what: it is opened" 0 ask "$format" "work=$work" "threads=$threads" \
			"arrows=$arrows" "ranges=$ranges" "bytes=$bytes" "bandwidth=$bandwidth" \
			"kernels=$kernels" "stacks=$stacks" "overlaps=$overlaps"
		expect "$what: nothing is wrong or lost" "" "$(cat err; grep '^stat ' answers)"
		expect "$what: each track has its slices and their ns" \
			"$(recorded_work "${input[@]}" "${events[@]}")" "$(answered_work)"
		expect "$what: processes and threads have their names" \
			"$(recorded_threads "${input[@]}" "${events[@]}")" \
			"$(answer threads | awk -F '|' '{ print $1 "|" $3 "|" $4 }' | LC_ALL=C sort)"
		expect "$what: no slices of a lane overlap" "" "$(answer overlaps)"
		expect "$what: bytes are told" "$(recorded_bytes "${input[@]}")" "$(answer bytes)"
		expect "$what: and their bandwidth" "" "$(answer bandwidth)"
		[ "$format" = chrome ] || expect "$what: kernels have their stacks" \
			"$(recorded_stacks "${input[@]}")" "$(answer stacks)"
		[ -n "$has_sqlite" ] || continue
		expect "$what: arrows lead from each call to what it did" "$(recorded_arrows)" \
			"$(answer arrows)"
		expect "$what: ranges are there" "$(recorded_ranges)" "$(answer ranges)"
		expect "$what: kernels have their details" "$(recorded_kernels)" "$(answer kernels)"
	done
}

if [[ $formats == perfetto* ]]; then
	"$PERF_GPU" export -q --perfetto -i "$TESTS/data/h200/two_streams/perf.data" -o whole
	tail -c +$((3 + $(od -An -tu1 -j1 -N1 whole))) whole >trace
	check_status "a trace without its first packet is opened" 0 ask perfetto
	expect_match "and is found to be wrong" '^stat packet_skipped' "$(cat answers)"
fi

# In the UI, tracks are in this order; without one they are by name, stream 13 before 7.
if [[ $formats == perfetto* ]]; then
	"$PERF_GPU" export -q --perfetto -i "$TESTS/data/h200/events/perf.data" -o trace
	check_status "tracks of a GPU have an order" 0 ask perfetto \
		"order=INCLUDE PERFETTO MODULE viz.summary.track_event;
		SELECT g.order_id, g.name FROM _track_event_tracks_ordered_groups g
		JOIN track t ON t.id = g.parent_id WHERE t.name GLOB 'GPU*'"
	expect "which is that of their first use" \
		"stream 7,stream 14,stream 24,stream 25,unified memory,idle" \
		"$(answer order | cut -d '|' -f 2 | sed 's/, event_truth.*//' | paste -sd ,)"
fi

all_is_there "two streams, of an H200" "$TESTS/data/h200/two_streams/perf.data"
all_is_there "all events, of an H200" "$TESTS/data/h200/events/perf.data" all
all_is_there "PyTorch, of an H200" "$TESTS/data/h200/torch_step/perf.data"

# --- on the stand-in -----------------------------------------------------------------------

# record NAME OPTIONS PROGRAM...
record()
{
	local name=$1
	shift

	check "$name is recorded" run_fake "$PERF_GPU" record -q --stacks process \
		-o "$name.data" "$@"
}

if ! has fake_cuda; then
	skip_one "what the stand-in plays" "$(why_not fake_cuda)"
	exit
fi

# A name for the eye, and for quotes, paths, XML, and what isn't UTF-8
odd=$'a"b\\c\xff\xc3\xa9\x01&lt;'
shown=$'a"b\\c\xef\xbf\xbd\xc3\xa9\x01&lt;'
cp "$WORKLOADS/launches" "$odd"
# The recorder reads two clocks, and may have to wait between them.
before_ns=$(($(date +%s%N) - 10000000000))
PLAIN_KERNEL_NAME=$odd record odd "./$odd" -n 3 -t 2
after_ns=$(($(date +%s%N) + 10000000000))
for format in $formats; do
	"$PERF_GPU" export -q "--$format" -i odd.data -o trace
	check_status "odd names, $format: it is opened" 0 ask "$format" \
		"kernels=$kernels" "threads=$threads" "lanes=SELECT DISTINCT lane FROM place" \
		"clock=SELECT MIN(TO_REALTIME(ts)), MAX(TO_REALTIME(ts + dur)) FROM slice"
	expect "odd names, $format: nothing is wrong" "" "$(cat err; grep '^stat ' answers)"
	expect "odd names, $format: that of the kernel" "$shown" "$(answer kernels | cut -d '|' -f 1)"
	expect "odd names, $format: that of the process" "$shown" \
		"$(answer threads | cut -d '|' -f 2 | sort -u)"
	expect "odd names, $format: that of its lane" "stream 7, $shown" \
		"$(answer lanes | sed -n '/^stream/s/ [0-9]*$//p')"
	[ "$format" = perfetto ] || continue
	# JSON has no place for that
	read -r first last < <(answer clock | tr '|' ' ')
	expect "perfetto: its times are those of the calendar" \
		"in this order: $before_ns $first $last $after_ns" \
		"in this order: $(printf '%s\n' "$before_ns" "$first" "$last" "$after_ns" |
			sort -n | paste -sd ' ')"
done

if [ -x "$WORKLOADS/nvtx" ]; then
	record nvtx --nvtx -e +gpu-launch,+gpu-sync "$WORKLOADS/nvtx" threads process domains
	all_is_there "NVTX" nvtx.data +gpu-idle
else
	skip_one "NVTX" "nvtx3/nvToolsExt.h isn't there to build the program of"
fi
if has nvcc; then
	FAKE_CUDA_INSTANT=1 FAKE_CUDA_DEVICES=8 record many "$WORKLOADS/multi_gpu" -n 5 -o launched.txt
	all_is_there "8 GPUs with 64 streams each" many.data +gpu-idle
	record graphs -e +gpu-launch "$WORKLOADS/graph_truth"
	all_is_there "graphs" graphs.data +gpu-idle
else
	skip_one "many GPUs and graphs" "need nvcc: $(why_not nvcc)"
fi
