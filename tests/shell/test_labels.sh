#!/bin/bash
# record --nvtx, and what inject and script label samples with: --label, -F, --threads

# shellcheck source=tests/shell/lib.sh
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda perf python3

export FAKE_CUDA_INSTANT=1
export HOME=$TMP # of perf's build-id cache
export PYTHONDONTWRITEBYTECODE=1
unset NVTX_INJECTION64_PATH PERF_GPU_NVTX_NEXT CUDA_VISIBLE_DEVICES
unset RANK LOCAL_RANK WORLD_SIZE PMI_RANK PMIX_RANK SLURM_PROCID OMPI_COMM_WORLD_RANK
parser=$(find /usr/lib* /usr/libexec -name hotspot-perfparser 2>/dev/null | head -n 1)

if [ ! -x "$WORKLOADS/nvtx" ]; then
	echo "1..0 # SKIP nvtx3/nvToolsExt.h isn't there to build the program of"
	exit 0
fi

record()
{
	run_fake "$PERF_GPU" record -q "$@"
}

# Lines "FUNCTION: LABEL LABEL ...", root first, for each place that launches; the
# function is the one that says within which ranges it is
labels()
{
	"$PERF_GPU" script -F ip,sym "$@" | awk '
	function finish() {
		if (where)
			print where ":" list
		where = list = ""
	}
	NF == 0 { finish() }
	match($0, /\[(device|stream|context|graph|nvtx|rank)( [^]]*)?\]/) {
		list = " " substr($0, RSTART, RLENGTH) list
	}
	$2 ~ /^within_/ { where = substr($2, 8) }
	END { finish() }' | LC_ALL=C sort -u
}

# What each function's name says
truth="left: [nvtx left]
lib_step: [nvtx lib:step]
library: [nvtx library]
mine_epoch: [nvtx mine:epoch]
mine_epoch_lib_step: [nvtx mine:epoch] [nvtx lib:step]
mine_epoch_step: [nvtx mine:epoch] [nvtx mine:step]
nothing:
other: [nvtx other]
outer: [nvtx outer]
outer_inner: [nvtx outer] [nvtx inner]
outer_inner_3: [nvtx outer] [nvtx inner] [nvtx 3]
outer_library: [nvtx outer] [nvtx library]
parent_child: [nvtx parent] [nvtx child]
request: [nvtx request]
request_other: [nvtx request] [nvtx other]
thread: [nvtx thread]
thread_wide: [nvtx thread] [nvtx wïde €]"
# unbalanced launches from these two without their ranges
truth_without="$(sed '/^other:/i other:
/^request_other:/i request_other:' <<<"$truth")"

# --- NVTX ranges ----------------------------------------------------------------------------

for stacks in process uprobe; do
	check_status "ranges, stacks by $stacks: are recorded" 0 \
		record --nvtx --stacks $stacks -- "$WORKLOADS/nvtx"
	expect "ranges, stacks by $stacks: NVTX's functions return what they should" \
		"push 0 1 pop 1 0"$'\n'"start 1" "$(cat out)"
	expect_no_match "ranges, stacks by $stacks: a child that has our library by fork is known" \
		'but not our library' "$(cat err)"
	expect "ranges, stacks by $stacks: each launch is within its own" \
		"$truth_without" "$(labels --label nvtx)"
done
expect_match "at the root, the outermost is the last" '^ ?\[nvtx outer\]$' \
	"$("$PERF_GPU" script -F ip,sym --label nvtx --label-at root |
		awk '/within_outer_inner$/ { on = 1 } NF == 0 { if (on) print last; on = 0 }
			{ sub(/^[ \t]*[0-9a-f]+ /, ""); last = $0 }')"
"$PERF_GPU" script -F ip,sym --label nvtx |
	awk '/GPU_Kernel/ { getline next_line; print (next_line ~ /nvtx|cudaLaunchKernel/) }' >leaf
expect "else they are just above the leaf" 1 "$(sort -u leaf)"

