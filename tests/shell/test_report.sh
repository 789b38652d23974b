#!/bin/bash
# perf-gpu report: exact figures, callers, one screen, CSV and JSON, colours, wrong options
. "$(dirname "$0")/lib.sh"
need python3

fixtures=$TESTS/data/h200

# --- recordings of a real GPU ------------------------------------------------------------

# right NAME OPTION...: the report of a fixture is what its GPU records say
right()
{
	local name=$1
	shift

	report=("$PERF_GPU" report -q -i "$fixtures/$name/perf.data"
		--symfs "$fixtures/$name/symfs" --names mangled "$@")
	"${report[@]}" --json >"$name.json" && "${report[@]}" --csv >"$name.csv" &&
		python3 "$TESTS/workloads/check_report.py" "$fixtures/$name/perf.data.gpu" \
			"$name.json" --csv "$name.csv"
}

for name in two_streams mini_llm torch_step events ddp; do
	if [ -d "$fixtures/$name" ]; then
		check "$name: each figure is right" right "$name"
	else
		skip_one "$name: each figure is right" "it isn't recorded yet"
	fi
done
check "two_streams: in each stream, too" right two_streams --by stream

# callers NAME KERNEL: and their shares in percent
callers()
{
	"$PERF_GPU" report -q -i "$fixtures/$1/perf.data" --symfs "$fixtures/$1/symfs" --json \
		--names short | python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    if row["name"] == sys.argv[1]:
        for caller in row["callers"]:
            print(caller["name"], round(100 * caller["total"] / row["total"]))' "$2"
}
expect "mini_llm: matmul's callers, not its stub" $'attention 47\nfeed_forward 45\nforward 8' \
	"$(callers mini_llm matmul)"
expect "two_streams: who captured the graph sent its kernels" "capture_graph 100" \
	"$(callers two_streams from_graph)"
expect "two_streams: or who launched it, if that is asked for" "replay_graph" \
	"$("$PERF_GPU" report -q -i "$fixtures/two_streams/perf.data" \
		--symfs "$fixtures/two_streams/symfs" --graph-stacks launch --limit 0 |
		grep -A1 'from_graph' | sed -n 's/.* from //p')"
expect_match "torch_step: a caller is a function of the script, not of PyTorch" \
	'^Block\.attention \(torch_step\.py\) ' \
	"$(callers torch_step fmha_cutlassF_f32_aligned_64x64_rf_sm80)"
callers torch_step at::native::vectorized_elementwise_kernel >callers.txt
expect_match "torch_step: threads without one are named" '^\[thread pt_autograd_0\] ' \
	"$(cat callers.txt)"
expect_no_match "torch_step: nothing of a library is a caller" 'libtorch|site-packages|unknown' \
	"$(cat callers.txt)"

# --- the text ------------------------------------------------------------------------------

text()
{
	"$PERF_GPU" report -i "$fixtures/torch_step/perf.data" --symfs "$fixtures/torch_step/symfs" "$@"
}
check_status "without options it prints tables" 0 env -u COLUMNS "$PERF_GPU" report \
	-i "$fixtures/torch_step/perf.data" --symfs "$fixtures/torch_step/symfs"
check "of 80 columns" awk 'length > 80 { print; wrong = 1 } END { exit wrong }' out
check "on one screen" test "$(wc -l <out)" -le 50
expect_no_match "in a pipe there are no colours" $'\033' "$(cat out)"
expect "six kernels and what is left" "6 1" \
	"$(grep -cE '^ *[0-9.]+% +[0-9.]+[mu]s +[0-9]+ ' out) $(grep -c ' more (--limit 0 shows all)$' out)"
# of EVENTS, with all that was recorded
of_events()
{
	"$PERF_GPU" report -i "$fixtures/events/perf.data" \
		--symfs "$fixtures/events/symfs" "$@" 2>/dev/null
}
of_events >out
check "with all events too" test "$(wc -l <out)" -le 50
check "of 80 columns" awk 'length > 80 { print; wrong = 1 } END { exit wrong }' out
expect "its last lines say what is left out" \
	"Left out: gpu-launch, gpu-queue, gpu-alloc, gpu-fault. All tables: -v; all rows: --limit 0; one event: -e." \
	"$(tail -n 2 out | paste -sd ' ')"
