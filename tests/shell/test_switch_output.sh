#!/bin/bash
# perf-gpu record --switch-output and --overwrite: several files, each whole; the newest only
. "$(dirname "$0")/lib.sh"
. "$TESTS/shell/server_lib.sh"
need root bpf perf fake_cuda python3

export FAKE_CUDA_INSTANT=1
server=$WORKLOADS/server
mkfifo server.in server.out ctl ack
exec {ctl}<>ctl {ack}<>ack {out}<>server.out

# start RECORD-OPTION... -- COMMAND...: in the background, with ./in and ./out as its own.
# The recorder is a child of ours, to get signals.
start()
{
	rm -rf perf.data*
	LD_LIBRARY_PATH=$FAKE_CUDA "$PERF_GPU" record -o perf.data "$@" <server.in >server.out 2>err &
	recorder=$!
	exec {in}>server.in
	expect_match "the server starts" '^ready [0-9]+$' "$(answer "$out")"
}

files()
{
	find . -maxdepth 1 | grep -xE "\./perf\.data\.[0-9]{16}" | sort
}

# wait_for_files NUMBER
wait_for_files()
{
	local i

	for ((i = 0; i < 2000; i++)); do
		[ "$(files | wc -l)" -ge "$1" ] && return
		sleep 0.1
	done
	echo "no file number $1" >>odd
}

# Has another file written, and waits for it.
switch()
{
	local nr

	nr=$(files | wc -l)
	kill -USR2 "$recorder"
	wait_for_files $((nr + 1))
}

# finish WHAT: the server ends
finish()
{
	local status

	exec {in}>&-
	wait "$recorder"
	status=$?
	expect "$1: status" 0 "$status"
	expect "$1: every command is answered, every file comes" "" "$(cat odd 2>/dev/null)"
	rm -f odd
	expect "$1: nothing temporary is left" "" "$(find . -name "perf.data*.??????" -o -name "*.spool.*")"
}

# recorded FILE [FUNCTION]: "KERNELS NAME", for each name, of those that have FUNCTION in
# their stacks
recorded()
{
	"$PERF_GPU" script -F ip,sym -i "$1" 2>/dev/null |
		awk -v function_name="${2:-}" '
			NF == 0 { name = "" }
			$2 ~ /^\[GPU_Kernel\]/ { name = substr($2, 13); if (function_name == "") nr[name]++ }
			function_name != "" && name != "" && $2 ~ "^(" function_name ")$" { nr[name]++; name = "" }
			END { for (name in nr) print nr[name], name }' | sort -k 2
}

# The same of all files together
recorded_in_all()
{
	local file

	for file in $(files); do
		recorded "$file" "$@"
	done | awk '{ nr[$2] += $1 } END { for (name in nr) print nr[name], name }' | sort -k 2
}

