#!/bin/bash
# perf-gpu record --max-size: the recording stops there, the command goes on
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda python3

export FAKE_CUDA_INSTANT=1
ATTACK=$TESTS/workloads/attack.py

record()
{
	run_fake timeout -k 5 300 "$PERF_GPU" record "$@"
}

bytes()
{
	cat "$@" | wc -c
}

# "launches: N = N samples + N beyond --max-size": 0 if the sum is right; nothing without it
sum()
{
	echo $(($(sed -n "s/.*$2: \(.*\) \]/\1/p" "$1" | tr -d , | sed 's/ = /-/; s/[a-z(][^+]*//g; s/+/-/g')))
}

# --- a command that launches too much -----------------------------------------------------------

# It sees the files while it runs, and only then goes on to its end.
cat >command.sh <<END
$WORKLOADS/launches -n 20000 -t 8
until [ -e perf.data ] && [ -e perf.data.gpu ] && [ -z "\$(find . -name '*.spool.*')" ]; do sleep 0.02; done
$WORKLOADS/launches -n 10
exit 7
END
for stacks in uprobe process; do
	rm -f perf.data*
	# Rings have room for all that it launches, however long the recorder gets no time.
	rings=()
	[ $stacks = process ] || rings=(-m 32M)
	check_status "$stacks: the command goes on to its end" 7 record --stacks $stacks "${rings[@]}" --max-size 300K bash command.sh
	expect "$stacks: as if nothing had been" 2 "$(grep -c '^launches ' "$TMP/out")"
	expect_match "$stacks: that recording stopped is told" \
		'warning: the recording has reached its --max-size of 0.3 MB, and stops; bash goes on$' "$(cat "$TMP/err")"
	# The rings, what is on its way, and a 64th for tables of perf.data
	expect "$stacks: there is about so much" 1 "$(($(bytes perf.data) < 320000 && $(bytes perf.data.gpu) < 2000000))"
	expect "$stacks: what was left out is counted" 0 "$(sum "$TMP/err" launches)"
	expect "$stacks: of GPU records, too" 0 "$(sum "$TMP/err" 'GPU records')"
	expect_match "$stacks: by its reason" 'GPU records: [0-9,]+ = [0-9,]+ delivered \+ [0-9,]+ beyond --max-size \]' "$(cat "$TMP/err")"
	expect_match "$stacks: and isn't lost" ' 0 launches lost, 0 GPU records dropped ' "$(cat "$TMP/err")"
	expect_no_match "$stacks: and is nothing that is missing" 'missing' "$(cat "$TMP/err")"
	figures=$(grep -oE '(launches|GPU records): .*' "$TMP/err")
	nr_samples=$(sed -nE 's/.*launches: .* = ([0-9,]+) samples .*/\1/p' "$TMP/err")
	check_status "$stacks: it can be read" 0 "$PERF_GPU" inject -o injected.data
	expect_match "$stacks: and tells that it isn't all" 'recording stopped at its --max-size, after [0-9.,]+ ms: what came later is not there' \
		"$(cat "$TMP/err")"
	expect "$stacks: with the same figures" "$figures" "$(grep -oE '(launches|GPU records): .*' "$TMP/err")"
	expect_no_match "$stacks: nothing is without a stack" 'unattributed' "$(cat "$TMP/err")"
	# All but what the GPU was at, of eight threads
	nr_kernels=$(sed -nE 's/.*inject: ([0-9,]+) GPU kernels.*/\1/p' "$TMP/err")
	expect "$stacks: and nearly all launches have their kernels" 1 "$((${nr_kernels//,/} + 8 >= ${nr_samples//,/}))"
	check_status "$stacks: report knows it, too" 0 "$PERF_GPU" report
	expect "$stacks: and has the same figures" "$figures" "$(grep -oE '(launches|GPU records): .*' "$TMP/err")"
	check "$stacks: also by stock perf" sh -c 'perf script -i injected.data >/dev/null'
done

