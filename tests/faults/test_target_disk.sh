#!/bin/bash
# Disks that are full, and folders that go away
# shellcheck disable=SC2034 # recorder and ways are for lib.sh
. "$(dirname "$0")/lib.sh"
rows_of target.md
need root bpf fake_cuda

export FAKE_CUDA_INSTANT=1

in_folder()
{
	mkdir folder
	setsid -w "$PERF_GPU" record -o folder/perf.data "$@"
}

recorder=(in_folder)
play vanished

mkdir try
if mount -t tmpfs none try 2>/dev/null; then
	umount try
	recorder=(in_small_tmpfs 1M)
	play disk "$WORKLOADS/launches" -n 50000
	ways=(process)
	play disk-while
else
	skip_one "a full disk" "tmpfs can't be mounted"
fi
