#!/bin/bash
# Many processes: ranks that have a recorder each, trees, namespaces, users; counts exact
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda python3

export FAKE_CUDA_INSTANT=1

record()
{
	run_fake "$PERF_GPU" record "$@" >out 2>err
}

# --- a recorder for each rank -------------------------------------------------------------

# mpirun and srun start the recorder once for each rank.
for rank in 0 1 2 3; do
	OMPI_COMM_WORLD_RANK=$rank run_fake "$PERF_GPU" record -q -o 'perf.%h.%r.data' \
		"$WORKLOADS/processes" once $((10 + rank)) >/dev/null 2>"err.$rank" &
done
wait
host=$(uname -n)
expect "each rank's recorder has files of its own" \
	"perf.$host.0.data perf.$host.0.data.gpu perf.$host.1.data perf.$host.1.data.gpu perf.$host.2.data perf.$host.2.data.gpu perf.$host.3.data perf.$host.3.data.gpu" \
	"$(find . -name 'perf.*' -printf '%f\n' | sort | xargs)"
expect "with what the rank did" "10 11 12 13" "$(for rank in 0 1 2 3; do
	"$PERF_GPU" script -i "perf.$host.$rank.data" 2>/dev/null | grep -c gpu-kernel:
done | xargs)"
rm perf.*

check_status "no rank for %r: the command isn't run" 1 \
	env -u RANK "$PERF_GPU" record -o 'perf.%r.data' echo ran
expect "which one line says" "1 " "$(wc -l <"$TMP/err") $(cat "$TMP/out")"
expect_match "with the variables' names" \
	'^perf-gpu record: -o perf.%r.data: .*RANK, OMPI_COMM_WORLD_RANK, PMI_RANK, PMIX_RANK or SLURM_PROCID ' \
	"$(cat "$TMP/err")"
check_status "an unknown letter: the command isn't run" 1 "$PERF_GPU" record -o 'perf.%x.data' echo ran
expect_match "which is said" '^perf-gpu record: -o perf.%x.data: %x is nothing .*%h .*%r .*%p' "$(cat "$TMP/err")"

mkfifo go
record -q -o same.data bash -c "read < go; $WORKLOADS/processes once 10" &
first=$!
# It says whose it is when it is locked.
until [ -s same.data.gpu.lock ]; do sleep 0.05; done
check_status "two recorders of one file: the second doesn't run its command" 1 \
	"$PERF_GPU" record -o same.data echo ran
expect_match "and says who has it" \
	"^perf-gpu record: same.data is being written by another recorder \(process [0-9]+ on $host\): .*-o perf.%h.%r.data" \
	"$(cat "$TMP/err")"
echo >go
wait $first
expect "the first one's recording is whole" "0 10" \
	"$? $("$PERF_GPU" script -i same.data 2>/dev/null | grep -c gpu-kernel:)"
expect "and nothing else is left" "same.data same.data.gpu" "$(find . -name 'same*' -printf '%f\n' | sort | xargs)"
rm same.data*

# --- one recorder for all -----------------------------------------------------------------

FAMILIES=$WORKLOADS/families
NOBODY=65534
export FAMILIES_LAUNCHES=10

# "PROCESSES LAUNCHES" of all: what they say themselves, and of whom there are kernels
said()
{
	awk '$1 == "launches" { pids[$2 " " $4]; sum += $3 } END { print length(pids), sum + 0 }' out
}
recorded()
{
	"$PERF_GPU" script -F pid,period,event 2>/dev/null |
		awk '/gpu-kernel:/ { pids[$1]; n++; sum += $2 } END { print length(pids), n + 0 }'
}
# What the GPU did of them, by the sidecar: "KERNELS LOGS"
logged()
{
	python3 "$TESTS/workloads/gpu_log.py" --account perf.data.gpu |
		sed -E 's/.* kernels ([0-9]+) .* logs ([0-9]+) .*/\1 \2/'
}

# whole WHAT PROCESSES LAUNCHES COMMAND...: all of them are recorded, and nothing is complained of
whole()
{
	local what=$1 nr=$2 launches=$3
	shift 3

	record "$@"
	expect "$what: ends well" "0 $nr $launches" "$? $(said)"
	expect "$what: every launch has its kernel and its process" "$nr $launches" "$(recorded)"
	expect "$what: every process has a log" "$launches $nr" "$(logged)"
	expect "$what: nothing is missing" "" "$(grep -v '^\[ perf-gpu record: ' err)"
	"$PERF_GPU" inject -o injected.data 2>err
	expect_match "$what: all time has a stack" ' 100\.0 % of GPU time has a stack' "$(cat err)"
}

