#!/bin/bash
# perf-gpu record where it can't record, or not all: one line each, nothing left that looks whole and isn't
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda python3

export FAKE_CUDA_INSTANT=1
SECCOMP_DENY=$O/tests/tools/seccomp-deny
mkdir here && cd here || exit 1

# What record says, but its two closing lines and what the program says
complaints()
{
	grep '^perf-gpu' "$TMP/err"
}
record()
{
	run_fake "$@" "$WORKLOADS/launches" -n 1000
}

# --- what is forbidden: the command isn't run -------------------------------------------

# forbidden SYSCALL REGEX
forbidden()
{
	check_status "without $1" 1 record "$SECCOMP_DENY" "$1" "$PERF_GPU" record --stacks uprobe
	expect "without $1: one line" 1 "$(wc -l <"$TMP/err")"
	expect_match "without $1: says what to look at" "$2" "$(cat "$TMP/err")"
	expect "without $1: runs nothing and leaves nothing" "" "$(cat "$TMP/out"; ls -A)"
}
forbidden bpf 'refuses to load a BPF program .*Operation not permitted.*container that filters bpf'
forbidden perf_event_open \
	"can't open the side-band event .*perf_event_open: Operation not permitted; see kernel.perf_event_paranoid"
forbidden pidfd_open "can't watch the command's process: pidfd_open: Operation not permitted \(it needs"

check_status "a folder that files can't be made in" 1 record "$PERF_GPU" record -o /proc/perf.data
expect_match "says so" "^perf-gpu record: cannot create a file beside /proc/perf.data: .*-o$" "$(complaints)"
expect "and runs nothing" "1 " "$(wc -l <"$TMP/err") $(cat "$TMP/out")"

# --- what the process can't do: the command goes on, and the status tells ----------------

# unrecorded WHAT REGEX VARIABLE=VALUE [OPTION of record...]
unrecorded()
{
	rm -f perf.data*
	check_status "$1" 1 record env "$3" "$PERF_GPU" record "${@:4}"
	expect_match "$1: the command isn't hurt" '^launches [0-9]+ 1000$' "$(cat "$TMP/out")"
	# Beside what is told at once, for who waits long for this
	expect "$1: one line" 1 "$(complaints | grep -vc 'is not recorded while it runs')"
	expect_match "$1: says why" "^perf-gpu record: launches \(pid [0-9]+\) is not recorded: $2" \
		"$(complaints)"
	expect_match "$1: no launch is claimed" '^\[ perf-gpu record: 0 launches of 0 processes ' \
		"$(cat "$TMP/err")"
	expect "$1: no folder is left" "perf.data perf.data.gpu" "$(find . -mindepth 1 -printf '%P\n' | sort | xargs)"
}
unrecorded "no libcupti" 'PERF_GPU_CUPTI=/no/libcupti.so cannot be loaded' \
	PERF_GPU_CUPTI=/no/libcupti.so
unrecorded "another subscriber" 'another profiler \(nsys\) has CUPTI' FAKE_CUDA_SUBSCRIBER=nsys \
	--stacks process
expect_match "another subscriber: is told at once, too" '^perf-gpu record: warning: process [0-9]+ is not recorded while it runs' \
	"$(complaints)"
unrecorded "a user who may not profile" '.*CUPTI_ERROR_INSUFFICIENT_PRIVILEGES .*forbidden' \
	FAKE_CUDA_CUPTI_ERRORS=cuptiActivityEnable=35
unrecorded "a CUPTI that doesn't fit the driver" '.*CUPTI_ERROR_NOT_COMPATIBLE .*older' \
	FAKE_CUDA_CUPTI_ERRORS=cuptiActivityEnable=14

check_status "no GPU" 1 record env FAKE_CUDA_NO_DEVICE=1 "$PERF_GPU" record
expect_match "no GPU: is told" '^perf-gpu record: warning: no process initialized CUDA .*cuInit\(\) is never called, or fails' \
	"$(complaints)"
expect "no GPU: in one line" 1 "$(complaints | wc -l)"

# --- nothing is recorded: why, by what was seen -------------------------------------------