expect "and that is all that is left out" "API calls Allocations Kernels that waited Migrations" \
	"$(of_events -v | sed -n 's/^ Share.* \(Max\|StdDev\)  //p' |
		grep -vxFf <(sed -n 's/^ Share.* \(Max\|StdDev\)  //p' out) |
		LC_ALL=C sort | paste -sd ' ')"
for options in "-v" "--limit 3" "--callers 1" "--by device"; do
	# shellcheck disable=SC2086 # two words
	expect "$options leaves nothing out" 0 "$(of_events $options | grep -c '^Left out')"
done
for lines in 24 30 48 80; do
	python3 "$TESTS/tools/on_terminal.py" -l $lines "$PERF_GPU" report -q \
		-i "$fixtures/events/perf.data" --symfs "$fixtures/events/symfs" >seen
	check "a terminal of $lines lines has room for it" \
		test "$(wc -l <seen)" -lt $((lines < 50 ? lines : 51))
	expect_match "with the first kernel" ' spin_cover' "$(cat seen)"
done
nr_kernels=$(python3 "$TESTS/workloads/gpu_log.py" "$fixtures/torch_step/perf.data.gpu" | wc -l)
expect "--limit 0 has all kernels" "$nr_kernels" \
	"$(text --limit 0 --callers 0 | grep -cE '^ *[0-9.]+% +[0-9.]+[mun]s +[0-9,]+ ')"
expect "--callers 0 has none" 0 "$(text --callers 0 | grep -c ' from ')"
expect "--limit 1 --callers 1 has one" 1 "$(text --limit 1 --callers 1 | grep -c ' from ')"
expect_match "a wide line has whole names" \
	'void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char\*, 3ul> >\(int, at::native::CUDAFunctor_add<float>, std::array<char\*, 3ul>\)$' \
	"$(COLUMNS=300 text --limit 0)"
for columns in 80 100 119 160; do
	expect "in $columns columns no two names look alike" "" "$(COLUMNS=$columns text --limit 0 \
		--callers 0 -q | sed -n '/^ Share/,$p' |
		awk '{ print substr($0, /^       /? 8 : 61) }' | grep . | sort | uniq -d)"
done
expect_match "narrow lines have what tells kernels apart" \
	'^       vectorized_elementwise_kernel<4, CUDAFunctor_add<\.\.\.>, array<\.\.\.>>$' "$(text --limit 0)"
expect_match "-v has grids, blocks and registers" \
	'grid [0-9]+,[0-9]+,[0-9]+ block [0-9]+,[0-9]+,[0-9]+ [0-9]+ registers$' "$(text -v 2>/dev/null)"
for key in total calls mean median min max stddev bytes name; do
	text --sort $key --json -q >sorted.json
	check "--sort $key sorts" python3 -c '
import json, sys
rows = json.load(open("sorted.json"))["rows"]
key = sys.argv[1]
values = [row.get(key, 0) for row in rows]
sys.exit(values != sorted(values, reverse=key != "name") or len(rows) != int(sys.argv[2]))' \
		$key "$nr_kernels"
done

expect "the README has what is printed" "$(text -q --names short --limit 5)" \
	"$(sed -n '/perf-gpu report --names short --limit 5$/,/^[^ ]/p' "$TESTS/../README.md" |
		sed '1d; /^[^ ]/d; s/^    //')"

if has script; then
	# at_terminal VARIABLE=VALUE...
	at_terminal()
	{
		env -u NO_COLOR -u COLUMNS TERM=xterm "$@" script -qec "$PERF_GPU report -q \
			-i $fixtures/mini_llm/perf.data --symfs $fixtures/mini_llm/symfs" /dev/null
	}
	expect_match "a terminal has colours" $'\033\\[31m' "$(at_terminal A=a)"
	expect_no_match "unless NO_COLOR is set" $'\033' "$(at_terminal NO_COLOR=1)"
	expect_no_match "or it can't show them" $'\033' "$(at_terminal TERM=dumb)"
