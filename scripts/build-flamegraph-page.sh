#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# build-flamegraph-page.sh FOLDER HEADER: makes the page of perf-gpu flamegraph in FOLDER,
# of perf-gpu/flamegraph/page and what npm brings (package-lock.json says what, to the bit),
# and writes it as a C header.
#
# The rest of perf-gpu needs nothing of this: where there is no npm, or it brings nothing,
# the header says why, and so does perf-gpu flamegraph, which then only draws with --svg.
#
# Environment: NPM, NODE; an empty one isn't there.

set -uo pipefail

if [ $# -ne 2 ]; then
	sed -n '4,/^$/s/^# \{0,1\}//p' "$0" >&2
	exit 2
fi

sources=$(cd "$(dirname "$0")/../perf-gpu/flamegraph/page" && pwd) || exit 1
mkdir -p "$1" "$(dirname "$2")" || exit 1
folder=$(cd "$1" && pwd)
header=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
log=$folder/npm.log

# without WHY: the header of a build without the page
without()
{
	printf '#define FLAMEGRAPH_NO_PAGE "%s"\n' "$1" >"$header"
}

if [ -z "${NPM-npm}" ] || [ -z "${NODE-node}" ]; then
	without "npm wasn't there when perf-gpu was built"
	exit
fi

cp "$sources"/* "$folder" || exit 1
cd "$folder" || exit 1
# Nothing that packages bring is run, but esbuild. Without a network, fail soon.
if ! "${NPM-npm}" ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 \
	--fetch-timeout=60000 >"$log" 2>&1; then
	without "npm couldn't bring what the page is made of when perf-gpu was built"
	echo "perf-gpu flamegraph will only draw with --svg: npm ci failed, see $log;" \
		"make again after rm $header" >&2
	exit
fi
if ! "${NODE-node}" build.mjs "$header" >"$log" 2>&1; then
	cat "$log" >&2
	exit 1
fi
