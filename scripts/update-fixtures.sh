#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The recordings of a real GPU under tests/data/h200, each a folder with
#
#   perf.data, perf.data.gpu   as scripts/gpu-run.sh has recorded them there
#   launched.txt               what the program said that it launched
#   symfs/                     the program, for its symbols; nothing else is looked at
#   script.txt or script.txt.gz  what perf-gpu script makes of them
#
# usage: scripts/update-fixtures.sh              make the texts anew; review the diff
#        scripts/update-fixtures.sh --check      only say whether they are as expected
#        scripts/update-fixtures.sh --import DIR take over the recordings that were
#                                                unpacked in DIR, then the same
set -euo pipefail
cd "$(dirname "$0")/.."
O=${O:-build}
[[ $O = /* ]] || O=$PWD/$O
fixtures=tests/data/h200

import() {
	local name program
	for name in two_streams mini_llm torch_step; do
		mkdir -p "$fixtures/$name"
		cp "$1/$name"/{perf.data,perf.data.gpu,launched.txt} "$fixtures/$name/"
		chmod 644 "$fixtures/$name"/perf.data*
		program=$1/$name/$name
		[[ ! -e $program ]] ||
			install -D "$program" "$fixtures/$name/symfs/opt/perf-gpu/workloads/$name"
		mkdir -p "$fixtures/$name/symfs"
		# A folder without a file doesn't get into a commit.
		[[ -n $(ls "$fixtures/$name/symfs") ]] || touch "$fixtures/$name/symfs/.keep"
	done
}

script_of() {
	"$O/perf-gpu" script -q -i "$1/perf.data" --symfs "$1/symfs"
}

check=0
case ${1:-} in
--check) check=1 ;;
--import) import "$2" ;;
"") ;;
*)
	sed -n '/^# usage/,/^set/s/^# \{0,1\}//p' "$0" >&2
	exit 1
	;;
esac

status=0
for fixture in "$fixtures"/*/; do
	fixture=${fixture%/}
	text=$fixture/script.txt
	# Texts that nobody reads whole are kept small.
	case $fixture in
	*/two_streams) pack=(cat) ;;
	*) pack=(gzip -9 -n) text+=.gz ;;
	esac
	if [[ $check = 0 ]]; then
		script_of "$fixture" | "${pack[@]}" > "$text"
		echo "$text: $(stat -c %s "$text") bytes"
	elif script_of "$fixture" | cmp -s - <(zcat -f "$text"); then
		echo "$fixture: as expected"
	else
		echo "$fixture: perf-gpu script prints something else than $text:"
		diff <(zcat -f "$text") <(script_of "$fixture") | head -n 20 || true
		status=1
	fi
done
exit "$status"
