#!/bin/bash
# inject --recover: a recorder is killed, its program goes on, and what was recorded is read nevertheless
. "$(dirname "$0")/lib.sh"
. "$TESTS/shell/server_lib.sh"
need root bpf perf fake_cuda

export FAKE_CUDA_INSTANT=1
server=("$WORKLOADS/server" -t 1)

# start FOLDER OPTION...: record the server in the background, in a new folder
start()
{
	mkdir "$TMP/$1" && cd "$TMP/$1" || exit 1
	shift
	mkfifo in out ctl ack
	exec {ctl}<>ctl {ack}<>ack {out}<>out
	# shellcheck disable=SC2016 # for the shell that is recorded
	env LD_LIBRARY_PATH="$FAKE_CUDA" "$PERF_GPU" record "$@" -- bash -c '"$@"; echo "ended $?"' bash "${server[@]}" \
		<in >out 2>err &
	recorder=$!
	exec {in}>in
	answer "$out" >ready
}

# Gives the server a command, and waits until it is done.
tell()
{
	echo "$1" >&"$in"
	expect "$what: the program goes on: $1" "done $1" "$(answer "$out")"
}

# The recorder has read its rings in between.
ping_twice()
{
	for _ in 1 2; do
		echo ping >&"$ctl"
		answer "$ack" >/dev/null
	done
}

kill_recorder()
{
	kill -KILL $recorder
	wait $recorder 2>/dev/null
}

# The program comes to its end, and says how.
finish()
{
	exec {in}>&-
	expect "$what: it ends as it would have" "ended 0" "$(answer "$out")"
	exec {out}>&- {ctl}>&- {ack}>&-
}

recover()
{
	"$PERF_GPU" inject --recover -v "$@" >recover.out 2>recover.err
}

# A part of a sum that was said: part launches samples
part()
{
	sed -nE "s/^(\[ )?perf-gpu inject: $1: .*[=+] ([0-9,]+) $2( .*)?$/\2/p" recover.err | head -n 1 | tr -d , |
		grep . || echo 0
}

files()
{
	find . -maxdepth 1 -name 'perf.*' -printf '%f\n' | LC_ALL=C sort -f | xargs
}

kernels()
{
	"$PERF_GPU" script -F event,ip,sym 2>/dev/null |
		awk -v RS= '/gpu-kernel/ {
			how = $0 ~ /serve/ ? "with a stack" : "without"
			sub(/.*GPU_Kernel\]/, "")
			print how, $1
		}' |
		sort | uniq -c | sed 's/^ *//'
}

# --- SIGKILL, and everything is there ------------------------------------------------------

for stacks in uprobe process; do
	what="SIGKILL, $stacks"
	start "$stacks" --stacks $stacks --control fifo:ctl,ack
	tell "before 1000"
	ping_twice
	kill_recorder
	tell "behind 500"
	finish
	expect "$what: it leaves three things" "perf.data.XXXXXX perf.data.gpu.lock perf.data.gpu.spool.XXXXXX" \
		"$(files | tr ' ' '\n' | sed -E 's/\.[A-Za-z0-9]{6}$/.XXXXXX/' | LC_ALL=C sort | xargs)"
	for reader in report inject tui; do
		"$PERF_GPU" $reader -i perf.data >reader.out 2>reader.err
		expect_match "$what: $reader says how to get it" \
			"^perf-gpu $reader: .*perf.data.*: No such file.* has not finished: try 'perf-gpu inject --recover -i perf.data'" \
			"$(cat reader.err)"
	done
	check_status "$what: what was recorded is recovered" 0 recover
	expect "$what: nothing else remains" "perf.data perf.data.gpu perf.gpu.data perf.gpu.data.dso" "$(files)"
	expect_match "$what: it is said what it was" \
		"^\[ perf-gpu inject: .*/perf.data.gpu.spool.* is what process $recorder on $(uname -n) has left \]$" \
		"$(cat recover.err)"
	samples=$(part launches samples)
	expect "$what: all launches are accounted for" 1500 $((samples + $(part launches missing)))
	check "$what: all that were before it are there" test "$samples" -ge 1000
	expect_match "$what: with their stacks" '^1000 with a stack before$' "$(kernels)"
	if [ $stacks = uprobe ]; then
		expect_match "$what: how many weren't is told" \
			'^perf-gpu inject: warning: 500 launches of the command are missing: .* when the recorder ended, or came behind that; what the GPU did for them, until their process noticed, is there without a stack$' \
			"$(cat recover.err)"
	else
		expect_match "$what: those behind it are there too" '^500 with a stack behind$' "$(kernels)"
	fi
	check "$what: stock perf reads it" perf report -i perf.data --stdio