# Launches that a line of the recorder's tells of: "launches LINE-PATTERN", a sum
launches()
{
	sed -n "/$1/ s/^\[ perf-gpu record: \([0-9,]*\) launch.*/\1/p" err | tr -d , |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# Each file is read on its own, by perf too; all its kernels have a stack from FUNCTION.
expect_whole()
{
	local what=$1 function=$2 file

	for file in $(files); do
		expect "$what: in $(files | grep -nx -- "$file" | cut -d : -f 1), all kernels have their stacks" \
			"$(recorded "$file")" "$(recorded "$file" "$function")"
		check "$what: inject reads it" "$PERF_GPU" inject -i "$file" -o out.data
		expect_no_match "$what: all of it" "lost|unattributed|damaged|missing" \
			"$("$PERF_GPU" inject -i "$file" -o out.data 2>&1)"
		[ -n "$(recorded "$file")" ] || continue
		expect "$what: perf has no complaints" "" "$(perf report -i "$file" --stdio 2>&1 >/dev/null)"
	done
}

# --- files one after the other ---------------------------------------------------------

for stacks in uprobe process; do
	start --switch-output --stacks $stacks -- "$server" -t 3
	tell "one 100"
	switch
	tell "two 50"
	tell "graph g 10"
	switch
	# The graph was made before this file.
	tell "graph g 20"
	tell "fork child 5"
	switch
	finish "$stacks"
	expect "$stacks: a file for each signal, and the last" 4 "$(files | wc -l)"
	expect "$stacks: named as perf names them" "" \
		"$(files | grep -vE '^\./perf\.data\.20[0-9]{14}$')"
	expect "$stacks: and no perf.data" "" "$(find . -name perf.data -o -name perf.data.gpu)"
	expect "$stacks: nothing is lost" "30 g
30 g-added
300 one
150 two" "$(recorded_in_all)"
	expect "$stacks: 1" "300 one" "$(recorded "$(files | sed -n 1p)" serve)"
	expect "$stacks: 2" "10 g
10 g-added
150 two" "$(recorded "$(files | sed -n 2p)")"
	expect "$stacks: graphs are known that were made before" "20 g
20 g-added" "$(recorded "$(files | sed -n 3p)" make_graph)"
	expect "$stacks: their launches, too" "20 g
20 g-added" "$(recorded "$(files | sed -n 3p)" serve_graph)"
	expect "$stacks: the launches of all files are those of the recording" \
		"$(launches ' launches of ')" "$(launches ' in perf.data.20')"
	expect_no_match "$stacks: no losses" "warning|missing" "$(cat err)"
	expect_match "$stacks: the last file is empty, and can be read" "no GPU kernels" \
		"$("$PERF_GPU" inject -i "$(files | sed -n 4p)" -o out.data 2>&1)"
done

# What the GPU did comes in a later file than its launch.
rm -f late
start --switch-output -- env FAKE_CUDA_LATE_UNTIL="$TMP/late" "$server" -t 2
tell "late 100"
switch
touch late
expect "the launches are in the first file" 200 "$(launches ' in perf.data.20')"
tell "later 10"
finish "late"
expect "late: all kernels are there" "200 late
20 later" "$(recorded_in_all serve)"
expect "late: and none is in the file of its launch" "" "$(recorded "$(files | head -n 1)")"
expect "late: each launch is counted once" 220 "$(launches ' in perf.data.20')"
expect_match "late: the second file has those that it needs" "220 +gpu-launch" \
	"$(perf report -i "$(files | tail -n 1)" --stdio --header 2>/dev/null | grep -c . >/dev/null
		perf script -i "$(files | tail -n 1)" -F event 2>/dev/null | tr -d : | sort | uniq -c)"

# With a thread that never waits for anything
start --switch-output=1s --switch-max-files 100 -- env -u FAKE_CUDA_INSTANT FAKE_CUDA_TRUTH="$TMP/truth" "$server" -t 1 -b 200
for _ in 1 2 3; do
	switch
done
wait_for_files 5
finish "background"
expect "background: what ran is in the files" \
	"$(awk -F '\t' '/background/ { print $1, $7 }' truth)" "$(recorded_in_all)"
expect_whole "background" serve

# --- by size, and only so many -----------------------------------------------------------

start --switch-output=64K --switch-max-files 2 -- "$server" -t 1
for i in 1 2 3 4 5 6; do
	tell "k$i 1000"
	# Files are written, and removed again.
	for ((j = 0; j < 2000 && $(grep -c ' in perf.data.20' err) < i; j++)); do
		sleep 0.1
	done
done
finish "size"
expect "size: so many files stay" 2 "$(files | wc -l)"
check "size: there were more" test "$(grep -c ' in perf.data.20' err)" -ge 6
expect "size: all are told of" 6000 "$(launches ' in perf.data.20')"
nr_removed=$(($(grep -c ' in perf.data.20' err) - 2))
nr_in_them=$(sed -n '/ in perf.data.20/ s/.*record: \([0-9,]*\) launch.*/\1/p' err | tr -d , |
	head -n "$nr_removed" | awk '{ sum += $1 } END { print sum }')
expect "size: what is gone is said" "[ perf-gpu record: $nr_removed older files removed (--switch-max-files 2), with $nr_in_them launches ]" \
	"$(grep 'older files' err | sed 's/\([0-9]\),\([0-9]\)/\1\2/')"
expect_match "size: the files that are there are counted" 'launches of 1 process; 2 files: perf.data.TIMESTAMP' "$(cat err)"
for file in $(files); do
	# Kernels can be in the file behind that of their launches.
	seen=$(recorded "$file")
	expect_match "size: none without anything" '[1-9]' \
		"$seen $(perf script -i "$file" -F event 2>/dev/null | grep -c gpu-launch)"
	[ -z "$seen" ] || expect_match "size: what has kernels knows the GPU's name" '^GPU 0 \(Fake GPU\)' \
		"$("$PERF_GPU" report -i "$file" 2>/dev/null)"
done
newest=$(files | tail -n 1)
check_status "no perf.data" 1 "$PERF_GPU" report -i perf.data
expect "no perf.data, but others" \
	"perf-gpu report: cannot open perf.data: No such file or directory; record --switch-output has written 2 files instead, the newest: ${newest#./}" \
	"$(cat "$TMP/err")"

