#!/bin/bash
# A recorder that gets no more memory: by RLIMIT_AS, by RLIMIT_DATA, in a cgroup that has none left
# shellcheck disable=SC2034,SC2154,SC2317 # variables are for lib.sh, or its; functions are called by name
. "$(dirname "$0")/recorder_lib.sh"
rows_of recorder.md
need plain # sanitizers take memory of their own

do_as()
{
	prlimit --pid "$pid" --as="$(($(sed -nE 's/^VmSize:\s+([0-9]+) kB/\1/p' "/proc/$pid/status") * 1024))"
}

do_data()
{
	prlimit --pid "$pid" --data=0
}

# A cgroup of its own, in which every new page is one too many: the kernel kills who wants it.
do_memory_cgroup()
{
	local parent=/sys/fs/cgroup limit=memory.max

	if [ -e $parent/memory/cgroup.procs ]; then
		parent+=/memory limit=memory.limit_in_bytes
	elif ! grep -w memory $parent/cgroup.subtree_control >/dev/null; then
		# Version 2, where nobody has asked for it yet
		echo +memory >$parent/cgroup.subtree_control || return
	fi
	echo "$parent/perf-gpu-test.$pid" >>"$TMP/cgroups"
	mkdir "$parent/perf-gpu-test.$pid" &&
		echo 0 >"$parent/perf-gpu-test.$pid/$limit" &&
		echo "$pid" >"$parent/perf-gpu-test.$pid/cgroup.procs"
}

play as "${watched[@]}"
play data "${watched[@]}"

# Can there be such a cgroup here?
sleep 600 &
pid=$!
why=$(do_memory_cgroup 2>&1)
kill -KILL $pid
wait $pid 2>/dev/null
if [ -n "$why" ]; then
	skip_one memory-cgroup "$why"
else
	ways=(process)
	play memory-cgroup "${watched[@]}"
	# By uprobe it is killed while it writes, anywhere: what is told depends on where.
	name=memory-cgroup stacks=uprobe
	(run_in "$TMP/by-uprobe" with_fault --stacks uprobe "${watched[@]}")
	cd "$TMP/by-uprobe" || exit 1
	expect "memory-cgroup, uprobe: it is killed" "SIGKILL" "$(end_of "$(cat status)")"
	expect "memory-cgroup, uprobe: the program goes on to its end" "$(cat ../memory-cgroup.bare/out)" "$(cat out)"
	expect "memory-cgroup, uprobe: all launches are there, or told to be missing" 200 \
		$(($(number '^\[ perf-gpu record: ([0-9,]+) launch[a-z]* of .*') +
			$(number '^perf-gpu record: warning: ([0-9,]+) launch(es)? of the command (is|are) missing.*')))
	check "memory-cgroup, uprobe: the recording can be read" "$PERF_GPU" inject -o gpu.data
	cd "$TMP" || exit 1
fi
while read -r cgroup; do
	rmdir "$cgroup" 2>/dev/null
done <cgroups
