#!/bin/bash
# perf-gpu's capabilities: what it needs, when it gives them up, that no command gets them
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda setpriv setcap strace plain

export FAKE_CUDA_INSTANT=1
SECCOMP_DENY=$O/tests/tools/seccomp-deny
chmod 755 "$TMP"
mkdir -m 777 here && cd here || exit 1

# A copy, which may have capabilities, with the library beside it
mkdir "$TMP/copy" && cp -rL "$O/lib" "$O/perf-gpu" "$TMP/copy"
COPY=$TMP/copy/perf-gpu
if ! setcap cap_bpf,cap_perfmon+ep "$COPY" 2>/dev/null; then
	echo "1..0 # SKIP this file system has no capabilities"
	exit 0
fi
if ! setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$WORKLOADS/launches"; then
	echo "1..0 # SKIP the build is not for others to read"
	exit 0
fi

# with CAPABILITIES COMMAND: an ordinary user with exactly these, "" for none
with()
{
	local caps=-all

	[ -z "$1" ] || caps=-all,$1
	shift
	run_fake setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set="$caps" \
		--inh-caps="$caps" --ambient-caps="$caps" "$@"
}

# An ordinary user, whose perf-gpu has them by its file
by_file()
{
	run_fake setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --ambient-caps=-all \
		"$COPY" "$@"
}

ambient()
{
	with +bpf,+perfmon "$PERF_GPU" "$@"
}

samples()
{
	"$PERF_GPU" script 2>/dev/null | grep -c gpu-kernel:
}

# The capability sets of a process, from its status: "Inh Prm Eff Amb"
caps()
{
	sed -n 's/^Cap\(Inh\|Prm\|Eff\|Amb\):\t0*\(.*\)/\2/p' "$1" | sed 's/^$/0/' | xargs
}

BOTH=c000000000

# --- what is needed --------------------------------------------------------------------------

has_multi=$("$PERF_GPU" record -v true 2>&1 | grep -c 'uprobes through uprobe_multi')
for way in ambient by_file; do
	if [ "$has_multi" = 0 ]; then
		skip_one "$way: CAP_BPF and CAP_PERFMON are enough" "this kernel has no uprobe_multi"
		continue
	fi
	for mode in unwind fp dwarf; do
		check_status "$way: CAP_BPF and CAP_PERFMON are enough for $mode" 0 \
			$way record --stacks uprobe --call-graph $mode "$WORKLOADS/launches" -n 100
		expect "$way: all is recorded by $mode" 100 "$(samples)"
	done
	check_status "$way: and for probes on the API" 0 $way record --probe api "$WORKLOADS/launches" -n 100
	expect_match "$way: which tell all" ' 100 launches of 1 process ' "$(cat "$TMP/err")"
	rm -f perf.data*
	mkfifo -m 666 in out
	$way wait "$WORKLOADS/server" -t 1 <in >out &
	exec 7>in 6<out
	read -r _ server <&6
	check_status "$way: and to record what runs already" 0 $way record --stacks uprobe -p "$server" \
		sh -c 'echo a 50 >&7; read -r answer <&6'
	echo quit >&7
	exec 6<&- 7>&-
	wait
	rm in out
	expect "$way: which is recorded" 50 "$(samples)"
	rm -f perf.data*
done

check_status "without any, stacks are taken within the process" 0 \
	with "" "$PERF_GPU" record "$WORKLOADS/launches" -n 100
expect_match "which is said" 'stacks are taken within the process: this user may not use BPF' "$(cat "$TMP/err")"
expect "and all is recorded" 100 "$(samples)"

# Where there are no links for many uprobes, before Linux 6.6
check_status "without uprobe_multi, CAP_SYS_ADMIN is enough" 0 with +sys_admin "$SECCOMP_DENY" bpf_link \
	"$PERF_GPU" record -v --stacks uprobe "$WORKLOADS/launches" -n 100
expect_match "through perf events" 'uprobes through perf events' "$(cat "$TMP/err")"
expect "and all is recorded" 100 "$(samples)"
check_status "and for probes on the API" 0 with +sys_admin "$SECCOMP_DENY" bpf_link \
	"$PERF_GPU" record -e gpu-kernel --probe api "$WORKLOADS/launches" -n 100
expect_match "which tell all" ' 100 launches of 1 process ' "$(cat "$TMP/err")"
with +bpf,+perfmon "$SECCOMP_DENY" bpf_link "$PERF_GPU" record --stacks uprobe true 2>err
status=$?
# Linux asks for it since 6.16, and in stable kernels of before.
if [ $status = 0 ]; then
	ok "this kernel is content with less"
else
	expect_match "what is missing is said" \
		'this kernel wants CAP_SYS_ADMIN to .*; run it with sudo \(from Linux 6.6 on, CAP_BPF and CAP_PERFMON are enough\)' \
		"$(cat err)"
fi

# --- what a command gets -----------------------------------------------------------------------