record -- "$WORKLOADS/nvtx" threads >/dev/null
expect "without --nvtx, there are none" "nothing:
outer:
outer_inner:
outer_inner_3:
thread:
thread_wide:" "$(labels --label nvtx 2>err)"
expect_match "and it says why" "warning: --label nvtx: perf.data.gpu has no NVTX ranges: record them with 'perf-gpu record --nvtx'" \
	"$(cat err)"

# --- beside another tool ---------------------------------------------------------------------

tool=$WORKLOADS/nvtx_tool.so
run_fake env NVTX_INJECTION64_PATH="$tool" "$WORKLOADS/nvtx" threads domains library >alone.out 2>alone.err
check_status "with another tool: is recorded" 0 env NVTX_INJECTION64_PATH="$tool" \
	LD_LIBRARY_PATH="$FAKE_CUDA" "$PERF_GPU" record -q --nvtx -- "$WORKLOADS/nvtx" threads domains library
expect "the program gets the other tool's answers" "$(cat alone.out)" "$(cat out)"
expect "which gets the same calls" "$(sort alone.err)" "$(sort err)"
expect_match "of which there are some" '^tool: push outer$' "$(cat err)"
expect "and the ranges are recorded" "$(grep -E '^(lib|mine|nothing|outer|thread)' <<<"$truth")" \
	"$(labels --label nvtx)"
env NVTX_INJECTION64_PATH="$tool" NVTX_TOOL_REFUSES=1 LD_LIBRARY_PATH="$FAKE_CUDA" \
	"$PERF_GPU" record -q --nvtx -- "$WORKLOADS/nvtx" threads >out 2>err
expect "a tool that refuses is asked once, and gets no calls" "tool: here" "$(cat err)"
expect "and NVTX works without it" "push 0 1 pop 1 0" "$(cat out)"
env NVTX_INJECTION64_PATH=/nowhere.so LD_LIBRARY_PATH="$FAKE_CUDA" \
	"$PERF_GPU" record -q --nvtx -- "$WORKLOADS/nvtx" threads >out
expect "so it does with a tool that isn't there" "push 0 1 pop 1 0" "$(cat out)"
env NVTX_INJECTION64_PATH="$tool" LD_LIBRARY_PATH="$FAKE_CUDA" \
	"$PERF_GPU" record -q -- "$WORKLOADS/nvtx" threads domains library >out 2>err
expect "without --nvtx, the other tool is left alone" "$(sort alone.err)" "$(sort err)"
run_fake "$PERF_GPU" record --nvtx -- env NVTX_INJECTION64_PATH="$tool" \
	"$WORKLOADS/nvtx" threads >out 2>err
expect_match "a program that chooses its tool itself keeps it" \
	"warning: .*the program has set NVTX_INJECTION64_PATH to $tool: its NVTX ranges are not recorded" \
	"$(cat err)"
expect_match "and its calls" "^tool: push outer" "$(cat err)"

run_fake "$WORKLOADS/nvtx_linked" threads domains >alone.out 2>alone.err
expect_match "a tool that is linked into the program gets its calls" "^tool: push outer" "$(cat alone.err)"
record --nvtx -- "$WORKLOADS/nvtx_linked" threads domains >out 2>err
expect "and does so when it is recorded" "$(sort alone.err)" "$(sort err)"
expect "and answers them" "$(cat alone.out)" "$(cat out)"
expect "and the ranges are recorded" "$(grep -E '^(lib_|mine|nothing|outer|thread)' <<<"$truth" | grep -v library)" \
	"$(labels --label nvtx)"
record --nvtx -- "$WORKLOADS/nvtx_linked_stripped" threads >out 2>err
expect "one in a stripped program can't be found" "push 0 1 pop 1 0" "$(cat out)"

CUDA_INJECTION64_PATH=/nowhere/other.so run_fake "$PERF_GPU" record --probe api --nvtx -- \
	"$WORKLOADS/nvtx" threads >/dev/null 2>err
expect_match "beside another injected library, it says that there are no ranges" \
	'warning: --nvtx: no NVTX ranges are recorded' "$(cat err)"

# --- switched on and off within ranges --------------------------------------------------------

mkfifo orders answers ctl ack
exec {ctl}<>ctl {ack}<>ack {answers}<>answers

