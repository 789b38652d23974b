#!/bin/bash
# Disks and networks that take long to write
# shellcheck disable=SC2034 # recorder is for lib.sh
. "$(dirname "$0")/lib.sh"
rows_of target.md
# Sanitizers want to be loaded first.
need root bpf fake_cuda plain

export FAKE_CUDA_INSTANT=1 SLOW=$O/tests/tools/libslow-writes.so

recorder=(setsid -w env "LD_PRELOAD=$SLOW" SLOW_WRITES_MS=20 "$PERF_GPU" record)
play slow-output "$WORKLOADS/launches" -n 5000
recorder=(setsid -w "$PERF_GPU" record)
play slow-log env "LD_PRELOAD=$SLOW" SLOW_WRITES_MS=100 "$WORKLOADS/launches" -n 50000
