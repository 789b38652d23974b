#!/bin/bash
# perf-gpu record -D and --control: recording begins, pauses and ends on command
. "$(dirname "$0")/lib.sh"
. "$TESTS/shell/server_lib.sh"
need root bpf fake_cuda

export FAKE_CUDA_INSTANT=1
server=$WORKLOADS/server
mkfifo server.in server.out ctl ack
exec {ctl}<>ctl {ack}<>ack {out}<>server.out

# start RECORD-OPTION... -- COMMAND...: in the background, with ./in and ./out as its own
start()
{
	run_fake "$PERF_GPU" record -o perf.data "$@" <server.in >server.out 2>err &
	recorder=$!
	exec {in}>server.in
}

# finish WHAT STATUS
finish()
{
	local status

	exec {in}>&-
	wait "$recorder"
	status=$?
	expect "$1: status" "$2" "$status"
	expect "$1: every order and command is answered" "" "$(cat odd 2>/dev/null)"
	rm -f odd
}

# "KERNELS NAME", for each name, of those that have serve() in their stacks
recorded()
{
	"$PERF_GPU" script -F ip,sym 2>/dev/null |
		awk 'NF == 0 { name = "" }
			$2 ~ /^\[GPU_Kernel\]/ { name = substr($2, 13) }
			$2 == "serve" { nr[name]++ }
			END { for (name in nr) print nr[name], name }' | sort -k 2
}

# Of the closing lines
launches()
{
	sed -n 's/^\[ perf-gpu record: \([0-9,]*\) launch.* of .*/\1/p' err | tr -d ,
}

# --- on and off -------------------------------------------------------------------------

start -D -1 --control "fd:$ctl,$ack" -- "$server" -t 3
expect_match "the server starts" '^ready [0-9]+$' "$(answer "$out")"
tell "before 100"
order enable
tell "within 10"
order disable
tell "between 100"
order ping
order disable
order "enable gpu-launch"
order enable
tell "again 20"
order disable
tell "after 100"
finish "by file descriptors" 0
expect "what came while it was on is there, with its stacks" "60 again"$'\n'"30 within" "$(recorded)"
expect "and nothing else" 90 "$(launches)"
expect_match "nothing is missed that wasn't wanted" '0 launches lost, 0 GPU' "$(cat err)"
expect "nothing to warn of" "" "$(grep warning err)"

start --control fifo:ctl,ack -- "$server" -b 300
expect_match "through FIFOs" '^ready' "$(answer "$out")"
tell "first 10"
order disable
tell "off 10"
order enable
tell "second 10"
order disable
finish "through FIFOs" 0
expect "recording is on at first, without -D" "10 first"$'\n'"10 second" "$(recorded | grep -v background)"
expect "each kernel of a server that never pauses has its launch" "" \
	"$("$PERF_GPU" script -F ip,sym 2>/dev/null | grep -F '[unattributed]')"

start --control "fd:$ctl" -D -1 -- "$server"
answer "$out" >out.text
echo nonsense >&"$ctl"
printf '%0300d\n' 0 >&"$ctl"
echo "enable cycles" >&"$ctl"
printf 'enable\0' >&"$ctl"
for ((i = 0; i < 1200; i++)); do
	sleep 0.1
	tell "try 1"
	grep -qs . perf.data.gpu.spool.*/*.gpulog && [ "$(stat -c %s perf.data.gpu.spool.*/*.gpulog)" -gt 300 ] && break
done
tell "last 3"
finish "without answers" 0
expect_match "without answers: it is done" '^3 last$' "$(recorded)"
expect_match "what is no command is told" 'warning: --control: "nonsense" is no command' "$(cat err)"
expect_match "a line too long for one, too" 'warning: --control: a line is too long' "$(cat err)"
expect_match "an event that isn't ours, too" 'warning: --control: "enable cycles" is no' "$(cat err)"

# --- the program's own switch ------------------------------------------------------------

start --control "fd:$ctl,$ack" -D -1 -- "$server"
answer "$out" >out.text
tell resume
tell "unwanted 5" # by the recorder
order enable
tell "both 6"
tell pause
tell "paused 5"
order disable
order enable
tell "paused 5"
tell resume
tell "both 7"
order disable
tell pause
tell resume
tell "unwanted 5"
finish "a program that pauses itself" 0
expect "it is recorded while neither is off" "13 both" "$(recorded)"
expect "and nothing is missed" 13 "$(launches)"