# Of files in which nothing was recorded, none is written that would remove another.
start --switch-output --switch-max-files 2 -- "$server" -t 1
tell "one 10"
switch
for i in 1 2 3; do
	kill -USR2 "$recorder"
	for ((j = 0; j < 2000 && $(grep -c 'nothing is new since' err) < i; j++)); do
		sleep 0.1
	done
done
tell "two 10"
switch
finish "idle"
expect "idle: three signals, for which there was nothing" 3 \
	"$(grep -c 'record: nothing is new since perf.data.20[0-9]*: no other file is written' err)"
expect "idle: both are there" "10 one
10 two" "$(recorded_in_all)"
expect_no_match "idle: none was removed" "older file" "$(cat err)"
expect_whole "size" serve

# One that somebody has taken away meanwhile leaves nothing behind.
start --switch-output --switch-max-files 2 -- "$server" -t 1
tell "one 10"
switch
rm "$(files)"
for name in two three; do
	tell "$name 10"
	switch
done
finish "taken away"
expect "taken away: its GPU records are removed in their turn" 2 "$(find . -name 'perf.data.*.gpu' | wc -l)"
expect_no_match "taken away: that is nothing to warn of" "can't remove" "$(cat err)"

# --- the newest only ---------------------------------------------------------------------

for stacks in uprobe process; do
	start --switch-output=signal --overwrite=600s --stacks $stacks -- "$server" -t 3
	tell "one 100"
	tell "graph g 10"
	switch
	tell "two 10"
	switch
	finish "$stacks, overwrite"
	expect "$stacks, overwrite: what was" "10 g
10 g-added
300 one" "$(recorded "$(files | sed -n 1p)")"
	expect "$stacks, overwrite: is there still" "10 g
10 g-added
300 one
30 two" "$(recorded "$(files | sed -n 2p)")"
	expect "$stacks, overwrite: to the end" "$(recorded "$(files | sed -n 2p)")" \
		"$(recorded "$(files | sed -n 3p)")"
	expect_no_match "$stacks, overwrite: nothing is left out" "left out|warning" "$(cat err)"
done

# What is before the window is gone, but for what later kernels need.
for stacks in uprobe process; do
	start --switch-output --overwrite=1s --stacks $stacks -- "$server" -t 2
	tell "old 100"
	tell "graph g 1"
	sleep 1.2
	tell "new 30"
	tell "graph g 7"
	switch
	finish "$stacks, window"
	newest=$(files | head -n 1)
	# A machine that is very slow has less of it.
	expect "$stacks, window: nothing of before" "" "$(recorded "$newest" | grep old)"
	if grep -q 'the newest 1.0 s are kept; 20[01] launches and 20[0-3] GPU records of before' err; then
		expect "$stacks, window: all of the newest" "7 g
7 g-added
60 new" "$(recorded "$newest")"
	fi
	expect "$stacks, window: graphs are known that were made before" \
		"$(recorded "$newest" | grep g)" "$(recorded "$newest" make_graph)"
	expect_match "$stacks, window: what is cut is said" \
		'the newest 1\.0 s are kept; [0-9]+ launches and [0-9]+ GPU records of before are left out' "$(cat err)"
	expect_match "$stacks, window: and in the file" \
		'record --overwrite has kept the newest: [0-9]+ launches and [0-9]+ GPU records of before are not in the recording' \
		"$("$PERF_GPU" inject -i "$newest" -o out.data 2>&1)"
	cut=$(sed -n 's/.* are kept; \([0-9,]*\) launches.*/\1/p' err | head -n 1)
	expect "$stacks, window: cut and kept are all" $((260 + 1 + 8)) \
		$((cut + $(sed -n '/in perf.data.20/ s/.*record: \([0-9]*\) launch.*/\1/p' err | head -n 1)))
	expect_whole "$stacks, window" "serve|serve_graph"
done

# Bounded by size: what is kept has its stacks all the same, and is no more than that.
# Nobody waits for kernels, so they would still run, by their times, when files change, if they were
# long, or if the machine launched them faster than the stand-in's GPU runs them: that gets a second.
# Rings hold all of it, since other work on the machine can stop the recorder.
printf 'k%d 10\n' 1 2 3 >durations
for stacks in uprobe process; do
	start --switch-output --overwrite=4M --stacks $stacks -m 64M -- \
		env FAKE_CUDA_DURATIONS="$TMP/durations" "$server" -t 2
	tell "graph g 5"
	for i in 1 2 3; do
		tell "k$i 20000"
	done
	sleep 1
	tell "graph g 3"
	switch
	finish "$stacks, 4M"
	newest=$(files | head -n 1)
	check "$stacks, 4M: the file is no larger" test "$(stat -c %s "$newest")" -lt $((5 << 20))
	expect_match "$stacks, 4M: that is said" 'launches and .* GPU records of before are left out' "$(cat err)"
	expect "$stacks, 4M: the graph's nodes are of before" "3 g
