#!/bin/bash
# What became of all launches and GPU records: figures that add up, whatever breaks, and are the same everywhere
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda python3

export FAKE_CUDA_INSTANT=1
NR=8000
LAUNCHES=("$WORKLOADS/launches" -n $((NR / 8)) -t 8)

record()
{
	rm -rf perf.data* perf.gpu.data*
	run_fake "$PERF_GPU" record -v "$@"
}

# The two sums among what standard input says
said_sums()
{
	sed -nE 's/^(\[ )?perf-gpu [a-z]+: ((launches|calls|GPU records): [0-9,]+ = .*[^] ])( \])?$/\2/p'
}

# The same of what COMMAND... says
sums()
{
	"$@" 2>&1 >/dev/null | said_sums
}

# Of a line "launches: 10 = 7 samples + 3 lost in rings": "10 = 10"
added_up()
{
	sed -nE "s/^$1: //p" <<<"$2" | tr -d , |
		awk -F ' = ' '{ n = 0; k = split($2, parts, / \+ /)
			for (i = 1; i <= k; i++) n += parts[i]
			print $1 " = " n }'
}

# A part of the sum; 0 if it is none
part()
{
	sed -nE "s/^$1: .*[=+] ([0-9,]+) $2( \+ .*)?$/\1/p" <<<"$3" | tr -d , | grep . || echo 0
}

# account WHAT LAUNCHES RECORDS: of the recording that record has just said to `err`
account()
{
	local what=$1 said

	said=$(said_sums <err)
	[ -z "$2" ] || expect "$what: all launches are accounted for" "$2 = $2" "$(added_up 'launches' "$said")"
	[ -z "$3" ] || expect "$what: all GPU records are" "$3 = $3" "$(added_up 'GPU records' "$said")"
	[ -z "$2" ] || expect "$what: the closing line has what is lost" $(($2 - $(part launches samples "$said"))) \
		"$(sed -nE 's/^\[ perf-gpu record: ([0-9,]+) launch(es)? lost, .*/\1/p' err | tr -d ,)"
	expect "$what: inject has the same figures" "$said" "$(sums "$PERF_GPU" inject -v)"
	expect "$what: report has" "$said" "$(sums "$PERF_GPU" report -v)"
	SAID=$said
}

# some WHAT LINE PART: it isn't 0
some()
{
	check "$1" test "$(part "$2" "$3" "$SAID")" -gt 0
}

# --- nothing is lost -------------------------------------------------------------------

for stacks in uprobe process; do
	record --stacks $stacks "${LAUNCHES[@]}" >out 2>err
	account "all is well, $stacks" $NR $NR
	expect "all is well, $stacks: that's all that is said" \
		"launches: 8,000 = 8,000 samples
GPU records: 8,000 = 8,000 delivered" "$SAID"
	expect_no_match "without -v, only the closing line has it" ' = ' "$(run_fake "$PERF_GPU" record \
		--stacks $stacks -o quiet.data "${LAUNCHES[@]}" 2>&1; "$PERF_GPU" inject -i quiet.data 2>&1)"
done

# --- the ring ----------------------------------------------------------------------------

record -m 1 "${LAUNCHES[@]}" >out 2>err
account "a ring of one page" $NR $NR
some "a ring of one page: it overflows" launches "lost in rings"
expect_match "and is told" '^perf-gpu record: warning: [0-9,]+ launch(es were| was) lost for lack of room' "$(cat err)"

# --- what is mapped ----------------------------------------------------------------------

# The recorder is stopped, while there are more mappings than the side-band's rings have room for.
cat >maps.py <<END
import mmap
with open("/bin/true", "rb") as file:
    for _ in range(40000):
        mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()
END
cat >maps.sh <<END
kill -STOP \$PPID
python3 maps.py
kill -CONT \$PPID
exec "\$@"
END
# mappings_lost FILE PATTERN: how many a line says, without commas
mappings_lost()
{
	sed -nE "s/.* ([0-9,]+) records of mappings and processes were lost$2: some frames will have no name.*/\1/p" "$1"
}
record bash maps.sh "${LAUNCHES[@]}" >out 2>err
account "too many mappings" $NR $NR
lost=$(mappings_lost err "")
expect_match "too many mappings: it is told how many are lost" '^[0-9,]+$' "$lost"
"$PERF_GPU" inject >out 2>err
expect "too many mappings: also by inject" "$lost" "$(mappings_lost err " while recording")"
"$PERF_GPU" report >out 2>err
expect "too many mappings: and report" "$lost" "$(mappings_lost err " while recording")"

# --- CUPTI -------------------------------------------------------------------------------

FAKE_CUDA_DROP=7 FAKE_CUDA_UNKNOWN_TIME=11 record "${LAUNCHES[@]}" >out 2>err
account "CUPTI drops" $NR $NR
expect "CUPTI drops: one of seven" $((NR / 7)) "$(part 'GPU records' 'dropped by CUPTI' "$SAID")"
some "and others have no time" "GPU records" "of unknown time"

# --- the stack table ---------------------------------------------------------------------

# Stacks of more than 32 MiB: what is known by its number has to be forgotten in between.
record --stacks process "$WORKLOADS/deep_stack" -n 60000 -b 16 >out 2>err
account "a stack table that gets full" 60000 60000
expect "a stack table that gets full: each launch has its stack" 60000 "$(part launches samples "$SAID")"
expect_match "and is its own" '^\[ perf-gpu inject: .*; 100.0 % of GPU time has a stack' \
	"$("$PERF_GPU" inject 2>&1)"