# The ranks of a job, as torchrun starts them: sessions of their own, and an environment for each
# shellcheck disable=SC2016 # for the inner shell
TORCHRUN='for rank in 0 1 2 3; do
		RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=4 setsid -w "$1" vfork &
	done
	wait'
# As mpirun does: a daemon of its own (orted), whose children are the ranks, in a process group each
MPIRUN='set -m
	bash -c "set -m
		for rank in 0 1 2; do OMPI_COMM_WORLD_RANK=\$rank \"$1\" once & done
		wait" 2>/dev/null'

for stacks in uprobe process; do
	whole "$stacks, vfork" 2 20 --stacks $stacks "$FAMILIES" vfork
	whole "$stacks, another user before CUDA" 1 10 --stacks $stacks "$FAMILIES" user $NOBODY
	whole "$stacks, another user later" 1 20 --stacks $stacks "$FAMILIES" later $NOBODY
	whole "$stacks, not dumpable" 1 10 --stacks $stacks "$FAMILIES" undumpable
	whole "$stacks, a tree of torchrun's" 8 80 --stacks $stacks bash -c "$TORCHRUN" - "$FAMILIES"
	whole "$stacks, a tree of mpirun's" 3 30 --stacks $stacks bash -c "$MPIRUN" - "$FAMILIES"
	rm -f truth
	FAKE_CUDA_DEVICES=8 FAKE_CUDA_TRUTH=$TMP/truth whole "$stacks, 1,000 children" 1000 10000 \
		--stacks $stacks "$FAMILIES" short 1000
	expect "$stacks, 1,000 children: times add up to what the GPUs did" \
		"$(awk -F '\t' '$1 > 0 { runs += $1; ns += $2 } END { print runs, ns }' truth)" \
		"$("$PERF_GPU" script -F period,event 2>/dev/null | awk '/gpu-kernel:/ { n++; sum += $1 } END { print n, sum }')"

	# A daemon has until the command's end, and what it had done by then is all there.
	record --stacks $stacks "$FAMILIES" daemon carry-on
	expect "$stacks, a daemon: the recording ends with the command" "0 1 10" "$? $(said)"
	expect "$stacks, a daemon: with what it did so far" "1 10" "$(recorded)"
	expect "$stacks, a daemon: which is told" 1 "$(grep -c 'warning: 1 process did not end in order' err)"
	daemon=$(awk '{ print $2 }' out)
	# By --stacks process, root gives up what it takes to look at root's processes.
	[ $stacks = process ] || expect_match "$stacks, a daemon: and that it runs on" \
		"^perf-gpu record: warning: the command has ended, but 1 process that it started runs on \\(daemon, pid $daemon\\): what it does is not recorded any further; keep it" \
		"$(cat err)"
	check "$stacks, a daemon: it goes on" kill -0 "$daemon"
	touch carry-on
	for ((i = 0; i < 2000; i++)); do
		kill -0 "$daemon" 2>/dev/null || break
		sleep 0.05
	done
	expect "$stacks, a daemon: and ends by itself, having launched again" "" "$(find . -name carry-on; kill -0 "$daemon" 2>/dev/null && echo runs)"
done

# One that comes to CUDA only when the command has ended, if at all
record sh -c 'sleep 600 & echo $!'
expect_match "a process in the background that hasn't used CUDA: it is told of" \
	"warning: the command has ended, but 1 process that it started runs on \(sleep, pid $(cat out)\): " "$(cat err)"
kill "$(cat out)"

# A GPU for each rank, which all call device 0
# shellcheck disable=SC2016
record -v bash -c 'export FAKE_CUDA_DEVICES=8
	for rank in 0 1 2 3; do CUDA_VISIBLE_DEVICES=$rank "$1" once & done
	wait' - "$FAMILIES"
expect "a GPU of its own for each rank: ends well" "0 4 40" "$? $(said)"
expect "four GPUs, by UUID" 4 \
	"$(grep -cE '^perf-gpu record: GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}: device 0, of 1 process$' err)"
