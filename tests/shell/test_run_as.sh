#!/bin/bash
# record --run-as: the command as another user, the recorder as root
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda setpriv

export FAKE_CUDA_INSTANT=1
chmod 755 "$TMP"
mkdir here && cd here || exit 1

as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all)
if ! "${as_nobody[@]}" test -x "$PERF_GPU"; then
	echo "1..0 # SKIP the build is not for others to read"
	exit 0
fi

record()
{
	run_fake "$PERF_GPU" record --run-as nobody "$@"
}

samples()
{
	"$PERF_GPU" script 2>/dev/null | grep -c gpu-kernel:
}

# --- it works -------------------------------------------------------------------------------

for way in uprobe process; do
	check_status "by $way" 0 record --stacks $way "$WORKLOADS/launches" -n 100 -t 8
	expect_match "$way: all is recorded" '^\[ perf-gpu record: 800 launches of 1 process ' "$(cat "$TMP/err")"
	expect "$way: with its GPU work" 800 "$(samples)"
	expect "$way: the files are the recorder's" "0 0 600 600" \
		"$(stat -c %u perf.data perf.data.gpu | xargs) $(stat -c %a perf.data perf.data.gpu | xargs)"
	check_status "$way: descendants are recorded too" 0 record --stacks $way \
		env FAKE_CUDA_ALLOW_FORK=1 "$WORKLOADS/processes" spawn
	expect_match "$way: all of them" ' 400 launches of 4 processes ' "$(cat "$TMP/err")"
	check_status "$way: it may be paused" 0 record --stacks $way -D 1 "$WORKLOADS/launches" -n 100 -w 300
done
expect "no folder is left" "" "$(find . -name '*.spool.*')"

# --- who the command is ------------------------------------------------------------------------

IFS=: read -r _ _ uid gid _ home shell < <(getent passwd nobody)
export LETTER=kept
# shellcheck disable=SC2016 # for the shell that is recorded
record -q sh -c 'id -u; id -g; id -G; echo $HOME $USER $LOGNAME $SHELL $LETTER
	sed -n "s/^Cap\(Inh\|Prm\|Eff\|Amb\):\t//p" /proc/self/status | sort -u
	sed -n "s/^NoNewPrivs:\t//p" /proc/self/status' >names 2>"$TMP/err"
expect "who it is, and that it has no capability" "$uid
$gid
$(id -G nobody)
$home nobody nobody $shell kept
0000000000000000
0" "$(cat names)"
expect "with capabilities for its children to inherit, too" 0000000000000000 "$(setpriv --inh-caps=+bpf \
	--ambient-caps=+bpf "$PERF_GPU" record -q --run-as nobody \
	sed -n 's/^Cap\(Inh\|Prm\|Eff\|Amb\):\t//p' /proc/self/status 2>"$TMP/err" | sort -u)"
check_status "its exit status is ours" 7 record -q sh -c 'exit 7'
check_status "its end, too" 143 record -q sh -c 'kill $$'

# A signal reaches it, though it is another user's.
"$PERF_GPU" record -q --run-as nobody sh -c 'trap "echo got it; exit" HUP; echo ready >&2; while :; do sleep 0.05; done' >out 2>err &
recorder=$!
until grep -q ready err; do sleep 0.05; done
kill -HUP $recorder
wait $recorder
expect "signals are passed on" "got it" "$(cat out)"

# --- where it can't be ---------------------------------------------------------------------------

rm -f perf.data*
# refused STATUS WHAT REGEX COMMAND...: one line, the command isn't run, no file is left
refused()
{
	local status=$1 what=$2 regex=$3
	shift 3

	check_status "$what" "$status" "$@" touch was_run
	expect_match "$what: says so" "^perf-gpu record: $regex\$" "$(cat "$TMP/err")"
	expect "$what: in one line" 1 "$(wc -l <"$TMP/err")"
	expect "$what: and runs nothing" "" "$(find . -name was_run -o -name 'perf.data*')"
}

chmod 777 .
refused 1 "a user that isn't there" 'there is no user no-such-user, to run the command as' \
	"$PERF_GPU" record --run-as no-such-user
refused 1 "a recorder that isn't root" 'only root can run a command as root: use sudo' \
	"${as_nobody[@]}" "$PERF_GPU" record --run-as root
mkdir -m 700 ours
refused 1 "a folder that the user can't get to" \
	"nobody can't write to .*/ours/perf.data.gpu.spool.*: Permission denied; name a place with -o .*" \
	"$PERF_GPU" record --run-as nobody -o ours/perf.data
install -m 700 /bin/true ours_only
refused 126 "a command that isn't his to execute" "can't run ./ours_only as nobody: Permission denied" \
	"$PERF_GPU" record --run-as nobody ./ours_only
refused 127 "a command that isn't there" "can't run ./nothing as nobody: No such file or directory" \
	"$PERF_GPU" record --run-as nobody ./nothing

# What he leaves in the folder is not followed: another's file stays what it is.
echo secret >secret && chmod 600 secret
# shellcheck disable=SC2016 # for the shell that is recorded
check_status "what he puts among the logs" 0 record sh -c '
	cd "$PERF_GPU_SPOOL" && ln -s '"$PWD"'/secret 1-1.gpulog && ln -s '"$PWD"'/secret 1-1.gpulaunch && mkdir 2.gpulog'
expect "is left alone" secret "$(cat secret)"
expect "and removed" "" "$(find . -name '*.spool.*')"
