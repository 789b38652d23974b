#!/bin/bash
# perf-gpu export: the viewers' own code opens what it writes
#
# Catapult's trace viewer, which is what chrome://tracing shows, and speedscope's page run in
# headless Chromium; the Firefox Profiler, for a terminal, and pprof-format in node; go tool
# pprof by itself. test_export_perfetto has Perfetto. What comes by npm is brought by
# tests/viewers/fetch.sh.
# With $PERFETTO_TRACE_PROTO, Perfetto's own protos/perfetto/trace/perfetto_trace.proto, the
# fields of ours are compared with it, and protoc decodes a trace by it.
. "$(dirname "$0")/lib.sh"
need python3

export PYTHONDONTWRITEBYTECODE=1

# built_with FEATURE
built_with()
{
	"$PERF_GPU" version --build-options | grep " $1: \[ on" >/dev/null
}

# Go, which need not be on PATH; nothing if there is none
find_go()
{
	command -v go || compgen -G '/usr/lib/go-*/bin/go' | sort -V | tail -n 1
}

go_pprof()
{
	HOME=$TMP "$go" tool pprof "$@" exported
}

# --- chrome://tracing ------------------------------------------------------------------------

viewer=$(find /usr/share/go*/src /usr/lib/go*/src /usr/lib/golang/src \
	-name trace_viewer_full.html -printf '%h\n' -quit 2>/dev/null)

# view FILE: what the viewer makes of it, in ./seen
view()
{
	python3 "$TESTS/tools/trace_viewer.py" "$viewer" "$1" >seen
}

# "NR SUM" of tracks of GPUs: kernels, copies and memsets, in us
seen_work()
{
	sed -n 's/^track stream .*: \([0-9]*\) slices, \([0-9.]*\) us$/\1 \2/p' seen |
		awk '{ nr += $1; us += $2 } END { printf "%d %.0f\n", nr, us }'
}

# The same of what was recorded
recorded_work()
{
	"$PERF_GPU" script -i "$1" -F period,event --weight ns 2>/dev/null |
		awk '$2 ~ /^gpu-(kernel|memcpy|memset):/ { nr++; ns += $1 }
			END { printf "%d %.0f\n", nr, ns / 1000 }'
}

# opens WHAT RECORDING
opens()
{
	local what=$1 recording=$2

	check "$what: it is exported" "$PERF_GPU" export -q --chrome --names short \
		-i "$recording" -o trace.json
	check_status "$what: the viewer opens it" 0 view trace.json
	expect "$what: without a complaint" "" "$(grep -E '^(warning|error) ' seen)"
	expect "$what: all that the GPU did is there" "$(recorded_work "$recording")" "$(seen_work)"
	expect "$what: all tracks are drawn" "" "$(
		sed -n 's/^track \(.*\): [0-9]* slices.*/\1/p' seen | while read -r name; do
			grep -qxF "drawn $name" seen || echo "$name"
		done)"
}

if [ -z "$viewer" ] || ! has chromium; then
	skip_one "chrome: the viewer opens it" \
		"need chromium, and the trace viewer of Go's sources (golang-src)"
else
	opens "two streams, of an H200" "$TESTS/data/h200/two_streams/perf.data"
	expect_match "the GPU has its name" '^process GPU 0 \(NVIDIA H200\) ' "$(cat seen)"
	expect "each kernel has an arrow" "arrows $(recorded_work \
		"$TESTS/data/h200/two_streams/perf.data" | cut -d ' ' -f 1)" "$(grep ^arrows seen)"
	"$PERF_GPU" script --folded --names short -i "$TESTS/data/h200/two_streams/perf.data" \
		2>/dev/null | sed 's/^[^;]*;//; s/ [0-9]*$//; s/;\[GPU_Kernel\]/ /' | sort >wanted
	expect "and its stack" "$(cat wanted)" \
		"$(sed -n 's/^stack //p' seen | sort | grep -Fxf wanted)"
	opens "all events, of an H200" "$TESTS/data/h200/events/perf.data"
	if has fake_cuda; then
		PLAIN_KERNEL_NAME=$'a"b\\c\xff\xc3\xa9\x01&lt;b' run_fake "$PERF_GPU" record -q \
			--stacks process -o names.data "$WORKLOADS/launches" -n 1 >/dev/null
		opens "any name" names.data
		expect_match "any name is read" \
			$'^stack .* a"b\\\\c\xef\xbf\xbd\xc3\xa9\x01&lt;b$' "$(cat seen)"
	else
		skip_one "any name" "the stand-in isn't built"
	fi
fi