expect_match "which is told" \
	'^\[ perf-gpu record: processes number GPUs differently \(CUDA_VISIBLE_DEVICES\): 4 are told apart by UUID \]$' \
	"$(cat err)"
expect "and shown so" "4 10" "$("$PERF_GPU" script --label device -F comm,event,ip,sym 2>/dev/null |
	grep -oE '\[device [0-9]+\]' | sort | uniq -c | awk '{ n++; kernels = $1 } END { print n, kernels }')"

# --- namespaces -----------------------------------------------------------------------------

if ! has namespaces; then
	skip_one "in namespaces" "need namespaces: $(why_not namespaces)"
	exit 0
fi

# Where the folder of the output can't be seen, the recorder hands out logs.
mkdir output root
# shellcheck disable=SC2016
HIDDEN='mount -t tmpfs none output && exec "$1" once'
# shellcheck disable=SC2016
CHROOT='mount --rbind / root && mount -t tmpfs none "root$(pwd)" && exec chroot root "$1" once'
# shellcheck disable=SC2016
PIDS='"$1" once
	for i in 1 2; do
		unshare -mp --fork --mount-proc sh -c "\"$1\" once; \"$1\" vfork"
	done'

# whole_in WHAT ARGUMENTS...: one process of ten launches, with the output where it can't see it
whole_in()
{
	local what=$1
	shift

	record -o output/perf.data "$@"
	expect "$what: ends well" "0 1 10" "$? $(said)"
	expect "$what: every launch has its kernel" "1 10" \
		"$(cd output && recorded)"
	expect "$what: nothing is missing" "" "$(grep -v '^\[ perf-gpu record: ' err)"
}

for stacks in uprobe process; do
	whole_in "$stacks, in another mount namespace" --stacks $stacks unshare -m sh -c "$HIDDEN" - "$FAMILIES"
	whole_in "$stacks, in another root" --stacks $stacks unshare -m sh -c "$CHROOT" - "$FAMILIES"
	whole_in "$stacks, as another user there" --stacks $stacks unshare -m \
		sh -c "${HIDDEN/once/user $NOBODY}" - "$FAMILIES"
	record --stacks $stacks sh -c "$PIDS" - "$FAMILIES"
	expect "$stacks, in other pid namespaces: ends well" 0 $?
	expect "$stacks, in other pid namespaces: no two processes are one" "7 70" "$(recorded)"
done
expect "which is told" 1 "$(grep -c '2 other pid namespaces: pids are shown higher, by 10,000,000 for each' err)"

record --stacks uprobe -o output/perf.data unshare -mn sh -c "$HIDDEN" - "$FAMILIES"
expect "what can't be collected leaves the program alone, and fails" "1 1 10" "$? $(said)"
expect_match "and is said by name" \
	'^perf-gpu record: 1 process is not recorded \((families|which has ended), pid [0-9]+\): a log can.t be made beside the output: ' \
	"$(cat err)"

# The driver says nothing of a library that isn't there.
# shellcheck disable=SC2016
NO_LIBRARY='"$1" once; mount -t tmpfs none "$2" && exec "$1" once'
record --stacks uprobe unshare -m sh -c "$NO_LIBRARY" - "$FAMILIES" "$O/lib/perf-gpu"
expect "where the library isn't there: only the other is recorded" "2 20 1 10" "$(said) $(recorded)"
expect_match "which is said by name" \
	'^perf-gpu record: warning: 1 process has loaded libcuda, but not our library with it \((families|which has ended), pid [0-9]+\): ' \
	"$(cat err)"

# Threads are known by their own ids in there, as NVTX ranges have them.
if [ -x "$WORKLOADS/nvtx" ]; then
	labels()
	{
		"$PERF_GPU" script --label nvtx -F event,ip,sym 2>/dev/null |
			awk '$2 ~ /^\[nvtx|^within_/ { $1 = ""; print }'
	}
	record --nvtx --stacks process "$WORKLOADS/nvtx" threads
	wanted=$(labels)
	record --nvtx --stacks process unshare -p --fork --mount-proc "$WORKLOADS/nvtx" threads
	expect_match "there are labels of threads" '\[nvtx thread\]' "$wanted"
	expect "and the same ones in another pid namespace" "$(sort <<<"$wanted")" "$(labels | sort)"
else
	skip_one "labels in another pid namespace" "nvtx3/nvToolsExt.h isn't there"
fi
