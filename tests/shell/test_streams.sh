#!/bin/bash
# What goes to a terminal and to pipes: progress, output that streams, and its reader's end
. "$(dirname "$0")/lib.sh"
need python3

export PYTHONDONTWRITEBYTECODE=1

check "a recording is made" "$O/tests/bench/make_recording" 40000 perf.data

# on_terminal OPTIONS COMMAND...: what the terminal gets, with lines for its returns
on_terminal()
{
	python3 "$TESTS/tools/on_terminal.py" "$@" | sed 's/\x1b\[K/<clear>/g; s/\r/\n/g'
}

# --- progress ------------------------------------------------------------------------------

# A disk that takes some seconds for all that it writes; sanitizers want to be loaded first.
if has plain; then
	slow=(env "LD_PRELOAD=$O/tests/tools/libslow-writes.so" SLOW_WRITES_MS=40)
	on_terminal "${slow[@]}" "$PERF_GPU" inject >seen
	expect_match "inject tells on a terminal how far it is" \
		'^<clear>\[ perf-gpu inject: (reading|sorting|joining|finishing).*( %|\.\.\.) \]$' "$(cat seen)"
	expect_match "and clears that before its last words" \
		'^<clear>\[ perf-gpu inject: [0-9,]+ GPU kernels' "$(cat seen)"
	on_terminal "${slow[@]}" "$PERF_GPU" inject -q >seen
	expect "with -q nothing is told" "" "$(cat seen)"
else
	skip_one "inject tells on a terminal how far it is" "built with sanitizers"
fi
"$PERF_GPU" inject 2>err
expect_no_match "where stderr is no terminal there is none" $'\r|\x1b' "$(cat err)"
on_terminal "$PERF_GPU" script -F period >seen
expect_no_match "none is in the midst of text on the terminal" 'clear|perf-gpu script: [a-z]' \
	"$(cat seen)"
expect "which is whole" "$("$PERF_GPU" script -F period | tr -d '\r')" "$(grep . seen)"

# --- pipes ---------------------------------------------------------------------------------

# first_line COMMAND...: the reader ends after a line; statuses of both, and errors
first_line()
{
	("$@" 2>err | head -n 1 >out.txt
	echo "${PIPESTATUS[*]}")
	cat err
}

expect "script ends with who reads it" "141 0" "$(first_line "$PERF_GPU" script)"
expect "export too" "141 0" "$(first_line "$PERF_GPU" export --chrome -o -)"
expect "where SIGPIPE is ignored, it fails without a word" "1 0" \
	"$(trap '' PIPE; first_line "$PERF_GPU" script)"
expect "and so does export" "1 0" "$(trap '' PIPE; first_line "$PERF_GPU" export --chrome -o -)"

# The reader takes something, and looks whether who writes has ended: it can't have, if
# what comes first is written before the last is read.
streams()
{
	python3 -c '
import subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
nr = len(process.stdout.read(100000))
alive = process.poll() is None
nr += len(process.stdout.read())
print(alive, process.wait(), nr > 1 << 20)' "$@"
}

formats=chrome
if "$PERF_GPU" version --build-options | grep ' protobuf-c: \[ on' >/dev/null; then
	formats+=" perfetto"
fi
expect "script streams" "True 0 True" "$(streams "$PERF_GPU" script)"
for format in $formats; do
	expect "export --$format streams" "True 0 True" \
		"$(streams "$PERF_GPU" export "--$format" -o -)"
done

# More comes out than there may be memory for.
if has plain && command -v prlimit >/dev/null; then
	# 100 MB: what threads' stacks take, and their heaps, is little beside it.
	"$O/tests/bench/make_recording" 160000 large.data
	"$PERF_GPU" export -q --chrome -i large.data -o whole.json
	bytes=$(stat -c %s whole.json)
	expect "what is written is not kept in memory" "$bytes" \
		"$(prlimit --data=$((bytes * 3 / 4)) "$PERF_GPU" export --chrome -i large.data -o - | wc -c)"
else
	skip_one "what is written is not kept in memory" "no prlimit, or sanitizers"
fi
