#!/bin/bash
# Programs that end in all the ways that there are: as without perf-gpu, and what was recorded is kept
. "$(dirname "$0")/lib.sh"
rows_of target.md
need root bpf fake_cuda

# They outlast the test, whatever else runs on the machine.
echo "fault_slow 100000000000" >durations
export FAKE_CUDA_DURATIONS=$TMP/durations

play exit
play exit-thread
play main-thread-ends
play term-handled
play exit-running
play atexit-early
play atexit-late
play destructor
play _exit
play abort
play segv
play term
play int-group
play kill
play kill-later
play kill-running