# --- speedscope, Firefox, pprof ----------------------------------------------------------------

events=$TESTS/data/h200/events/perf.data

# export_events FORMAT: all events that were recorded, to ./exported
export_events()
{
	"$PERF_GPU" export -q "--$1" --names short -i "$events" -o exported
}

script_events()
{
	"$PERF_GPU" script -i "$events" "$@" 2>/dev/null
}

# "EVENT SUM" of each event
event_sums()
{
	script_events -F period,event |
		awk '{ sub(":", "", $2); sum[$2] += $1 } END { for (e in sum) printf "%s %.0f\n", e, sum[e] }' |
		LC_ALL=C sort
}

# "STACK NS" of kernels
kernel_stacks()
{
	script_events --folded --names short -e gpu-kernel | LC_ALL=C sort
}

why=$(why_not viewers)
if [ -z "$why" ] && ! has chromium; then
	why=$(why_not chromium)
fi
if [ -z "$why" ]; then
	page=$O/viewers/speedscope/dist/release
	check "speedscope: it is exported" export_events speedscope
	check "speedscope: it is as its schema has it" \
		python3 "$TESTS/tools/read_export.py" speedscope exported "$page/file-format-schema.json"
	check_status "speedscope: the page opens it" 0 \
		python3 "$TESTS/tools/speedscope_page.py" "$page" exported
	cp out seen
	expect_match "speedscope: by its name" '^title GPU - speedscope$' "$(cat seen)"
	# What WebGL has to say is Chromium's.
	expect "speedscope: without a complaint" "" "$(grep '^error ' seen | grep -v WebGL)"
	expect_match "speedscope: it shows kernels first" '^shown gpu-kernel \(1/9\)$' "$(cat seen)"
	expect "speedscope: each event has its sum" "$(event_sums)" \
		"$(awk '$1 == "type" { print $2, $4 }' seen | LC_ALL=C sort)"
	expect_match "speedscope: and its unit" '^type gpu-alloc bytes ' "$(cat seen)"
	expect "speedscope: kernels have their stacks" "$(kernel_stacks)" \
		"$(sed -n 's/^gpu-kernel stack //p' seen | LC_ALL=C sort)"
else
	skip_one "speedscope: the page opens it" "need viewers and chromium: $why"
fi

# By track and name: how many, and their ns
recorded_markers()
{
	script_events --names short --weight ns -F comm,pid,tid,event,period,device,stream,ip,sym |
		awk '
		match($0, /[0-9]+\/[0-9]+ +device=/) {
			comm = $1
			split(substr($0, RSTART), field, /[ \/=]+/)
			event = field[8]
			sub(":", "", event)
			if (event ~ /^gpu-(kernel|memcpy|memset)$/)
				place = "stream " field[6] ", " comm " " field[1]
			else if (event == "gpu-fault")
				place = "unified memory"
			else
				place = event == "gpu-idle" ? "idle" : comm
			is_new = event != "gpu-queue"
			next
		}
		is_new {
			sub(/^[ \t]*[0-9a-f]+ \[GPU_[A-Za-z]*\]/, "")
			key = place "|" ($0 == "" ? "idle" : $0)
			nr[key]++
			sum[key] += event == "gpu-alloc" ? 0 : field[7]
			is_new = 0
		}
		END { for (key in nr) printf "%s|%d|%.0f\n", key, nr[key], sum[key] }' | LC_ALL=C sort
}

why=$(why_not viewers)
if [ -z "$why" ]; then
	check "firefox: it is exported" export_events firefox
	check_status "firefox: the Firefox Profiler opens it" 0 \
		python3 "$TESTS/tools/firefox_profiler.py" "$O/viewers/profiler-cli" exported
	cp out seen
	pid=$("$PERF_GPU" script -i "$TESTS/data/h200/events/perf.data" 2>/dev/null |
		awk 'NR == 1 { sub("/.*", "", $2); print $2 }')
	expect_match "firefox: the thread is there" "^thread event_truth\|event_truth\|$pid\|$pid\$" "$(cat seen)"
	expect_match "firefox: and the GPU" "^thread GPU 0 \(NVIDIA H200\)\|stream 7, event_truth $pid\|" \
		"$(cat seen)"
	# Means in floating point, times how many
	recorded_markers >wanted
	expect "firefox: each track has its markers" "$(cut -d '|' -f 1-3 wanted)" \
		"$(awk -F '|' '/^markers/ { print $2 "|" $3 "|" $4 }' seen | LC_ALL=C sort)"
	expect "firefox: and their ns" "$(cut -d '|' -f 1,2,4 wanted)" \
		"$(awk -F '|' '/^markers/ { print $2 "|" $3 "|" $5 }' seen | LC_ALL=C sort)"
	expect "firefox: call trees of streams are what they ran" \
		"$(awk -F '|' '/^stream/ { sum[$1] += $4 } END { for (s in sum) printf "%s|%.0f\n", s, sum[s] }' \
			wanted | LC_ALL=C sort)" \
		"$(sed -n 's/^tree GPU 0 [^|]*|\(stream .*\)/\1/p' seen | LC_ALL=C sort)"
