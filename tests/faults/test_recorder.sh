#!/bin/bash
# What happens to the program, and to its recording, when its recorder gets a signal or no memory
# shellcheck disable=SC2034,SC2154,SC2317 # variables are for lib.sh, or its; functions are called by name
. "$(dirname "$0")/recorder_lib.sh"
rows_of recorder.md

do_int()
{
	kill -INT "$pid"
	wait_for signalled
}

do_int_twice()
{
	do_int
	rm signalled
	do_int
}

do_int_on_and_on()
{
	do_int
}

then_int_on_and_on()
{
	while kill -INT "$pid" && [ -e "/proc/$pid/exe" ]; do
		sleep 0.01
	done
}

do_term()
{
	kill -TERM "$pid"
	wait_for signalled
}

do_hup()
{
	kill -HUP "$pid"
}

do_pipe()
{
	kill -PIPE "$pid"
}

# Samples in the unfinished file
written_samples()
{
	python3 - perf.data.?????? perf.data.gpu.spool.*/recording <<'END'
import struct, sys
journal = dict(line.split(" ", 1) for line in open(sys.argv[2]).read().splitlines() if " " in line)
data = open(sys.argv[1], "rb").read()
offset, nr = int(journal["data_offset"]), 0
while offset + 8 <= len(data):
    kind, _, size = struct.unpack_from("<IHH", data, offset)
    nr += kind == 9
    offset += size
print(nr)
END
}

do_kill()
{
	for _ in $(seq 3000); do
		[ "$stacks" = process ] || [ "$(written_samples)" -ge 100 ] && break
		sleep 0.1
	done
	kill -KILL "$pid"
	# The library lets go of its logs.
	for _ in $(seq 3000); do
		flock -n perf.data.gpu.spool.*/*.gpulog true && break
		sleep 0.1
	done
}

do_kill_nobody()
{
	do_kill
}

do_memory()
{
	: >full
}

play int "${program[@]}"
play int-twice "${program[@]}"
play int-on-and-on "${program[@]}"
play term "${program[@]}"
play hup "${watched[@]}"
play pipe "${program[@]}"
play kill "${watched[@]}"
as_nobody=("${watched[@]}")
as_nobody[-1]=between-as-nobody
play kill-nobody "${as_nobody[@]}"
preload=(LD_PRELOAD="$O/tests/tools/libno-memory.so" NO_MEMORY_FILE=full)
play memory "${watched[@]}"