else
	skip_one "a terminal has colours" "script isn't installed"
fi

# --- names that would do something to a terminal -----------------------------------------------

python3 - "$fixtures/mini_llm/perf.data.gpu" hostile.gpu <<'END'
import struct, sys, zlib
data = bytearray(open(sys.argv[1], "rb").read())
name = b"_Z3addPfPKf\0"
assert name in data
at = data.index(name)
data[at:at + len(name) - 1] = b'\x1b[31m"\n\\\xff=='
offset = 0
while offset < len(data):
    size, = struct.unpack_from("<I", data, offset + 8)
    struct.pack_into("<I", data, offset + 4, zlib.crc32(data[offset + 8:offset + 32 + size]))
    offset += 32 + size
open(sys.argv[2], "wb").write(data)
END
hostile()
{
	"$PERF_GPU" report -q -i "$fixtures/mini_llm/perf.data" -g hostile.gpu --limit 0 "$@"
}
expect "the text has nothing of what is in a name" '?[31m"?\?==' \
	"$(hostile | LC_ALL=C tr -d '\n' | LC_ALL=C grep -oE '.\[31m".\\.==')"
expect "JSON has it as it is, but for what is no UTF-8" "['\\x1b[31m\"\\n\\\\\ufffd==']" \
	"$(hostile --json | python3 -c '
import json, sys
print(ascii([row["name"] for row in json.load(sys.stdin)["rows"] if "[31m" in row["name"]]))')"
expect "CSV has a line for it" "['?[31m\"?\\\\\ufffd==']" "$(hostile --csv | python3 -c '
import csv, sys
print(ascii([row["name"] for row in csv.DictReader(sys.stdin)
             if "[31m" in row["name"] and row["line"] == "row"]))')"

# --- what is wrong ---------------------------------------------------------------------------

# refused WHAT MESSAGE OPTION...
refused()
{
	check_status "$1 is refused" 129 "$PERF_GPU" report "${@:3}"
	expect_match "and why is said" "$2" "$(cat err)"
}
refused "an unknown key" "--sort takes total, .* not size" --sort size
refused "an unknown group" "--by takes .* not 'gpu'" --by device,gpu
refused "no number" "--limit takes a number, not -1" --limit -1
refused "half a number" "--callers takes a number, not 3x" --callers 3x
refused "CSV and JSON at once" "exclude each other" --csv --json
refused "an operand" "unexpected argument perf.data" perf.data
check_status "no recording, no report" 1 "$PERF_GPU" report
expect_match "and why is said" "cannot open perf.data: No such file or directory \(try 'perf-gpu record' first\)\$" "$(cat err)"
expect "on stdout is nothing" "" "$(cat out)"
check_status "an event that wasn't recorded is refused" 1 text -e gpu-alloc
expect_match "and why is said" 'has no gpu-alloc' "$(cat err)"
check_status "a full disk is told" 1 bash -c \
	"'$PERF_GPU' report -i '$fixtures/mini_llm/perf.data' >/dev/full"

# --- all events, on the stand-in ---------------------------------------------------------------

if ! has root || ! has fake_cuda || ! has nvcc; then
	skip_one "all events" "not root, or no stand-in, or no nvcc"
	exit 0
fi
"$WORKLOADS/event_truth" -d >durations
"$WORKLOADS/event_truth" -m >migrations
export FAKE_CUDA_DURATIONS=$TMP/durations FAKE_CUDA_MIGRATIONS=$TMP/migrations FAKE_CUDA_DEVICES=2
check "all events are recorded" run_fake "$PERF_GPU" record --stacks process \
	-e all "$WORKLOADS/event_truth" -o launched.txt copies memsets graphs peers allocations \
	waits gaps calls queues faults
