#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The recordings of a real GPU under tests/data/h200, each a folder with
#
#   perf.data, perf.data.gpu   as scripts/gpu-run.sh has recorded them there
#   launched.txt               what the program said that it launched
#   symfs/                     the program, for its symbols; nothing else is looked at
#   script.txt or script.txt.gz  what perf-gpu script makes of them
#   gpu-EVENT.txt, bytes.txt, leaks.txt  of a recording of all events (events*), what it makes
#                              of each, weighed by bytes, and with --leaks
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

events=(gpu-kernel gpu-memcpy gpu-memset gpu-sync gpu-launch gpu-queue gpu-idle gpu-alloc
	gpu-fault)

import() {
	local name from program
	for name in two_streams mini_llm torch_step events events_cupti12 ddp; do
		from=$1/$name
		[[ $name != ddp ]] || from=$1/ddp_small
		if [[ ! -e $from/perf.data ]]; then
			echo "$1 has no $name: what there is stays"
			continue
		fi
		mkdir -p "$fixtures/$name"
		cp "$from"/{perf.data,perf.data.gpu,launched.txt} "$fixtures/$name/"
		chmod 644 "$fixtures/$name"/perf.data*
		program=$name
		[[ $name != events* ]] || program=event_truth
		[[ ! -e $from/$program ]] ||
			install -D "$from/$program" \
				"$fixtures/$name/symfs/opt/perf-gpu/workloads/$program"
		mkdir -p "$fixtures/$name/symfs"
		# A folder without a file doesn't get into a commit.
		[[ -n $(ls "$fixtures/$name/symfs") ]] || touch "$fixtures/$name/symfs/.keep"
	done
}

# script_of FIXTURE [option of perf-gpu script ...]
script_of() {
	"$O/perf-gpu" script -q -i "$1/perf.data" --symfs "$1/symfs" "${@:2}"
}

# texts_of FIXTURE: a line for each, TEXT [option of perf-gpu script ...]
texts_of() {
	local event
	case $1 in
	*/two_streams) echo script.txt ;;
	*/ddp) echo "script.txt.gz -F +device,rank,bytes" ;;
	# Texts that nobody reads whole are kept small.
	*) echo script.txt.gz ;;
	esac
	[[ $1 = */events* ]] || return 0
	for event in "${events[@]}"; do
		echo "$event.txt -e $event -F event,period,ip,sym"
	done
	echo "bytes.txt -e gpu-memcpy,gpu-memset --weight=bytes -F event,period,ip,sym"
	echo "leaks.txt -e gpu-alloc --leaks -F event,period,ip,sym"
}

# update_or_check FIXTURE TEXT [option of perf-gpu script ...]
update_or_check() {
	local text=$1/$2 pack=(cat)
	[[ $text != *.gz ]] || pack=(gzip -9 -n)
	if [[ $check = 0 ]]; then
		script_of "$1" "${@:3}" | "${pack[@]}" > "$text"
		echo "$text: $(stat -c %s "$text") bytes"
	elif script_of "$1" "${@:3}" | cmp -s - <(zcat -f "$text"); then
		echo "$text: as expected"
	else
		echo "$1: perf-gpu script ${*:3} prints something else than $text:"
		diff <(zcat -f "$text") <(script_of "$1" "${@:3}") | head -n 20 || true
		status=1
	fi
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
	while read -r text options; do
		# shellcheck disable=SC2086 # several options
		update_or_check "$fixture" "$text" $options
	done < <(texts_of "$fixture")
done
exit "$status"
