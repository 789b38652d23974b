#!/bin/bash
# perf-gpu merge: recordings of several hosts and ranks become one, exactly
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda python3 namespaces

export FAKE_CUDA_INSTANT=1
export DEBUGINFOD_URLS=
export HOME=$TMP # of perf's build-id cache

record()
{
	run_fake "$PERF_GPU" record -q "$@" >>out
}

# record_on HOST CLOCK FILE COMMAND...: on a host of that name, whose CLOCK_MONOTONIC is so
# many seconds later, and which has its own pids, from 1 on
record_on()
{
	local host=$1 clock=$2 file=$3
	shift 3

	# shellcheck disable=SC2016 # the inner shell expands
	run_fake unshare --uts --time --monotonic "$clock" --pid --fork --mount-proc \
		sh -c 'hostname "$1"; shift; "$@"; exit $?' - "$host" \
		"$PERF_GPU" record -q --stacks process -o "$file" "$@" >>out
}

# kernels FILE FIELDS: a line for each kernel, with its stack
kernels()
{
	"$PERF_GPU" script -i "$1" -F "$2" 2>/dev/null |
		awk 'NF && !/^\t/ { if (line) print line; line = "" } NF { $1 = $1; line = line " " $0 }
			END { if (line) print line }'
}

# COUNT SUM of kernels
account()
{
	kernels "$1" period,event | awk '{ n++; sum += $1 } END { print n + 0, sum + 0 }'
}

record -o first.data "$WORKLOADS/processes" spawn 30
record_on node2.site.org 100000 second.data "$WORKLOADS/processes" spawn 20
record -o third.data "$WORKLOADS/processes" once 10
record_on node3 -500 fourth.data "$WORKLOADS/processes" spawn 5

check_status "four recordings of three hosts are merged" 0 \
	"$PERF_GPU" merge first.data second.data third.data fourth.data
host=$(uname -n)
expect "which is said" \
	"[ perf-gpu merge: fourth.data: its pids are shown HIGHER higher, since others have them too ]
[ perf-gpu merge: 4 recordings of 3 hosts: 230 launches of 13 processes in perf.data (SIZE), GPU records in perf.data.gpu (SIZE) ]" \
	"$(sed -E 's/[0-9.]+ [KM]B/SIZE/g; s/shown [0-9,]+0 higher/shown HIGHER higher/' "$TMP/err")"

cp "$TMP/err" said
check_status "a pattern that finds the sidecars, too" 0 \
	"$PERF_GPU" merge first.data first.data.gpu second.data second.data.gpu third.data third.data.gpu \
	fourth.data.gpu fourth.data
expect "merges the same" 230 "$(kernels perf.data event | wc -l)"
check_status "a sidecar alone" 1 "$PERF_GPU" merge -o none.data first.data second.data.gpu
expect_match "is no recording" 'second.data.gpu is not a perf.data file' "$(cat err)"
"$PERF_GPU" merge -q first.data second.data third.data fourth.data
higher=$(sed -nE 's/,//g; s/.*shown ([0-9]+) higher.*/\1/p' said)

sum_of()
{
	for file; do account "$file"; done | awk '{ n += $1; sum += $2 } END { print n, sum }'
}
expect "kernels and their times add up, to the nanosecond" \
	"$(sum_of first.data second.data third.data fourth.data)" "$(account perf.data)"
expect "every kernel has the stack that it had" \
	"$(for file in first second third fourth; do kernels $file.data period,event,sym; done | sort)" \
	"$(kernels perf.data period,event,sym | sort)"
expect "under its process's name, with the host" \
	"$(printf '%s\n' "exe@$host 90" "exe@node2 60" "exe@node3 15" "processes@$host 40" \
		"processes@node2 20" "processes@node3 5" | sort | xargs)" \
	"$(kernels perf.data comm,event | awk '{ n[$1]++ } END { for (who in n) print who, n[who] }' | sort | xargs)"
expect "and one pid for each process" 13 "$(kernels perf.data pid,event | cut -d ' ' -f 2 | sort -u | wc -l)"
expect "those of node3 are higher by what was said" \
	"$(kernels fourth.data pid,event | awk -v by="$higher" '{ print $1 + by }' | sort -u)" \
	"$(kernels perf.data comm,pid,event | awk '/@node3/ { print $2 }' | sort -u)"

# The clocks differ by a day; what happened one after the other still does.
expect "in the order in which it happened, within seconds" "$host node2 $host node3" \
	"$(kernels perf.data comm,time,event | sed 's/:.*//' | awk '
		{ split($1, name, "@") }
		last && ($2 < last || $2 > last + 200) { print "gap" }
		name[2] != host { print host = name[2] }
		{ last = $2 }' | xargs)"

