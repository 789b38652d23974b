#!/bin/bash
# Programs that are stopped, execute, make children, and become others
. "$(dirname "$0")/lib.sh"
rows_of target.md
need root bpf fake_cuda

export FAKE_CUDA_INSTANT=1

# It ends when there is this file, and removes it.
after_daemon()
{
	local i

	touch carry-on
	for ((i = 0; i < 2000 && $(find . -name carry-on | wc -l); i++)); do
		sleep 0.05
	done
}

play stop
play exec
play exec-itself
play fork
play vfork
play daemon "$WORKLOADS/families" daemon carry-on
play setuid
play chroot
play setuid-closefrom
play chroot-closefrom
