#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make-pictures.sh RECORDING [PICTURE...]: makes the README's pictures,
#
#   docs/flamegraph.svg  what `perf-gpu flamegraph --svg -e gpu-kernel` draws
#   docs/flamegraph.png  the page that `perf-gpu flamegraph` writes, in Chromium, with a
#                        function searched for, and the pointer at another
#   docs/hotspot.png     hotspot's Flame Graph, with the kernel that takes most time
#                        searched for, above its Bottom Up tab
#
# or those that are named, of a recording of mini_llm that scripts/gpu-run.sh brought from a
# GPU: a folder with perf.data, perf.data.gpu and the recorded program.
#
# hotspot is photographed under Xvfb, and its tabs are clicked at where they are in
# version 1.3 with Qt's own style: look at the pictures before they go in.

set -euo pipefail

usage()
{
	sed -n '4,/^$/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

die()
{
	echo "make-pictures: $*" >&2
	exit 1
}

[ $# -ge 1 ] || usage

recording=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- flamegraph.svg flamegraph.png hotspot.png
cd "$(dirname "$0")/.."
perf_gpu=${O:-build}/perf-gpu

width=1280
height=760
# What of the window is shown: the flame graph has what is above the time line, the
# other tab its table.
flame_graph_area=${width}x506+0+0
bottom_up_area=${width}x256+0+34

# need COMMAND...
need()
{
	local command

	for command; do
		command -v "$command" >/dev/null ||
			die "$command isn't installed: scripts/setup.sh --tests does it (import: package imagemagick)"
	done
}
need perf objcopy

work=$(mktemp -d)
pids=()
cleanup()
{
	[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT

# Where the program was when it was recorded
find_program()
{
	local path

	while read -r _ path; do
		if [ -e "$recording/$(basename "$path")" ]; then
			echo "$path"
			return
		fi
	done < <(perf buildid-list -i "$recording/perf.data")
	die "$recording has none of the programs that were recorded"
}

program_path=$(find_program)
program=$(basename "$program_path")

# This stands for the machine it was recorded on: nothing of this one is taken for it.
# hotspot 1.3 mixes up the functions that nvcc's debug information has inlined.
symfs=$work/symfs
mkdir -p "$(dirname "$symfs$program_path")"
objcopy --strip-debug "$recording/$program" "$symfs$program_path"
cp "$recording/perf.data" "$recording/perf.data.gpu" "$work"

mkdir -p docs

# No folder of this machine in it
check_text()
{
	if grep -nF -e "$(dirname "$program_path")" -e "$work" "$1"; then
		die "$1 names a folder of the machine"
	fi
}

# --- perf-gpu flamegraph -----------------------------------------------------------

draw()
{
	"$perf_gpu" flamegraph -q -e gpu-kernel -i "$work/perf.data" --symfs "$symfs" "$@"
}

make_flamegraph_svg()
{
	draw --svg -o "$work/flamegraph.svg"
	check_text "$work/flamegraph.svg"
	cp "$work/flamegraph.svg" docs/flamegraph.svg
}

make_flamegraph_png()
{
	need python3 chromium
	draw -o "$work/flamegraph.html"
	python3 tests/tools/flamegraph_page.py "$work/flamegraph.html" size 1280 400 \
		search matmul tip feed_forward picture "$work/flamegraph.png"
	cp "$work/flamegraph.png" docs/flamegraph.png
}

# --- hotspot -----------------------------------------------------------------------

# Of the kernel with most time, as hotspot calls it
find_longest()
{
	awk '{
			ns = $NF; sub(/ [0-9]+$/, ""); sub(/.*;/, ""); sum[$0] += ns
			if (sum[$0] > most) { most = sum[$0]; longest = $0 }
		} END { print longest }' <("$perf_gpu" script -q --folded -e gpu-kernel \
		-i "$work/perf.data" --symfs "$symfs")
}

# Until it shows the recording
start_hotspot()
{
	local display_fd display i hotspot

	mkdir -p "$work/home" "$work/run"
	chmod 700 "$work/run"
	"$perf_gpu" inject -q -i "$work/perf.data" -o "$work/perf.gpu.data" --symfs "$symfs"

	exec {display_fd}<> <(:)
	Xvfb -displayfd "$display_fd" -screen 0 ${width}x${height}x24 -nolisten tcp 2>/dev/null &
	pids+=($!)
	read -r -u "$display_fd" display
	export DISPLAY=:$display HOME=$work/home XDG_RUNTIME_DIR=$work/run

	(cd "$work" && exec hotspot --qwindowgeometry ${width}x${height}+0+0 --sysroot "$symfs" \
		--extraLibPaths "$work/perf.gpu.data.dso" perf.gpu.data \
		>"$work/log" 2>&1) &
	hotspot=$!
	pids+=("$hotspot")

	for ((i = 0; i < 50; i++)); do
		sleep 0.2
		pgrep -P "$hotspot" >/dev/null && break
	done
	while pgrep -P "$hotspot" >/dev/null; do
		sleep 0.2
	done
	sleep 3
	kill -0 "$hotspot" 2>/dev/null || die "hotspot ended: $(tail -n 3 "$work/log")"
}

click()
{
	xdotool mousemove "$1" "$2" click 1
	sleep 1
}

make_hotspot_png()
{
	need hotspot Xvfb xdotool import convert
	start_hotspot

	click 343 55 # Flame Graph
	click 980 100 # Search
	xdotool type "$(find_longest)"
	xdotool mousemove $((width / 2)) $((height - 5))
	sleep 2
	import -window root "$work/flame-graph.png"

	click 153 55 # Bottom Up
	click 1180 111 # by cost,
	click 1180 111 # most first
	xdotool mousemove $((width / 2)) $((height - 5))
	sleep 1
	import -window root "$work/bottom-up.png"

	convert \( "$work/flame-graph.png" -crop $flame_graph_area +repage \) \
		\( "$work/bottom-up.png" -crop $bottom_up_area +repage \) \
		-append -strip -define png:compression-level=9 docs/hotspot.png
}

for picture; do
	case $picture in
	flamegraph.svg) make_flamegraph_svg ;;
	flamegraph.png) make_flamegraph_png ;;
	hotspot.png) make_hotspot_png ;;
	*) usage ;;
	esac
	ls -l "docs/$picture"
done
