#!/bin/bash
# What happens to the program, and to its recording, when its recorder is stopped for a while
# shellcheck disable=SC2034,SC2154,SC2317 # variables are for lib.sh, or its; functions are called by name
. "$(dirname "$0")/recorder_lib.sh"
rows_of recorder.md

do_stopped()
{
	kill -STOP "$pid"
}

then_stopped()
{
	wait_for ended
	kill -CONT "$pid"
}

do_stopped_10s()
{
	do_stopped
}

then_stopped_10s()
{
	sleep 10
	then_stopped
}

do_ring()
{
	do_stopped
}

then_ring()
{
	then_stopped
}

play stopped "${watched[@]}"
play stopped-10s "${watched[@]}"
options=(-m 1)
play ring "${watched[@]}"
