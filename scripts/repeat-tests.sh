#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# repeat-tests.sh [-n TIMES] [-c CONDITION,...] [PATTERN...]: run the tests whose name
# contains one of the patterns (all) TIMES times (10) in each condition (all), and say which
# failed how often. What is built is tested as it is, by root. Conditions, several at once
# with + between them:
#
#   plain      as make check runs them
#   one-cpu    all on CPU 0
#   load       beside four busy processes on each CPU
#   nice       at nice 19, beside one busy process on each CPU
#   quota      with a fifth of one CPU's time (a control group)
#   stopped    each perf-gpu of the test stops for a second now and then
#   beside     while recordings by uprobes begin and end, without a pause
#   umask      with umask 077
#   memory     with TMPDIR in memory
#   c, utf8    LANG=C, LANG=C.UTF-8
#   tz         in a time zone with three quarters of an hour
#   bare       with nothing in the environment but PATH; HOME isn't set either
#
# The tests' output, where one failed, is in $O/repeat/CONDITION-TIME. The last line is
# N passed, N failed, N skipped. Environment: O, REQUIRED_NEEDS as for tests/run.sh

set -uo pipefail

times=10
conditions=plain,one-cpu,load,nice,quota,stopped,beside,umask,memory,c,utf8,tz,bare
here=$(cd "$(dirname "$0")/.." && pwd)

usage()
{
	sed -n '4,/^$/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

while getopts n:c: option; do
	case $option in
	n) times=$OPTARG ;;
	c) conditions=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[[ $times =~ ^[1-9][0-9]*$ ]] || usage

O=$(cd "${O:-$here/build}" && pwd) || exit 1
export O
kept=$O/repeat
mkdir -p "$kept"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/test-perf-gpu.XXXXXX") || exit 1
chmod 755 "$scratch" # tests run things as other users
helpers=()

stop_helpers()
{
	local pid

	for pid in "${helpers[@]}"; do
		# Each leads a group of its own.
		kill -KILL -- "-$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	helpers=()
}

leave_group()
{
	[ -z "${group:-}" ] || {
		rmdir "$group" 2>/dev/null
		group=
	}
}

finish()
{
	stop_helpers
	leave_group
	! mountpoint -q "$scratch/memory" || umount "$scratch/memory"
	rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT TERM

# help COMMAND...: beside the tests, until they are done
help()
{
	setsid "$@" >/dev/null 2>&1 </dev/null &
	helpers+=($!)
}

burn()
{
	local cpu count

	for ((cpu = 0; cpu < $(nproc); cpu++)); do
		for ((count = 0; count < $1; count++)); do
			help taskset -c "$cpu" bash -c 'while :; do :; done'
		done
	done
}

# Stops each process of this build's perf-gpu that has $1 in its environment, one after the other
stop_now_and_then()
{
	local session=$1 pid

	while :; do
		for pid in $(pgrep -x perf-gpu); do
			[ "$(readlink "/proc/$pid/exe")" = "$O/perf-gpu" ] || continue
			tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null |
				grep -xF "REPEATED_BY=$session" >/dev/null || continue
			kill -STOP "$pid" 2>/dev/null || continue
			sleep 1
			kill -CONT "$pid" 2>/dev/null
		done
		sleep 0.3
	done
}

record_again_and_again()
{
	cd "$1" || exit
	while :; do
		LD_LIBRARY_PATH=$O/fake_cuda "$O/perf-gpu" record "$O/tests/workloads/launches" -n 2000 -t 2
	done
}
export -f stop_now_and_then record_again_and_again

enter_group()
{
	local root=/sys/fs/cgroup

	if [ -e $root/cgroup.controllers ]; then
		echo +cpu >$root/cgroup.subtree_control
		group=$root/perf-gpu-repeat.$$
		mkdir "$group" && echo "20000 100000" >"$group/cpu.max"
	else
		group=$root/cpu/perf-gpu-repeat.$$
		mkdir "$group" && echo 100000 >"$group/cpu.cfs_period_us" &&
			echo 20000 >"$group/cpu.cfs_quota_us"
	fi
}

# Sets `wrapper`, or runs something beside the tests.
set_up()
{
	case $1 in
	plain) ;;
	one-cpu) wrapper+=(taskset -c 0) ;;
	load) burn 4 ;;
	nice)
		burn 1
		wrapper+=(nice -n 19)
		;;
	quota)
		enter_group || return
		wrapper+=(bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group")
		;;
	stopped)
		help bash -c 'stop_now_and_then "$0"' $$
		wrapper+=(env "REPEATED_BY=$$")
		;;
	beside)
		mkdir -p "$scratch/beside"
		help bash -c 'record_again_and_again "$0"' "$scratch/beside"
		;;
	umask) wrapper+=(bash -c 'umask 077; exec "$@"' -) ;;
	memory)
		# Not /dev/shm: hotspot takes nothing below /dev for a program.
		if ! mountpoint -q "$scratch/memory"; then
			mkdir "$scratch/memory" && mount -t tmpfs none "$scratch/memory" || return
			chmod 755 "$scratch/memory"
		fi
		wrapper+=(env "TMPDIR=$scratch/memory")
		;;
	c) wrapper+=(env -u LC_ALL LANG=C) ;;
	utf8) wrapper+=(env -u LC_ALL LANG=C.UTF-8) ;;
	tz) wrapper+=(env TZ=Pacific/Chatham) ;;
	bare) wrapper+=(env -i "PATH=$PATH" "O=$O" "SAN=${SAN:-}" "CC=${CC:-gcc}") ;;
	*)
		echo "there is no condition $1" >&2
		exit 2
		;;
	esac
}

passed=0 failed=0 skipped=0

# once CONDITION NR PATTERN...
once()
{
	local condition=$1 log=$kept/$1-$2 part totals
	local -a wrapper=(env) parts
	shift 2

	IFS=+ read -r -a parts <<<"$condition"
	for part in "${parts[@]}"; do
		set_up "$part" || exit
	done
	"${wrapper[@]}" env "TEST_LOGS=$scratch/logs" "$here/tests/run.sh" "$@" >"$log" 2>&1
	stop_helpers
	leave_group
	read -r -a totals < <(tr -d , <"$log" | tail -n 1)
	passed=$((passed + ${totals[0]:-0}))
	failed=$((failed + ${totals[2]:-1}))
	skipped=$((skipped + ${totals[4]:-0}))
	sed -nE "s/^((unit|fuzz|shell|faults)\/[^ ]*) +(ok|FAILED|skipped) .*/$condition \1 \3/p" "$log" >>"$scratch/results"
	# What failed, in a line each
	sed -nE '/^(unit|fuzz|shell|faults)\/.* FAILED /p; /^    (not ok|shell|faults|unit|fuzz)/p' "$log"
	grep -q ' FAILED ' "$log" || rm "$log"
}

IFS=, read -r -a list <<<"$conditions"
for condition in "${list[@]}"; do
	for ((nr = 1; nr <= times; nr++)); do
		once "$condition" "$nr" "$@"
	done
	awk -v condition="$condition" '$1 == condition && $3 != "skipped" { runs++; bad[$2] += $3 == "FAILED" }
		END {
			printf "%s: %d runs of tests\n", condition, runs
			for (test in bad) if (bad[test])
				printf "    %s failed %d times\n", test, bad[test]
		}' "$scratch/results"
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
