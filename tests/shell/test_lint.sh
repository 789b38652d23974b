#!/bin/bash
# tests/lint/pipes.sh: which readers of a pipe are refused, since they end while others still write
. "$(dirname "$0")/lib.sh"

# refuses WHAT LINES TEXT: "LINE LINE ..." of a script, in which @ is for |, or this file were refused
refuses()
{
	local status

	"$TESTS/lint/pipes.sh" <(printf '%s\n' "${3//@/|}") >found
	status=$?
	expect "$1: status" "$(($(wc -w <<<"$2") > 0))" "$status"
	expect "$1" "$2" "$(cut -d : -f 2 found | xargs)"
}

refuses "at once" "1 2 3" 'ldconfig -p @ grep -q libc
ldconfig -p @grep -E --quiet libc
ldconfig -p @ LC_ALL=C grep -m 1 libc'
refuses "in the next line" "1 3" 'ldconfig -p @
	grep -iq libc
ldconfig -p @ \
	grep -F -qx libc'
refuses "behind other lines" 3 'echo a
# so it is
if perf version @ fgrep -qs libc; then'
refuses "what reads files, or all" "" 'grep -q libc file @@ grep -q libc other
ldconfig -p @ grep -c q @@ grep -q libc file
ldconfig -p @ grep -E "x-q" >/dev/null
# ldconfig -p @ grep -q libc
ldconfig -p @ tail -n 1'
