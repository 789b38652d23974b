#!/bin/bash
# perf-gpu record --duration: recording ends after a time, what is recorded goes on
. "$(dirname "$0")/lib.sh"
. "$TESTS/shell/server_lib.sh"
need root bpf fake_cuda

export FAKE_CUDA_INSTANT=1
server=$WORKLOADS/server
mkfifo server.in server.out ctl ack
exec {ctl}<>ctl {ack}<>ack {out}<>server.out

start()
{
	rm -f perf.data*
	run_fake "$PERF_GPU" record "$@" <server.in >server.out 2>err &
	recorder=$!
	exec {in}>server.in
	answer "$out" >out.text
}

has_ended()
{
	grep 'the recording has lasted for its --duration, and ends; .*server goes on' err >/dev/null
}

# Has the server launch until the files are there
launch_until_ended()
{
	for ((i = 0; i < 20000; i++)); do
		[ ! -e perf.data ] || return
		tell "during 1"
		sleep 0.01
	done
	echo "no file after $i launches" >>odd
}

# "KERNELS NAME"
recorded()
{
	"$PERF_GPU" script -F ip,sym "$@" 2>/dev/null |
		awk '$2 ~ /^\[GPU_Kernel\]/ { nr[substr($2, 13)]++ }
			END { for (name in nr) print nr[name], name }' | sort -k 2
}

# finish WHAT STATUS
finish()
{
	local status

	exec {in}>&-
	wait "$recorder"
	status=$?
	expect "$1: status" "$2 " "$status $(cat odd 2>/dev/null)"
	rm -f odd
}

# --- a command -----------------------------------------------------------------------------

for stacks in uprobe process; do
	# Where it was over before the server had begun, once more with a longer one
	for duration in 1500ms 20 3m; do
		start --stacks $stacks --duration $duration -- "$server"
		launch_until_ended
		ended=$(has_ended && echo ended)
		tell "after 50"
		finish "$stacks" 0
		[ "$(recorded)" = "" ] || break
	done
	expect "$stacks: that it ends is told" ended "$ended"
	expect_match "$stacks: the files are there while the command goes on, with what came before" \
		'^[0-9]+ during$' "$(recorded)"
	expect_match "$stacks: nothing is lost" '^\[ perf-gpu record: 0 launches lost, 0 GPU' "$(cat err)"
	expect "$stacks: nothing to warn of" "" "$(grep -E 'warning|^perf-gpu' err)"
done

check_status "the command's status is the recorder's" 7 \
	run_fake "$PERF_GPU" record --duration 100ms -- sh -c 'until [ -e perf.data.gpu ]; do sleep 0.1; done; exit 7'

# Begun late, it is over later than that.
began_ns=$(date +%s%N)
check_status "with -D" 0 run_fake "$PERF_GPU" record -o late.data -D 1000 --duration 500ms -- \
	sh -c 'until [ -e late.data.gpu ]; do sleep 0.01; done'
check "it begins behind the delay" test $(($(date +%s%N) - began_ns)) -ge 1500000000

start -D -1 --control "fd:$ctl,$ack" --duration 300ms -- "$server"
tell "before 5"
sleep 1
order ping
expect "with -D -1 it waits for the first enable" "" "$(has_ended; cat perf.data 2>/dev/null)"
order enable
launch_until_ended
expect "and runs from then on" ended "$(has_ended && echo ended)"
order ping # by the recorder, which only waits
finish "with --control" 0

start --switch-output --duration 1s -- "$server"
for ((i = 0; i < 20000; i++)); do
	has_ended && break
	tell "during 1"
	sleep 0.01
done
tell "after 5"
finish "with --switch-output" 0
expect_match "the last file has the end" '[0-9]+ launch(es)? of 1 process; 1 file: ' "$(cat err)"
expect "and nothing from behind it" "" "$(recorded -i "$(ls perf.data.*[0-9])" | grep after)"

# --- processes that ran before ---------------------------------------------------------------

run_fake "$PERF_GPU" wait "$server" <server.in >server.out 2>server.err &
child=$!
exec {in}>server.in
pid=$(answer "$out")
pid=${pid#ready }
for duration in 500ms 20s 200; do
	rm -f perf.data*
	"$PERF_GPU" record -p "$pid" --duration $duration 2>err &
	recorder=$!
	launch_until_ended
	wait "$recorder"
	status=$?
	[ "$(recorded)" = "" ] || break
done
expect "-p: it ends by itself" 0 "$status"
tell "after 5"
expect_match "-p: it has what was launched meanwhile" '^[0-9]+ during$' "$(recorded)"
check_status "-p with a command beside it" 0 "$PERF_GPU" record -p "$pid" --duration 200ms -- sleep 1000
exec {in}>&-
status=0
wait "$child" || status=$?
expect "the process goes on to its end" "0 " "$status $(cat odd 2>/dev/null)"

# --- wrong command lines ------------------------------------------------------------------------

for time in 0 -1 x 5x 1.5 "" 5S 400d 99999999999999999999; do
	check_status "--duration '$time'" 129 "$PERF_GPU" record --duration "$time" -- true
done
expect_match "says what it takes" '--duration takes seconds, or a time with the unit ms, s, m, h or d' "$(cat err)"
check_status "--probe none" 129 "$PERF_GPU" record --probe none --duration 1 -- true
for time in 10000 10000ms 1000s 100m 10h 1d; do
	check_status "--duration $time" 0 "$PERF_GPU" record -q --duration $time -- true
done