check_status "without the hosts in names" 0 \
	"$PERF_GPU" merge --no-hosts -o plain.data first.data second.data third.data fourth.data
expect "processes are called what they were" "exe processes" \
	"$(kernels plain.data comm,event | cut -d ' ' -f 2 | sed 's/^ //' | sort -u | xargs)"

# --- read by others -------------------------------------------------------------------

check_status "inject reads it" 0 "$PERF_GPU" inject -i perf.data -o gpu.data
expect_match "all of it" '^\[ perf-gpu inject: 230 GPU kernels, .* 100\.0 % of GPU time has a stack \]$' "$(cat "$TMP/err")"
check_status "perf report reads what inject makes" 0 perf report -i gpu.data --stdio --no-children -g none -s comm
expect "without a word" "" "$(cat "$TMP/err")"
expect "and has the hosts" 6 "$(grep -c '@' "$TMP/out")"
check_status "perf script reads the merged file itself" 0 perf script -i perf.data -F comm,pid,time,event,ip,sym
expect "without a word" "" "$(cat "$TMP/err")"
expect "and has all launches" 230 "$(grep -c gpu-launch: "$TMP/out")"
expect "by time" "" "$(awk '/gpu-launch:/ { sub(":", "", $3); if ($3 + 0 < last) print; last = $3 + 0 }' "$TMP/out")"
expect_match "perf's header has the hosts" "^# hostname : $host,node2.site.org,node3\$" \
	"$(perf report -i perf.data --header-only 2>/dev/null)"
expect_match "our own second reader reads the sidecar" \
	'launches 230  samples 230  lost 0  kernels 230  dropped 0  unknown 0  logs 13 ' \
	"$(python3 "$TESTS/workloads/gpu_log.py" --account perf.data.gpu)"

# --- merged again ---------------------------------------------------------------------

"$PERF_GPU" merge -q -o one.data first.data second.data
"$PERF_GPU" merge -q -o other.data third.data fourth.data
check_status "merged ones are merged" 0 "$PERF_GPU" merge -o all.data one.data other.data
expect "into the same, but for pids" "$(kernels perf.data comm,time,period,event,sym)" \
	"$(kernels all.data comm,time,period,event,sym)"
check_status "one alone is merged, too" 0 "$PERF_GPU" merge -o alone.data one.data
expect "and stays what it is" "$(kernels one.data comm,pid,tid,time,period,event,sym)" \
	"$(kernels alone.data comm,pid,tid,time,period,event,sym)"
check_status "a merged one and one of its own" 1 "$PERF_GPU" merge -o no.data all.data second.data
expect "which is said" \
	"perf-gpu merge: all.data and second.data have processes in common: one was merged into the other already" \
	"$(cat "$TMP/err")"

# --- all kinds of recordings ------------------------------------------------------------

record --call-graph dwarf -o dwarf.data "$WORKLOADS/processes" once 20
record --call-graph fp -o fp.data "$WORKLOADS/processes" once 20
FAKE_CUDA_INSTANT=0 record --probe api -o api.data "$WORKLOADS/processes" once 20
check_status "stacks of all kinds are merged" 0 "$PERF_GPU" merge -o kinds.data first.data dwarf.data fp.data api.data
check_status "inject reads them" 0 "$PERF_GPU" inject --unwind -i kinds.data -o kinds.gpu.data
expect_match "all with stacks" '180 GPU kernels, .* 100\.0 % of GPU time has a stack' "$(cat "$TMP/err")"
expect "as they were, but for the walking" \
	"$(for file in first fp; do kernels $file.data pid,event,sym; done | sort)" \
	"$("$PERF_GPU" merge -q -o walked.data first.data dwarf.data fp.data &&
		"$PERF_GPU" inject -q --unwind -i walked.data -o walked.gpu.data &&
		kernels walked.data pid,event,sym | grep -v " $(kernels dwarf.data pid,event | awk 'NR == 1 { print $1 }') " | sort)"
expect_match "those of probes by time" '^\[ perf-gpu inject: 20 launches were joined .* by time' "$(cat "$TMP/err")"

cp perf.data before.data
cp perf.data.gpu before.data.gpu
check_status "what is in the output's place" 0 "$PERF_GPU" merge first.data second.data
check "is kept" cmp before.data perf.data.old
check "with its sidecar" cmp before.data.gpu perf.data.old.gpu

# --- clocks -----------------------------------------------------------------------------