cat >../cuda_user.c <<'END'
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* cuda_user LIBCUDA SECONDS STATUS: initializes CUDA, and lives on */
int main(int argc, char **argv)
{
	void *cuda = dlopen(argc == 4 ? argv[1] : "", RTLD_NOW);
	int (*init)(unsigned int) = NULL;

	if (cuda)
		init = (int (*)(unsigned int))(uintptr_t)dlsym(cuda, "cuInit");
	if (!init || init(0))
		return 2;
	sleep(atoi(argv[2]));
	return atoi(argv[3]);
}
END
"${CC:-cc}" ../cuda_user.c -o ../cuda_user -ldl || exit 1

# absent WHAT REGEX COMMAND...: SECONDS in it are those that a process has to be looked at; where
# that was too short, once more with more
absent()
{
	local what=$1 regex="^perf-gpu record: warning: no process initialized CUDA$2\$" stacks seconds
	shift 2

	for stacks in "${ways[@]}"; do
		for seconds in 1 20 100; do
			"${as_user[@]}" "$PERF_GPU" record --stacks "$stacks" -- "${@//SECONDS/$seconds}" \
				>"$TMP/out" 2>"$TMP/err"
			complaints | grep -E "$regex" >"$TMP/found" && break
		done
		expect_match "$what, $stacks" "$regex" "$(complaints)"
	done
}
ways=(uprobe process)
as_user=()
user=(../cuda_user "$FAKE_CUDA/libcuda.so.1" SECONDS 0)
has_loaded=' with our library in it, but 1 process has loaded libcuda \(cuda_user, pid [0-9]+\)'
absent "no CUDA" ': none was seen with libcuda\.so\.1: does the command use CUDA, .*' sleep SECONDS
absent "no CUDA, as it failed before" \
	': none was seen with libcuda\.so\.1; the command has ended with status 3: did it fail before\?' \
	sh -c 'sleep SECONDS; exit 3'
absent "an environment that isn't passed on" \
	"$has_loaded: it was started without CUDA_INJECTION64_PATH: .* put perf-gpu record behind that" \
	env -i "${user[@]}"
absent "another library" "$has_loaded: CUDA_INJECTION64_PATH names another library there, /other\.so: .*" \
	env CUDA_INJECTION64_PATH=/other.so "${user[@]}"
absent "a library that isn't there" "$has_loaded: /.*/libperf-gpu-inject\.so isn't there in its root folder, .*" \
	env CUDA_INJECTION64_PATH=/no/libperf-gpu-inject.so "${user[@]}"
absent "no cuInit()" "${has_loaded/cuda_user/sleep}: cuInit\(\) was not called in it, or has failed; .*" \
	env LD_PRELOAD="$FAKE_CUDA/libcuda.so.1" sleep SECONDS

# An ordinary user's, who may not look at what a set-uid program of root's does
as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
cp "$(command -v id)" ../set_uid && chmod 4755 ../set_uid
if has setpriv && [ "$("${as_nobody[@]}" ../set_uid -u 2>&1)" = 0 ] && "${as_nobody[@]}" test -x "$PERF_GPU"; then
	cp ../cuda_user ../set_uid && chown 65534 ../set_uid && chmod 4755 ../set_uid
	has_loaded=${has_loaded/cuda_user/set_uid}
	user[0]=../set_uid
	absent "a set-uid program" "$has_loaded: it is set-uid, .*" "${user[@]}"
	chown 0 ../set_uid && chmod 4755 ../set_uid
	as_user=("${as_nobody[@]}")
	ways=(process)
	chmod 755 "$TMP"
	chmod 777 .
	absent "one of another user's" \
		" with our library in it, but 1 process can't be looked at \(set_uid, pid [0-9]+\): .* put perf-gpu record behind sudo" \
		"${user[@]}"
	chmod 755 .
else
	skip_one "set-uid programs" "there can't be any, or the build is not for others to read"
fi
rm -f perf.data*

# --- a disk that is full sooner or later ----------------------------------------------------