done

# --- processes that ran before, and run on -------------------------------------------------

what="attached"
start attached --stacks process
tell "before 100"
kill_recorder
finish
check_status "$what: the first recording is recovered" 0 recover
mkfifo server.in server.out
exec {out}<>server.out
run_fake "$PERF_GPU" wait -- "${server[@]}" <server.in >server.out 2>wait.err &
exec {in}>server.in
pid=$(answer "$out" | sed 's/ready //')
mkfifo ctl2 ack2
exec {ctl}<>ctl2 {ack}<>ack2
env LD_LIBRARY_PATH="$FAKE_CUDA" "$PERF_GPU" record --stacks process --control fifo:ctl2,ack2 -p "$pid" 2>attach.err &
recorder=$!
ping_twice
tell "within 300"
kill_recorder
for _ in $(seq 3000); do
	flock -n perf.data.gpu.spool.*/*.gpulog true && break
	sleep 0.1
done
tell "behind 500"
check_status "$what: the second, of a process that runs on, is recovered" 0 recover
expect "$what: with all that was in its time" "300 with a stack within" "$(kernels)"
check_status "$what: it can be recorded again" 0 timeout -s INT 300 "$PERF_GPU" record --stacks process -o again.data \
	-p "$pid" -- true
exec {in}>&-
wait

# --- the library stops by itself ------------------------------------------------------------

what="a program that goes on"
start goes_on --stacks process
tell "before 1000"
kill_recorder
# It ends the log when it has noticed, and lets go of it.
for _ in $(seq 3000); do
	flock -n perf.data.gpu.spool.*/*.gpulog true && break
	sleep 0.1