for way in ambient by_file; do
	for stacks in uprobe process; do
		$way record -q --stacks $stacks cat /proc/self/status >status 2>err
		expect "$way, $stacks: a command gets none of them" "0 0 0 0" "$(caps status)"
		expect "$way, $stacks: nor no_new_privs" "NoNewPrivs:	0" "$(grep NoNewPrivs status)"
		$way record -q --stacks $stacks ls -l /proc/self/fd 2>err | sed 's/.* \([0-9]* -> \)/\1/' |
			grep -v ' /proc/' | sort >fds
		with "" ls -l /proc/self/fd | sed 's/.* \([0-9]* -> \)/\1/' | grep -v ' /proc/' | sort >without
		expect "$way, $stacks: nor a descriptor that it would not have" "$(cut -d' ' -f1 without)" "$(cut -d' ' -f1 fds)"
	done
	$way wait cat /proc/self/status >status 2>err
	expect "$way: nor who waits to be recorded" "0 0 0 0" "$(caps status)"
done
# What a user gives it for itself, it has as it had without us: CAP_NET_BIND_SERVICE.
with +bpf,+perfmon,+net_bind_service "$PERF_GPU" record -q cat /proc/self/status >status 2>err
expect "but what is no right of the recorder's" "400 400 400 400" "$(caps status)"
expect "and what it may gain is as it was" "$(with +bpf,+perfmon grep CapBnd /proc/self/status)" \
	"$(ambient record -q grep CapBnd /proc/self/status 2>err)"
"$PERF_GPU" record -q --run-as nobody cat /proc/self/status >status 2>err
expect "a command that root runs as a user gets none" "0 0 0 0" "$(caps status)"

# With capabilities by the file, the dynamic linker takes variables away.
expect "and its environment is whole" "/some/where:$FAKE_CUDA 17" \
	"$(LD_LIBRARY_PATH=$FAKE_CUDA; export LD_LIBRARY_PATH=/some/where:$FAKE_CUDA TMPDIR=17
	setpriv --reuid 65534 --regid 65534 --clear-groups "$COPY" record -q sh -c 'echo $LD_LIBRARY_PATH $TMPDIR' 2>err)"
expect "who waits has it, too" "$FAKE_CUDA" "$(by_file wait sh -c 'echo $LD_LIBRARY_PATH' 2>err)"

# --- when they are given up ----------------------------------------------------------------------

# recorder OPTIONS...: the recorder's own permitted and effective ones while the command runs
recorder()
{
	"$@" sh -c 'cat /proc/$PPID/status' >status 2>err
	caps status | cut -d' ' -f2,3
}

for way in ambient by_file; do
	expect "$way: kept as long as there may be another probe" "$BOTH $BOTH" "$(recorder $way record -q --stacks uprobe)"
	expect "$way: given up at once for --stacks process" "0 0" "$(recorder $way record -q --stacks process)"
	expect "$way: kept with -D, too" "$BOTH $BOTH" "$(recorder $way record -q --stacks uprobe -D 1)"
done
# CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, KILL, and, to see who uses CUDA without it and
# who outlives the command, SYS_PTRACE, CHECKPOINT_RESTORE; of those that there are
read -r _ _ own _ < <(caps /proc/self/status)
FILES=$(printf %x $((0x1000008002f & 0x$own)))
expect "root keeps what files take, and looks at processes" "$FILES $FILES" "$(recorder "$PERF_GPU" record -q --stacks process)"
# ... IPC_LOCK, SYS_RESOURCE, and the two
PROBES=$(printf %x $((0x1c00108402f & 0x$own)))
expect "and what another probe may take" "$PROBES $PROBES" "$(recorder "$PERF_GPU" record -q --stacks uprobe)"

# Nothing that a process has written is read before.
check_status "a recording under strace" 0 run_fake strace -f -o trace -e trace=capset,openat \
	"$PERF_GPU" record "$WORKLOADS/launches" -n 100
last=$(grep -nE 'capset\(.*effective=(1<<CAP_(CHOWN|DAC_OVERRIDE|DAC_READ_SEARCH|FOWNER|KILL)\|?)+,' trace |
	tail -n 1 | cut -d: -f1)
first=$(grep -nE 'openat\([0-9]+, "[0-9a-f-]+\.gpulog", O_RDONLY' trace | tail -n 1 | cut -d: -f1)
expect "logs are read without" 1 "$((${last:-999999} < ${first:-0}))"
for command in report script "export --chrome -o x.json" "inject -o x.data" flamegraph; do
	# shellcheck disable=SC2086 # with its options
	strace -o trace -e trace=capset,openat "$PERF_GPU" $command >/dev/null 2>err
	last=$(grep -nE 'capset\(.*permitted=(1<<CAP_(CHOWN|DAC_OVERRIDE|DAC_READ_SEARCH|FOWNER|KILL)\|?)+,' trace |
		head -n 1 | cut -d: -f1)
	first=$(grep -nE 'openat\(.*perf.data' trace | head -n 1 | cut -d: -f1)
	expect "perf-gpu ${command%% *} reads a recording without" 1 "$((${last:-999999} < ${first:-0}))"
done

# --- who it is ------------------------------------------------------------------------------------

cp "$PERF_GPU" "$TMP/copy/setuid" && chmod 4755 "$TMP/copy/setuid"
check_status "a set-uid perf-gpu does nothing" 1 with "" "$TMP/copy/setuid" record id
expect_match "and says why" 'perf-gpu is set-uid or set-gid, .* take that away' "$(cat "$TMP/err")"
expect "at all" "" "$(cat "$TMP/out")"