# set_clock FILE SECONDS: the machine's clock was set by so much before the recording ended
set_clock()
{
	python3 - "$1" "$2" <<'END'
import struct
import sys
import zlib

path, seconds = sys.argv[1], int(sys.argv[2])
data = bytearray(open(path, "rb").read())
# The last block has the recorder's record alone; 48 bytes in, it has the later clocks.
block = len(data) - 32 - 176
end = block + 32 + 48
assert struct.unpack_from("<I", data, block)[0] == 0x42555047
realtime, = struct.unpack_from("<Q", data, end)
struct.pack_into("<Q", data, end, realtime + seconds * 10**9)
struct.pack_into("<I", data, block + 4, zlib.crc32(data[block + 8:]))
open(path, "wb").write(data)
END
}
record -o early.data "$WORKLOADS/processes" once 10
"$PERF_GPU" merge -q -o before.data first.data early.data
cp early.data set.data
cp early.data.gpu set.data.gpu
set_clock set.data.gpu 3600
check_status "a clock was set while it was recorded by" 0 "$PERF_GPU" merge -o set.merged.data first.data set.data
expect "which is told" \
	"perf-gpu merge: warning: set.data: the machine's clock was set by 3600000 ms while it was recorded: it goes by what it was set to" \
	"$(sed -E 's/ 36000[0-9]{2}\.[0-9]{3} ms/ 3600000 ms/; s/ 3599999\.[0-9]{3} ms/ 3600000 ms/' "$TMP/err" | grep warning)"
launches_of()
{
	perf script -i "$1" -F time,event 2>/dev/null | awk '/gpu-launch:/ { sub(":", "", $1); print $1 }'
}
expect "and it is an hour later" 3600 \
	"$(paste <(launches_of before.data | tail -n 1) <(launches_of set.merged.data | tail -n 1) |
		awk '{ printf "%.0f\n", $2 - $1 }')"

set_clock set.data.gpu 9000000000
check_status "a clock that is no time" 0 "$PERF_GPU" merge -o set.merged.data first.data set.data
expect_match "is told without an overflow" 'the machine.s clock was set by -94[0-9]*\.[0-9]* ms' "$(cat "$TMP/err")"

# Recordings of a version that said the clocks once
old=("$TESTS/data/h200/mini_llm/perf.data" "$TESTS/data/h200/two_streams/perf.data")
check_status "recordings of an older version" 0 "$PERF_GPU" merge -o old.data "${old[@]}"
expect "are all there" "$(sum_of "${old[@]}")" "$(account old.data)"

# --- one path, two files ------------------------------------------------------------------

# A host that has another build of a program: this machine has the later one.
cp "$WORKLOADS/processes" app
record --stacks process -o theirs.data ./app once 3
mv app before # another inode, too
cp "$WORKLOADS/families" app
FAMILIES_LAUNCHES=4 record --stacks process -o ours.data ./app once
check_status "hosts with different files of one path" 0 "$PERF_GPU" merge -o files.data theirs.data ours.data
launchers()
{
	awk '/plain_kernel__launch|\[unknown\] \(.*app\)/ { n[$2]++ } END { print n["plain_kernel__launch"], n["[unknown]"] }'
}
expect "each has its own names, and none has the other's" "4 12" \
	"$("$PERF_GPU" script -i files.data -F event,ip,sym,dso 2>"$TMP/err" | launchers)"
expect_match "which is said" 'warning: .*/app is not the one that was recorded' "$(cat "$TMP/err")"
expect "perf has it so as well" "4 12" \
	"$(perf script -i files.data -F event,ip,sym,dso 2>/dev/null | launchers)"

# --- what can't be merged: one line, and nothing is written -------------------------------

# refused WHAT REGEX FILE...
refused()
{
	local what=$1 regex=$2
	shift 2

	check_status "$what" 1 "$PERF_GPU" merge -o no.data "$@"
	expect_match "$what: says so" "^perf-gpu merge: $regex" "$(cat "$TMP/err")"
	expect "$what: writes nothing" "" "$(find . -name 'no.data*')"
}
refused "the same file twice" 'first.data and first.data are the same recording: name it once$' \
	first.data second.data first.data
cp first.data copy.data
cp first.data.gpu copy.data.gpu
refused "a copy of it" 'first.data and copy.data are the same recording' first.data copy.data
rm copy.data.gpu
refused "no sidecar" 'cannot open the GPU records copy.data.gpu: No such file' second.data copy.data
refused "no such file" "cannot open missing.data: No such file or directory \\(try 'perf-gpu record' first\\)\$" \
	second.data missing.data