3 g-added" "$(recorded "$newest" make_graph)"
	expect_whole "$stacks, 4M" "serve|serve_graph"
done

# Alone, at the end
start --overwrite=1s -- "$server" -t 1
tell "old 10"
sleep 1.2
kill -USR2 "$recorder"
tell "new 10"
finish "alone"
expect "alone: one perf.data" "./perf.data ./perf.data.gpu" "$(find . -name "perf.data*" | sort | paste -sd ' ')"
expect "alone: nothing of before" "" "$(recorded perf.data | grep old)"
expect "alone: how many are kept" "$(sed -n 's/^\[ perf-gpu record: \([0-9]*\) launch[es]* in perf.data (.*/\1/p' err)" \
	"$(sed -n 's/^\[ perf-gpu record: 20 launches of 1 process, the newest \([0-9]*\) kept in perf.data (.*/\1/p' err)"
expect_match "alone: of how many" '20 launches of 1 process, the newest [0-9]+ kept in perf.data ' "$(cat err)"
expect_no_match "alone: not the size was the limit" "keeps more" "$(cat err)"
expect_match "alone: a signal that does nothing" "SIGUSR2 does nothing without --switch-output" "$(cat err)"

# Room decides, where a time was asked for.
start --overwrite=600s,4M -- "$server" -t 1
for i in 1 2 3; do
	tell "k$i 20000"
done
finish "room"
expect_match "room: it was the limit" \
	'that is less than 600 s, since the 4.0 MB that --overwrite may take were full: --overwrite=600s,16M keeps more' "$(cat err)"

# --- the spool doesn't grow --------------------------------------------------------------

for stacks in uprobe process; do
	start --switch-output --overwrite=4M --stacks $stacks -- "$server" -t 4
	for i in 1 2 3; do
		tell "k$i 50000"
	done
	for ((i = 0; i < 1200; i++)); do
		kib=$(du -sk perf.data.gpu.spool.* | cut -f 1)
		[ "$kib" -ge 4000 ] || break
		sleep 0.1
	done
	bytes=$(du -sb perf.data.gpu.spool.* | cut -f 1)
	check "$stacks: logs of $bytes bytes take little room ($kib KiB)" test "$kib" -lt 4000
	check "$stacks: though they are long" test "$bytes" -gt 15000000
	finish "$stacks, spool"
done

# --- many processes ----------------------------------------------------------------------

# Of processes that come and go; a log is gone with its process.
for stacks in uprobe process; do
	for what in spawn fork exec; do
		rm -rf perf.data*
		check "$stacks: $what" env FAKE_CUDA_ALLOW_FORK=1 LD_LIBRARY_PATH="$FAKE_CUDA" "$PERF_GPU" record -o perf.data --stacks $stacks \
			--switch-output=1s "$WORKLOADS/processes" $what 50
		wanted=$(FAKE_CUDA_ALLOW_FORK=1 LD_LIBRARY_PATH=$FAKE_CUDA "$PERF_GPU" record -q -o whole.data --stacks $stacks \
			"$WORKLOADS/processes" $what 50 >/dev/null 2>&1; recorded whole.data)
		expect "$stacks: $what: all are there" "$wanted" "$(recorded_in_all)"
	done
done

# What a program that is killed had not written is written for it, in the file of that time, and
# also while others run on.
rm -rf perf.data*
LD_LIBRARY_PATH=$FAKE_CUDA "$PERF_GPU" record -o perf.data --stacks process --switch-output \
	"$WORKLOADS/launches" -n 100 -e kill >/dev/null 2>err
expect "a program is killed: nothing is missing" "" "$(grep missing: err)"
expect "a program is killed: and all is in the file" 100 "$(launches ' in perf.data.20')"
rm -rf perf.data*
LD_LIBRARY_PATH=$FAKE_CUDA "$PERF_GPU" record -o perf.data --stacks process --switch-output=1s \
	bash -c '"$0" -n 100 -e kill; sleep 4' "$WORKLOADS/launches" >/dev/null 2>err
expect "one of several is killed: nothing is missing" "" "$(grep missing: err)"
expect "one of several is killed: and all is in the files" 100 "$(launches ' in perf.data.20')"

