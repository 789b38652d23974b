#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fuzz.sh DIR SECONDS [NAME...]: let the fuzz targets in DIR/fuzz (make fuzz builds them)
# search for that long each, as many at a time as there are CPUs; only those whose name
# contains one of the words, if there are any.
#
#   DIR/fuzz/corpus/NAME   what they have found worth keeping: the next run goes on there
#   DIR/fuzz/found/NAME-*  inputs that crashed, leaked, or took too much time or memory
#
# An input that was found belongs into tests/fuzz/corpus/NAME, with what fixes it. The
# last line is N passed, N failed, N skipped.
#
# Environment: FUZZ_JOBS, how many at a time; FUZZ_SEED, a number: the search is much the same
# each time, as far as it gets (CI's). Without, it is another one each time.

set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
if [ $# -lt 2 ]; then
	sed -n '4,/^$/s/^# \{0,1\}//p' "$0" >&2
	exit 2
fi
# A target may be in a folder of its own when it crashes.
O=$(realpath "$1") seconds=$2
shift 2
# What a target that crashed leaves behind
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/test-perf-gpu.XXXXXX") || exit 1
trap 'rm -rf "$TMPDIR"' EXIT

# Freed memory is kept for a while, to find who still uses it: less of it than by default.
# A size that no malloc() can give is refused, as it is without a sanitizer.
export ASAN_OPTIONS=quarantine_size_mb=16:allocator_may_return_null=1:detect_odr_violation=0
export UBSAN_OPTIONS=print_stacktrace=1

# Recordings that other tests have, too large to be kept twice; for each command
pack_recordings()
{
	local recording name run

	mkdir -p "$O/fuzz/seeds/commands"
	for recording in tests/data/h200/{events,two_streams} tests/data/before_graph_nodes; do
		name=$(basename "$recording")
		for run in {0..17}; do
			[ -e "$O/fuzz/seeds/commands/$name-$run" ] ||
				scripts/pack-recording.py "$run" "$recording/perf.data" \
					>"$O/fuzz/seeds/commands/$name-$run"
		done
	done
}

# one NAME: a line of result
one()
{
	local name=$1 own=$O/fuzz/corpus/$1 seeds=$O/fuzz/seeds/$1 log=$O/fuzz/$1.log found status inputs
	# The timeout is for what hangs; what takes CPU time is bounds.c's to tell.
	local -a options=(-max_len=100000 -timeout=300 -print_final_stats=1
		"-artifact_prefix=$O/fuzz/found/$name-") same=()

	# What addresses and times are has a part in the search, too.
	if [ -n "${FUZZ_SEED:-}" ]; then
		options+=("-seed=$FUZZ_SEED" -entropic=0)
		same=(setarch -R)
	fi
	mkdir -p "$own" "$seeds" "$O/fuzz/found"
	touch "$O/fuzz/$name.begun"
	# 2: what the target itself writes to stderr, a line for most inputs
	timeout -k 10 $((seconds * 2 + 900)) "${same[@]}" "$O/fuzz/fuzz_$name" -close_fd_mask=2 \
		-max_total_time="$seconds" "${options[@]}" \
		"$own" "tests/fuzz/corpus/$name" "$seeds" >"$log" 2>&1
	status=$?
	inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	if [ $status -eq 0 ] && [ "${inputs:-0}" -gt 0 ]; then
		printf 'ok      %-20s %9s inputs, %s edges\n' "$name" "$inputs" \
			"$(grep -oE ' cov: [0-9]+' "$log" | tail -n 1 | grep -oE '[0-9]+')"
		return
	fi
	printf 'FAILED  %-20s status %s, %s\n' "$name" "$status" "$log"
	found=$(find "$O/fuzz/found" -name "$name-*" -newer "$O/fuzz/$name.begun" | head -n 1)
	if [ -n "$found" ]; then
		echo "    $found: with the fix it belongs into tests/fuzz/corpus/$name"
		timeout -k 10 900 "$O/fuzz/fuzz_$name" "${options[@]}" "$found" 2>&1 | tail -n 60
	else
		tail -n 60 "$log"
	fi | sed 's/^/    /'
}
export -f one
export O seconds TMPDIR

names=()
for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	name=${name#fuzz_}
	for word in "${@:-}"; do
		if [[ $name == *"$word"* ]]; then
			names+=("$name")
			break
		fi
	done
done
if [ ${#names[@]} -eq 0 ]; then
	echo "no fuzz target is called so: $*"
	exit 1
fi

pack_recordings
printf '%s\n' "${names[@]}" | xargs -P "${FUZZ_JOBS:-$(nproc)}" -I{} bash -c 'one {}' |
	tee "$O/fuzz/results"
nr_passed=$(grep -c '^ok ' "$O/fuzz/results")
echo "$nr_passed passed, $((${#names[@]} - nr_passed)) failed, 0 skipped"
[ "$nr_passed" -eq ${#names[@]} ]