else
	skip_one "firefox: the Firefox Profiler opens it" "need viewers: $why"
fi

if ! built_with protobuf-c; then
	skip_one "pprof: its readers open it" "built without protobuf-c"
else
	kernel_ns=$(event_sums | sed -n 's/^gpu-kernel //p')
	check "pprof: it is exported" export_events pprof
	go=$(find_go)
	if [ -n "$go" ]; then
		check_status "pprof: go tool pprof opens it" 0 go_pprof -top -unit ns \
			-nodecount 0 -nodefraction 0 -sample_index gpu_kernel
		expect_match "pprof: and has all time of kernels" "of ${kernel_ns}ns total" "$(cat out)"
		expect "pprof: by kernel" \
			"$(kernel_stacks | sed 's/.*;//' |
				awk '{ sum[$1] += $2 } END { for (k in sum) printf "%s %.0f\n", k, sum[k] }' |
				LC_ALL=C sort)" \
			"$(sed -n 's/^ *\([1-9][0-9]*\)ns .* \(\[GPU_Kernel\][^ ]*\)$/\2 \1/p' out | LC_ALL=C sort)"
		check_status "pprof: it chooses by GPU" 0 go_pprof -top -unit ns \
			-sample_index gpu_kernel -tagfocus 'device=GPU 0'
		expect_match "pprof: which all is of" "of ${kernel_ns}ns total" "$(cat out)"
		check_status "pprof: it opens kernels first" 0 go_pprof -top
		expect_match "pprof: of all its types" '^Type: gpu_kernel$' "$(cat out)"
		expect "pprof: of the program" "File: event_truth" "$(grep ^File out)"
	else
		skip_one "pprof: go tool pprof opens it" "Go isn't installed"
	fi
	if [ -z "$why" ]; then
		check_status "pprof: pprof-format opens it" 0 node -e '
			const {Profile} = require(process.argv[1]), fs = require("fs");
			const bytes = require("zlib").gunzipSync(fs.readFileSync("exported"));
			const profile = Profile.decode(bytes);
			const text = (number) => profile.stringTable.strings[Number(number)];
			profile.sampleType.forEach((type, i) => console.log(text(type.type), text(type.unit),
				profile.sample.reduce((sum, s) => sum + BigInt(s.value[i]), 0n).toString()));' \
			"$O/viewers/pprof-format"
		expect "pprof: and has the sum of each event" "$(event_sums)" \
			"$(sed -n 's/_/-/; /-count\|_count/!s/^\([^ ]*\) [^ ]*/\1/p' out | LC_ALL=C sort)"
	else
		skip_one "pprof: pprof-format opens it" "need viewers: $why"
	fi
fi

# --- Perfetto's proto ------------------------------------------------------------------------

if [ -z "${PERFETTO_TRACE_PROTO:-}" ]; then
	skip_one "perfetto: fields are those of the published proto" \
		"PERFETTO_TRACE_PROTO doesn't name it"
else
	check "perfetto: fields are those of the published proto" \
		python3 "$TESTS/tools/compare_proto.py" \
		"$TESTS/../perf-gpu/proto/perfetto_trace.proto" "$PERFETTO_TRACE_PROTO"
	if ! built_with protobuf-c || ! command -v protoc >/dev/null; then
		skip_one "perfetto: protoc decodes a trace" "need protoc, and protobuf-c in the build"
	else
		"$PERF_GPU" export -q --perfetto -i "$TESTS/data/h200/events/perf.data" -o trace
		check_status "perfetto: protoc decodes a trace" 0 bash -c 'protoc \
			--proto_path="$(dirname "$0")" --decode=perfetto.protos.Trace "$0" <trace' \
			"$PERFETTO_TRACE_PROTO"
		expect "perfetto: and knows all fields" "" "$(grep -E '^ *[0-9]+(:| \{)' out)"
		expect "perfetto: and finds all slices" \
			"$(grep -c 'type: TYPE_SLICE_BEGIN' out)" "$(grep -c 'type: TYPE_SLICE_END' out)"
	fi
fi
