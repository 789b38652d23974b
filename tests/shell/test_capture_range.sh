#!/bin/bash
# perf-gpu record --capture-range: what the program marks with cudaProfilerStart() and Stop() is recorded
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
	run_fake "$PERF_GPU" record -o perf.data --capture-range=cudaProfilerApi "$@" <server.in >server.out 2>err &
	recorder=$!
	exec {in}>server.in
}

# finish WHAT
finish()
{
	local status

	exec {in}>&-
	wait "$recorder"
	status=$?
	expect "$1: ends well, every order and command is answered" "0 " "$status $(cat odd 2>/dev/null)"
	rm -f odd
}

# "KERNELS NAME", for each name, of those that have a function of the server's in their stacks
recorded()
{
	"$PERF_GPU" script -F ip,sym "$@" 2>/dev/null |
		awk 'NF == 0 { name = "" }
			$2 ~ /^\[GPU_Kernel\]/ { name = substr($2, 13) }
			$2 ~ /^serve(_graph)?$/ && name != "" { nr[name]++; name = "" }
			END { for (name in nr) print nr[name], name }' | sort -k 2
}

# Of the closing lines
launches()
{
	sed -n 's/^\[ perf-gpu record: \([0-9,]*\) launch.* of .*/\1/p' err | tr -d ,
}

# --- a program that marks parts of its life ----------------------------------------------

for stacks in uprobe process; do
	start --stacks $stacks -- "$server" -t 3
	expect_match "$stacks: the server starts" '^ready [0-9]+$' "$(answer "$out")"
	tell "before 100"
	tell "graph graphbefore 5"
	tell unprofile # without a start
	tell "before 10"
	tell profile
	tell profile # twice is once
	tell "first 10"
	tell "graph graphed 5"
	tell unprofile
	tell "between 100"
	tell profile
	tell "again 20"
	tell unprofile
	tell unprofile
	tell "after 100"
	finish "$stacks"
	expect "$stacks: what is within is there, with its stacks" \
		"60 again"$'\n'"30 first"$'\n'"5 graphed"$'\n'"5 graphed-added" "$(recorded)"
	# With the one that was captured
	expect "$stacks: and nothing else" 96 "$(launches)"
	expect_match "$stacks: nothing is missed that wasn't wanted" '0 launches lost, 0 GPU' "$(cat err)"
	expect "$stacks: nothing to warn of" "" "$(grep warning err)"
	expect "$stacks: each kernel has its launch" "" \
		"$("$PERF_GPU" script -F ip,sym 2>/dev/null | grep -F '[unattributed]')"
done

start -- "$server" -b 200
answer "$out" >out.text
for ((i = 0; i < 50; i++)); do
	tell profile
	tell "within 1"
	tell unprofile
	tell "outside 1"
done
finish "beside a thread that never pauses"
expect "what one thread launches behind its calls is there, as often as they come" "50 within" \
	"$(recorded | grep -v background)"

start --stacks process -- "$server"
answer "$out" >out.text
tell "before 100"
finish "without a start"
expect "nothing is recorded" 0 "$(launches)"
expect_match "and it is told what was waited for" \
	'warning: nothing was launched between cudaProfilerStart\(\) and cudaProfilerStop\(\), .*--capture-range' "$(cat err)"
expect_match "of the process" ' 0 launches of 1 process ' "$(cat err)"

# --- each process for itself --------------------------------------------------------------

# shellcheck disable=SC2016 # for the inner shell
start -- bash -c '"$1" -n 30 >launched & "$0"; wait' "$server" "$WORKLOADS/launches"
answer "$out" >out.text
tell profile
tell "within 5"
finish "beside one that doesn't call them"
expect "only its own is recorded" "5 within" "$(recorded)"
expect "nothing of the other's" 5 "$(launches)"

# --- with the other switches ---------------------------------------------------------------

start --control "fd:$ctl,$ack" -D -1 -- "$server"
answer "$out" >out.text
tell profile
tell "unwanted 5" # by the recorder
order enable
tell "wanted 6"
tell unprofile
tell "unwanted 5"
order disable
tell profile
tell "unwanted 5"
order enable
tell "wanted 7"
tell pause
tell "unwanted 5"
tell resume
tell "wanted 8"
finish "with --control"
expect "recorded is what all want" "21 wanted" "$(recorded)"
expect "and nothing else: --control" 21 "$(launches)"

run_fake "$PERF_GPU" wait "$server" <server.in >server.out 2>server.err &
child=$!
exec {in}>server.in
pid=$(answer "$out")
pid=${pid#ready }
# attach FILE OPTION...: returns when it records
attach()
{
	"$PERF_GPU" record -o "$1" --control "fd:$ctl,$ack" -p "$pid" "${@:2}" 2>err &
	recorder=$!
	order ping
}
detach()
{
	order stop
	wait "$recorder" || echo "status $? of record -p" >>odd
}
tell profile
attach first.data --capture-range=cudaProfilerApi
tell "before 5"
tell profile
tell "within 6"
detach
attach second.data
tell "all 7"
tell unprofile
tell "all 8"
detach
attach third.data --capture-range cudaProfilerApi
tell "before 9"
tell profile
tell "within 3"
tell unprofile
detach
finish_status=0
exec {in}>&-
wait "$child" || finish_status=$?
expect "a process that waits: it ends in order, and does what it is told" "0 " "$finish_status $(cat odd 2>/dev/null)"
expect "a process that waits: from its next start on" "6 within" "$(recorded -i first.data)"
expect "then all of it" "15 all" "$(recorded -i second.data)"
expect "then a part again" "3 within" "$(recorded -i third.data)"

# --- wrong command lines --------------------------------------------------------------------

check_status "another range" 129 "$PERF_GPU" record --capture-range=nvtx -- true
expect_match "says which there are" 'takes cudaProfilerApi or none, not nvtx' "$(cat err)"
check_status "the other probes" 129 "$PERF_GPU" record --capture-range=cudaProfilerApi --probe api -- true
expect_match "can't" '--capture-range has only --probe marker' "$(cat err)"
check_status "nsys' short option" 129 "$PERF_GPU" record -c cudaProfilerApi -- true
expect_match "leads to ours" "nsys' -c cudaProfilerApi is --capture-range=cudaProfilerApi" "$(cat err)"
check_status "none" 0 run_fake "$PERF_GPU" record --capture-range=none -- "$WORKLOADS/launches" -n 12
expect "is all" 12 "$(launches)"