# GPU records that were in a part of a log that is damaged are counted. The recorder doesn't look
# into it before.
cat >damage.sh <<'DAMAGE'
kill -STOP "$PPID"
"$@"
for log in "$PERF_GPU_SPOOL"/*.gpulog; do
	printf ruined | dd of="$log" bs=1 seek=300000 conv=notrunc status=none
done
kill -CONT "$PPID"
DAMAGE
for how in --switch-output --overwrite=600s; do
	rm -rf perf.data*
	LD_LIBRARY_PATH=$FAKE_CUDA "$PERF_GPU" record -o perf.data --stacks process "$how" \
		bash damage.sh "$WORKLOADS/launches" -n 20000 >/dev/null 2>err
	lost=$(grep -o 'GPU records: 20,000 = [0-9,]* delivered + [0-9,]* missing in logs' err)
	check "$how: of a damaged log, what is missing is said" test -n "$lost"
	expect "$how: of a damaged log, and in the file" "$lost" \
		"$("$PERF_GPU" inject -i "$(files | grep . || echo perf.data)" -o out.data 2>&1 |
			grep -o 'GPU records: .* missing in logs')"
done

# --- with commands, and processes that run already ---------------------------------------

start -D -1 --control "fd:$ctl,$ack" --switch-output -- "$server" -t 2
tell "before 10"
order enable
tell "one 10"
order snapshot
tell "two 10"
order disable
tell "off 10"
order snapshot
order enable
tell "three 10"
finish "control"
expect "control: a file for each snapshot" 3 "$(files | wc -l)"
expect "control: 1" "20 one" "$(recorded "$(files | sed -n 1p)" serve)"
expect "control: 2" "20 two" "$(recorded "$(files | sed -n 2p)" serve)"
expect "control: 3" "20 three" "$(recorded "$(files | sed -n 3p)" serve)"

# The recorder is killed: the program goes on, and what is written is there.
start --switch-output --overwrite=600s -- "$server" -t 1
tell "one 10"
switch
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
tell "two 10"
expect "killed: the file is whole" "10 one" "$(recorded "$(files)" serve)"
check_status "killed: the rest" 1 "$PERF_GPU" inject --recover -i perf.data
expect_match "killed: is gone" \
	"there is nothing to recover beside perf.data: perf.data.gpu.spool.[^ ]* is left of a recorder of several files" \
	"$(cat "$TMP/err")"
exec {in}>&-
rm -rf perf.data* err odd

# A process that runs already, which stays, and is recorded again.
exec {in}<>server.in
LD_LIBRARY_PATH=$FAKE_CUDA "$PERF_GPU" wait -- "$server" -t 2 <server.in >server.out 2>server.err &
child=$!
pid=$(answer "$out")
pid=${pid#ready }
for stacks in uprobe process; do
	rm -rf perf.data*
	"$PERF_GPU" record -p "$pid" --control "fd:$ctl,$ack" --stacks $stacks -o perf.data --switch-output \
		--overwrite=600s 2>err &
	recorder=$!
	order ping
	tell "one 10"
	switch
	tell "two 10"
	order stop
	wait "$recorder"
	expect "$stacks: -p: two files" 2 "$(files | wc -l)"
	expect "$stacks: -p: 1" "20 one" "$(recorded "$(files | sed -n 1p)" serve)"
	expect "$stacks: -p: 2" "20 one
20 two" "$(recorded "$(files | sed -n 2p)" serve)"
done
echo quit >&"$in"
wait "$child"
expect "-p: the process goes on, and ends in order" 0 "$?$(cat odd 2>/dev/null)"

# --- options -----------------------------------------------------------------------------

refused()
{
	check_status "$1" 129 "$PERF_GPU" record "${@:3}" -- true
	expect "$1: why" "perf-gpu record: $2; see 'perf-gpu record --help'" "$(cat err)"
}

refused "neither size nor time" "--switch-output takes signal, a size (B, K, M or G) or a time (s, m, h or d), not 5x" --switch-output=5x
refused "files without number" "--switch-max-files takes a number from 1 on, not 0" --switch-output --switch-max-files 0
refused "files of none" "--switch-max-files is for --switch-output" --switch-max-files 3
refused "two times" "--overwrite takes a time (s, m, h or d), a size (B, K, M or G) or both, as 10s,256M, not 1s,2s" --overwrite=1s,2s
refused "too little" "--overwrite takes a size of 4M at least, not 1M" --overwrite=1M
refused "other probes" "--switch-output has only --probe marker: what other probes tell is joined by time, which a file may cut in two" \
	--switch-output --probe api
refused "a size of all" "--max-size has no part in several files, or the newest: use --switch-max-files, or --overwrite=<size>" \
	--switch-output --max-size 10M
