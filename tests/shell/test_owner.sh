#!/bin/bash
# Whose the files are that perf-gpu makes, and what they don't overwrite
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda setpriv strace perf

export FAKE_CUDA_INSTANT=1
umask 022
chmod 755 "$TMP"
mkdir -m 777 here && cd here || exit 1

# shellcheck disable=SC2120 # its options
record()
{
	run_fake "$PERF_GPU" record -q --stacks process "$@" "$WORKLOADS/launches" -n 10 >launches
}

# as_sudo COMMAND...: as sudo runs it for user 65534
as_sudo()
{
	SUDO_UID=65534 SUDO_GID=65533 SUDO_USER=nobody "$@"
}

# owners FILE...: "UID:GID MODE", each once
owners()
{
	stat -c '%u:%g %a' "$@" | sort -u
}

# --- the user behind sudo --------------------------------------------------------------------

check_status "a recording through sudo" 0 as_sudo record
check_status "and another one" 0 as_sudo record
expect "is the user's, and nobody else reads it" "65534:65533 600" "$(owners perf.data*)"
check_status "and one in several files" 0 as_sudo record -o several.data --stacks uprobe --switch-output=50K
expect "which all are his" "65534:65533 600" "$(owners several.data*)"
check "he can read it" setpriv --reuid 65534 --regid 65534 --clear-groups "$PERF_GPU" report
check_status "what inject makes of it through sudo" 0 as_sudo "$PERF_GPU" inject
expect "is his" "65534:65533 600" "$(owners perf.gpu.data)"
expect "with the names of kernels" "65534:65533" "$(stat -c %u:%g perf.gpu.data.dso perf.gpu.data.dso/* | sort -u)"
check "he can read that by stock perf" setpriv --reuid 65534 --regid 65534 --clear-groups \
	perf report -i perf.gpu.data --stdio
for format in chrome perfetto pprof speedscope firefox sqlite; do
	as_sudo "$PERF_GPU" export --$format -o out.$format 2>err ||
		grep -q 'built without' err || fail "export --$format" "$(cat err)"
done
as_sudo "$PERF_GPU" flamegraph -o out.html 2>err
as_sudo "$PERF_GPU" flamegraph --svg -o out.svg 2>err
as_sudo "$PERF_GPU" script --folded -o out.folded 2>err
expect "what is exported through sudo is his, too" "65534:65533 644" "$(owners out.*)"
as_sudo record -o other.data
check_status "what is merged through sudo" 0 as_sudo "$PERF_GPU" merge -o merged.data perf.data other.data
expect "is his" "65534:65533 600" "$(owners merged.data merged.data.gpu)"
rm -rf ./*

# All that is made is made anew, follows no link, and is nobody else's to read. (A control
# page and a journal are in a folder of mode 0700.)
# LeakSanitizer doesn't run under strace.
has plain || export ASAN_OPTIONS=detect_leaks=0
for command in "record -q --switch-output=100K $WORKLOADS/launches -n 3000" \
	"record -q --stacks uprobe -D 1 $WORKLOADS/launches -n 10" inject "merge -o merged.data perf.data"; do
	# shellcheck disable=SC2086 # of words
	LD_LIBRARY_PATH=$FAKE_CUDA strace -f -o trace -e trace=open,openat,creat,mkdir,mkdirat "$PERF_GPU" $command >/dev/null 2>err
	expect "perf-gpu ${command%% *}: O_CREAT is with O_EXCL and O_NOFOLLOW" "" "$(grep O_CREAT trace | grep -v 'O_EXCL.*O_NOFOLLOW\|O_NOFOLLOW.*O_EXCL')"
	expect "perf-gpu ${command%% *}: and mode 0600" "" "$(grep -E 'O_CREAT|creat\(' trace | grep -v '0600[ )]')"
done
unset ASAN_OPTIONS
rm -rf ./*

# --- who says so in another way -----------------------------------------------------------------

for ids in "0x0 0" "-1 0" " 1 1" "1 " " 1" "4294967295 0" "18446744073709551617 0" "65534 4294967295" \
	"65534x 65534" "4242424 4242424" "nobody nogroup"; do
	SUDO_UID=${ids% *} SUDO_GID=${ids#* } record -q
	expect "SUDO_UID and SUDO_GID '$ids' are nobody's" "0:0 600" "$(owners perf.data perf.data.gpu)"
done
env SUDO_UID=65534 bash -c '"$@"' - env "LD_LIBRARY_PATH=$FAKE_CUDA" "$PERF_GPU" record -q --stacks process \
	"$WORKLOADS/launches" -n 10 >launches
expect "nor is one of them" "0:0 600" "$(owners perf.data perf.data.gpu)"
SUDO_UID=0 SUDO_GID=0 run_fake setpriv --reuid 65534 --regid 65534 --clear-groups "$PERF_GPU" record -q \
	-o his.data "$WORKLOADS/launches" -n 10 >launches
expect "who isn't root is who he is" "65534:65534 600" "$(owners his.data his.data.gpu)"
rm -rf ./*

# --- what is in the way ---------------------------------------------------------------------------

# Links to a file of root's, under every name that is written to
echo victim >victim
for name in perf.data perf.data.gpu perf.data.old perf.data.old.gpu perf.data.gpu.lock; do
	for kind in "ln -s" ln; do
		rm -f perf.data*
		$kind victim $name
		record -q 2>err
		expect "$name may be what ${kind/ /} makes" "victim 1 0:0 644" \
			"$(cat victim) $(rm -f perf.data*; stat -c %h victim) $(owners victim)"
	done
done
mkfifo perf.data.gpu.lock
check_status "or a FIFO, on which nobody waits" 0 timeout 200 env "LD_LIBRARY_PATH=$FAKE_CUDA" "$PERF_GPU" record \
	--stacks process "$WORKLOADS/launches" -n 10
rm -f perf.data*
as_sudo record
for kind in "ln -s" ln; do
	"$PERF_GPU" inject 2>err
	rm -f perf.gpu.data "perf.gpu.data.dso/[GPU_Kernel]" perf.gpu.data.dso/made-of
	$kind "$PWD/victim" perf.gpu.data.dso/made-of
	$kind "$PWD/victim" "perf.gpu.data.dso/[GPU_Kernel]"
	$kind victim perf.gpu.data
	as_sudo "$PERF_GPU" tui -- --stdio >/dev/null 2>err
	rm -rf perf.gpu.data*
	expect "nor is one written to that ${kind/ /} has put among kernels' names" "victim 1 0:0 644" \
		"$(cat victim) $(stat -c %h victim) $(owners victim)"
done

# The folder of the kernels' names, by the user as a link to one of root's
mkdir -m 755 "$TMP/roots"
ln -s "$TMP/roots" injected.data.dso && chown -h 65534 injected.data.dso
check_status "a folder that is another user's link" 1 as_sudo "$PERF_GPU" inject -o injected.data
expect_match "is told" 'cannot make the folder injected.data.dso .*: Too many levels of symbolic links' "$(cat "$TMP/err")"
expect "and nothing gets into where it leads" "" "$(ls "$TMP/roots")"
chown -h 0 injected.data.dso
check_status "one's own is followed" 0 "$PERF_GPU" inject -o injected.data
expect "to where it leads" "[GPU_Kernel]" "$(ls "$TMP/roots")"