# What the GPU is still at, when processes stop, has no time, but is counted: here nearly all,
# since kernels take 10 ms, and nobody waits for them.
cat >running.sh <<END
$WORKLOADS/launches -n 20000 -w 600000 &
until [ -e perf.data ]; do sleep 0.02; done
kill -KILL \$!
END
echo "plain_kernel 10000000" >durations
# figure NAME WHAT: of what the last command has said
figure()
{
	sed -nE "s/.* $1: .*[=+] ([0-9,]+) $2( \(| \+| \]).*/\1/p" "$TMP/err" | tr -d , | grep . || echo 0
}
for stacks in uprobe process; do
	rm -f perf.data*
	check_status "$stacks: kernels that run on" 0 env FAKE_CUDA_DURATIONS="$PWD/durations" FAKE_CUDA_LATE_UNTIL="$PWD/never" \
		LD_LIBRARY_PATH="$FAKE_CUDA" timeout -k 5 300 "$PERF_GPU" record --stacks $stacks --max-size 100K bash running.sh
	figures=$(grep -oE '(launches|GPU records): .*' "$TMP/err")
	expect "$stacks: each launch that is a sample has its GPU record" "$(figure launches samples)" \
		"$(($(figure 'GPU records' delivered) + $(figure 'GPU records' 'of unknown time')))"
	expect_match "$stacks: which is told" 'warning: [0-9,]+ kernels have no time' "$(cat "$TMP/err")"
	check_status "$stacks: inject reads that" 0 "$PERF_GPU" inject -o injected.data
	expect "$stacks: with the same figures" "$figures" "$(grep -oE '(launches|GPU records): .*' "$TMP/err")"
	"$PERF_GPU" report >out 2>"$TMP/err"
	expect "$stacks: as report has" "$figures" "$(grep -oE '(launches|GPU records): .*' "$TMP/err")"
done

# In the end there is more than there was in the logs: stacks are in each sample.
rm -f perf.data*
check_status "a recording that is too large only in the end" 0 record --stacks process --max-size 1M "$WORKLOADS/launches" -n 20000
expect "has what there is room for" 1 "$(($(bytes perf.data) < 1100000))"
expect "and counts the rest" 0 "$(sum "$TMP/err" launches)"
expect "of the GPU, too" 0 "$(sum "$TMP/err" 'GPU records')"
expect_match "which is all that it launched" 'GPU records: 20,000 = ' "$(cat "$TMP/err")"
expect_match "by its reason" 'launches: 20,000 = [0-9,]+ samples \+ [0-9,]+ beyond --max-size' "$(cat "$TMP/err")"
"$PERF_GPU" report >out 2>err
expect_match "which report knows, too" 'launches: 20,000 = [0-9,]+ samples \+ [0-9,]+ beyond --max-size' "$(cat err)"
check_status "and inject" 0 "$PERF_GPU" inject -o injected.data
expect_no_match "has nothing without a stack" 'unattributed' "$(cat "$TMP/err")"

check_status "a recording that isn't too large" 0 record --max-size 1G "$WORKLOADS/launches" -n 1000
expect_match "is whole" '^\[ perf-gpu record: 1,000 launches of 1 process ' "$(cat "$TMP/err")"
expect_no_match "and nothing is said" 'max-size' "$(cat "$TMP/err")"

# Stacks by probes on the API belong to GPU records by time, and so does what is left out.
rm -f perf.data*
check_status "--probe api" 0 record --probe api -m 32M --max-size 300K "$WORKLOADS/launches" -n 20000 -t 2
expect "counts what is beyond it" 0 "$(sum "$TMP/err" launches)"
expect "and its GPU records" 0 "$(sum "$TMP/err" 'GPU records')"
check_status "can be read" 0 "$PERF_GPU" inject -o injected.data
expect_no_match "and has nothing without a stack" 'unattributed' "$(cat "$TMP/err")"

# Who is stopped doesn't hear of it. What it has recorded is there.
cat >stopped.sh <<END
$WORKLOADS/launches -n 100 -w 600000 >ready &
until [ -s ready ]; do sleep 0.02; done
until find . -name '*.gpulog' -size +0 | grep . >/dev/null; do sleep 0.02; done
kill -STOP \$!
$WORKLOADS/launches -n 5000
until [ -e perf.data ]; do sleep 0.02; done
kill -KILL \$!
END
rm -f perf.data*
check_status "a process that doesn't answer" 0 record --max-size 100K bash stopped.sh
expect_match "is told of" "warning: 1 process doesn't answer within 5 seconds: stopped, or hung\?" "$(cat "$TMP/err")"
expect "the figures add up" 0 "$(sum "$TMP/err" launches)"
check_status "and it can be read" 0 "$PERF_GPU" inject -o injected.data
expect_no_match "with a stack for all" 'unattributed' "$(cat "$TMP/err")"

# Who goes on stops recording: nothing is left of its log.
rm -f perf.data*
record --max-size 100K bash -c "$WORKLOADS/launches -n 5000 -w 60000 & until [ -e perf.data ]; do sleep 0.02; done; echo \$!" >out 2>err
child=$(tail -n 1 out)
for _ in $(seq 2000); do
	logs=$(find /proc/"$child"/fd -lname '*.gpulog*' 2>/dev/null | wc -l)
	[ "$logs" = 0 ] && break
	sleep 0.05
