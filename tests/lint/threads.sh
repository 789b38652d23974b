#!/bin/bash
# Recordings by a recorder, and with a library, that ThreadSanitizer watches
# (make tsan: all of it and the stand-in are built with that)
. "$(dirname "$0")/../shell/lib.sh"
need root bpf fake_cuda

# TSan's shadow memory may not fit where the kernel puts programs.
[ -n "${IS_PLACED:-}" ] || IS_PLACED=1 exec setarch -R "$TESTS/lint/threads.sh"
export TSAN_OPTIONS=log_path=$TMP/races

races()
{
	cat "$TMP"/races* 2>/dev/null
	rm -f "$TMP"/races*
}

# What would not be found proves nothing.
cat >racy.c <<'END'
#include <pthread.h>
static int shared;
static void *add(void *arg) { for (int i = 0; i < 1000; i++) shared++; return arg; }
int main(void)
{
	pthread_t one, other;
	pthread_create(&one, 0, add, 0);
	pthread_create(&other, 0, add, 0);
	pthread_join(one, 0);
	pthread_join(other, 0);
	return 0;
}
END
check "a race" "${CC:-gcc}" -g -fsanitize=thread racy.c -o racy
./racy
expect_match "is found" 'data race' "$(races)"

# record WHAT OPTION... -- COMMAND...
record()
{
	local what=$1
	shift

	check "$what" run_fake "$PERF_GPU" record "$@"
	expect "$what: without a race" "" "$(races)"
}

for stacks in uprobe process; do
	record "eight threads, $stacks" --stacks "$stacks" -e all -- \
		"$WORKLOADS/launches" -n 1000 -t 8
	expect "eight threads, $stacks: all are there" 8000 \
		"$("$PERF_GPU" script -q -e gpu-kernel -F event | wc -l)"
	record "a thread that ends the process, $stacks" --stacks "$stacks" -- \
		"$WORKLOADS/launches" -n 1000 -t 64 -e thread
	record "processes, $stacks" --stacks "$stacks" -- "$WORKLOADS/processes" spawn 200
	record "code that is made and named, $stacks" --stacks "$stacks" -- \
		"$WORKLOADS/jit" -m -d -n 500
	record "atexit(), $stacks" --stacks "$stacks" -- "$WORKLOADS/hostile" atexit
done

# It is switched on, and off again, while other threads launch.
mkfifo commands
run_fake "$PERF_GPU" wait "$WORKLOADS/server" -t 8 -b 100 <commands >server.txt 2>&1 &
exec {commands}>commands
for _ in $(seq 3000); do
	grep -q ^ready server.txt && break
	sleep 0.1
done
expect_match "a process waits to be recorded" '^ready' "$(cat server.txt)"
server=$(sed -n 's/^ready //p' server.txt)
for _ in 1 2 3; do
	record "a process that runs already" -p "$server" -- sleep 0.3
done
echo quit >&$commands
wait
expect "of which nothing is heard behind that" "" "$(races)"
