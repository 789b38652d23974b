#!/bin/bash
# Processes that fork, clone, spawn and exec: none is hurt, all of their launches are told apart
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda python3

# record COMMAND...: on the stand-in, where a forked child can launch
record()
{
	run_fake env FAKE_CUDA_ALLOW_FORK=1 "$PERF_GPU" record "$@" >out 2>err
}

# One line "PID LAUNCHES" for each process: what it says itself, and what was recorded
said()
{
	awk '$1 == "launches" { sum[$2] += $3 } END { for (pid in sum) print pid, sum[pid] }' out |
		sort
}
recorded()
{
	perf script -i perf.data -F pid 2>/dev/null |
		awk 'NF == 1 { n[$1]++ } END { for (pid in n) print pid, n[pid] }' | sort
}
logs()
{
	python3 "$TESTS/workloads/gpu_log.py" --account perf.data.gpu |
		grep -o 'logs [0-9]*' | cut -d ' ' -f 2
}

# The same with the processes' names, which change at exec and by prctl
names_said()
{
	awk '$1 == "launches" { sum[$2 " " $4] += $3 } END { for (who in sum) print who, sum[who] }' out |
		sort
}
names_recorded()
{
	perf script -i perf.data -F comm,pid,event 2>/dev/null | awk '$3 == "gpu-launch:" { n[$2 " " $1]++ }
		END { for (who in n) print who, n[who] }' | sort
}

# The 5-byte nop that Linux 6.18 makes a call of would kill the children.
record "$WORKLOADS/processes" fork 100
expect "fork, grandchild and raw clone end well" "0 4" "$? $(said | wc -l)"
expect "every launch of theirs is a sample" "$(said)" "$(recorded)"
expect "each has a log of its own" 4 "$(logs)"
expect "under its process's name" "$(names_said)" "$(names_recorded)"
expect "the library knows which were forked" "child fork
grandchild fork
processes -
raw-clone fork" "$(python3 "$TESTS/workloads/gpu_log.py" --processes perf.data.gpu |
	cut -d ' ' -f 2,5 | sort)"
"$PERF_GPU" inject 2>err
expect_match "the kernels of the process itself have their stack" \
	' 200 GPU kernels, .* 100\.0 % of GPU time has a stack' "$(cat err)"

for i in 1 2 3 4 5; do
	record "$WORKLOADS/processes" fork 20 || break
done
expect "five times over" "0 5" "$? $i"

# Any lock may be held by a thread that the child doesn't have.
FAKE_CUDA_INSTANT=1 record -m 64M "$WORKLOADS/processes" busy 100
expect "forks of a process whose threads launch end well" "0 41" "$? $(said | wc -l)"
expect "every launch of theirs is a sample" "$(names_said)" "$(names_recorded)"
expect "each has a log of its own" 41 "$(logs)"
"$PERF_GPU" inject 2>err
expect_match "the kernels of the process itself have their stack" \
	" $(said | sort -k 2n | awk 'END { print $2 }' |
		sed -E ':a; s/([0-9])([0-9]{3})\b/\1,\2/; ta') GPU kernels, .* 100\.0 % of GPU time" "$(cat err)"

record "$WORKLOADS/processes" spawn 100
expect "spawned children end well" "0 4" "$? $(said | wc -l)"
expect "every launch of theirs is a sample" "$(said)" "$(recorded)"
"$PERF_GPU" inject 2>err
expect_match "with its kernels" ' 400 GPU kernels, .* 100\.0 %' "$(cat err)"
expect "under the programs' names" "exe processes" \
	"$("$PERF_GPU" script -F comm,event 2>/dev/null | awk '/gpu-kernel/ { print $1 }' | sort -u | xargs)"

record "$WORKLOADS/processes" exec 100
expect "a process that calls exec ends well" "0 200" "$? $(said | cut -d ' ' -f 2)"
expect "every launch of both programs is a sample" "$(said)" "$(recorded)"
expect "each program has a log of its own" 2 "$(logs)"
expect "under its name" "$(names_said)" "$(names_recorded)"
expect_match "what exec may have lost is told" '1 process did not end in order' "$(cat err)"

record bash -c '
	for i in 1 2 3; do "$1" once 10 & done
	wait
	"$1" spawn 10' - "$WORKLOADS/processes"
expect "a tree of seven" "0 7" "$? $(said | wc -l)"
expect "every launch of it is a sample" "$(said)" "$(recorded)"
