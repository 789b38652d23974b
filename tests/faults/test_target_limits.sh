#!/bin/bash
# Programs that close descriptors, and that may not have more of files, memory or room
. "$(dirname "$0")/lib.sh"
rows_of target.md
need root bpf fake_cuda

export FAKE_CUDA_INSTANT=1

play stdio
play closefrom
play closefrom-nofile
play nofile
play nofile-1
play nofile-2
play nofile-3
play as
play as-first
play fsize
play fsize-first
play fsize-none

# It makes a file in memory when it is loaded.
check_status "a program that waits to be recorded may have files of 4 kB" 0 \
	run_fake "$PERF_GPU" wait prlimit --fsize=4096 "$WORKLOADS/faults" exit
