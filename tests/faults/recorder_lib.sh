# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # variables are for lib.sh, or its
#
# What tests of the recorder's faults have in common, beside lib.sh. `play NAME "${program[@]}"`
# records the program; when it has launched half, do_NAME does something to process $pid, the
# recorder; then the program goes on, and then_NAME may do more.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
rows_of recorder.md
need root bpf fake_cuda python3

export FAKE_CUDA_INSTANT=1

program=("$WORKLOADS/faults" between)
# The same, and it says how it ended though its recorder can't. Signals aren't for the shell.
# shellcheck disable=SC2016 # for that shell
watched=(bash -c 'trap : INT TERM HUP; "$@"; status=$?; echo "ended $status"; : >ended; exit $status'
	bash "${program[@]}")

# Until there is a file; some minutes at most
wait_for()
{
	for _ in $(seq 24000); do
		[ -e "$1" ] && return
		sleep 0.01
	done
	echo "there is no $1" >&3
}

without_fault()
{
	: >go
	"$@"
}

record_with_fault()
{
	local pid status function=${name//-/_}

	env --default-signal=INT,QUIT "${preload[@]}" "$PERF_GPU" record "${options[@]}" "$@" 2>&3 3>&- &
	pid=$!
	wait_for reached
	"do_$function"
	: >go
	[ "$(type -t "then_$function")" != function ] || "then_$function"
	wait $pid
	status=$?
	[ "$(echo perf.data.gpu.spool.*)" = 'perf.data.gpu.spool.*' ] || recover
	return $status
}

# What the shell says of a signal that ended the recorder is nothing that was said.
with_fault()
{
	record_with_fault "$@" 3>&2 2>/dev/null
}

# It says what record would have said.
recover()
{
	wait_for ended
	"$PERF_GPU" inject --recover -o recovered.data 2>recover.err
	sed 's/perf-gpu inject: /perf-gpu record: /; / dropped \]$/q' recover.err >&3
}

bare=(without_fault)
recorder=(with_fault)
preload=()
options=()
