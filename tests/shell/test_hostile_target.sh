#!/bin/bash
# perf-gpu record with programs that attack it: logs, links, the marker's arguments
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda python3 setpriv
. "$TESTS/shell/attack_lib.sh"

# record WHO OPTIONS... -- COMMAND: by root, or with --run-as nobody; none may hang
record()
{
	local who=$1
	shift

	[ "$who" = root ] || set -- --run-as "$who" "$@"
	run_fake timeout -k 5 300 "$PERF_GPU" record "$@"
}

# --- links, FIFOs and folders in the spool -----------------------------------------------

echo "root's" >victim && chmod 644 victim
for who in nobody root; do
	mkdir -p -m 777 open
	mkdir -m 755 open/secret && touch open/secret/file
	check_status "$who puts links, FIFOs and folders among the logs" 0 \
		record $who -o perf.data python3 "$ATTACK" spool "$PWD/victim" "$PWD/open/secret"
	expect "$who: gets nothing by it, and the recorder waits on nothing" "" "$(cat "$TMP/out")"
	expect "$who: no other file is written to" "root's 1 644" "$(cat victim) $(stat -c '%h %a' victim)"
	expect "$who: and nothing is left" "" "$(find . -name '*.spool.*')"
	rm -rf open
done

# A folder of another's is not emptied for who moves it there in a folder of his own.
mkdir -m 777 open
install -d -m 755 -o 65534 open/his
install -d -m 755 open/his/ours && touch open/his/ours/file
check_status "a folder of root's in one of the user's, among the logs" 0 \
	record nobody -o open/perf.data sh -c 'mv open/his "$PERF_GPU_SPOOL"'
expect "is not emptied" 1 "$(find open -path '*.spool.*/his/ours/file' | wc -l)"
expect_match "which is told" "can't remove .*\.spool\..*: Directory not empty" "$(cat "$TMP/err")"
rm -rf open

check_status "who asks for logs without end" 0 record nobody python3 "$ATTACK" ask 3000
expect "is answered" "" "$(cat "$TMP/out")"

# --- the marker's arguments ----------------------------------------------------------------

# In dwarf, copied stacks of 8 KB take the room in the rings.
for mode in unwind fp dwarf; do
	nr_logs=70000 nr_launches=70,227
	[ $mode = unwind ] || nr_logs=100 nr_launches=327
	check_status "$mode: forged arguments of the marker" 1 record nobody -m 64M --call-graph $mode sh -c \
		"$WORKLOADS/launches -n 100; python3 $ATTACK marker $nr_logs; $WORKLOADS/launches -n 100"
	expect_match "$mode: only who knows the session is believed to launch" \
		"^\[ perf-gpu record: $nr_launches launches of 3 processes " "$(cat "$TMP/err")"
	expect_match "$mode: nothing is lost" ' 0 launches lost, 0 GPU records dropped' "$(cat "$TMP/err")"
	expect "$mode: and the launches of others have their kernels" 200 \
		"$("$PERF_GPU" script 2>/dev/null | grep -ac gpu-kernel:)"
	check "$mode: stock perf reads it" sh -c 'perf script -i perf.data >/dev/null'
done

# --- forged logs ----------------------------------------------------------------------------

check_status "forged logs" 0 record nobody sh -c \
	"$WORKLOADS/launches -n 100; python3 $ATTACK logs; $WORKLOADS/launches -n 100"
expect "nothing of what they say gets to the terminal raw" 0 "$(escapes "$TMP/err")"
expect "nor as lines without end" 0 "$(awk 'length($0) > 5000' "$TMP/err" | wc -l)"
expect "nor as ever so many lines" 1 "$(($(wc -l <"$TMP/err") < 100))"
expect "the launches of others have their kernels" 200 \
	"$("$PERF_GPU" script 2>/dev/null | grep -ac 'GPU_Kernel\]plain_kernel')"

# What reads it is not held up, and shows names as far as there is room.
for command in "report --names full" "script --folded" "export --chrome -o out.json" "flamegraph -o out.html" "inject -o out.data"; do
	# shellcheck disable=SC2086 # with its options
	check "perf-gpu ${command%% *} reads it" timeout 200 "$PERF_GPU" $command
done
for stacks in process uprobe; do
	check_status "--stacks $stacks: a kernel whose name has 100,000 bytes" 0 \
		record root --stacks $stacks env PLAIN_KERNEL_NAME="$(printf 'k%.0s' {1..100000})" "$WORKLOADS/launches" -n 10
	expect "--stacks $stacks: is cut to what a record has room for" 65000 \
		"$("$PERF_GPU" script 2>/dev/null | grep -ao 'k\{1000,\}' | head -n 1 | tr -d '\n' | wc -c)"
done

# A log that grows while it is read, and its process has outlived the command
check_status "a log that is written all the time" 0 record nobody python3 "$ATTACK" outlive 20
expect_match "is read up to where it was" 'GPU records in perf.data.gpu' "$(cat "$TMP/err")"

# --- libraries that aren't what they seem to be ------------------------------------------------

for options in "--probe api" ""; do
	# Another injection library in its place has the recorder probe the API.
	# shellcheck disable=SC2086 # of words
	check_status "files that are called libcuda${options:+, with $options}" 0 record root -e gpu-kernel $options \
		bash -c "CUDA_INJECTION64_PATH=/nowhere.so python3 $ATTACK libraries 400 $FAKE_CUDA/libcuda.so.1; $WORKLOADS/launches -n 100"
	[ -z "$options" ] || expect_match "are not probed all" 'more than 128 files are called libcuda' "$(cat "$TMP/err")"
	expect "nor told one by one${options:+, with $options}" 1 "$(($(wc -l <"$TMP/err") < 30))"
	expect_match "and disturb nobody${options:+, with $options}" ' 100 launches of 1 process ' "$(cat "$TMP/err")"
done

# --- one pid after another -----------------------------------------------------------------------

if ! has namespaces; then
	skip_one "processes that have the same pid" "need namespaces: $(why_not namespaces)"
	exit 0
fi

# In a pid namespace, where the next pid can be chosen: three programs with the same one.
for name in first second third; do
	cp "$WORKLOADS/launches" $name
done
cat >same.sh <<'END'
mount -t proc proc /proc || exit 1
for name in first second third; do
	echo 4999 >/proc/sys/kernel/ns_last_pid
	PLAIN_KERNEL_NAME=kernel_of_$name ./$name -n 10
done
END
for stacks in uprobe process; do
	check_status "--stacks $stacks: processes that have the same pid" 0 unshare -p -f -m env LD_LIBRARY_PATH="$FAKE_CUDA" \
		"$PERF_GPU" record --stacks $stacks bash same.sh
	expect "--stacks $stacks: had it" "launches 5000 10" "$(sort -u "$TMP/out")"
	expect "--stacks $stacks: are told apart" "first kernel_of_first
second kernel_of_second
third kernel_of_third" "$("$PERF_GPU" script --folded 2>/dev/null | sed 's/;.*GPU_Kernel./ /; s/ [0-9]*$//' | sort -u)"
done