tell()
{
	local line=""

	echo "$1" >&"$commands"
	read -r -t 200 -u "$answers" line
	[ "$line" = "done $1" ] || echo "no answer to '$1'" >>odd
}

order()
{
	local line=""

	echo "$1" >&"$ctl"
	read -r -t 200 -u "$ack" line
	[ "$line" = ack ] || echo "no answer to '$1'" >>odd
}

# The nvtx field of each launch, in their order
ranges()
{
	"$PERF_GPU" script -F nvtx,time,event | sed 's/.*nvtx=\("[^"]*"\).*/\1/'
}

run_fake "$PERF_GPU" record -q --nvtx -D -1 --control "fd:$ctl,$ack" -- \
	"$WORKLOADS/nvtx" commands <orders >answers 2>err &
recorder=$!
exec {commands}>orders
read -r -t 200 -u "$answers" _
tell "launch" # CUDA is there from here on
tell "push held"
tell "start life"
order enable
tell "launch"
order disable
tell "push within"
tell "launch"
order enable
tell "launch"
tell "pop"
order disable
tell "pop"
tell "end"
order enable
tell "launch"
exec {commands}>&-
wait $recorder
expect "with --control: the recorder ends in order" 0 $?
expect "with --control: each launch has the ranges that were open" '"life;held"
"life;held;within"
""' "$(ranges)"

run_fake "$PERF_GPU" wait -- "$WORKLOADS/nvtx" commands <orders >answers 2>err &
waiter=$!
exec {commands}>orders
read -r -t 200 -u "$answers" _ pid
tell "push before"
tell "launch"
for open in "first" "first;second"; do
	name=${open##*;}
	tell "push $name"
	check "attached, the $name time: is recorded" record -p "$pid" --nvtx -- \
		bash -c "echo launch >&$commands; read -r -t 200 -u $answers"
	expect "attached, the $name time: the ranges that are older are known" \
		"\"before;$open\"" "$(ranges)"
done
exec {commands}>&-
wait $waiter
expect "attached: the program ends in order" 0 $?

run_fake env CUDA_INJECTION64_PATH="$O/lib/perf-gpu/libperf-gpu-inject.so" PERF_GPU_WAIT=1 \
	"$WORKLOADS/nvtx" commands <orders >answers 2>err &
waiter=$!
exec {commands}>orders
read -r -t 200 -u "$answers" _ pid
tell "push unseen"
tell "launch"
"$PERF_GPU" record -p "$pid" --nvtx -- \
	bash -c "echo launch >&$commands; read -r -t 200 -u $answers" >/dev/null 2>err
expect_match "attached to what NVTX has not loaded the library into: it is said" \
	"warning: .*NVTX_INJECTION64_PATH is not set in this process: its NVTX ranges are not recorded; start it with 'perf-gpu wait'" \
	"$(cat err)"
exec {commands}>&-
wait $waiter

expect "every command and order is answered" "" "$(cat odd 2>/dev/null)"

# --- other events -------------------------------------------------------------------------------

record --nvtx -e all -- "$WORKLOADS/nvtx" copies
expect "copies, memsets and allocations have ranges and bytes" 'gpu-alloc: nvtx="allocate" stream=- bytes=1048576
gpu-memcpy: nvtx="copy" stream=7 bytes=4096
gpu-memset: nvtx="clear" stream=7 bytes=1000' \
	"$("$PERF_GPU" script -e gpu-memcpy,gpu-memset,gpu-alloc -F +nvtx,stream,bytes,-ip |
		sed -E 's/.*(stream=[^ ]* bytes=[^ ]*) (nvtx="[^"]*").* (gpu-[a-z]*): $/\3: \2 \1/' | sort)"
expect "waits and API calls have ranges, and are of no stream" \
	'gpu-launch: device=- stream=- bytes=- nvtx="copy"
gpu-sync: device=- stream=- bytes=- nvtx="clear"' \
	"$("$PERF_GPU" script -e gpu-sync,gpu-launch -F +device,stream,bytes,nvtx,-ip |
		sed -E 's/.*(device=.*bytes=[^ ]* nvtx="[^"]*").* (gpu-[a-z]*): $/\2: \1/' |
		grep -E 'launch.*copy|sync.*clear' | sort -u)"
