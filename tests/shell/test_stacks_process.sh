#!/bin/bash
# record --stacks process: the same samples as by uprobes, without any right
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda python3 setpriv

export FAKE_CUDA_INSTANT=1 FAKE_CUDA_ALLOW_FORK=1
SECCOMP_DENY=$O/tests/tools/seccomp-deny
export PYTHONDONTWRITEBYTECODE=1
chmod 755 "$TMP"

record()
{
	run_fake "$PERF_GPU" record "$@"
}

# A line for each sample, sorted: what was launched, and from where, but not when and in
# which process. Addresses of kernels depend on their order, as do names k<N> of kernels
# that python_stacks.py launches in threads.
samples()
{
	"$PERF_GPU" script -i "$1" -F comm,event,ip,sym,symoff,dso 2>/dev/null |
		sed -E 's/^\s+1000000000[0-9a-f]+ //; s/\[GPU_Kernel\]k[0-9]+ /k /' |
		awk -v RS= '{ gsub(/\n\s*/, "; "); print }' | sort
}

# By stock perf, which knows the launches only
launches()
{
	perf script -i "$1" -F comm,event,ip,sym,symoff,dso 2>/dev/null |
		awk -v RS= '/gpu-launch/ { gsub(/\n\s*/, "; "); print }' | sort
}

# --- both ways are the same ---------------------------------------------------------------

# same WHAT LEAST COMMAND...: at least so many samples
same()
{
	local what=$1 least=$2 way
	shift 2

	rm -f perf.data*
	for way in uprobe process; do
		check_status "$what, by $way" 0 record -o $way.data --stacks $way "$@"
		expect_match "$what, by $way: nothing is lost" '^\[ .* 0 launches lost, 0 GPU records dropped' \
			"$(cat "$TMP/err")"
		samples $way.data >$way.samples
		launches $way.data >$way.launches
	done
	check "$what: both have the same samples" diff uprobe.samples process.samples
	check "$what: perf sees the same launches" diff uprobe.launches process.launches
	check "$what: there are some" test "$(wc -l <process.samples)" -ge "$least"
}

same "threads" 800 "$WORKLOADS/launches" -n 100 -t 8
same "a tree of processes" 200 "$WORKLOADS/processes" fork
same "programs that run others" 400 "$WORKLOADS/processes" spawn
same "libraries that are opened and closed" 60 "$WORKLOADS/plugins" 6 10
expect "they had the same address" 1 "$(awk '{ print $3 }' "$TMP/out" | sort -u | wc -l)"
for plugin in a b; do
	expect "stacks through plugin $plugin are named so" 30 \
		"$(grep -c "run_in_plugin_$plugin.*plugin_$plugin.so" process.samples)"
done
same "Python" 200 python3 "$TESTS/workloads/python_stacks.py" "$TMP/truth"
expect_match "Python: its functions are there" 'py::recursive' "$(cat process.samples)"
if has nvcc; then
	same "a program that knows its stacks" 1000 "$WORKLOADS/truth_shared" -n 1000
	same "the same, stripped and without frame pointers" 500 \
		"$WORKLOADS/truth_stripped_static_fake" -n 500
	same "two streams" 200 "$WORKLOADS/two_streams"
	same "graphs" 10 "$WORKLOADS/graph_truth"
else
	skip_one "programs by nvcc" "no nvcc"
fi

# --- who reads it --------------------------------------------------------------------------

check_status "perf report reads it" 0 perf report -i process.data --stdio
expect "without complaints" "" "$(cat "$TMP/err")"
check_status "perf script reads it" 0 perf script -i process.data
expect "without complaints" "" "$(cat "$TMP/err")"
check "in order" test "$(perf script -D -i process.data 2>&1 | grep -c 'out of order')" -eq 0
expect_match "build ids are there" ' .*/libcuda.so.1$' "$(perf buildid-list -i process.data)"
check_status "inject reads it" 0 "$PERF_GPU" inject -i process.data -o injected.data
expect "the sidecar has no launches" 0 "$(python3 - process.data.gpu <<'EOF'
import struct, sys
data = open(sys.argv[1], "rb").read()
offset, found = 0, 0
while offset < len(data):
    end = offset + 32 + struct.unpack_from("<I", data, offset + 8)[0]
    offset += 32
    while offset < end:
        record, size = struct.unpack_from("<HH", data, offset)
        found += 12 <= record <= 16
        offset += size
