#!/bin/bash
# Ctrl-C and other signals: what was to be written is there as a whole, or not at all
. "$(dirname "$0")/lib.sh"
need python3

export PYTHONDONTWRITEBYTECODE=1

# built_with FEATURE
built_with()
{
	"$PERF_GPU" version --build-options | grep " $1: \[ on" >/dev/null
}

# killed NAMES COMMAND...: at moments that are drawn
killed()
{
	local names=$1
	shift
	# shellcheck disable=SC2086 # several
	python3 "$TESTS/tools/killed.py" 4 $names -- "$@"
}

check "a recording is made" "$O/tests/bench/make_recording" 20000 "$TMP/perf.data"
export_it=("$PERF_GPU" export -q -i "$TMP/perf.data" -o out)

check "inject leaves nothing half-written" \
	killed "out.data out.data.dso out.data.dso/[GPU_Kernel]" \
	"$PERF_GPU" inject -q -i "$TMP/perf.data" -o out.data
check "inject --aggregate neither" \
	killed "out.data out.data.dso out.data.dso/[GPU_Kernel]" \
	"$PERF_GPU" inject -q --aggregate -i "$TMP/perf.data" -o out.data
check "export --chrome neither" killed out "${export_it[@]}" --chrome
check "export --speedscope neither" killed out "${export_it[@]}" --speedscope
check "export --firefox neither" killed out "${export_it[@]}" --firefox
if built_with protobuf-c; then
	check "export --perfetto neither" killed out "${export_it[@]}" --perfetto
	check "export --pprof neither" killed out "${export_it[@]}" --pprof
else
	skip_one "export --perfetto and --pprof" "built without protobuf-c"
fi
if built_with sqlite3; then
	check "export --sqlite neither" killed out "${export_it[@]}" --sqlite
else
	skip_one "export --sqlite" "built without sqlite3"
fi
if built_with libarchive; then
	check "archive neither" killed out.tar.zst \
		"$PERF_GPU" archive -q -i "$TMP/perf.data" -o out.tar.zst
else
	skip_one "archive neither" "built without libarchive"
fi
check "flamegraph neither" killed out.svg \
	"$PERF_GPU" flamegraph -q --svg -i "$TMP/perf.data" -o out.svg

# What merge writes has a number of its own each time, and makes backups: so it is only
# looked at what is there.
mkdir merged
cp perf.data a.data
cp perf.data.gpu a.data.gpu
left=""
for ((i = 0; i < 8; i++)); do
	python3 -c '
import random, signal, subprocess, sys, time
process = subprocess.Popen(sys.argv[2:])
time.sleep(random.Random(int(sys.argv[1])).random() * 0.15)
process.send_signal(signal.SIGTERM)
sys.exit(process.wait() not in (0, -signal.SIGTERM))' $i \
		"$PERF_GPU" merge -q -o merged/perf.data a.data || left+="status of $i; "
	here=$(cd merged && find . -type f | LC_ALL=C sort | paste -sd ' ')
	case $here in
	"" | "./perf.data ./perf.data.gpu") ;;
	"./perf.data ./perf.data.gpu ./perf.data.old ./perf.data.old.gpu") ;;
	*) left+="after $i: $here; " ;;
	esac
	[ -z "$here" ] || "$PERF_GPU" script -i merged/perf.data -F period >/dev/null 2>&1 ||
		left+="after $i it can't be read; "
done
expect "merge: both files, or none" "" "$left"

# SIGKILL can't be handled: what it leaves is no recording.
mkdir sigkill
cd sigkill || exit 1
"$PERF_GPU" inject -q -i "$TMP/perf.data" -o out.data
mv out.data "$TMP/whole.data" && rm -r out.data.dso
"$PERF_GPU" inject -q -i "$TMP/perf.data" -o out.data &
for ((i = 0; i < 1000; i++)); do
	compgen -G 'out.data.??????' >/dev/null && break
	sleep 0.005
done
kill -STOP $! && kill -KILL $!
wait $! 2>/dev/null
status=$?
if [ $status = 0 ]; then
	skip_one "what SIGKILL leaves has no name of a recording's, or is whole" "it was too late"
else
	# It comes behind the last step, perhaps.
	check "what SIGKILL leaves has no name of a recording's, or is whole" \
		bash -c '[ ! -e out.data ] || cmp out.data "$0"' "$TMP/whole.data"
fi

# --- record, on a terminal ---------------------------------------------------------------

# The terminal sends SIGINT to whoever is there: until the command is, that's the recorder alone.
# interrupted HOW OPTION...: "STATUS FILES"; a status of 254 is an end by SIGINT
interrupted()
{
	local at=$1 status
	shift
	mkdir terminal
	(cd terminal && python3 "$TESTS/tools/on_terminal.py" -c interrupt \
		env "LD_PRELOAD=$O/tests/tools/libinterrupted.so" "INTERRUPT_AT=$at" \
		"$PERF_GPU" record "$@" -- sh -c 'touch ran; sleep 60; touch ended') >"$TMP/out" 2>&1
	status=$?
	echo "$status $(cd terminal && find . -mindepth 1 | LC_ALL=C sort | xargs)"
	rm -rf terminal
}

ways=(process)
if has root && has bpf; then
	ways+=(uprobe)
fi
for stacks in "${ways[@]}"; do
	if ! has plain; then
		skip_one "$stacks: Ctrl-C before the command" "built with sanitizers"
		continue
	fi
	expect "$stacks: Ctrl-C before signals are taken ends the recorder, and leaves nothing" "254 " \
		"$(interrupted signalfd --stacks "$stacks")"
	for at in uname mkdtemp fork; do
		expect "$stacks: Ctrl-C at $at: the command isn't run, and nothing is left" "130 " \
			"$(interrupted $at --stacks "$stacks")"
		expect_match "$stacks: Ctrl-C at $at: which is told" \
			'perf-gpu record: warning: sh was not run: signal 2 \(Interrupt\) came before' "$(cat "$TMP/out")"
	done
	for at in putenv execvp; do
		expect "$stacks: Ctrl-C at $at: the command ends, with nothing done" \
			"130 ./perf.data ./perf.data.gpu" "$(interrupted $at --stacks "$stacks")"
	done
done