done
check "$what: the library ends its log" flock -n perf.data.gpu.spool.*/*.gpulog true
check_status "$what: the recording is recovered while it runs" 0 recover
expect_match "$what: that it goes on is told" \
	'^perf-gpu inject: warning: server \(pid [0-9]+\): its recorder has ended without it: what it did since is not recorded$' \
	"$(cat recover.err)"
expect "$what: all is there" "1000 with a stack before" "$(kernels)"
tell "behind 500"
finish

# --- the next recorder tells it -----------------------------------------------------------

what="the next"
start "next" --stacks process
tell "one 100"
kill_recorder
finish
spool=$(echo perf.data.gpu.spool.*)
check_status "$what: records as if nothing were" 0 run_fake "$PERF_GPU" record --stacks process "$WORKLOADS/launches"
expect "$what: but tells what is left, and how to get it" \
	"perf-gpu record: warning: $spool is left of a recorder that did not finish: perf-gpu inject --recover -i perf.data makes a recording of it" \
	"$(grep 'is left of' "$TMP/err")"
cp perf.data first.data
check_status "$what: then it is recovered, by its folder's name" 0 recover -i "$spool/"
expect "$what: it is there" "100 with a stack one" "$(kernels)"
check "$what: the other recording is perf.data.old" cmp first.data perf.data.old
check "$what: which is whole" "$PERF_GPU" inject -i perf.data.old -o old.data
run_fake "$PERF_GPU" record --stacks process "$WORKLOADS/launches" >/dev/null 2>err
expect_no_match "$what: then nothing is told any more" 'left' "$(cat err)"

# --- several, and a program that is killed, too ---------------------------------------------

what="two"
start two --stacks uprobe --control fifo:ctl,ack
tell "one 1000"
ping_twice
kill_recorder
finish
mkdir hidden && mv perf.data.?????? perf.data.gpu.spool.* hidden
env LD_LIBRARY_PATH="$FAKE_CUDA" "$PERF_GPU" record --stacks uprobe sh -c "echo \$\$ >pid; exec ${server[*]}" <in >server.out 2>err &
recorder=$!
exec {in}>in
for _ in $(seq 3000); do
	grep -q ready server.out && break
	sleep 0.1
done
kill_recorder
echo "behind 700" >&"$in"
for _ in $(seq 3000); do
	grep -q "done" server.out && break
	sleep 0.1
done
kill -KILL "$(cat pid)"
exec {in}>&- {out}>&- {ctl}>&- {ack}>&-
mv hidden/* . && rmdir hidden
check_status "$what: the newer one is recovered" 0 recover
expect "$what: how to keep both is told" \
	"perf-gpu inject: warning: recorders have left 2 folders beside perf.data: the newest is recovered, the others by doing this again; give perf.data another name before, since of older ones only perf.data.old is kept" \
	"$(grep 'have left' recover.err)"
expect_match "$what: launches may be missing of a program that was killed, too, which is told" \
	"did not end in order .* may be missing, and launches, of which nobody has the number any more" "$(cat recover.err)"
check_status "$what: the older one is recovered" 0 recover
expect_no_match "$what: of which no number is unknown" "have left|nobody" "$(cat recover.err)"
expect "$what: all launches are accounted for" 1000 $(($(part launches samples) + $(part launches missing)))

# --- a file that ends in the middle ---------------------------------------------------------

what="cut"
start "cut" --stacks uprobe --control fifo:ctl,ack
tell "one 1000"
ping_twice
kill_recorder
finish
truncate -s -20 perf.data.??????
check_status "$what: an unfinished file that is cut is recovered" 0 recover
expect_match "$what: which is told" 'warning: .*perf.data.* is damaged: its last [0-9]+ bytes, of [0-9]+, can.t be read' \
	"$(cat recover.err)"
expect "$what: all launches are accounted for" 1000 $(($(part launches samples) + $(part launches missing)))

what="another's"
start "others" --stacks uprobe --control fifo:ctl,ack
tell "one 1000"
ping_twice
kill_recorder
finish
chown 65534 perf.data.??????
check_status "$what: an unfinished file that has become another user's isn't read" 0 recover
expect_match "$what: which is told" \
	'warning: the unfinished perf.data.* can.t be read: the stacks of launches are lost: Operation not permitted$' "$(cat recover.err)"
expect "$what: nor removed" 1 "$(find . -maxdepth 1 -name 'perf.data.??????' -user 65534 | wc -l)"
expect "$what: what the GPU did is there" "1000 without one" "$(kernels)"

what="killed at its last step"
start "last" --stacks process
tell "one 100"
kill_recorder
finish
cat perf.data.gpu.spool.*/*.gpulog >perf.data.gpu
cp perf.data.gpu perf.data.old.gpu
echo old >perf.data.old
check_status "$what: it is recovered" 0 recover
expect "$what: and takes nothing from an older recording" old "$(cat perf.data.old)"
check "$what: nor its sidecar" test -s perf.data.old.gpu

# --- what can't be recovered ----------------------------------------------------------------

# refused WHAT PATTERN [OPTION...]: in one line, and all stays as it is
refused()
{
	local what=$1 pattern=$2 before
	shift 2

	before=$(files)
	check_status "$what is refused" 1 recover "$@"
	expect_match "$what: which is told" "^perf-gpu inject: $pattern" "$(cat recover.err)"
	expect "$what: all is as it was" "$before" "$(files)"
}

mkdir "$TMP/nothing" && cd "$TMP/nothing" || exit 1
refused "nothing" "there is nothing to recover beside perf.data: no recorder of this user's has left anything"
refused "a folder that isn't there" "can't look beside gone/perf.data: No such file" -i gone/perf.data
mkdir other
refused "another folder" "other is no folder that a recorder has left" -i other
refused "one that only has the name" ".*can't be recovered: its file recording can't be read: No such file" \
	-i "$(mktemp -d perf.data.gpu.spool.XXXXXX)"

