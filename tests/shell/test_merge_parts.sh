#!/bin/bash
# perf-gpu merge: the files of record --switch-output become the one recording that they are parts of
. "$(dirname "$0")/lib.sh"
. "$TESTS/shell/server_lib.sh"
need root bpf perf fake_cuda python3

export FAKE_CUDA_INSTANT=1
server=$WORKLOADS/server
mkfifo server.in server.out
exec {out}<>server.out

# start RECORD-OPTION... -- COMMAND...: in the background. The recorder is a child of ours,
# to get signals.
start()
{
	LD_LIBRARY_PATH=$FAKE_CUDA "$PERF_GPU" record "$@" <server.in >server.out 2>err &
	recorder=$!
	exec {in}>server.in
	expect_match "the server starts" '^ready [0-9]+$' "$(answer "$out")"
}

# finish WHAT: the server ends
finish()
{
	exec {in}>&-
	wait "$recorder"
	expect "$1: status" 0 $?
	expect "$1: every command is answered, every file comes" "" "$(cat odd 2>/dev/null)"
	rm -f odd
}

# files NAME
files()
{
	find . -maxdepth 1 | grep -xE "\./$1\.[0-9]{16}" | sort
}

# Has another file written, and waits for it; nothing if there is to be one only.
switch()
{
	local nr i

	[ -n "$parts" ] || return
	nr=$(files "$parts" | wc -l)
	kill -USR2 "$recorder"
	for ((i = 0; i < 2000; i++)); do
		[ "$(files "$parts" | wc -l)" -gt "$nr" ] && return
		sleep 0.1
	done
	echo "no file number $((nr + 1))" >>odd
}

# The same work, into one file or several
work()
{
	tell "one 100"
	switch
	tell "two 50"
	tell "graph g 10"
	switch
	# The graph was made before this file.
	tell "graph g 20"
	tell "fork child 5"
	tell "one 7"
	switch
	tell "three 30"
}

# What a recording says, without what is of the one run alone
said()
{
	"$PERF_GPU" script --folded -i "$1" 2>&1 | sort
	for event in gpu-memcpy gpu-launch gpu-alloc; do
		"$PERF_GPU" script -e $event -F comm,event,ip,sym -i "$1" 2>/dev/null |
			awk 'NF == 0 { print line; line = "" } NF { $1 = $1; line = line ";" $0 }' | sort | uniq -c
	done
	"$PERF_GPU" inject -i "$1" -o said.data 2>&1 | sed 's/calls, [0-9.]* ms/calls/'
	python3 "$TESTS/workloads/gpu_log.py" --account "$1.gpu" | sed 's/  ids .*//'
	records "$1.gpu"
}

# "TYPE NUMBER" of a sidecar's records, but of those that merge makes
records()
{
	python3 - "$1" <<'END'
import collections, struct, sys

ORIGIN = 29
data = open(sys.argv[1], "rb").read()
nr = collections.Counter()
at = 0
while at < len(data):
    size, = struct.unpack_from("<I", data, at + 8)
    at += 32
    end = at + size
    while at < end:
        kind, length = struct.unpack_from("<HH", data, at)
        nr[kind] += 1
        at += length
for kind in sorted(nr.keys() - {ORIGIN}):
    print("type", kind, nr[kind])
END
}

# Of launches
samples()
{
	perf script --ns -i "$1" -F tid,time,event 2>/dev/null | grep gpu-launch:
}

# both NAME WORK RECORD-OPTION... -- COMMAND...: record it into NAME.one, and into the files
# NAME.parts.TIME
both()
{
	local name=$1 work=$2 options=() way
	shift 2

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	for way in one parts; do
		parts=
		[ $way = one ] || parts=$name.parts
		start -o "$name.$way" ${parts:+--switch-output} "${options[@]}" "$@"
		$work
		finish "$name, $way"
	done
	mapfile -t all < <(files "$name.parts")
}

# merged NAME FILE...: to NAME.merged
merged()
{
	local name=$1
	shift

	check_status "$name: they are merged" 0 "$PERF_GPU" merge -o "$name.merged" "$@"
	expect_match "$name: which is said" \
		"^\[ perf-gpu merge: 1 recording \\($# files\\) of 1 host: [0-9,]* launches of " "$(cat "$TMP/err")"
	expect "$name: in one line" 1 "$(wc -l <"$TMP/err")"
	expect "$name: and are what one recording is" "$(said "$name.one")" "$(said "$name.merged")"
	samples "$name.merged" >merged.samples
	for file; do samples "$file"; done >parts.samples
	expect "$name: each launch is there once" "$(sort -u parts.samples)" "$(sort merged.samples)"
}

