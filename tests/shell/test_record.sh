#!/bin/bash
# perf-gpu record on the stand-in for CUDA: processes, threads, crashes, messages, losses
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda python3

record()
{
	run_fake "$PERF_GPU" record "$@"
}

# Of the closing lines in ./err
launches()
{
	sed -n 's/^\[ perf-gpu record: \([0-9,]*\) launch.* of .*/\1/p' err | tr -d ,
}

# The files here, but the test's own
files()
{
	find . -mindepth 1 -maxdepth 1 ! -name out ! -name err -printf '%f\n' | sort | xargs
}

# Kernels in the sidecar, by a reader that isn't ours
kernels()
{
	python3 "$TESTS/workloads/gpu_log.py" perf.data.gpu |
		awk '{ sum += $(NF - 2) } END { print sum + 0 }'
}

# --- one process -----------------------------------------------------------------------

check_status "1,000 launches" 0 record "$WORKLOADS/launches" -n 1000
expect "are all there" 1000 "$(launches)"
expect "with what the GPU did" 1000 "$(kernels)"
expect_match "and nothing was lost" '0 launches lost, 0 GPU records dropped' "$(cat err)"
expect "in two files" "perf.data perf.data.gpu" "$(files)"
perf script >/dev/null 2>perf.err
expect "perf has nothing to say" "" "$(cat perf.err)"
rm perf.err
expect "each launch is a sample" 1000 "$(perf script -F event 2>/dev/null | grep -c gpu-launch)"
expect_match "down to _start" '^_start$' \
	"$(perf script -F ip,sym 2>/dev/null | awk 'NF == 2 { print $2 }' | sort -u)"

check_status "threads" 0 record "$WORKLOADS/launches" -n 100 -t 50
expect "50 threads' launches" 5000 "$(launches)"
expect "and kernels" 5000 "$(kernels)"
expect "of 50 threads" 50 "$(perf script -F tid 2>/dev/null | awk 'NF == 1' | sort -u | wc -l)"

# --- processes ---------------------------------------------------------------------------

for how in fork spawn exec; do
	FAKE_CUDA_ALLOW_FORK=1 check_status "$how" 0 record "$WORKLOADS/processes" $how
	expect "$how: all launches are there" \
		"$(awk '/^launches/ { sum += $3 } END { print sum }' out)" "$(launches)"
	expect "$how: from where they were made" \
		"$(awk '/^launches/ { nr[$2] += $3 } END { for (pid in nr) print pid, nr[pid] }' out | sort)" \
		"$(perf script -F pid,event 2>/dev/null | awk '/gpu-launch/ { nr[$1]++ }
			END { for (pid in nr) print pid, nr[pid] }' | sort)"
	expect_match "$how: nothing was lost" '0 launches lost, 0 GPU' "$(cat err)"
done

# --- ends ------------------------------------------------------------------------------

# end HOW STATUS
end()
{
	check_status "it ends by $1" "$2" record "$WORKLOADS/launches" -n 1000 -l -e "$1"
	expect "$1: its launches are there" 1000 "$(launches)"
	expect "$1: and its kernels, flushed every second" 1000 "$(kernels)"
	perf script >/dev/null 2>perf.err
	expect "$1: perf has nothing to say" "" "$(cat perf.err)"
	rm perf.err
}

end thread 0
end _exit 0
end abort 134
end segv 139
end kill 137
expect_match "a process that ended early is told" \
	'1 process did not end in order .*may be missing' \
	"$(record "$WORKLOADS/launches" -n 10 -e kill 2>&1)"

# --- what the library has to say ---------------------------------------------------------

# says STATUS WHAT REGEX VARIABLE=VALUE
says()
{
	check_status "$2" "$1" run_fake env "$4" "$PERF_GPU" record "$WORKLOADS/launches"
	expect_match "$2: is told" "$3" "$(cat err)"
	expect_match "$2: the command isn't hurt" '^launches [0-9]+ 100$' "$(cat out)"
	expect "$2: once" 1 "$(grep -cE "$3" err)"
}

says 1 "no libcupti" 'launches \(pid [0-9]+\) is not recorded: .*/no/libcupti.so' \
	PERF_GPU_CUPTI=/no/libcupti.so
says 0 "another profiler" 'another profiler \(other\) has CUPTI in this process: the stacks' \
	FAKE_CUDA_SUBSCRIBER=other

FAKE_CUDA_DROP=10 check_status "GPU records are dropped" 0 record "$WORKLOADS/launches" -n 1000
expect_match "and counted" '0 launches lost, 100 GPU records dropped' "$(cat err)"
expect "the others are there" 900 "$(kernels)"

check_status "a device that isn't there" 1 run_fake env FAKE_CUDA_NO_DEVICE=1 \
	"$PERF_GPU" record "$WORKLOADS/launches"

# Another user can't write beside the output, and gets his log of the recorder.
chmod 755 "$TMP"
# shellcheck disable=SC2016 # for the inner shell
check_status "one process of two runs as another user" 0 record bash -c '
	"$1" -n 10
	setpriv --reuid 65534 --clear-groups "$1" -n 20' - "$WORKLOADS/launches"
expect "both are recorded" 30 "$(launches)"

# --- many ------------------------------------------------------------------------------

if [ -x "$WORKLOADS/truth_shared" ]; then
	# Rings that hold all of it, since other work on the machine can stop the recorder.
	check_status "100,000 launches of 8 threads" 0 record -m 64M "$WORKLOADS/truth_shared"
	expect_match "without a loss" '0 launches lost, 0 GPU records dropped' "$(cat err)"
else
	skip_one "100,000 launches of 8 threads" "need nvcc: no nvcc to build the CUDA programs"
fi

# --- names with spaces -------------------------------------------------------------------

# frames COMMAND...: the program's, in the first stack of the text that it prints
frames()
{
	"$@" 2>/dev/null | awk '!NF && nr { exit } NF > 1 { nr++; print $2 }' |
		grep -xE 'plain_kernel__launch|main|_start' | xargs
}

mkdir "a folder" && cp "$WORKLOADS/launches" "a folder/a program"
check_status "a program, a folder and a recording with spaces" 0 \
	record -o "a folder/a recording" "./a folder/a program" -n 2
expect "its functions have names" "plain_kernel__launch main _start" \
	"$(frames "$PERF_GPU" script -i "a folder/a recording" -F ip,sym)"
check "inject reads it" "$PERF_GPU" inject -i "a folder/a recording" -o "a folder/an output"
expect "and perf what inject writes" "plain_kernel__launch main _start" \
	"$(frames perf script -i "a folder/an output" -F ip,sym)"
