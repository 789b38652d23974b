#!/bin/bash
# What perf record -z compresses and perf record -o - writes is joined with our GPU records
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda python3

export FAKE_CUDA_INSTANT=1 DEBUGINFOD_URLS=
# A copy, so that these probes are on nobody else's library
cp -r "$FAKE_CUDA" cuda
export LD_LIBRARY_PATH=$TMP/cuda
group=test_packed_$$

trap 'status=$?; perf probe -q -d "$group:*" 2>/dev/null; (exit $status); cleanup' EXIT
if ! perf probe -q -x cuda/libcuda.so.1 "$group:launch=cuLaunchKernel" 2>err ||
	! perf probe -q -x cuda/libcuda.so.1 "$group:graph=cuGraphLaunch" 2>err; then
	echo "1..0 # SKIP perf probe doesn't work: $(head -n 1 err)"
	exit 0
fi
program=("$WORKLOADS/launches" -n 400)
# With a kernel for each of its 400 launches
if has nvcc; then
	program=("$WORKLOADS/truth_shared" -n 400 -o launched.txt)
fi

# by_perf OPTION of perf record... : standard output is perf's
by_perf()
{
	"$PERF_GPU" record --probe none -- perf record -q -e "$group:*" -k CLOCK_MONOTONIC -g -m 16M \
		"$@" -- "${program[@]}"
}

# What was recorded into a pipe, out of a pipe
feed()
{
	if [ -e stream.data ]; then
		cat stream.data
	fi
}

# joined WHAT [OPTION...]: what was recorded last, read with these options, stdin being a pipe
joined()
{
	local what=$1
	shift

	if has nvcc; then
		feed | "$PERF_GPU" script "$@" >script.txt 2>script.err
		check "$what: perf-gpu script has 0 wrong stacks" python3 \
			"$TESTS/workloads/check_truth.py" launched.txt script.txt --sidecar perf.data.gpu
	fi
	feed | "$PERF_GPU" inject "$@" 2>inject.err
	by_perf_itself "$what"
}

by_perf_itself()
{
	expect_match "$1: all GPU time has a stack" '100.0 % of GPU time has a stack' "$(cat inject.err)"
	perf script -i perf.gpu.data >perf.txt 2>perf.err
	expect "$1: perf reads what inject makes without a word" "" "$(cat perf.err)"
	expect_match "$1: with the kernels" '\[GPU_Kernel\]' "$(cat perf.txt)"
}

check "compressed: is recorded" by_perf -z -o perf.data
expect_match "compressed: it is" 'compressed : Zstd' "$(perf report -i perf.data --header-only 2>/dev/null)"
joined "compressed"
# As perf leaves it when it is killed: nothing tells how long it is, nor which probe is which.
python3 - <<'END'
data = bytearray(open("perf.data", "rb").read())
end = int.from_bytes(data[40:48], "little") + int.from_bytes(data[48:56], "little")
data[48:56] = bytes(8)
open("killed.data", "wb").write(data[:end])
END
check_status "compressed, perf was killed" 1 "$PERF_GPU" inject -i killed.data -g perf.data.gpu
expect_match "is told" 'killed\.data lacks its end, which tells what its probes are' "$(cat err)"

check "compressed copies of stacks: are recorded" by_perf -z9 -o perf.data --call-graph dwarf,4096
joined "compressed copies of stacks"

rm perf.data
by_perf -o - >stream.data 2>record.err
expect "pipe mode: is recorded" 0 "$?"
check "pipe mode: no perf.data is left" test ! -e perf.data
joined "pipe mode, in a file" -i stream.data -g perf.data.gpu
joined "pipe mode, from a pipe" -i -

by_perf -z -o - >stream.data 2>record.err
expect "compressed in pipe mode: is recorded" 0 "$?"
joined "compressed in pipe mode" -i -

rm stream.data perf.data.gpu
by_perf -o - 2>record.err | "$PERF_GPU" inject -i - 2>inject.err
by_perf_itself "straight from the recorder"

"$PERF_GPU" inject -i - </dev/null >out 2>err
expect_match "nothing on standard input: is told" 'standard input is not a regular file' "$(cat err)"
: | "$PERF_GPU" inject -i - >out 2>err
expect_match "an empty pipe: is told" 'standard input is empty' "$(cat err)"
mkfifo fifo
check_status "a FIFO's name" 1 "$PERF_GPU" inject -i fifo
expect_match "is refused with what to do" 'read a pipe with -i - <fifo' "$(cat "$TMP/err")"
by_perf -o - 2>record.err | TMPDIR=/nowhere "$PERF_GPU" inject -i - >out 2>err
expect_match "no place to store it: is told" 'cannot store standard input in /nowhere: No such file.*TMPDIR' "$(cat err)"