# As a recorder leaves it that is killed before it has its journal: here made by hand
what="not begun"
mkdir "$TMP/unbegun" && cd "$TMP/unbegun" || exit 1
unbegun()
{
	: >perf.data.AbC123
	spool=$(mktemp -d perf.data.gpu.spool.XXXXXX)
	[ -z "${1:-}" ] || head -c 32768 /dev/zero >"$spool/control"
	echo "process 1 on host" >perf.data.gpu.lock
}

for page in "" control; do
	unbegun $page
	touch -d '1 hour ago' perf.data.backup
	check_status "$what: $page nothing can be recovered" 1 recover
	expect "$what: $page it is said what was there, and that it is gone" \
		"perf-gpu inject: warning: $spool, of a recorder that has ended before it recorded anything, is removed
perf-gpu inject: there is nothing to recover beside perf.data: nothing had been recorded" "$(cat recover.err)"
	expect "$what: $page nothing is left, but what is others'" "perf.data.backup" "$(files)"
done
unbegun
check_status "$what: the next records all the same" 0 run_fake "$PERF_GPU" record --stacks process "$WORKLOADS/launches"
expect_match "$what: and tells of it" \
	'warning: a recorder was ended here before it recorded anything: perf-gpu inject --recover -i perf.data removes what it has left$' \
	"$(cat "$TMP/err")"
check "$what: it stays until then" test -d "$spool"
recover -i perf.data
check "$what: and is gone then" test ! -e "$spool"
mkdir odd && : >odd/perf.data.AbC123 && mkdir -p odd/perf.data.gpu.spool.abcdef/mine && cd odd || exit 1
refused "$what: a folder of that name with other things in it" "there is nothing to recover beside perf.data: no recorder of this user's"
check "$what: which stay" test -d perf.data.gpu.spool.abcdef/mine

what="alive"
start alive --stacks process
tell "one 100"
refused "a recorder that lives" "there is nothing to recover beside perf.data: it is still being recorded"
refused "its folder" "recover.*|.* is still being recorded into" -i "$(echo perf.data.gpu.spool.*)"
kill_recorder
finish
mkfifo live.in live.out
exec {live}<>live.in
run_fake "$PERF_GPU" record --stacks process -- sh -c 'echo up; read -r line' <live.in >live.out 2>live.err &
read -r up <live.out
refused "what one has left, while another lives" \
	"perf.data is being written by another recorder \(process [0-9]+ on .*\): wait until that one ends, then recover what the other has left"
echo "$up" >&"$live"
wait $!
exec {live}>&-
rm perf.data perf.data.gpu
chmod 711 .
chown -R 65534 perf.data.gpu.spool.*
refused "another user's" "there is nothing to recover beside perf.data: no recorder of this user's"
chown -R 0 perf.data.gpu.spool.*
cp perf.data.gpu.spool.*/recording whole
for damage in 's/^perf-gpu recording 1$/perf-gpu recording 2/' 's/^session.*/session 0/' 's/^session .*/session x/' \
	's/^call_graph .*/call_graph 17/' 's:^data .*:data ../perf.data:' 's/^arg perf-gpu/arg %zz/' '/^end/d' '/^arg/d' 's/ .*//'; do
	sed "$damage" whole >perf.data.gpu.spool.*/recording
	refused "a journal that is damaged ($damage)" \
		".*/perf.data.gpu.spool.* can't be recovered: its file recording is damaged" -i "$(echo perf.data.gpu.spool.*)"
done
echo "perf-gpu recording of several files" >perf.data.gpu.spool.*/recording
refused "one of several files" \
	"there is nothing to recover beside perf.data: perf.data.gpu.spool.[^ ]* is left of a recorder of several files, .* remove that folder"
cp whole perf.data.gpu.spool.*/recording
mkdir perf.data
refused "a folder in its place" "perf.data is not a regular file"  -i "$(echo perf.data.gpu.spool.*)"
rmdir perf.data
check_status "whole again, it is recovered" 0 recover
expect "with all that it had" "100 with a stack one" "$(kernels)"