check_status "standard output" 129 "$PERF_GPU" merge -o - second.data
expect_match "standard output: says why" '-o - is not supported' "$(cat "$TMP/err")"
expect "standard output: writes nothing" "" "$(find . -name '-*')"
cp second.data.gpu copy.data.gpu
refused "another's sidecar" 'copy.data.gpu is of another recording than copy.data ' copy.data
refused "what inject makes" 'gpu.data is what inject makes: ' second.data gpu.data
perf record -q -e dummy:u -o stock.data true >/dev/null 2>&1
refused "a recording of perf's own" 'stock.data was not recorded by perf-gpu record: ' second.data stock.data
echo "no recording" >text.data
refused "no recording at all" '.*text.data' second.data text.data
head -c 300 first.data >cut.data
cp first.data.gpu cut.data.gpu
refused "half a header" '.*cut.data' second.data cut.data

# The recorder's block is the last, of 32 + 176 bytes.
cp first.data copy.data
head -c -208 first.data.gpu >copy.data.gpu
check_status "a sidecar without its end has the clock of perf.data" 0 "$PERF_GPU" merge -o end.data copy.data second.data
expect "and all kernels" "$(sum_of first.data second.data)" "$(account end.data)"
head -c -208 first.data.gpu | head -c -40 >copy.data.gpu
check_status "damage is told" 0 "$PERF_GPU" merge -o end.data copy.data second.data
expect_match "as always" '^perf-gpu merge: warning: copy.data.gpu is damaged: ' "$(cat "$TMP/err")"

# break_kernel FILE SIZE: one in the midst of a block of kernels says to be a process, or to have
# SIZE; the checksum is right
break_kernel()
{
	python3 - "$1" "$2" <<'END'
import struct
import sys
import zlib

path, size = sys.argv[1], int(sys.argv[2])
data = bytearray(open(path, "rb").read())
at = 0
while at < len(data):
    magic, _, nr_bytes, *_ = struct.unpack_from("<IIIIQQ", data, at)
    assert magic == 0x42555047
    kernels, record = [], at + 32
    while record < at + 32 + nr_bytes:
        kind, record_size = struct.unpack_from("<HH", data, record)
        if kind == 7:
            kernels.append(record)
        record += record_size
    if len(kernels) > 4:
        break
    at += 32 + nr_bytes
middle = kernels[len(kernels) // 2]
struct.pack_into("<H", data, middle + (2 if size else 0), size or 1)
struct.pack_into("<I", data, at + 4, zlib.crc32(data[at + 8:at + 32 + nr_bytes]))
open(path, "wb").write(data)
print(len(kernels) - len(kernels) // 2)
END
}
gpu_records()
{
	"$PERF_GPU" report -v -i "$1" 2>&1 >/dev/null | sed -nE 's/.*GPU records: ([^]]*[^] ]).*/\1/p'
}
record -o many.data "$WORKLOADS/launches" -n 100
cp many.data copy.data
cp many.data.gpu copy.data.gpu
break_kernel copy.data.gpu 0 >behind
check_status "a record that isn't what it says" 0 "$PERF_GPU" merge -o end.data copy.data first.data
expect "is told" "perf-gpu merge: warning: copy.data.gpu breaks the format in a log: a record (of type 1) is left out" \
	"$(grep warning "$TMP/err")"
nr_all=$((100 + $(account first.data | cut -d ' ' -f 1)))
expect "and is all that is missing" "$nr_all = $((nr_all - 1)) delivered + 1 unreadable" "$(gpu_records end.data)"
cp many.data.gpu copy.data.gpu
break_kernel copy.data.gpu 12 >behind
check_status "a record without a size" 0 "$PERF_GPU" merge -o end.data copy.data first.data
expect "is told" "perf-gpu merge: warning: copy.data.gpu breaks the format in a log: the rest of a block is left out" \
	"$(grep warning "$TMP/err")"
expect "and all that was behind it is counted" "$nr_all = $((nr_all - $(cat behind))) delivered + $(cat behind) unreadable" \
	"$(gpu_records end.data)"

check_status "onto what is read" 1 "$PERF_GPU" merge -o first.data first.data second.data
expect "is refused" "perf-gpu merge: first.data is what is read: write to another file with -o" "$(cat "$TMP/err")"
check_status "onto a sidecar that is read" 1 "$PERF_GPU" merge -o second.data.gpu first.data second.data
check_status "no recordings" 129 "$PERF_GPU" merge
check_status "where there is no room" 1 "$PERF_GPU" merge -o /dev/full first.data second.data
check_status "in a folder that isn't there" 1 "$PERF_GPU" merge -o gone/merged.data first.data
expect "one line" 1 "$(wc -l <"$TMP/err")"
expect "nothing temporary is left" "" "$(find . -name '*.data.??????' -o -name '*.gpu.??????')"