events=gpu-kernel,gpu-memcpy,gpu-launch,gpu-alloc
for stacks in uprobe process; do
	both $stacks work --stacks $stacks -e $events -- env -u FAKE_CUDA_INSTANT "$server" -t 3
	expect "$stacks: four files" 4 ${#all[@]}
	# In an order that isn't theirs
	merged $stacks "${all[2]}" "${all[0]}" "${all[3]}" "${all[1]}"
	check "$stacks: launches of before stand in several parts" test -n "$(sort parts.samples | uniq -d)"
done

# Ranges that are open while another file begins
ranges()
{
	tell launch
	tell "push outer"
	tell launch
	switch
	tell launch
	tell "push inner"
	tell "start long"
	tell launch
	switch
	tell pop
	tell launch
	tell pop
	tell launch
	switch
	tell end
	tell launch
}
both nvtx ranges --nvtx -- "$WORKLOADS/nvtx" commands
merged nvtx "${all[@]}"
expect "nvtx: each kernel has its ranges" "$("$PERF_GPU" script --label nvtx --folded -i nvtx.one | sort)" \
	"$("$PERF_GPU" script --label nvtx --folded -i nvtx.merged | sort)"
expect "nvtx: which are some" 5 "$("$PERF_GPU" script --label nvtx --folded -i nvtx.one | grep -c .)"

# Copied stacks
both dwarf work --call-graph dwarf,4096 -e $events -- "$server" -t 1
merged dwarf "${all[@]}"

# --- beside others ----------------------------------------------------------------------------

mapfile -t all < <(files uprobe.parts)
check_status "a part is missing" 0 "$PERF_GPU" merge -o some.data "${all[0]}" "${all[2]}" "${all[3]}"
expect_match "a part is missing: what is there has its stacks" '100.0 % of GPU time has a stack' \
	"$("$PERF_GPU" inject -i some.data -o out.data 2>&1)"
run_fake "$PERF_GPU" record -q -o other.data "$WORKLOADS/launches" -n 25 >/dev/null
check_status "with another recording" 0 "$PERF_GPU" merge -o more.data "${all[3]}" other.data "${all[@]:0:3}"
expect_match "with another recording: both are there" \
	'^\[ perf-gpu merge: 2 recordings \(5 files\) of 1 host: 619 launches of 3 processes in ' "$(cat "$TMP/err")"
expect_match "with another recording: with all stacks" '^\[ perf-gpu inject: 646 GPU kernels, .* 100.0 % of GPU time' \
	"$("$PERF_GPU" inject -i more.data -o out.data 2>&1)"
check_status "merged once more" 0 "$PERF_GPU" merge -o again.data more.data
expect "merged once more: it stays what it is" "$(said more.data)" "$(said again.data)"

# lose FILE NR: a sidecar whose recorder has lost so many records of mappings until its end:
# the last field of its last record, whose block has a checksum
lose()
{
	python3 - "$@" <<'END'
import struct, sys, zlib

RECORDER_BYTES, BLOCK_BYTES = 176, 32
data = bytearray(open(sys.argv[1], "rb").read())
block = len(data) - RECORDER_BYTES - BLOCK_BYTES
assert struct.unpack_from("<I", data, block + 8)[0] == RECORDER_BYTES
struct.pack_into("<Q", data, len(data) - 8, int(sys.argv[2]))
struct.pack_into("<I", data, block + 4, zlib.crc32(data[block + 8:]))
open(sys.argv[1], "wb").write(data)
END
}
lose "${all[0]}.gpu" 2
lose "${all[1]}.gpu" 5
lose "${all[2]}.gpu" 5
lose "${all[3]}.gpu" 7
lose other.data.gpu 10
check_status "losses of parts are told until the end of each" 0 "$PERF_GPU" merge -o lost.data other.data "${all[@]}"
expect_match "losses of parts: those of each recording are added up" \
	'^\[ perf-gpu report: 17 records of mappings and processes were lost' "$("$PERF_GPU" report -i lost.data 2>&1)"

check_status "the same part twice" 1 "$PERF_GPU" merge -o no.data "${all[@]}" "${all[1]}"
expect "the same part twice: is said" "perf-gpu merge: ${all[1]} and ${all[1]} are the same recording: name it once" \
	"$(cat "$TMP/err")"
check_status "a part, and what it was merged into" 1 "$PERF_GPU" merge -o no.data uprobe.merged "${all[1]}"
expect_match "a part, and what it was merged into: is said" 'have processes in common: one was merged into the other already$' \
	"$(cat "$TMP/err")"

# The newest alone, twice: what is in the one can be in the other.
parts=newest
start -o newest --switch-output --overwrite=600s -- "$server" -t 1
tell "one 5"
switch
tell "two 5"
finish "--overwrite"
mapfile -t all < <(files newest)
check_status "--overwrite" 1 "$PERF_GPU" merge -o no.data "${all[@]}"
expect "--overwrite: is said" \
	"perf-gpu merge: ${all[0]} and ${all[1]} are of one record --overwrite, and can have GPU records in common: read each on its own" \
	"$(cat "$TMP/err")"
expect "nothing is written" "" "$(find . -name 'no.data*')"