right_events()
{
	"$PERF_GPU" report -q --names mangled --json "$@" >report.json &&
		"$PERF_GPU" report -q --names mangled --csv "$@" >report.csv &&
		python3 "$TESTS/workloads/check_report.py" perf.data.gpu report.json \
			--csv report.csv --launched launched.txt
}
check "each figure is right, and callers are the program's functions" right_events
expect "which are all events" 9 "$(grep -c '^    {"event": "[^"]*", "unit"' report.json)"
sed '/\tcopy_dtod$/s/gpu-memcpy\tbytes\t2/gpu-memcpy\tbytes\t3/' launched.txt >other.txt
check_status "it would be noticed if one had called once more" 1 python3 \
	"$TESTS/workloads/check_report.py" perf.data.gpu report.json --launched other.txt
sed 's/"busy_ns": /&1/' report.json >other.json
check_status "or if a GPU had been busy longer" 1 python3 \
	"$TESTS/workloads/check_report.py" perf.data.gpu other.json
check "by stream, with the time of each" right_events --by stream
expect_match "which the text has, too" '^  busy [0-9.,]+ ms, [0-9.]+ % of [0-9.,]+ ms; idle [0-9.]+ ms in [0-9]+ gaps?$' \
	"$("$PERF_GPU" report -q --by stream)"
check "by device, stream, process and rank" right_events --by device,stream,process,rank

# The figures of inject's lines: "44 736.032", "39 29,578,619 0.563", ...
"$PERF_GPU" inject 2>inject.err
"$PERF_GPU" report -q >report.txt
expect "what each event comes to is what inject says" \
	"$(sed -nE '/GPU [0-9]+ \(|without a stack|page faults/d
		s/^\[ perf-gpu inject: ([0-9,]+) [a-zA-Z ]+, ([^;]*);.*/\1 \2/p' inject.err |
		sed -E 's/([0-9,]+) ([0-9,]+) bytes, (.*) ms/\1 \3 ms \2/')" \
	"$(sed -nE 's/^gpu-[a-z]+ +([0-9,]+) +([0-9.,]+ [a-z]+) +[0-9.]+ %( +([0-9,]+) B)?$/\1 \2 \4/p' \
		<(sed -E '/^gpu-fault/s/([0-9,]+) bytes( +[0-9.]+ %) +(.*)/\3\2  \1 B/' report.txt) |
		sed 's/ $//')"
expect "so are busy and idle" \
	"$(sed -nE 's/.*busy ([0-9.,]+) ms, idle ([0-9.,]+) ms in ([0-9,]+) gaps?.*/\1 \2 \3/p' inject.err)" \
	"$(tr '\n' ' ' <report.txt | sed -E 's/  +/ /g' |
		grep -oE 'busy [0-9.,]+ ms, [0-9.]+ % of [0-9.,]+ ms; idle [0-9.,]+ ms in [0-9,]+ gaps?' |
		sed -E 's/busy ([0-9.,]+) ms.*idle ([0-9.,]+) ms in ([0-9,]+) gaps?/\1 \2 \3/')"
expect "--leaks has what leaked" \
	"$(awk -F '\t' '$2 == "leaks" { sum += $5 } END { print sum }' launched.txt)" \
	"$("$PERF_GPU" report -q -e gpu-alloc --leaks --csv |
		awk -F , '/^row/ { sum += $11 } END { print sum }')"

# --- a GPU with little to do ---------------------------------------------------------------

"$PERF_GPU" record -q -- true 2>/dev/null
check_status "of nothing there is a report" 0 "$PERF_GPU" report
expect "which is a line" "Nothing of gpu-kernel is in the recording." "$(cat out)"

check "a program that copies nothing is recorded" run_fake "$PERF_GPU" record -q \
	--stacks process -e all "$WORKLOADS/event_truth" -o launched.txt memsets
check_status "and has a report" 0 "$PERF_GPU" report -q
expect_match "with its GPU's time" '^  busy [0-9.,]+ ms, [0-9.]+ % of ' "$(cat out)"
expect_no_match "and not a word on copies" 'copying' "$(cat out)"
check_status "an event that didn't come" 0 "$PERF_GPU" report -q -e gpu-fault
expect "is told of" "Nothing of gpu-fault is in the recording." "$(head -n 1 out)"
expect_no_match "in no table" 'Count|Share' "$(cat out)"
