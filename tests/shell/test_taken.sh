#!/bin/bash
# Another profiler has CUPTI: the stacks of launches by probes, also with -D, --control, -p and --switch-output
. "$(dirname "$0")/lib.sh"
. "$TESTS/shell/server_lib.sh"
need root bpf perf fake_cuda python3

export FAKE_CUDA_INSTANT=1 FAKE_CUDA_SUBSCRIBER=nsys
server=$WORKLOADS/server
mkfifo server.in server.out ctl ack
exec {ctl}<>ctl {ack}<>ack {in}<>server.in {out}<>server.out

# start RECORD-OPTION... -- COMMAND...: in the background. The recorder is a child of ours,
# to get signals.
start()
{
	rm -rf perf.data*
	LD_LIBRARY_PATH=$FAKE_CUDA "$PERF_GPU" record "$@" <server.in >server.out 2>err &
	recorder=$!
	pid=$(answer "$out")
	pid=${pid#ready }
}

# serve COMMAND...: starts a server without a recorder
serve()
{
	run_fake "$@" <server.in >server.out 2>server.err &
	child=$!
	pid=$(answer "$out")
	pid=${pid#ready }
}

# finish WHAT: the server ends, and the recorder with it
finish()
{
	echo quit >&"$in"
	wait "$recorder"
	expect "$1: status" 0 $?
	expect "$1: every order and command is answered" "" "$(cat odd 2>/dev/null)"
	rm -f odd
}

# attach OPTION...: in the background; returns when it records
attach()
{
	"$PERF_GPU" record --control "fd:$ctl,$ack" -p "$pid" "$@" >rec.out 2>err &
	recorder=$!
	order ping
}

# detach WHAT
detach()
{
	order stop
	wait "$recorder"
	expect "$1: status" 0 $?
	expect "$1: every order and command is answered" "" "$(cat odd 2>/dev/null)"
	rm -f odd
}

# Of the closing lines
launches()
{
	sed -n 's/^\[ perf-gpu record: \([0-9,]*\) launch.* of .*/\1/p' err | tr -d ,
}

# stacks WHAT NUMBER [OPTION of perf script...]: so many launches are recorded, with the
# program's functions in their stacks, and that is told in one line
stacks()
{
	local what=$1 nr=$2
	shift 2

	expect "$what: what was launched while it was on, no more" "$nr" "$(launches)"
	expect "$what: with stacks" "$nr" "$(perf script "$@" -F ip,sym 2>/dev/null | grep -c ' serve$')"
	expect_match "$what: is told" \
		'another profiler \(nsys\) has CUPTI in this process: the stacks of its launches are recorded, not what' \
		"$(cat err)"
	expect "$what: nothing else is" "" "$(grep -v '^\[ ' err | tail -n +2)"
}

# --- switched on and off ----------------------------------------------------------------------

# Sums of powers of two, times three threads, tell which were recorded.
start -D -1 --control "fd:$ctl,$ack" -- "$server" -t 3
tell "before 1"
order enable
tell "within 2"
order disable
tell "between 4"
order ping
order enable
tell "again 8"
order disable
tell "after 16"
finish "--control"
stacks "--control" 30

start --control "fd:$ctl,$ack" -- "$server" -t 3
tell "first 1"
order disable
tell "off 2"
order enable
tell "second 4"
order stop
wait "$recorder"
expect "on from the start: status" 0 $?
stacks "on from the start" 15

start -D 60000 --control "fd:$ctl,$ack" -- "$server"
tell "early 1"
order enable
tell "on 2"
finish "-D"
stacks "-D" 2

start -D 50 --control "fd:$ctl,$ack" -- "$server"
order ping # the delay has begun
sleep 0.2
order ping # and has been looked at since
tell "on 4"
finish "-D that passes"
stacks "-D that passes" 4

# Others have CUPTI to themselves, and commands of the recorder wait for neither.
# shellcheck disable=SC2016 # for the inner shell
start --control "fd:$ctl,$ack" -D -1 -- bash -c '
	echo ready $$
	while read -r n; do
		[ "$n" = quit ] && break
		"$0" -n "$n" >launched
		env -u FAKE_CUDA_SUBSCRIBER "$0" -n "$n" >launched
		echo "done $n"
	done' "$WORKLOADS/launches"
tell 1
order enable
tell 2
order disable
tell 4
order enable
tell 8
finish "with and without another profiler"
expect "with and without another profiler: both are switched" 20 "$(launches)"
expect_match "with and without another profiler: the one has its GPU time" '10 GPU kernels, .*; 100.0 % of GPU time' \
	"$("$PERF_GPU" inject 2>&1)"

# --- a running process ------------------------------------------------------------------------

serve "$PERF_GPU" wait "$server" -t 3
tell "before 1"
attach -o first.data
tell "first 2"
order disable
tell "off 4"
order enable
tell "on 8"
detach "-p"
stacks "-p" 30 -i first.data
tell "between 16"
attach -o second.data --call-graph fp
tell "second 32"
detach "-p again"
stacks "-p again" 96 -i second.data
attach -D -1 -o third.data
tell "off 64"
order enable
tell "third 128"
# The recorder is gone without a word; the next one finds the process as if it had never been.
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
tell "unwatched 256"
attach -o fourth.data
tell "fourth 512"
detach "behind a recorder that was killed"
stacks "behind a recorder that was killed" 1536 -i fourth.data
tell "after 1024"
attach -o fifth.data
tell "fifth 2"
echo quit >&"$in"
wait "$child"
expect "a process that ends while it is recorded: ends in order" 0 $?
wait "$recorder"
expect "a process that ends while it is recorded: status" 0 $?
stacks "a process that ends while it is recorded" 6 -i fifth.data

# --- several files ----------------------------------------------------------------------------

# In the files, in their order
launches_by_file()
{
	local file

	for file in perf.data.[0-9]*[0-9]; do
		[[ $file == *.gpu ]] || perf script -i "$file" -F ip,sym 2>/dev/null | grep -c ' serve$'
	done
}

files()
{
	find . -maxdepth 1 | grep -cxE "\./perf\.data\.[0-9]{16}"
}

# Has another file written, and waits for it.
switch()
{
	local nr i

	nr=$(files)
	kill -USR2 "$recorder"
	for ((i = 0; i < 2000; i++)); do
		[ "$(files)" -gt "$nr" ] && return
		sleep 0.1
	done
	echo "no file number $((nr + 1))" >>odd
}

start --switch-output -- "$server" -t 3
tell "one 1"
switch
tell "two 2"
switch
tell "three 4"
finish "--switch-output"
expect "--switch-output: each file has its launches" "3 6 12" "$(launches_by_file | xargs)"
expect_match "--switch-output: is told" 'another profiler \(nsys\) has CUPTI in this process' "$(cat err)"
expect "--switch-output: in one line" 1 "$(grep -vc '^\[ ' err)"

start --switch-output --control "fd:$ctl,$ack" -- "$server"
tell "one 1"
order disable
tell "off 2"
order snapshot
order enable
tell "two 4"
finish "--switch-output with --control"
expect "--switch-output with --control: each file has its launches" "1 4" "$(launches_by_file | xargs)"

start --overwrite -- "$server"
tell "kept 5"
finish "--overwrite"
expect "--overwrite: the file has its launches" 5 "$(perf script -F ip,sym 2>/dev/null | grep -c ' serve$')"

# --- losses -----------------------------------------------------------------------------------

# Mappings that the walk of stacks needs are told of all processes there are.
start -- "$server"
tell "one 1"
kill -STOP "$recorder"
python3 - <<'EOF'
import mmap, os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
with open("/proc/self/exe", "rb") as file:
    for _ in range(40000):
        mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ).close()
EOF
kill -CONT "$recorder"
finish "too many mappings"
expect_match "too many mappings: what is lost is told" \
	'warning: [0-9,]+ records of mappings and processes were lost' "$(cat err)"

# There, the kernel tells of a process that lacks our library, but not which one that is for
# probes.
if unshare -p -f --mount-proc true 2>/dev/null; then
	rm -rf perf.data*
	LD_LIBRARY_PATH=$FAKE_CUDA unshare -p -f --mount-proc "$PERF_GPU" record --control "fd:$ctl,$ack" \
		env -u CUDA_INJECTION64_PATH "$server" <server.in >server.out 2>err &
	recorder=$!
	expect_match "our place is gone, in a pid namespace: the server starts" '^ready' "$(answer "$out")"
	tell "one 1"
	order ping
	order ping # by then, what the kernel tells has been looked into since the launch
	finish "our place is gone, in a pid namespace"
	expect_match "our place is gone, in a pid namespace: is told" \
		"process [0-9]+ has libcuda without our library, and its launches can't be probed: record runs in a PID namespace.* they are not recorded; " \
		"$(cat err)"
else
	skip_one "a pid namespace" "unshare can't make one"
fi

# --- a process that has ended when it is looked at ----------------------------------------------

# Nobody has waited for it, so it is there, but has no environment any more.
rm -rf perf.data*
cat >late.py <<'EOF'
import os, signal, subprocess, sys
os.kill(os.getppid(), signal.SIGSTOP)
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
os.kill(os.getppid(), signal.SIGCONT)
os.write(1, f"ready {os.getpid()}\n".encode())
os.read(0, 100)
child.wait()
EOF
start --control "fd:$ctl,$ack" -- env -u FAKE_CUDA_SUBSCRIBER python3 late.py "$WORKLOADS/launches" -n 10
order ping
order ping
finish "a process that has ended"
expect "a process that has ended: is recorded" 10 "$(launches)"
expect "a process that has ended: isn't taken for one without our library" "" "$(grep -v '^\[ ' err)"

# --- without probes: at once, not in the end ----------------------------------------------------

start --stacks process --control "fd:$ctl,$ack" -o none.data -- "$server"
for ((i = 0; i < 4000; i++)); do
	grep -q warning err && break
	sleep 0.05
done
expect "--stacks process: is told while it runs" \
	"perf-gpu record: warning: process $pid is not recorded while it runs: another profiler has CUPTI in it, and no probe takes the stacks of its launches, as with --stacks uprobe" \
	"$(cat err)"
tell "on 1"
order disable # which nobody is waited for
echo quit >&"$in"
wait "$recorder"
expect "--stacks process: status" 1 $?
expect "--stacks process: every order and command is answered" "" "$(cat odd 2>/dev/null)"
expect_match "--stacks process: and in the end, by name" \
	'server \(pid [0-9]+\) is not recorded: another profiler \(nsys\) has CUPTI .* by record --stacks uprobe or --share$' "$(cat err)"
