#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pipes.sh FILE...: say where scripts read a pipe by what ends at the first match (grep -q,
# --quiet, -m). Who still writes then ends by SIGPIPE and, with pipefail, is taken for a failure:
# now and then, as the scheduler has it.

set -euo pipefail

# A pipe goes on in the next line behind its "|", or behind a backslash; comments are no commands.
awk '
	function look() {
		if (match(line, /(^|[^|])\|&?[ \t]*([A-Z_]+=[^ \t]*[ \t]+)*[ef]?grep([ \t]+-[-A-Za-z]+)*[ \t]+(-[A-Za-z]*[qm]|--(quiet|silent|max-count))/)) {
			printf "%s:%d:%s  <- ends at the first match; use grep ... >/dev/null\n", file, first, line
			found = 1
		}
		line = ""
	}
	FNR == 1 { look(); file = FILENAME }
	/^[ \t]*#/ { next }
	{
		if (line == "")
			first = FNR
		line = line " " $0
		sub(/\\$/, "", line)
	}
	!/(\||\\)$/ { look() }
	END { look(); exit found }' "$@"