# Both files are there and tell all, or neither is: at any size. Who fills the disk first is a
# matter of chance: where it is the process, what it had no room for is counted.
mkdir disk
nr_full=0 nr_whole=0 odd=""
for kib in 4 8 16 32 48 64 80 100 130 160 200 240 280 320 400 800; do
	if ! mount -t tmpfs -o size=${kib}k none disk 2>/dev/null; then
		odd="tmpfs can't be mounted"
		break
	fi
	record "$PERF_GPU" record -o disk/perf.data >../out 2>../err
	status=$?
	files=$(find disk -mindepth 1 -printf '%P\n' | sort | xargs)
	if grep -q 'what was recorded is kept' ../err; then
		mount -o remount,size=10m disk
		"$PERF_GPU" inject --recover -i disk/perf.data -o recovered.data >/dev/null 2>../recover.err ||
			odd+="$kib KiB: not recovered: $(cat ../recover.err)"$'\n'
		files=$(find disk -mindepth 1 -printf '%P\n' | sort | xargs)
		[ "$files" = "perf.data perf.data.gpu" ] || odd+="$kib KiB: what is kept is $files"$'\n'
		files=""
	fi
	case "$status $files" in
	"0 perf.data perf.data.gpu")
		nr_whole=$((nr_whole + 1))
		python3 "$TESTS/workloads/gpu_log.py" --account disk/perf.data.gpu |
			awk '/^launches 1000 / { exit !($4 + $6 == 1000 && $8 + $10 == 1000) }' ||
			odd+="$kib KiB: not all is there"$'\n'
		;;
	"1 ")
		nr_full=$((nr_full + 1))
		complaints | grep -E ": can(no|')t (write|create) .*No space left on device" >/dev/null ||
			odd+="$kib KiB: not told: $(cat ../err)"$'\n'
		;;
	*) odd+="$kib KiB: status $status, files $files"$'\n' ;;
	esac
	grep -qE '^launches [0-9]+ 1000$' ../out ||
		odd+="$kib KiB: the command is hurt"$'\n'
	umount disk
done
if [ "$odd" = "tmpfs can't be mounted" ]; then
	skip_one "a full disk" "$odd"
else
	expect "a full disk: all or nothing, and told" "" "$odd"
	check "some disks are too small, some aren't" test $nr_full -gt 3 -a $nr_whole -gt 1
fi

# A process may write less than its recorder: nothing is lost in silence.
for kib in 8 100 1000; do
	for stacks in uprobe process; do
		what="--stacks $stacks, $kib KiB a file"
		check_status "$what" 0 run_fake "$PERF_GPU" record --stacks $stacks -o limited.data \
			bash -c "ulimit -f $kib; exec $WORKLOADS/launches -n 50000"
		last=$(tail -n 2 "$TMP/err" | tr -d ,)
		nr_launches=$(grep -oE '[0-9]+ launches (of|lost)' <<<"$last" | awk '{ n += $1 } END { print n }')
		nr_dropped=$(grep -oE '[0-9]+ GPU records dropped' <<<"$last" | cut -d ' ' -f 1)
		nr_kernels=$("$PERF_GPU" script -i limited.data 2>/dev/null | grep -c gpu-kernel:)
		expect "$what: launches are told" 50000 "$nr_launches"
		expect "$what: and kernels" 50000 $((nr_dropped + nr_kernels))
		expect_no_match "$what: and that it ended in order" 'did not end in order' "$(cat "$TMP/err")"
	done
done

# --- a program that can't end in order ------------------------------------------------------

check_status "killed as it launches" 137 run_fake "$PERF_GPU" record -o killed.data \
	bash -c "$WORKLOADS/launches -n 100000000 & sleep 0.5; kill -KILL \$!; wait; exit 137"
expect_no_match "nobody is asked for copies of the library" 'a copy of the' "$(cat "$TMP/err")"

for how in "segv 139" "kill 137"; do
	check_status "$how" "${how#* }" run_fake "$PERF_GPU" record -o "${how% *}.data" \
		"$WORKLOADS/launches" -n 100 -l -e "${how% *}"
	check_status "$how: inject reads it" 0 "$PERF_GPU" inject -i "${how% *}.data" -o gpu.data
	expect_match "$how: all is there, since it was written before" ' 100 GPU kernels, .* 100\.0 % of GPU time' \
		"$(cat "$TMP/err")"
done
