#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh [PATTERN...]: run the tests whose name contains one of the patterns (all):
# unit test programs, fuzz targets on their corpus, then tests/shell/test_*.sh and
# tests/faults/test_*.sh. Each prints TAP (https://testanything.org); the last line here is
#
#	N passed, N failed, N skipped
#
# Environment:
#   O               where the build is (build)
#   REQUIRED_NEEDS  needs (see shell/lib.sh) that must be there: a test skipped for
#                   want of one fails the run. So CI can't pass empty.
#   TEST_LOGS       folder for the output of each test ($O/tests/log)
#   RERUN           so many tests (0) may fail once and pass when they are run again, alone:
#                   each is told of with its first output, at the end too. For a run that
#                   can't be looked at while it goes on; what is told of is to be mended.
#   EMULATOR        what runs programs that were built for another machine (qemu-aarch64)
#
# What hangs is ended after half an hour: far more than any takes, since no test is to
# fail for what else runs on the machine. A shell test can have another limit, in a line
# "# time limit: N s".

set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
O=${O:-build}
O=$(cd "$O" && pwd) || exit 1
export O
read -r -a emulator <<<"${EMULATOR:-}"
logs=${TEST_LOGS:-$O/tests/log}
mkdir -p "$logs"

limit_s=1800
passed=0 failed=0 skipped=0
rerun=()

is_wanted()
{
	local name=$1 pattern
	shift
	[ $# -eq 0 ] && return
	for pattern; do
		[[ $name == *"$pattern"* ]] && return
	done
	return 1
}

# One line for each need that was required and not there
missing_needs()
{
	local need

	for need in ${REQUIRED_NEEDS:-}; do
		grep -qE "# SKIP need $need( |:|\$)" "$1" && echo "required, but not there: $need"
	done
}

# run_once LOG SECONDS COMMAND...: leaves what came of it in the nr_* and $trouble
run_once()
{
	local log=$1 limit_s=$2 status plan
	shift 2

	timeout -k 10 "$limit_s" "$@" >"$log" 2>&1 </dev/null
	status=$?

	nr_skipped=$(grep -cE '^ok .*# SKIP|^1\.\.0 # SKIP' "$log")
	nr_ok=$(grep -E '^ok ' "$log" | grep -cv '# SKIP')
	nr_not_ok=$(grep -cE '^not ok ' "$log")
	plan=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$log" | tail -n 1)

	# A test that died tells nothing of what it left out.
	if [ $status -eq 124 ] || [ $status -eq 137 ]; then
		trouble="not done after $limit_s s"
	elif [ -z "$plan" ]; then
		trouble="ended early, with status $status"
	elif [ "$plan" -gt 0 ] &&
		[ "$plan" -ne "$(grep -cE '^(not )?ok ' "$log")" ]; then
		trouble="not as many results as planned ($plan)"
	elif [ $status -ne 0 ] && [ "$nr_not_ok" -eq 0 ]; then
		trouble="exited with status $status"
	else
		trouble=$(missing_needs "$log")
	fi
	[ -n "$trouble" ] && nr_not_ok=$((nr_not_ok + 1))
}

# tell_failure NAME LOG SECONDS
tell_failure()
{
	printf '%-40s FAILED  %3d of %d, %d s\n' "$1" "$nr_not_ok" $((nr_ok + nr_not_ok)) "$3"
	sed 's/^/    /' "$2"
	[ -n "$trouble" ] && printf '    %s: %s\n' "$1" "$trouble"
}

# run NAME SECONDS COMMAND...
run()
{
	local name=$1 limit_s=$2 log=$logs/${1//\//-}.log
	local start=$SECONDS nr_ok nr_not_ok nr_skipped trouble
	shift 2

	run_once "$log" "$limit_s" "$@"
	if [ "$nr_not_ok" -gt 0 ] && [ ${#rerun[@]} -lt "${RERUN:-0}" ]; then
		tell_failure "$name" "$log" $((SECONDS - start))
		echo "    It is run again."
		mv "$log" "$log.first"
		start=$SECONDS
		run_once "$log" "$limit_s" "$@"
		[ "$nr_not_ok" -gt 0 ] || rerun+=("$name")
	fi

	passed=$((passed + nr_ok))
	failed=$((failed + nr_not_ok))
	skipped=$((skipped + nr_skipped))
	if [ "$nr_not_ok" -gt 0 ]; then
		tell_failure "$name" "$log" $((SECONDS - start))
	elif [ "$nr_ok" -eq 0 ]; then
		printf '%-40s skipped %s\n' "$name" \
			"$(sed -n 's/.*# SKIP //p' "$log" | head -n 1)"
	else
		printf '%-40s ok      %3d, %d s\n' "$name" "$nr_ok" $((SECONDS - start))
		sed -n 's/^ok [0-9]* - \(.*\) # SKIP \(.*\)/    skipped: \1: \2/p' "$log"
	fi
}

for source in tests/unit/test_*.c; do
	[ -e "$source" ] || continue
	name=$(basename "$source" .c)
	is_wanted "unit/$name" "$@" && run "unit/$name" "$limit_s" "${emulator[@]}" "$O/tests/unit/$name"
done

for source in tests/fuzz/fuzz_*.c; do
	[ -e "$source" ] || continue
	name=$(basename "$source" .c)
	is_wanted "fuzz/$name" "$@" &&
		run "fuzz/$name" "$limit_s" "${emulator[@]}" "$O/tests/fuzz/$name" \
			"tests/fuzz/corpus/${name#fuzz_}"
done

for test in tests/shell/test_*.sh tests/faults/test_*.sh; do
	[ -e "$test" ] || continue
	name=${test#tests/}
	name=${name%.sh}
	is_wanted "$name" "$@" || continue
	own_limit_s=$(sed -n 's/^# time limit: \([0-9]*\) s$/\1/p' "$test")
	run "$name" "${own_limit_s:-$limit_s}" bash "$test"
done

echo
for name in "${rerun[@]}"; do
	echo "failed once, and passed when it was run again: $name"
done
[ $((passed + failed + skipped)) -eq 0 ] && echo "no test is called so: $*"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
