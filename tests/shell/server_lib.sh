# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # $in, $out, $ctl and $ack are the caller's
#
# Talking to tests/workloads/server.c, and to a recorder by --control; to be sourced behind lib.sh.

# answer DESCRIPTOR: a line from a pipe; "" if none comes
answer()
{
	local line=""

	read -r -t 200 -u "$1" line
	echo "$line"
}

# tell COMMAND: gives the server ($in, $out) a command, and waits until it is done. What
# isn't is in the file odd.
tell()
{
	echo "$1" >&"$in"
	[ "$(answer "$out")" = "done $1" ] || echo "no answer to '$1'" >>odd
}

# order COMMAND: gives the recorder ($ctl, $ack) a command of --control, and waits until it is done.
order()
{
	echo "$1" >&"$ctl"
	[ "$(answer "$ack")" = ack ] || echo "no answer to '$1'" >>odd
}
