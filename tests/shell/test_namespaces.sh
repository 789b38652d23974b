#!/bin/bash
# Processes in namespaces of their own, as in a container: below the recorder, and attached to
. "$(dirname "$0")/lib.sh"
. "$TESTS/shell/server_lib.sh"
need root bpf fake_cuda unshare python3

export FAKE_CUDA_INSTANT=1
mkfifo server.in server.out
exec {in}<>server.in {out}<>server.out
mkdir output

# Another network, user and pid namespace, another hostname, other System V objects and cgroups;
# without a folder that the recorder sees, too (the last two)
ways=("-n" "-U -r" "-T --monotonic 1000" "-m -p -f --mount-proc" "-U -r -n -m -p -f --mount-proc"
	"-n -m -p -f --mount-proc -u -i -C" "-m -p -f --mount-proc hidden" "-n -m -p -f --mount-proc hidden")

# enter WAY COMMAND...
enter()
{
	local options
	read -ra options <<<"${1% hidden}"
	shift
	# shellcheck disable=SC2016 # the inner shell expands
	case $way in
	*hidden) unshare "${options[@]}" sh -c 'mount -t tmpfs none "$1" && shift && exec "$@"' - "$TMP/output" "$@" ;;
	*) unshare "${options[@]}" "$@" ;;
	esac
}

# "KERNELS SHARE" of what inject says
said()
{
	"$PERF_GPU" inject -i output/perf.data -o out.data 2>&1 |
		sed -n 's/.*: \([0-9,]*\) GPU kernels, .*; \([0-9.]* %\) of GPU time has a stack.*/\1 \2/p'
}

nr_tried=0
for way in "${ways[@]}"; do
	if ! enter "$way" true 2>/dev/null; then
		skip_one "unshare $way" "unshare can't do that here"
		continue
	fi
	nr_tried=$((nr_tried + 1))
	for stacks in uprobe process; do
		# Who sees neither the folder nor the recorder's network can't ask for a log; as a
		# command there is no way (test_processes has what is said).
		[ "$way" = "-n -m -p -f --mount-proc hidden" ] && break
		export -f enter
		export way TMP
		check_status "$way, $stacks: a command" 0 run_fake "$PERF_GPU" record --stacks $stacks -o output/perf.data \
			bash -c 'enter "$way" "$@"' - "$WORKLOADS/launches" -n 20
		expect "$way, $stacks: a command is recorded" "20 100.0 %" "$(said)"
		expect "$way, $stacks: nothing is missing" "" "$(grep -E 'warning|not recorded' err)"
	done
	LD_LIBRARY_PATH=$FAKE_CUDA enter "$way" "$PERF_GPU" wait "$WORKLOADS/server" -t 2 \
		<server.in >server.out 2>server.err &
	child=$!
	expect_match "$way: a server starts" '^ready [0-9]+$' "$(answer "$out")"
	# Its pid here: the newest server, which is a child of ours, or its child
	pid=$(for task in /proc/[0-9]*; do
		[ "$(cat "$task/comm" 2>/dev/null)" = server ] && [ "$(readlink "$task/fd/0" 2>/dev/null)" = "$TMP/server.in" ] &&
			basename "$task"
	done)
	for stacks in uprobe process; do
		# shellcheck disable=SC2016 # the inner shell expands
		check_status "$way, $stacks: a running process" 0 "$PERF_GPU" record --stacks $stacks -p "$pid" -o output/perf.data \
			-- bash -c 'echo "on 10" >&"$0"; read -r -t 200 -u "$1" line; [ "$line" = "done on 10" ]' "$in" "$out"
		expect "$way, $stacks: a running process is recorded" "20 100.0 %" "$(said)"
		expect "$way, $stacks: nothing of it is missing" "" "$(grep -E 'warning|not recorded' err)"
	done
	echo quit >&"$in"
	wait "$child"
	expect "$way: the server ends in order" 0 $?
done
check "some namespaces could be made" test "$nr_tried" -ge 1
