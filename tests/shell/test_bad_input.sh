#!/bin/bash
# inject and script with what isn't a recording, or not all of one: a line each, and no output
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda

files()
{
	find . -mindepth 1 -printf '%P\n' | sort | xargs
}

# refuses WHAT REGEX ARGUMENTS...: by inject and by script
refuses()
{
	local what=$1 regex=$2 command before
	shift 2

	for command in inject script; do
		before=$(files)
		"$PERF_GPU" $command "$@" >../out 2>../err
		expect "$command of $what fails" 1 "$?"
		expect_match "$command of $what says why" "$regex" "$(cat ../err)"
		expect "$command of $what says it once" 1 "$(wc -l <../err)"
		expect "$command of $what prints nothing else" "" "$(cat ../out)"
		expect "$command of $what leaves nothing" "$before" "$(files)"
	done
}

mkdir recording && cd recording || exit 1
run_fake "$PERF_GPU" record -q "$WORKLOADS/launches" -n 200 >/dev/null
cp perf.data whole.data
cp perf.data.gpu whole.data.gpu

refuses "a file that isn't there" 'no\.data: No such file' -i no.data
refuses "a folder" 'is a directory' -i .
rm perf.data.gpu
refuses "a recording without its sidecar" 'perf\.data\.gpu: No such file' -i perf.data
: >perf.data.gpu
refuses "an empty sidecar" 'perf\.data\.gpu' -i perf.data
head -c 4096 /dev/urandom >perf.data.gpu
refuses "a sidecar that is none" 'perf\.data\.gpu' -i perf.data
head -c 20 whole.data.gpu >perf.data.gpu
refuses "a sidecar cut in its first block" 'perf\.data\.gpu' -i perf.data
run_fake "$PERF_GPU" record -q -o other.data "$WORKLOADS/launches" -n 5 >/dev/null
refuses "the sidecar of another recording" 'is of another recording than' \
	-i whole.data -g other.data.gpu

: >empty.data
refuses "an empty file" 'empty\.data' -i empty.data
echo "no recording" >text.data
refuses "a text" 'text\.data' -i text.data
cp whole.data.gpu cut.data.gpu
for bytes in 8 103 200; do
	head -c $bytes whole.data >cut.data
	refuses "a perf.data of $bytes bytes" 'cut\.data' -i cut.data
done
perf record -q -o cpu.data true 2>/dev/null
refuses "a perf.data without launches" 'was not recorded by perf-gpu record' -i cpu.data
"$PERF_GPU" inject -q -i whole.data -o injected.data
cp whole.data.gpu injected.data.gpu
refuses "what inject made" 'is what inject makes' -i injected.data

# Cut where records are, it is read as far as it goes, and said.
head -c $(($(stat -c %s whole.data) / 2)) whole.data >cut.data
check_status "half a perf.data" 0 "$PERF_GPU" inject -i cut.data -o half.data
expect_match "is told" 'cut\.data' "$(cat "$TMP/err")"
expect_match "what has no launch any more is kept" '(is|are) under \[unattributed\]' "$(cat "$TMP/err")"
expect "all of its time" \
	"$(perf report -i injected.data --header-only >/dev/null 2>&1
	perf script -i injected.data -F period 2>/dev/null | awk 'NF == 1 { s += $1 } END { print s }')" \
	"$(perf script -i half.data -F period 2>/dev/null | awk 'NF == 1 { s += $1 } END { print s }')"

cp whole.data cut.data
head -c $(($(stat -c %s whole.data.gpu) / 2)) whole.data.gpu >cut.data.gpu
"$PERF_GPU" script -i cut.data >"$TMP/out" 2>"$TMP/err"
expect_match "half a sidecar is told" 'cut\.data\.gpu' "$(cat "$TMP/err")"

# reads_cut FILE: cut anywhere, it is refused in a line, or read as far as it goes and that is said
reads_cut()
{
	local file=$1 bytes status whole_bytes nr_lines odd="" nr_refused=0 nr_read=0

	whole_bytes=$(stat -c %s "$file")
	cp whole.data cut.data
	cp whole.data.gpu cut.data.gpu
	for bytes in $(seq 1 $((whole_bytes / 60)) "$whole_bytes") $((whole_bytes - 1)); do
		head -c "$bytes" "$file" >"cut${file#whole}"
		rm -rf swept.data*
		"$PERF_GPU" inject -i cut.data -o swept.data 2>"$TMP/err"
		status=$?
		nr_lines=$(grep -c "^perf-gpu inject: .*cut${file#whole}" "$TMP/err")
		case "$status $(find . -name 'swept*' ! -path './swept.data.dso/*' -printf '%P\n' | sort | xargs)" in
		"1 ")
			nr_refused=$((nr_refused + 1))
			[ "$(wc -l <"$TMP/err")" = 1 ] && [ "$nr_lines" = 1 ] ||
				odd+="$bytes bytes: refused with $(cat "$TMP/err")"$'\n'
			;;
		"0 swept.data swept.data.dso")
			nr_read=$((nr_read + 1))
			[ "$nr_lines" -ge 1 ] || odd+="$bytes bytes: not told: $(cat "$TMP/err")"$'\n'
			perf script -i swept.data 2>&1 >/dev/null | grep . >/dev/null &&
				odd+="$bytes bytes: perf complains of what was made"$'\n'
			;;
		*) odd+="$bytes bytes: status $status and $(ls -d swept*)"$'\n' ;;
		esac
	done
	expect "$file cut anywhere" "" "$odd"
	check "of $file, some is refused and some read" test "$nr_refused" -gt 0 -a "$nr_read" -gt 40
}
reads_cut whole.data
reads_cut whole.data.gpu
rm -rf swept.data*

check_status "no folder to write to" 1 "$PERF_GPU" inject -i whole.data -o no/perf.gpu.data
expect_match "is told" 'no/perf\.gpu\.data.*No such file' "$(cat "$TMP/err")"
check_status "its own input" 1 "$PERF_GPU" inject -i whole.data -o whole.data
expect_match "is not written over" 'is what is read' "$(cat "$TMP/err")"
check "and is whole" perf script -i whole.data

mkdir small
if mount -t tmpfs -o size=16k none small 2>/dev/null; then
	check_status "a full disk" 1 "$PERF_GPU" inject -i whole.data -o small/perf.gpu.data
	expect_match "is told" 'No space left' "$(cat "$TMP/err")"
	expect "and leaves no output" "" "$(find small -name 'perf.gpu.data')"
	umount small
else
	skip_one "a full disk" "tmpfs can't be mounted"
fi

check_status "standard output" 129 "$PERF_GPU" inject -i whole.data -o -
expect_match "is refused" '-o - is not supported: two files' "$(cat "$TMP/err")"
expect "and no file is called so" "" "$(find . -name '-*')"

check_status "an unknown option" 129 "$PERF_GPU" inject --no-such-option
check_status "an unknown style of names" 129 "$PERF_GPU" inject --names=pretty
check_status "an argument too many" 129 "$PERF_GPU" script extra