# --- stop --------------------------------------------------------------------------------

start --control "fd:$ctl,$ack" -- "$server"
answer "$out" >out.text
tell "work 7"
order stop
finish "stop" 0
expect "stop ends the command, and keeps the recording" "7 work" "$(recorded)"
expect "stop: nothing to warn of" "" "$(grep 'ended by signal' err)"

# --- who has no more to say ---------------------------------------------------------------

mkfifo once
run_fake "$PERF_GPU" record -D -1 --control fd:0 -- "$WORKLOADS/launches" -n 40 -w 100 <once >out.text 2>err &
recorder=$!
sleep 0.5 >once
wait $recorder
expect "a controller that goes away: the command ends in order" 0 $?
expect "and isn't recorded" 0 "$(launches)"

# --- processes that come and go ----------------------------------------------------------

# shellcheck disable=SC2016 # for the inner shell
start --control "fd:$ctl,$ack" -D -1 -- bash -c '
	while read -r n; do "$0" -n "$n" >launched; echo "done $n"; done' "$WORKLOADS/launches"
order ping
tell 100
order enable
tell 11
tell 12
order disable
tell 100
order enable
tell 13
finish "processes that begin at any time" 0
expect "begin as is wanted then" 36 "$(launches)"
expect "and are all known" 3 "$(sed -n 's/.* launches of \([0-9]*\) processes .*/\1/p' err)"

start --control "fd:$ctl,$ack" -- sleep 60
order disable
order stop
finish "a command without CUDA" 0

# --- a process that doesn't answer -------------------------------------------------------

start --control "fd:$ctl,$ack" -- "$server"
pid=$(answer "$out")
pid=${pid#ready }
tell "work 5"
kill -STOP "$pid"
until grep -q '^State:.*stopped' "/proc/$pid/status"; do sleep 0.01; done
order disable
kill -CONT "$pid"
order ping
order disable # a command more: answered, it is behind the first
tell "late 5"
finish "a stopped process" 0
expect_match "is not waited for without end" "warning: 1 process doesn't answer within 5 seconds" "$(cat err)"
expect "and does what was wanted when it goes on" "5 work" "$(recorded)"

# --- delay -------------------------------------------------------------------------------

# Until a kernel is in a log: one whose launch comes just before that may have none.
# Where what is to come before the delay's end came too late, once more with a longer one.
for delay_ms in 4000 30000 200000; do
	began_ns=$(date +%s%N)
	# shellcheck disable=SC2016 # for the inner shell
	run_fake "$PERF_GPU" record -D $delay_ms -- bash -c '
	"$0" -n 100
	date +%s%N >early
	until cat "$PERF_GPU_SPOOL"/*.gpulog | grep -a plain_kernel >/dev/null; do "$0" -n 1; done
	"$0" -n 23' "$WORKLOADS/launches" >out 2>err
	status=$?
	[ $(($(cat early) - began_ns)) -ge $((delay_ms * 1000000)) ] || break
done
expect "-D" 0 "$status"
expect_match "leaves out what comes before" '^2[45]$' "$(launches)"
check_status "-D of a command that ends before" 0 \
	run_fake "$PERF_GPU" record --delay 60000 -- "$WORKLOADS/launches" -n 100
expect "records nothing" 0 "$(launches)"
expect "and warns of nothing" "" "$(grep warning err)"

# --- wrong command lines -------------------------------------------------------------------

for arguments in "-D -2" "-D x" "-D 10-20" "-D 99999999999" "--control fd:" "--control fd:x" "--control fd:1," \
	"--control fd:1,2,3" "--control fifo:" "--control fifo:ctl," "--control ctl"; do
	# shellcheck disable=SC2086 # they are words
	check_status "$arguments" 129 "$PERF_GPU" record $arguments -- true
done
check_status "-D -1 without --control" 129 "$PERF_GPU" record -D -1 -- true
expect_match "says what is missing" '-D -1 waits for --control' "$(cat err)"
check_status "a descriptor that isn't open" 1 "$PERF_GPU" record --control fd:99 -- true
expect_match "says so" 'file descriptor 99 is not open' "$(cat err)"
check_status "a FIFO that isn't there" 1 "$PERF_GPU" record --control fifo:no -- true
expect_match "says how to make it" "can't open no: No such file or directory; make it with mkfifo" "$(cat err)"
