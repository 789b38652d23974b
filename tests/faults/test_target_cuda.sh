#!/bin/bash
# Programs that reset, destroy and close what CUDA is, and whose calls of it fail
. "$(dirname "$0")/lib.sh"
rows_of target.md
need root bpf fake_cuda

export FAKE_CUDA_INSTANT=1 FAKE_CUDA_TRAP=fault_trap

play reset
play ctx-destroy
play dlclose
play failed-launches
play error-state
play threads