print(found)
EOF
)"
if has hotspot; then
	parser=$(find /usr/lib* /usr/libexec -name hotspot-perfparser 2>/dev/null | head -n 1)
	check_status "hotspot's parser reads it" 0 "$parser" --input injected.data --output parsed
	check_status "and has costs" 0 python3 "$TESTS/tools/hotspot_costs.py" parsed
else
	skip_one "hotspot's parser reads it" "hotspot isn't installed"
fi

# --- who may do it ---------------------------------------------------------------------------

# The only line, but for the two closing ones
notice()
{
	sed '$d' "$TMP/err" | sed '$d'
}

mkdir unprivileged && chown 65534:65534 unprivileged && cd unprivileged || exit 1
as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all)
if "${as_nobody[@]}" test -x "$PERF_GPU"; then
	check_status "any user" 0 run_fake "${as_nobody[@]}" "$PERF_GPU" record \
		"$WORKLOADS/launches" -n 1000 -t 4
	expect "is told, in one line" \
		"[ perf-gpu record: stacks are taken within the process: this user may not use BPF ]" "$(notice)"
	expect "has all launches" 4000 "$(samples perf.data | grep -c 'plain_kernel.*start_thread')"
	check "can read them by perf" "${as_nobody[@]}" perf report -i perf.data --stdio
	expect "and owns the files" "65534 65534" "$(stat -c %u perf.data perf.data.gpu | xargs)"
else
	skip_one "any user" "the build is not for others to read"
fi
cd ..

for denied in bpf perf_event_open bpf,perf_event_open; do
	check_status "where $denied is forbidden" 0 run_fake "$SECCOMP_DENY" $denied "$PERF_GPU" record \
		"$WORKLOADS/launches" -n 1000
	expect_match "$denied: is told" \
		'^\[ perf-gpu record: stacks are taken within the process: .*Operation not permitted \]$' "$(notice)"
	expect "$denied: in one line" 1 "$(notice | wc -l)"
	expect "$denied: all is recorded" 1000 "$(samples perf.data | grep -c plain_kernel)"
	check_status "where $denied is forbidden, on demand" 0 run_fake "$SECCOMP_DENY" $denied \
		"$PERF_GPU" record --stacks process "$WORKLOADS/launches" -n 10
	expect "$denied: nothing is told then" "" "$(notice)"
done
check_status "what to do is told with -v" 0 run_fake "$SECCOMP_DENY" bpf "$PERF_GPU" record -v \
	"$WORKLOADS/launches"
expect_match "it is" 'for stacks by uprobes: .*container that filters bpf' "$(cat "$TMP/err")"

rm -f perf.data*
for mode in fp dwarf; do
	check_status "--call-graph $mode needs a uprobe" 1 run_fake "$SECCOMP_DENY" bpf "$PERF_GPU" \
		record --call-graph $mode "$WORKLOADS/launches"
	expect_match "$mode: is an error" '^perf-gpu record: the kernel refuses to load a BPF program' \
		"$(cat "$TMP/err")"
	check_status "--stacks process --call-graph $mode" 129 "$PERF_GPU" record --stacks process \
		--call-graph $mode true
done
check_status "--stacks process --probe api" 129 "$PERF_GPU" record --stacks process --probe api true
check_status "--stacks uprobe --probe none" 129 "$PERF_GPU" record --stacks uprobe --probe none true
for options in "--call-graph fp" "--call-graph dwarf" "--probe api"; do
	# shellcheck disable=SC2086 # two words
	check_status "--python walk $options" 129 "$PERF_GPU" record --python walk $options true
done
check_status "--stacks anything" 129 "$PERF_GPU" record --stacks anything true
expect "nothing is recorded" "" "$(find . -maxdepth 1 -name 'perf.data*')"

# --- programs that end badly ----------------------------------------------------------------

