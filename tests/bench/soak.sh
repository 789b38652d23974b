#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Records 50,000 launches a second from 64 threads for a long time, on the stand-in for CUDA:
# is anything lost with the default buffers, and does anything grow in the recorder, or in
# the process that is recorded?
#
# usage: tests/bench/soak.sh SECONDS [MODE...]
#   MODE  uprobe, process: --stacks; flight: --switch-output --overwrite; files: a file every
#         20 s, of which two stay (all: uprobe for SECONDS, each other one for a fifth)
#
# Ends with 1 if a launch or a GPU record is missing, or if memory or file descriptors have
# grown in the second half of the time (memory: of a minute or more).
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=$1
shift
modes=("$@")
short=$seconds
if [ $# -eq 0 ]; then
	modes=(uprobe process flight files)
	short=$(((seconds + 4) / 5))
fi
: "${O:=build}"
O=$(cd "$O" && pwd)
rate=50000
threads=64

# More than this of memory in the second half is growth, not noise; in a short time, buffers
# are still filled for the first time.
max_growth_kib=8192
[ "$seconds" -ge 60 ] || max_growth_kib=65536

tmp=$(mktemp -d "${TMPDIR:-/tmp}/soak.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
echo "soak 1000" >durations

options()
{
	case $1 in
	uprobe) echo "--stacks uprobe" ;;
	process) echo "--stacks process" ;;
	flight) echo "--switch-output --overwrite" ;;
	files) echo "--switch-output=20s --switch-max-files 2" ;;
	*)
		echo "soak: there is no mode $1" >&2
		return 2
		;;
	esac
}

# "ANONYMOUS-KIB RESIDENT-KIB DESCRIPTORS" of a process
usage_of()
{
	awk '/^RssAnon:/ { anon = $2 } /^VmRSS:/ { rss = $2 } END { printf "%d %d ", anon, rss }' "/proc/$1/status"
	find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l
}

# A line a sample: "SECOND RECORDER TARGET SPOOL-KIB"
sample()
{
	local recorder=$1 target=$2 begin=$SECONDS step=$((seconds / 60 > 0 ? seconds / 60 : 1))

	while kill -0 "$recorder" 2>/dev/null && [ -e "/proc/$target/fd" ]; do
		echo "$((SECONDS - begin)) $(usage_of "$recorder") $(usage_of "$target") $(du -sk perf.data*.spool.* | cut -f 1)"
		sleep "$step"
	done 2>/dev/null
}

# How much a column has grown in the second half, by least squares; and a summary of it.
summarize()
{
	awk -v seconds="$seconds" -v name="$1" -v column="$2" -v max="$3" '
		NF == 8 && $1 >= seconds / 2 && $1 <= seconds - 1 {
			n++; x = $1; y = $column
			sx += x; sy += y; sxx += x * x; sxy += x * y
			if (n == 1 || y < low) low = y
			if (n == 1 || y > high) high = y
		}
		END {
			if (n > 1 && n * sxx > sx * sx) slope = (n * sxy - sx * sy) / (n * sxx - sx * sx)
			printf "  %-38s %d to %d, %+.1f a minute\n", name, low, high, slope * 60
			exit slope * seconds / 2 > max
		}' samples
}

field()
{
	sed -n "s/.*$1.*/\\1/p" err | tail -n 1 | tr -d ,
}

soak()
{
	local mode=$1 status=0 recorder target launched recorded i

	rm -rf perf.data* samples # of the mode before
	# shellcheck disable=SC2046 # words
	LD_LIBRARY_PATH=$O/fake_cuda FAKE_CUDA_DURATIONS=$tmp/durations \
		"$O/perf-gpu" record -o perf.data $(options "$mode") -- \
		"$O/tests/workloads/soak" -t "$threads" -r "$rate" -s "$seconds" >out 2>err &
	recorder=$!
	for ((i = 0; i < 100; i++)); do
		target=$(pgrep -P "$recorder" -x soak) && break
		sleep 0.1
	done
	sample "$recorder" "$target" >samples
	wait "$recorder" || status=1
	launched=$(sed -n 's/^launched \([0-9]*\) in .*/\1/p' out)
	recorded=$(field 'perf-gpu record: \([0-9,]*\) launches of 1 process')
	echo "$mode (record $(options "$mode")): $(cat out)"
	sed 's/^/  /' err | grep -E 'lost|dropped|warning|error|kept' | tail -n 4 || true
	echo "  launches that were recorded            ${recorded:-none}"
	summarize "recorder, anonymous KiB" 2 $max_growth_kib || status=1
	summarize "recorder, resident KiB" 3 $max_growth_kib || status=1
	summarize "recorder, file descriptors" 4 2 || status=1
	summarize "process, anonymous KiB" 5 $max_growth_kib || status=1
	summarize "process, file descriptors" 7 2 || status=1
	summarize "logs on the disk, KiB" 8 "$([ "$mode" = flight ] || [ "$mode" = files ] && echo 20000 || echo 1e12)" || status=1
	[ -n "$launched" ] && [ "$launched" = "$recorded" ] || status=1
	grep -q ' 0 launches lost, 0 GPU records dropped' err || status=1
	# The GPU did something for each launch, and each has a stack.
	case $mode in
	uprobe | process) "$O/perf-gpu" report --limit 1 >report.txt 2>&1 ;;
	*) "$O/perf-gpu" report --limit 1 -i "$(find . -name 'perf.data.2*[0-9]' | sort | tail -n 1)" >report.txt 2>&1 ;;
	esac || status=1
	sed -n 's/^gpu-kernel/  kernels, their time, and with a stack:/p' report.txt
	grep -q '^gpu-kernel .* 100.0 %$' report.txt || status=1
	if [ "$mode" = uprobe ] || [ "$mode" = process ]; then
		[ "$(awk '/^gpu-kernel/ { gsub(",", "", $2); print $2 }' report.txt)" = "$launched" ] || status=1
	fi
	[ $status -eq 0 ] || echo "  FAILED"
	return $status
}

failed=0
echo "$rate launches a second from $threads threads, with the default buffers, on the stand-in for"
echo "CUDA; memory and files of the second half of the time, smallest to largest, and the slope by"
echo "least squares; by tests/bench/soak.sh"
echo "kernel $(uname -r), $(nproc) CPUs, $(awk '/^MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo), $(date +%F)"
echo
for mode in "${modes[@]}"; do
	soak "$mode" || failed=1
	seconds=$short
done
exit $failed