"$PERF_GPU" script --threads stream -F comm,event >out
expect "what the CPU does stays its thread's" "GPU0 stream 7 gpu-memcpy
GPU0 stream 7 gpu-memset
nvtx gpu-alloc
nvtx gpu-launch" \
	"$(sed -E 's/^ *//; s/ +/ /g; s/: $//' out | grep -E 'mem|launch|alloc' | sort -u)"
if has nvcc; then
	record -- "$WORKLOADS/graph_truth"
	"$PERF_GPU" script -e gpu-kernel --graph-stacks launch --label graph -F ip,sym |
		awk 'NF == 0 { print has_label + 0, has_launch + 0; has_label = has_launch = 0 }
			/\[graph [0-9]+\]/ { has_label = 1 } / cudaGraphLaunch/ { has_launch = 1 }' |
		sort -u >out
	expect "what a graph did is labelled with it, and nothing else" "1 1" "$(sort -u out | grep 1)"
else
	skip_one "what a graph did is labelled with it" "need nvcc: $(why_not nvcc)"
fi

# --- ranks -------------------------------------------------------------------------------------

# ranked WHAT WANTED VARIABLE=VALUE...
ranked()
{
	local what=$1 wanted=$2
	shift 2

	run_fake env "$@" "$PERF_GPU" record -q -- "$WORKLOADS/nvtx" streams
	expect "$what" "$wanted" \
		"$("$PERF_GPU" script -F rank,event | sed 's/.*rank=\([^ ]*\).*/\1/' | sort -u)"
}

ranked "torchrun" 5 RANK=5 LOCAL_RANK=1 WORLD_SIZE=8 SLURM_PROCID=0
ranked "Open MPI" 3 OMPI_COMM_WORLD_RANK=3 PMIX_RANK=9 SLURM_PROCID=0
ranked "MPICH" 2 PMI_RANK=2 PMI_SIZE=4
ranked "PMIx" 4 PMIX_RANK=4
ranked "Slurm" 7 SLURM_PROCID=7 SLURM_LOCALID=3 SLURM_NTASKS=16
ranked "no rank" - RANK=
expect_match "--label rank says that there is none" \
	'warning: --label rank: no process in perf.data.gpu has a rank' \
	"$("$PERF_GPU" script --label rank 2>&1 >/dev/null)"

# --- all of them, and devices -------------------------------------------------------------------

cat >job.sh <<'JOB'
for rank in 0 1 2; do
	RANK=$rank CUDA_VISIBLE_DEVICES=$((2 - rank)) "$1" streams &
done
wait
JOB
export FAKE_CUDA_DEVICES=4
record -- bash job.sh "$WORKLOADS/nvtx"
unset FAKE_CUDA_DEVICES
"$PERF_GPU" script -F +rank,device,context,stream,bytes,-ip >out
expect "GPUs of one number in three processes are told apart" 3 \
	"$(grep -o 'rank=. device=.' out | sort -u | sed 's/.*device/device/' | sort -u | wc -l)"
expect "one for each rank" 3 "$(grep -o 'rank=. device=.' out | sort -u | wc -l)"
expect_match "fields are before the time" \
	'^ *nvtx +[0-9]+ \[[0-9]+\] rank=[0-2] device=[0-2] context=1 stream=[89] bytes=- +[0-9]+\.[0-9]+: +[0-9]+ gpu-kernel: $' \
	"$(cat out)"

"$PERF_GPU" script -F ip,sym --label rank,device,context,stream |
	grep -o '\[[rdcs][a-z]* [0-9]*\]' | head -n 4 >out
expect "frames are in the order of the list, the last next to the leaf" \
	"stream context device rank" "$(tr -d '[]0-9\n' <out | tr -s ' ' | sed 's/ *$//')"
"$PERF_GPU" script --label rank,device,stream -F +nvtx,device,stream,graph,rank,bytes |
	python3 "$TESTS/tools/fold_script.py" >folded
expect "FlameGraph's rules fold it" 6 \
	"$(grep -cE ';\[rank [0-2]\];\[device [0-2]\];\[stream [89]\];\[GPU_Kernel\]plain_kernel [0-9]+$' folded)"
