#!/bin/bash
# Names that a terminal would obey, or HTML, JSON and CSV be broken by: no command prints them raw
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda python3

export FAKE_CUDA_INSTANT=1
ESC=$'\e' C1=$'\xc2\x9b' RAW=$'\x9b'
# A title for the window, colours in three ways, a newline, markup, quotes, and what formats take
EVIL="k${ESC}]0;owned"$'\a'"${ESC}[31m${C1}31m${RAW}31m"$'\r\n\t\b\x7f'"<script>alert(1)</script>--></style>\"&'\\,;=cmd|'%s%n"
NAME="la${ESC}[31m${C1}1m${RAW}x"

# Lines that have something else than visible characters, newlines and tabs
raw()
{
	LC_ALL=C grep -caP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|(^|[\x00-\x7f])[\x80-\xbf]' "$1"
}

cp "$WORKLOADS/launches" "$NAME"
export PLAIN_KERNEL_NAME=$EVIL
run_fake "$PERF_GPU" record -v "./$NAME" -n 3 -t 2 >/dev/null 2>err
expect "record" 0 "$(raw err)"
run_fake "$PERF_GPU" record --stacks process "./$NAME" -n 3 -t 2 >/dev/null 2>>err
expect "record --stacks process" 0 "$(raw err)"
run_fake "$PERF_GPU" record "./not$NAME" >/dev/null 2>err
expect "record, of a command that isn't there" 0 "$(raw err)"
# A device's name, a process's, a thread's, a message, a range and a device of a forged log
python3 - "$TESTS/workloads/attack.py" <<'END' >forged.py
import sys
print(open(sys.argv[1]).read().split('if __name__')[0] + r'''
now = time.monotonic_ns()
text = ESCAPE + os.environb[b"PLAIN_KERNEL_NAME"]
log = process(name=ESCAPE) + string(1, text) + shape(1, 1) + kernel(1, 1, now, now + 1000)
log += record(4, struct.pack("<IIIII16sQ", 0, 1, 9, 0, 132, b"\x1b[31m" * 3, 1 << 37))
log += record(9, struct.pack("<II", 2, len(text)) + text + b"\0")
log += record(26, struct.pack("<IQIIQI", 0, now, 1, 1, 0, 1)) + record(27, struct.pack("<IIIII", 1, 2, 3, 1, 0))
write("1-1.gpulog", block(1, log))
''')
END
run_fake "$PERF_GPU" record -o forged.data -v --nvtx bash -c "exec -a '$NAME' python3 forged.py" >/dev/null 2>err
expect "record, of a forged log" 0 "$(raw err)"
expect_match "whose message is there" '\\x1b' "$(cat err)"

LD_LIBRARY_PATH=$FAKE_CUDA "./$NAME" -n 1 -w 60000 >ready &
until grep -q launches ready; do sleep 0.05; done
run_fake "$PERF_GPU" check -v >out 2>&1
expect "check, beside such a process" 0 "$(raw out)"
kill $!

for data in perf.data forged.data; do
	while read -r command; do
		# shellcheck disable=SC2086 # with its options
		"$PERF_GPU" $command -i $data >out 2>err
		status=$?
		[ $status = 0 ] || fail "$data: $command" "status $status: $(cat -v err)"
		expect "$data: $command" "0 0" "$(raw out) $(raw err)"
		expect "$data: $command prints something" 1 "$(($(wc -c <out) > 0))"
	done <<-'END'
		report
		report --names full
		report --by device,stream,process,rank --callers 5
		report --csv
		report --json
		script
		script -v -F comm,tid,pid,cpu,time,period,event,ip,sym,srcline,dso
		script --names full
		script --folded
		flamegraph -o -
		flamegraph --svg -o -
		export --chrome -o -
		export --speedscope -o -
		export --firefox -o -
	END
	check_status "$data: inject" 0 "$PERF_GPU" inject -v -i $data -o injected.data
	expect "$data: inject" "0 0" "$(raw "$TMP/out") $(raw "$TMP/err")"
	nm -p "injected.data.dso/[GPU_Kernel]" >out
	expect "$data: names that other tools show" 0 "$(raw out)"

	"$PERF_GPU" flamegraph -i $data -o - 2>err >out
	expect "$data: no markup gets into a page" 0 "$(grep -c '<script>alert' out)"
	"$PERF_GPU" flamegraph --svg -i $data -o - 2>err >out
	check "$data: a picture is well-formed" python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("out")'
	expect "$data: and has no markup of a name's" 0 "$(grep -c '<script>alert' out)"
	for format in chrome speedscope firefox; do
		"$PERF_GPU" export --$format -i $data -o json 2>err
		check "$data: --$format is JSON in UTF-8" python3 -c 'import json; json.load(open("json", encoding="utf-8"))'
	done
	"$PERF_GPU" report --json -i $data >json 2>err
	check "$data: report --json, too" python3 -c 'import json; json.load(open("json", encoding="utf-8"))'
	"$PERF_GPU" report --csv -i $data >csv 2>err
	check "$data: report --csv has as many columns in each line" python3 -c '
import csv
assert len({len(row) for row in csv.reader(open("csv", encoding="utf-8", newline=""), strict=True)}) == 1'
done
