#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# functions.sh FILE...: say where C sources call what functions.txt forbids

set -euo pipefail

here=$(dirname "$0")
status=0

while read -r name instead; do
	# A call has no word character, "." or "->" before its name; comments are no calls.
	if grep -nHE "(^|[^[:alnum:]_.>])$name\\(" "$@" | grep -vE ':[[:space:]]*(/?\*|//)' |
		sed "s/\$/  <- $name() is not used here; use $instead/"; then
		status=1
	fi
done < <(grep -v '^#' "$here/functions.txt")
exit $status