check "inject takes labels" "$PERF_GPU" inject -q --label rank,stream --label-at root
expect "perf report shows them" "[rank 0]
[rank 1]
[rank 2]" "$(perf report -i perf.gpu.data --stdio --children -F sym -g none 2>/dev/null |
	sed -n 's/.*\(\[rank [0-9]*\]\).*/\1/p' | sort -u)"

# --- options that are wrong --------------------------------------------------------------------

refused()
{
	check_status "$1: is refused" 129 "$PERF_GPU" script "${@:3}"
	expect_match "$1: says why" "$2" "$(cat err)"
}

refused "an unknown label" '--label: "thread" is no label: there are device' --label stream,thread
refused "an empty one" '--label: "" is no label' --label stream,
refused "one twice" '--label: stream is there twice' --label stream,nvtx,stream
refused "an unknown place" '--label-at takes leaf or root, not top' --label-at top
refused "unknown threads" '--threads takes launch or stream, not gpu' --threads gpu
record --call-graph dwarf -- "$WORKLOADS/nvtx" streams
check_status "labels at the root of copied stacks" 1 "$PERF_GPU" inject --label device --label-at root
expect_match "say what to do" '--label-at root: perf.data has copies of stacks.*: add --unwind' "$(cat err)"
check "at the leaf, they are no matter" "$PERF_GPU" inject -q --label device

# --- streams as threads --------------------------------------------------------------------------

record --nvtx -- "$WORKLOADS/nvtx" threads streams >/dev/null
check "streams become threads" "$PERF_GPU" inject -q --threads stream --label nvtx
perf script -i perf.gpu.data -F comm,pid,tid,time,period 2>err |
	grep -v $'\t' | awk 'NF' >out
expect "perf script has nothing to complain of" "" "$(cat err)"
expect "there is a thread for each stream" "GPU0 stream 7
GPU0 stream 8
GPU0 stream 9" "$(grep -oE 'GPU0 stream [0-9]+' out | sort -u)"
expect "of one process" 1 "$(sed -E 's/.* ([0-9]+)\/.*/\1/' out | sort -u | wc -l)"
expect "with numbers that no thread has" "$(printf '%s\n' 2000000000 2000000001 2000000002)" \
	"$(sed -E 's/.*\/([0-9]+) .*/\1/' out | sort -u)"
"$PERF_GPU" script --threads stream -F comm,pid,tid,time,period,event >text
expect "script says the same" "$(awk '{ print $3, $4, $5, $6 }' out)" \
	"$(awk '{ print $3, $4, $5, $6 }' text)"
expect "in the order of time" "$(cat text)" "$(sort -s -k 5,5n text)"
# A reader that isn't ours: start and duration of each kernel
python3 - perf.data.gpu >starts <<'PY'
import struct, sys
data, at = open(sys.argv[1], "rb").read(), 0
while at < len(data):
    end = at + 32 + struct.unpack_from("<I", data, at + 8)[0]
    at += 32
    while at < end:
        kind, size = struct.unpack_from("<HH", data, at)
        if kind == 7:
            start, stop = struct.unpack_from("<QQ", data, at + 16)
            print(f"{start // 10**9}.{start % 10**9 // 1000:06}: {stop - start}")
        at += size
PY
expect "each at the time when its kernel began, for as long" "$(sort starts)" \
	"$(awk '{ print $5, $6 }' text | sort)"
expect "perf report has a share for each" 3 \
	"$(perf report -i perf.gpu.data --stdio --sort comm -g none 2>/dev/null | grep -c 'GPU0 stream')"
if [ -n "$parser" ]; then
	check "hotspot's parser reads them" "$parser" --input perf.gpu.data --output stream
	expect "and has their names" "GPU0 stream 7
GPU0 stream 8
GPU0 stream 9" "$(python3 "$TESTS/tools/hotspot_costs.py" --threads stream |
		grep -oE 'GPU0 stream [0-9]+' | sort -u)"
else
	skip_one "hotspot's parser reads them" "hotspot isn't installed"
fi