# --- what can't be written ---------------------------------------------------------------

record --stacks process prlimit --fsize=300000 "$WORKLOADS/launches" -n 60000 >out 2>err
account "files that may not grow" 60000 60000
some "files that may not grow: GPU records are lost" "GPU records" "not written"
some "and launches" launches "lost by processes"

# --- logs that are damaged while recording -----------------------------------------------

# damage SUFFIX HOW...: what HOW does to the log of the process once it has ended
damage()
{
	local suffix=$1
	shift

	cat >damage.sh <<DAMAGE
"\$@"
status=\$?
for log in "\$PERF_GPU_SPOOL"/*.$suffix; do
	$*
done
exit \$status
DAMAGE
}

# The second block, which begins behind 262 kB
damage gpulog 'printf ruined | dd of="$log" bs=1 seek=300000 conv=notrunc status=none'
record --stacks process bash damage.sh "$WORKLOADS/launches" -n 20000 >out 2>err
account "a block of a log is damaged" 20000 20000
some "a block of a log is damaged: what it had is counted" "GPU records" "missing in logs"
some "what was before it is there" "GPU records" "delivered"
expect_match "and it is told" 'warning: the GPU log .* is broken' "$(cat err)"

damage gpulaunch 'printf ruined | dd of="$log" bs=1 seek=300000 conv=notrunc status=none'
record --stacks process bash damage.sh "$WORKLOADS/launches" -n 20000 >out 2>err
account "a block of a launch log is damaged" 20000 20000
some "a block of a launch log is damaged: what it had is counted" launches "missing"

damage gpulog 'truncate -s 400000 "$log"'
record --stacks process bash damage.sh "$WORKLOADS/launches" -n 20000 >out 2>err
account "a log is cut" 20000 20000
some "a log is cut: what was before is there" "GPU records" "delivered"
some "a log is cut: what was behind is counted" "GPU records" "missing in logs"
expect_match "that it has no end is told" 'warning: 1 process did not end in order' "$(cat err)"

# --- processes that are killed -----------------------------------------------------------

for stacks in uprobe process; do
	record --stacks $stacks "$WORKLOADS/faults" kill-later >out 2>err
	account "a process is killed, $stacks" 100 100
	record --stacks $stacks "$WORKLOADS/launches" -n 3000 -e kill >out 2>err
	account "one is killed at once, $stacks" 3000 ""
	expect_match "one is killed at once, $stacks: it is told" 'warning: 1 process did not end in order' "$(cat err)"
	for reader in inject report script "flamegraph --svg" "export --chrome"; do
		# shellcheck disable=SC2086 # two words
		expect_match "one is killed at once, $stacks: $reader tells who has the recording alone" \
			'^\[ perf-gpu .*: 1 process did not end in order .*: what the GPU did for it in the last second may be missing \]$' \
			"$("$PERF_GPU" $reader 2>&1 >/dev/null)"
	done
done

# --- files that are damaged afterwards ---------------------------------------------------

record "$WORKLOADS/launches" -n 20000 >out 2>err
expect_no_match "a process that ends in order: no reader doubts it" 'end in order' "$("$PERF_GPU" report 2>&1)"
cp perf.data.gpu whole.gpu
cp perf.data whole
printf ruined | dd of=perf.data.gpu bs=1 seek=300000 conv=notrunc status=none
SAID=$(sums "$PERF_GPU" inject -v)
expect_no_match "a damaged sidecar: it is not the process's fault" 'end in order' "$("$PERF_GPU" report 2>&1)"
expect "a damaged sidecar: all records are accounted for" "20000 = 20000" "$(added_up 'GPU records' "$SAID")"
some "some of them as unreadable" "GPU records" "unreadable"
expect "by report too" "$SAID" "$(sums "$PERF_GPU" report -v)"
cp whole.gpu perf.data.gpu
truncate -s -1000000 perf.data
SAID=$(sums "$PERF_GPU" inject -v)
expect "a perf.data that is cut: all launches are accounted for" "20000 = 20000" "$(added_up 'launches' "$SAID")"
some "some of them as lost" launches "no longer there"
expect "by report too" "$SAID" "$(sums "$PERF_GPU" report -v)"

# --- what they are -----------------------------------------------------------------------

# called EVENTS COMMAND...: what record calls that which it has recorded
called()
{
	local events=$1
	shift

	record -e "$events" "$@" >out 2>err
	sed -nE 's/^\[ perf-gpu record: (.*) of 1 process in .*/\1/p' err
	sed -nE 's/^\[ perf-gpu record: 0 (.*) lost, 0 GPU records dropped \]$/\1/p' err
}

expect "kernels are launched" "7 launches, launches" \
	"$(called gpu-kernel "$WORKLOADS/nvtx" domains | paste -sd , | sed 's/,/, /')"
expect "waits are waits" "7 waits, calls" \
	"$(called gpu-sync "$WORKLOADS/nvtx" domains | paste -sd , | sed 's/,/, /')"
expect "both are both" "7 launches, 7 waits; calls" \
	"$(called gpu-kernel,gpu-sync "$WORKLOADS/nvtx" domains | paste -sd ';' | sed 's/;/; /')"
account "launches and waits" "" 14
expect "they are calls in the sum" "14 = 14" "$(added_up calls "$SAID")"
if has nvcc; then
	expect_match "allocations are allocations" '^([0-9]+ launch[a-z]*, )?[0-9]+ allocations and frees$' \
		"$(called gpu-alloc "$WORKLOADS/event_truth")"
else
	skip_one "allocations are allocations" "no nvcc"
fi