# Every kernel that was recorded has its launch, at whichever moment they are killed.
odd=""
cat >killed.sh <<'END'
"${@:2}" &
until [ "$(cat "$PERF_GPU_SPOOL"/*.gpulog | wc -c)" -gt 300000 ]; do sleep 0.05; done
sleep "$1"
kill -KILL $!
wait $!
END
for seconds in 0 0.2 0.6 1.1; do
	record --stacks process -e +gpu-launch -o killed.data bash killed.sh $seconds \
		env -u FAKE_CUDA_INSTANT "$WORKLOADS/launches" -n 1000000000 -t 64 >"$TMP/out" 2>"$TMP/err"
	[ $? = 137 ] || odd+="$seconds: it was not killed"$'\n'
	samples killed.data >killed.samples
	[ "$(wc -l <killed.samples)" -gt 1000 ] || odd+="$seconds: there are no kernels"$'\n'
	grep -q '\[unattributed\]' killed.samples &&
		odd+="$seconds: $(grep -c '\[unattributed\]' killed.samples) kernels have no launch"$'\n'
done
expect "killed: all kernels have their launch" "" "$odd"

# --- logs that no library has written -------------------------------------------------------

cat >hostile.sh <<'EOF'
cd "$PERF_GPU_SPOOL" || exit 1
head -c 100000 /dev/urandom >1-0000000000000001.gpulaunch
ln -s /etc/passwd 2-0000000000000002.gpulaunch
ln -s "$(ls ./*.gpulaunch | head -n 1)" 3-0000000000000003.gpulaunch
mkfifo 4-0000000000000004.gpulaunch
mkdir 5-0000000000000005.gpulaunch
: >6-0000000000000006.gpulaunch
EOF
# shellcheck disable=SC2016 # for the shells that are recorded
record -q --stacks process -o other.data sh -c \
	"$WORKLOADS/launches"' && cp "$PERF_GPU_SPOOL"/*.gpulaunch '"$TMP" >/dev/null
# shellcheck disable=SC2016
check_status "files that are no logs" 0 record --stacks process sh -c \
	"$WORKLOADS/launches && sh hostile.sh"' && cp '"$TMP"'/*.gpulaunch "$PERF_GPU_SPOOL/7-0000000000000007.gpulaunch"'
expect "each is told of" 6 "$(grep -c '^perf-gpu record: warning: .*000[1-7]\.gpulaunch' "$TMP/err")"
expect "and the rest is recorded" 100 "$(samples perf.data | grep -c plain_kernel)"
expect "no folder is left" "" "$(find . -name '*.spool.*')"

# --- no room ---------------------------------------------------------------------------------

mkdir disk
nr_full=0 nr_whole=0 odd=""
for kib in 16 64 128 256 512 1024 4096; do
	if ! mount -t tmpfs -o size=${kib}k none disk 2>/dev/null; then
		odd="tmpfs can't be mounted"
		break
	fi
	record --stacks process -o disk/perf.data "$WORKLOADS/launches" -n 4000 >"$TMP/out" 2>"$TMP/err"
	status=$?
	if grep -q 'what was recorded is kept' "$TMP/err"; then
		mount -o remount,size=20m disk
		"$PERF_GPU" inject --recover -i disk/perf.data -o recovered.data >/dev/null 2>"$TMP/recover.err" ||
			odd+="$kib KiB: not recovered: $(cat "$TMP/recover.err")"$'\n'
		rm -f disk/perf.data disk/perf.data.gpu
	fi
	case "$status $(find disk -mindepth 1 -printf '%P\n' | sort | xargs)" in
	"0 perf.data perf.data.gpu")
		nr_whole=$((nr_whole + 1))
		python3 "$TESTS/workloads/gpu_log.py" --account disk/perf.data.gpu |
			awk '/^launches 4000 / { exit !($4 + $6 == 4000) }' ||
			odd+="$kib KiB: not all is accounted for"$'\n'
		;;
	"1 ")
		nr_full=$((nr_full + 1))
		grep -q 'No space left on device' "$TMP/err" || odd+="$kib KiB: not told"$'\n'
		;;
	*) odd+="$kib KiB: status $status"$'\n' ;;
	esac
	umount disk
done
if [ "$odd" = "tmpfs can't be mounted" ]; then
	skip_one "a full disk" "$odd"
else
	expect "a full disk: all or nothing, and told" "" "$odd"
	check "some disks are too small, some aren't" test $nr_full -gt 1 -a $nr_whole -gt 1
fi