done
expect "a process that goes on writes no log any more" 0 "$logs"
# It was told to stop, in its first second, and has written what it had.
expect_no_match "nor is anything missing" ' missing' "$(cat err)"
expect_no_match "or left out of its log" 'are left out' "$(cat err)"
expect_match "its GPU has a name" '^GPU 0 \(Fake GPU\)$' "$("$PERF_GPU" report 2>/dev/null)"
kill "$child" 2>/dev/null

# --- the command, after that --------------------------------------------------------------------

cat >wait.sh <<END
trap 'exit 9' TERM
$WORKLOADS/launches -n 5000
until [ -e perf.data ]; do sleep 0.02; done
echo stopped >stopped
while :; do sleep 0.02; done
END
rm -f perf.data* stopped
export LD_LIBRARY_PATH=$FAKE_CUDA
"$PERF_GPU" record --max-size 100K bash wait.sh >out 2>err &
recorder=$!
until [ -e stopped ]; do sleep 0.02; done
kill $recorder
wait $recorder
expect "signals are passed on" 9 $?

mkfifo commands answers
rm -f perf.data* stopped
"$PERF_GPU" record --control fifo:commands,answers --max-size 100K bash wait.sh >out 2>err &
recorder=$!
exec 8>commands 9<answers
until [ -e stopped ]; do sleep 0.02; done
echo ping >&8
read -r -t 200 answer <&9
expect "commands are answered" ack "$answer"
echo stop >&8
read -r -t 200 answer <&9
expect "the last one, too" ack "$answer"
wait $recorder
expect "which ends the command" 9 $?
exec 8>&- 9<&-

# --- processes that ran before --------------------------------------------------------------------

rm -f perf.data*
coproc run_fake "$PERF_GPU" wait "$WORKLOADS/server" -t 1
read -r _ server <&"${COPROC[0]}"
timeout 300 "$PERF_GPU" record -p "$server" --max-size 100K 2>err &
recorder=$!
# Commands are taken when recording has begun or not: what is launched goes on until it ends.
while kill -0 $recorder 2>/dev/null; do
	echo a 500 >&"${COPROC[1]}"
	read -r -t 200 <&"${COPROC[0]}"
done
wait $recorder
expect "-p ends there" 0 $?
expect_match "which is told" 'has reached its --max-size of 100.0 KB, and stops$' "$(cat err)"
echo b 10 >&"${COPROC[1]}"
read -r -t 200 answer <&"${COPROC[0]}"
expect "the process goes on" "done b 10" "$answer"
echo quit >&"${COPROC[1]}"
wait "$COPROC_PID" 2>/dev/null

# --- logs that have any size -------------------------------------------------------------------------

rm -f perf.data*
check_status "a log of 100 MB" 0 record --max-size 2M python3 "$ATTACK" grow 100
expect "is cut" 1 "$(($(bytes perf.data.gpu) < 3500000))"
expect_match "which is told" 'warning: [0-9.]+ MB of GPU records are left out: there were more than --max-size has room for' \
	"$(cat "$TMP/err")"
check_status "what is there can be read" 0 "$PERF_GPU" report
expect_match "and who reads it is told the same" 'report: [0-9.]+ MB of GPU records are left out' "$(cat "$TMP/err")"
cat >grow.sh <<END
python3 $ATTACK outlive 60
until [ -e perf.data ]; do sleep 0.02; done
END
rm -f perf.data*
check_status "a log that grows without end" 0 record --max-size 2M bash grow.sh
expect "is cut, too" 1 "$(($(bytes perf.data.gpu) < 3500000))"
expect "and no room on the disk is taken any more" "" "$(find . -name '*.spool.*')"
# Blocks behind a broken one are looked for: not in a file that has nothing.
cat >sparse.py <<END
exec(open("$ATTACK").read().split('if __name__')[0])
write("1-1.gpulog", block(1, process()) + b"broken!!")
os.truncate(SPOOL + "/1-1.gpulog", 1 << 42)
END
check_status "a log of 4 TB without anything in it" 0 record python3 sparse.py
expect_match "is told" 'GPU log 1-1.gpulog is broken' "$(cat "$TMP/err")"

# --- the option ---------------------------------------------------------------------------------------

for size in 0M -1M 10 10X M "" "1 M" 99999999999999999999G 9223372036854775807G 1.5M; do
	check_status "--max-size '$size' is none" 129 "$PERF_GPU" record --max-size "$size" true
done
expect_match "which is told" -- '--max-size takes a number with the unit B, K, M or G, such as 100M, not 1.5M' "$(cat "$TMP/err")"
