#!/bin/bash
# A recording broken in one way each: read without losing GPU time, or refused in words
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda python3

export DEBUGINFOD_URLS=
mkdir files
run_fake "$PERF_GPU" record -q -o whole.data "$WORKLOADS/launches" -n 60 >/dev/null
python3 "$TESTS/tools/break_perfdata.py" whole.data files >cases || exit 1

time_of()
{
	"$PERF_GPU" script -q -i "$1" -g whole.data.gpu -F period 2>/dev/null |
		awk 'NF { sum += $1 } END { print sum }'
}
whole_ns=$(time_of whole.data)
check "the recording has GPU time" test "$whole_ns" -gt 0

# by_perf FILE: what stock perf does with it, for who compares
by_perf()
{
	local status

	timeout -s KILL 3 perf script -i "$1" >perf.txt 2>perf.err
	status=$?
	# An error of perf's own can be 256 - errno.
	if [ $status -gt 128 ] && [ $status -lt 160 ]; then
		echo "dies of signal $((status - 128))"
	else
		echo "exits with $status, $(grep -c . perf.txt) lines: $(tr -d '\0' <perf.err | head -n 1)"
	fi
}

# refused NAME REGEX
refused()
{
	expect "$1: inject refuses it" 1 "$status"
	expect_match "$1: says why" "$2" "$(cat err)"
	expect "$1: in one line" 1 "$(grep -cv ': warning: ' err)"
	check "$1: nothing is left" test ! -e out.data -a ! -e out.data.dso
}

# read NAME REGEX
read_whole()
{
	expect "$1: inject reads it" 0 "$status"
	if [ "$2" = - ]; then
		expect "$1: there is nothing to say" "" "$(grep warning err)"
	elif [ "$2" != "?" ]; then
		expect_match "$1: says what" "$2" "$(cat err)"
	fi
	expect "$1: no GPU time is lost" "$whole_ns" "$(time_of "files/$1")"
	expect "$1: perf reads all of it in what inject makes" "$whole_ns" \
		"$(timeout -s KILL 300 perf script -i out.data -F period 2>/dev/null |
			awk 'NF == 1 { sum += $1 } END { print sum }')"
}

while read -r name expected regex; do
	echo "# $name: perf $(by_perf "files/$name")"
	rm -rf out.data out.data.dso
	# What hangs is killed: a status of 137
	timeout -s KILL 300 "$PERF_GPU" inject -i "files/$name" -g whole.data.gpu -o out.data 2>err
	status=$?
	if [ "$expected" = read ]; then
		read_whole "$name" "$regex"
	else
		refused "$name" "$regex"
	fi
done <cases

mkdir -p directory/data
check_status "a directory" 1 "$PERF_GPU" inject -i directory -g whole.data.gpu
expect_match "is refused in words" 'is a directory, as perf record --threads makes it' "$(cat "$TMP/err")"
