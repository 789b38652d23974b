#!/bin/bash
# perf-gpu record -p: a process that waits is recorded, as often as one likes, and goes on
. "$(dirname "$0")/lib.sh"
. "$TESTS/shell/server_lib.sh"
need root bpf perf fake_cuda python3

export FAKE_CUDA_INSTANT=1
server=$WORKLOADS/server
mkfifo server.in server.out ctl ack
exec {ctl}<>ctl {ack}<>ack {in}<>server.in {out}<>server.out

# serve COMMAND...: starts a server; leaves its process in $pid, and $child to wait for
serve()
{
	run_fake "$@" <server.in >server.out 2>server.err &
	child=$!
	pid=$(answer "$out")
	pid=${pid#ready }
}

# end WHAT: ends the server
end()
{
	local status

	echo quit >&"$in"
	wait "$child"
	status=$?
	expect "$1: the server ends in order, and has all it asked for" "0" "$status$(cat odd 2>/dev/null)"
	rm -f odd
}

# attach OPTION...: in the background; returns when it records
attach()
{
	# A shell's background jobs ignore SIGINT.
	env --default-signal=INT "$PERF_GPU" record --control "fd:$ctl,$ack" -p "$pid" "$@" >rec.out 2>err &
	recorder=$!
	order ping
}

# Has the process write what it has recorded so far, as it does by itself once a second.
write_logs()
{
	order enable
}

# detach WHAT STATUS
detach()
{
	local status

	order stop
	wait "$recorder"
	status=$?
	expect "$1: status of the recorder" "$2" "$status"
}

# "KERNELS NAME", for each name, of those that have serve() in their stacks
recorded()
{
	"$PERF_GPU" script -F ip,sym "$@" 2>/dev/null |
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

# The files here, but the test's own
files()
{
	find . -mindepth 1 -maxdepth 1 -name '*.data*' -printf '%f\n' | sort | xargs
}

# --- again and again --------------------------------------------------------------------

serve "$PERF_GPU" wait "$server" -t 3
tell "before 10"
attach -o first.data
tell "first 20"
detach "attached" 0
tell "between 10"
attach -o second.data
tell "second 30"
detach "attached again" 0
tell "after 10"
end "attached twice"
expect "what it did while it was recorded is there, with its stacks" "60 first" "$(recorded -i first.data)"
expect "the second time too" "90 second" "$(recorded -i second.data)"
expect "and nothing else" 90 "$(launches)"
expect_match "nothing is missed that wasn't wanted" '0 launches lost, 0 GPU' "$(cat err)"
expect "nothing to warn of" "" "$(grep -v '^\[' err)"
expect "no folder is left" "first.data first.data.gpu second.data second.data.gpu" "$(files)"
expect "the log ends in order" 1 \
	"$(python3 "$TESTS/workloads/gpu_log.py" --account second.data.gpu | grep -c 'launches 90')"
expect_match "perf knows the program's functions" '^serve$' \
	"$(perf script -i second.data -F ip,sym 2>/dev/null | awk 'NF == 2 { print $2 }' | sort -u)"
expect_match "and the threads' names, from their ends on" '^server$' \
	"$(perf script -i second.data -F comm 2>/dev/null | sort -u | xargs)"
expect_match "down to where threads begin" '^(start_thread|clone3?|__GI___clone3?)$' \
	"$(perf script -i second.data -F ip,sym 2>/dev/null | awk 'NF == 2 { print $2 }' | sort -u)"
perf script -i second.data >script.text 2>perf.err
expect "perf has nothing to say" "" "$(cat perf.err)"

serve "$PERF_GPU" wait "$server"
attach -o idle.data
detach "attached while nothing is done" 0
expect_match "it was recorded, and launched nothing" ' 0 launches of 1 process in idle\.data ' "$(cat err)"
if has setpriv; then
	# Its process has a capability more than this root.
	check_status "root that may not look at it" 1 setpriv --bounding-set=-sys_ptrace "$PERF_GPU" record -p "$pid" true
	expect_match "isn't sent to sudo" \
		"can't open .* of process $pid: Permission denied, though this is root: a container .* CAP_SYS_PTRACE is missing$" \
		"$(cat err)"
else
	skip_one "root that may not look at it" "setpriv isn't installed"
fi
end "a server that does nothing"
rm idle.data*

# --- nothing is left switched on --------------------------------------------------------

faults=25 # CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER
all=gpu-kernel,gpu-memcpy,gpu-memset,gpu-sync,gpu-launch,gpu-queue,gpu-idle,gpu-alloc,gpu-fault
rm -f truth
FAKE_CUDA_TRUTH=$TMP/truth serve "$PERF_GPU" wait "$server"
attach -e $all --nvtx
tell "on 5"
detach "all events" 0
tell "off 5"
end "all events"
expect "all events: nothing in CUPTI is on behind the recording, but faults" "# left kind $faults" \
	"$(grep '^# left' truth)"
rm -f truth
FAKE_CUDA_TRUTH=$TMP/truth serve "$PERF_GPU" wait "$server"
attach -e $all
tell "on 5"
echo quit >&"$in"
wait "$child"
wait "$recorder"
expect_match "a process that ends while it is recorded has it on" '^# left callbacks' "$(cat truth)"

# --- faults, which stay on in CUPTI ------------------------------------------------------

# Bytes that moved, in the recording FILE
moved()
{
	"$PERF_GPU" script -i "$1" -e gpu-fault --weight=bytes -F event,period,ip,sym 2>/dev/null |
		awk '/gpu-fault:/ { bytes = $1 + 0 ? $1 : $2 } /\[GPU_Fault\]HtoD/ { sum += bytes } END { print sum + 0 }'
}

echo "n HtoD 1000 0" >migrations # the kernels "on" and "in-between"
FAKE_CUDA_INSTANT=0 FAKE_CUDA_MIGRATIONS=$TMP/migrations FAKE_CUDA_STUCK_FAULTS=1 serve "$PERF_GPU" wait "$server"
for i in 1 2; do
	tell "in-between 7"
	attach -e gpu-fault
	tell "on 5"
	order disable
	tell "in-between 9"
	order enable
	tell "on 6"
	detach "faults, $i" 0
	expect "faults, $i: only those while it was on" 11000 "$(moved perf.data)"
done
end "faults"

# --- what CUPTI records in between -----------------------------------------------------

# With a CUPTI that goes on recording
FAKE_CUDA_STRAYS=1 serve "$PERF_GPU" wait "$server" -t 3 -b 150
for i in 1 2 3; do
	tell "off 3000"
	attach -v
	tell "on 1000"
	order disable
	tell "off 3000"
	order enable
	tell "on 1000"
	detach "strays, $i" 0
	expect "strays, $i: only what was launched while it was on" "6000 on" \
		"$(recorded | grep -v background)"
	expect "strays, $i: each kernel has its launch" 0 \
		"$("$PERF_GPU" script -F ip,sym 2>/dev/null | grep -cF '[unattributed]')"
	expect_match "strays, $i: the others are told of" \
		'[0-9]+ kernels or copies that were launched while recording was off are left out' "$(cat err)"
done
end "strays"

# --- a command says how long -------------------------------------------------------------

serve "$PERF_GPU" wait "$server" -b 200
check_status "while a command runs" 3 "$PERF_GPU" record -p "$pid" -- \
	sh -c 'echo while 10 >server.in; read -r answer <server.out; echo here; exit 3'
expect "which has the terminal" here "$(cat out)"
expect_match "is recorded" '^10 while$' "$(recorded)"
expect "each kernel has its launch" "" \
	"$("$PERF_GPU" script -F ip,sym 2>/dev/null | grep -F '[unattributed]')"
check_status "a command that isn't there" 127 "$PERF_GPU" record -o no.data -p "$pid" -- /no/such
expect "leaves nothing" "" "$(compgen -G "no.data*")"
check_status "with a delay" 0 "$PERF_GPU" record -D 60000 -p "$pid" -- sleep 0.3
expect "nothing is recorded before" 0 "$(launches)"
for signal in INT TERM HUP; do
	attach
	tell "until 10"
	kill -$signal "$recorder"
	wait "$recorder"
	expect "SIG$signal ends it in order" 0 $?
	expect_match "SIG$signal: and keeps the recording" '^10 until$' "$(recorded)"
done
end "with a command"

# --- other ways of recording ---------------------------------------------------------------

serve "$PERF_GPU" wait "$server"
attach --call-graph fp
tell "fp 11"
detach "--call-graph fp" 0
expect "--call-graph fp" "11 fp" "$(recorded)"
attach --call-graph dwarf
tell "dwarf 12"
detach "--call-graph dwarf" 0
expect_match "--call-graph dwarf" '^serve$' \
	"$(perf script -F ip,sym 2>/dev/null | awk 'NF == 2 { print $2 }' | sort -u)"
for i in 1 2; do
	attach --stacks process
	tell "process 13"
	detach "--stacks process, $i" 0
	expect "--stacks process, $i" "13 process" "$(recorded)"
	expect_match "--stacks process, $i: down to where threads begin" '^(start_thread|clone3?|__GI___clone3?)$' \
		"$(perf script -F ip,sym 2>/dev/null | awk 'NF == 2 { print $2 }' | sort -u)"
done
attach -D -1
tell "off 5"
order enable
tell "on 6"
order disable
tell "off 7"
detach "-D -1 and --control" 0
expect "-D -1 and --control" "6 on" "$(recorded)"
end "in other ways"

# Two processes, which share a kernel's name
serve "$PERF_GPU" wait "$server"
first=$pid first_child=$child
mkfifo in2 out2
exec {in2}<>in2 {out2}<>out2
run_fake "$PERF_GPU" wait "$server" <in2 >out2 &
second_child=$!
second=$(answer "$out2")
pid=$first,${second#ready }
attach
tell "one 8"
echo "two 9" >&"$in2"
answer "$out2" >/dev/null
detach "two processes" 0
expect "two processes are recorded" "8 one"$'\n'"9 two" "$(recorded)"
pid=$first child=$first_child
end "two processes"
attach_two=$("$PERF_GPU" record -o no.data -p "$first,${second#ready }" 2>&1)
expect "one of two isn't there" "perf-gpu record: there is no process $first" "$attach_two"
echo quit >&"$in2"
wait "$second_child"

# --- who is refused -------------------------------------------------------------------------

# refused STATUS WHAT REGEX ARGUMENT...
refused()
{
	local status=$1 what=$2 regex=$3
	shift 3

	check_status "$what" "$status" timeout 200 "$PERF_GPU" record -o no.data "$@"
	expect_match "$what: says so" "$regex" "$(cat err)"
	expect "$what: in one line" 1 "$(wc -l <err)"
}

serve "$PERF_GPU" wait "$server" -t 2
attach -o held.data
refused 1 "another recorder" "another perf-gpu record is recording process $pid" -p "$pid"
tell "held 5"
detach "the first recorder" 0
expect "the first recorder has all" "10 held" "$(recorded -i held.data)"
thread=$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | grep -v "^$pid\$" | head -n 1)
refused 1 "a thread" "$thread is a thread: -p takes the id of its process" -p "$thread"
end "refused"

refused 1 "no process" 'there is no process [0-9]+$' -p 4194303
sleep 300 &
refused 1 "no library" "process $! has not loaded our library: start it with perf-gpu wait" -p $!
kill $!
serve env CUDA_INJECTION64_PATH="$O/lib/perf-gpu/libperf-gpu-inject.so" "$server"
refused 1 "a library that doesn't wait" "process $pid is not waiting for a recorder" -p "$pid"
end "it doesn't wait"
cp -r "$O/lib" "$O/perf-gpu" .
serve ./perf-gpu wait "$server"
refused 1 "another copy of the library" "process $pid has another copy of the library: .*/lib/perf-gpu/libperf-gpu-inject.so, not" \
	-p "$pid"
end "another copy"
rm -rf lib perf-gpu
for pids in "" 0 x "1," ,1 -1 1,,2 99999999999; do
	check_status "-p '$pids'" 129 "$PERF_GPU" record -p "$pids"
done
expect "nothing is left of those" "" "$(compgen -G "no.data*")"

# Of CUPTI, another profiler has the only place; test_taken has what uprobes make of that.
FAKE_CUDA_SUBSCRIBER=nsys serve "$PERF_GPU" wait "$server"
check_status "another profiler" 1 timeout 200 "$PERF_GPU" record --stacks process -p "$pid" -- sleep 0.2
expect_match "is named" "server \(pid $pid\) is not recorded: another profiler \(nsys\) has CUPTI" "$(cat err)"
tell "on 1"
end "another profiler"

# --- another user's process ---------------------------------------------------------------

chmod 755 "$TMP"
mkdir -m 700 closed
mkdir -m 777 theirs
serve setpriv --reuid 65534 --clear-groups "$PERF_GPU" wait "$server"
attach -o other.data
tell "theirs 6"
detach "another user's process" 0
expect "another user's process is recorded" "6 theirs" "$(recorded -i other.data)"
attach -o closed/other.data
tell "there 8"
detach "into a place that its user doesn't get to" 0
expect "where the recorder hands out the log" "8 there" "$(recorded -i closed/other.data)"
attach -o other.data
tell "again 7"
detach "after that" 0
expect "and can be recorded again" "7 again" "$(recorded -i other.data)"
check_status "a user that may not" 1 setpriv --reuid 65533 --clear-groups \
	"$PERF_GPU" record --stacks process -o theirs/no.data -p "$pid"
expect_match "is told" "process $pid is another user's" "$(cat err)"
end "another user's process"

# Nobody needs a right to record a process of his own.
as_nobody=(setpriv --reuid 65534 --clear-groups --no-new-privs)
serve "${as_nobody[@]}" "$PERF_GPU" wait "$server"
"${as_nobody[@]}" "$PERF_GPU" record --control "fd:$ctl,$ack" -o theirs/perf.data -p "$pid" 2>err &
recorder=$!
order ping
tell "mine 14"
detach "without any right" 0
expect "without any right: it is recorded" "14 mine" "$(recorded -i theirs/perf.data)"
expect_match "without any right: by the process itself" 'stacks are taken within the process' "$(cat err)"
end "without any right"

serve "$PERF_GPU" wait "$server"
tell pause
attach
tell "paused 4"
tell resume
tell "resumed 5"
detach "it has paused itself" 0
expect "it has paused itself: until it goes on" "5 resumed" "$(recorded)"
end "it has paused itself"

# --- what can happen meanwhile --------------------------------------------------------------

serve "$PERF_GPU" wait "$server"
attach
tell "done 20"
write_logs
kill -KILL "$pid"
wait "$recorder"
expect "it is killed: status" 0 $?
wait "$child"
expect "it is killed: what it had written is there" "20 done" "$(recorded)"
expect_match "it is killed: is told" '1 process did not end in order' "$(cat err)"

serve "$PERF_GPU" wait "$server"
attach
tell "last 21"
end "it ends while it is recorded"
wait "$recorder"
expect "it ends: status" 0 $?
expect "it ends: all is there" "21 last" "$(recorded)"

serve "$PERF_GPU" wait "$server"
attach -o killed.data
tell "lost 5"
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
# The library holds its log as long as it records.
for ((i = 0; i < 4000; i++)); do
	flock -n killed.data.gpu.spool.*/*.gpulog true && break
	sleep 0.05
done
check "the recorder is killed: CUPTI is given up" flock -n killed.data.gpu.spool.*/*.gpulog true
size=$(stat -c %s killed.data.gpu.spool.*/*.gpulog)
tell "unseen 5"
expect "the recorder is killed: nothing more is recorded" "$size" "$(stat -c %s killed.data.gpu.spool.*/*.gpulog)"
attach
tell "seen 22"
detach "after a killed recorder" 0
expect "the recorder is killed: another can record" "22 seen" "$(recorded)"
rm -r killed.data.*
end "the recorder is killed"

serve "$PERF_GPU" wait "$server"
attach
tell "early 23"
write_logs
echo exec >&"$in"
expect "it executes another program" "ready $pid" "$(answer "$out")"
tell "late 5"
wait "$recorder"
expect "exec: status" 0 $?
expect_match "exec: is told" "process $pid has executed another program: it was recorded until then" "$(cat err)"
expect "exec: it is recorded until then" "23 early" "$(recorded)"
attach
tell "anew 24"
detach "exec" 0
expect "exec: the new program can be recorded" "24 anew" "$(recorded)"
end "exec"

FAKE_CUDA_ALLOW_FORK=1 serve "$PERF_GPU" wait "$server"
tell "fork child 5"
attach
tell "fork child 6"
tell "parent 7"
detach "fork" 0
tell "fork child 8"
expect_match "fork: a child of a process that is recorded is recorded, too" "^7 parent$" "$(recorded)"
end "fork"

serve "$PERF_GPU" wait "$server"
tell close
attach
tell "closed 25"
detach "it has closed its descriptors" 0
expect "it has closed its descriptors: root finds it all the same" "25 closed" "$(recorded)"
attach
tell "closed 26"
tell close
tell "closed 27"
detach "it closes its descriptors" 0
expect "it closes its descriptors while it is recorded" "53 closed" "$(recorded)"
end "descriptors"

serve "$PERF_GPU" wait "$server"
attach
tell "before 28"
write_logs
kill -STOP "$pid"
until grep -q '^State:.*stopped' "/proc/$pid/status"; do sleep 0.01; done
detach "it is stopped" 1
expect_match "it is stopped: is not waited for without end" \
	"process $pid doesn't answer within 5 seconds" "$(cat err)"
expect "it is stopped: what it did is there" "28 before" "$(recorded)"
rm -f perf.data perf.data.gpu
check_status "it was stopped before: it can't be recorded" 1 \
	"$PERF_GPU" record -o stopped.data -p "$pid" -- true
expect "it was stopped before: one line says so" \
	"perf-gpu record: process $pid is not recorded: it doesn't answer within 5 seconds; is it stopped, or hung? kill -CONT $pid lets a stopped one go on" \
	"$(cat err)"
expect "it was stopped before: there is no file" "" "$(find . -name 'stopped.data*')"
kill -CONT "$pid"
tell "later 5"
attach
tell "again 6"
detach "it goes on" 0
expect "it goes on: it can be recorded" "6 again" "$(recorded)"
end "it is stopped"

serve "$PERF_GPU" wait "$server"
kill -STOP "$pid"
"$PERF_GPU" record -o gone.data -p "$pid" >out 2>err &
recorder=$!
# It is asked to record now, and doesn't answer.
until find . -path './gone.data.gpu.spool.*/recording' | grep . >/dev/null; do sleep 0.01; done
kill -KILL "$pid"
wait $recorder
expect "it ends while it is attached to: there is no recording" 1 $?
expect "it ends while it is attached to: one line says so" \
	"perf-gpu record: process $pid is not recorded: it has ended just now, before recording began" "$(cat err)"
expect "it ends while it is attached to: nothing is left" "" "$(find . -name 'gone.data*')"
wait "$child" 2>/dev/null

# --- other events than the default's -----------------------------------------------------

serve "$PERF_GPU" wait "$server"
attach -e gpu-launch
tell "called 21"
detach "-e" 0
expect "-e gpu-launch: calls are recorded, and nothing else" "21 gpu-launch:" \
	"$("$PERF_GPU" script -F event 2>/dev/null | awk '{ print $1 }' | sort | uniq -c | xargs)"
attach -e +gpu-queue
tell "queued 22"
detach "-e, again" 0
expect "-e +gpu-queue, of the same process: it has its own events each time" \
	"22 gpu-kernel, and some waited" "$("$PERF_GPU" script -F event 2>/dev/null |
		awk '{ nr[$1]++ } END { print nr["gpu-kernel:"], "gpu-kernel, and",
			nr["gpu-queue:"] ? "some" : "none", "waited" }')"
end "-e"

# --- many threads ------------------------------------------------------------------------

serve "$PERF_GPU" wait "$server" -t 1000
attach
tell "many 3"
detach "1,000 threads" 0
expect "1,000 threads" "3000 many" "$(recorded)"
expect "1,000 threads: none is unknown" "1000 server" \
	"$(perf script -F comm,tid 2>/dev/null | awk 'NF == 2 && $2 + 0 { print $1, $2 }' | sort -u | cut -d ' ' -f 1 | uniq -c | xargs)"
end "1,000 threads"
