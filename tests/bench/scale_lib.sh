# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # $failed is the caller's
#
# What tests/bench/scale.sh measures, and how.
#
#   measure_recording LAUNCHES KIND [OPTION...]   of make_recording; prints a table
#   print_machine, print_limits                   what it is measured on
#   $failed                                       1 if something couldn't be measured, or
#                                                 two that should be the same weren't

O=${O:-build}
perf_gpu=$(realpath "$O/perf-gpu")
make_recording=$(realpath "$O/tests/bench/make_recording")
fold_script=$(realpath tests/tools/fold_script.py)
collapse=${STACKCOLLAPSE:-$(command -v stackcollapse-perf.pl || true)}
runs=${SCALE_RUNS:-3}
perf_limit=${SCALE_PERF:-1000000}
failed=0

if [[ -n ${SCALE_DIR:-} ]]; then
	dir=$(mktemp -d "$SCALE_DIR/scale.XXXXXX")
else
	dir=$(mktemp -d /dev/shm/scale.XXXXXX 2> /dev/null || mktemp -d)
fi
trap 'rm -rf "$dir"' EXIT

fail() {
	echo "bench: $*" >&2
	failed=1
}

# --- a command ---------------------------------------------------------------------------

# The most anonymous and file-mapped memory of a process's child while it runs, in KiB,
# looked at every 20 ms
watch_memory() {
	local parent=$1 pid="" anonymous=0 mapped=0 key value

	# The command is the child of time, as soon as it is there.
	while [[ -z $pid && -e /proc/$parent/status ]]; do
		pid=$(pgrep -P "$parent" | head -n 1)
	done
	while [[ -e /proc/$pid/status ]]; do
		while read -r key value _; do
			case $key in
			RssAnon:) ((value > anonymous)) && anonymous=$value ;;
			RssFile: | RssShmem:) ((value > mapped)) && mapped=$value ;;
			esac
		done 2> /dev/null < "/proc/$pid/status" || break
		sleep 0.02
	done
	echo "$anonymous $mapped" > "$dir/memory"
}

# timed COMMAND...: sets $seconds, $cpu_seconds, $max_kb, $anonymous_kb and $mapped_kb
timed() {
	local pid watcher status=0

	/usr/bin/time -o "$dir/time" -f '%e %U %S %M' "$@" > "$dir/out" 2> "$dir/err" &
	pid=$!
	watch_memory "$pid" 2> /dev/null &
	watcher=$!
	wait "$pid" || status=$?
	wait "$watcher" || true
	if [[ $status -ne 0 ]]; then
		fail "$1 $2 failed: $(tail -n 1 "$dir/err")"
		return 1
	fi
	read -r seconds user system max_kb < <(tail -n 1 "$dir/time")
	cpu_seconds=$(awk "BEGIN { print $user + $system }")
	read -r anonymous_kb mapped_kb < "$dir/memory" || true
}

# The fastest run of each command: name → seconds, CPU seconds, memory
declare -A best best_cpu best_max best_anonymous best_mapped

# keep NAME: what timed() has measured, if it is the fastest or the largest
keep() {
	local name=$1

	if [[ -z ${best[$name]:-} ]] || awk "BEGIN { exit !($seconds < ${best[$name]}) }"; then
		best[$name]=$seconds
		best_cpu[$name]=$cpu_seconds
	fi
	best_max[$name]=$((max_kb > ${best_max[$name]:-0} ? max_kb : best_max[$name]))
	best_anonymous[$name]=$((anonymous_kb > ${best_anonymous[$name]:-0} ? anonymous_kb : best_anonymous[$name]))
	best_mapped[$name]=$((mapped_kb > ${best_mapped[$name]:-0} ? mapped_kb : best_mapped[$name]))
}

# --- printing ----------------------------------------------------------------------------

# row NAME LAUNCHES: what keep() has
row() {
	local name=$1 nr=$2

	[[ -n ${best[$name]:-} ]] || return 0
	awk -v name="$name" -v nr="$nr" -v seconds="${best[$name]}" -v cpu="${best_cpu[$name]}" \
		-v max="${best_max[$name]}" -v anonymous="${best_anonymous[$name]}" \
		-v mapped="${best_mapped[$name]}" 'BEGIN {
		printf "%-34s %9.2f s %9.2f s %11.0f %9.1f MB %8.1f MB %8.1f MB\n", name,
			seconds, cpu, nr / (seconds ? seconds : 0.01), max / 1024,
			anonymous / 1024, mapped / 1024 }'
}

# ratio WHAT NAME OTHER: how many times faster NAME is
ratio() {
	[[ -n ${best[$2]:-} && -n ${best[$3]:-} ]] || return 0
	awk -v what="$1" -v one="${best[$2]}" -v other="${best[$3]}" \
		-v one_cpu="${best_cpu[$2]}" -v other_cpu="${best_cpu[$3]}" 'BEGIN {
		printf "%-34s %9.1f times as fast, in CPU time %.1f times\n", what,
			other / (one ? one : 0.01), other_cpu / (one_cpu ? one_cpu : 0.01) }'
}

print_machine() {
	echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs," \
		"$(awk '/MemTotal/ { printf "%.0f GB", $2 / 1048576 }' /proc/meminfo), Linux $(uname -r)"
	echo "$(perf version 2> /dev/null || echo "no perf"), files in $dir ($(stat -f -c %T "$dir"))"
	echo "load of the machine at the beginning: $(cut -d ' ' -f 1-3 /proc/loadavg)"
	if [[ -z $collapse ]]; then
		echo "stackcollapse-perf.pl is neither on PATH nor in STACKCOLLAPSE: tests/tools/fold_script.py stands in"
	fi
}

# What the files' disk and the memory can do: nothing that reads or writes them is faster.
print_limits() {
	local file=$dir/limit

	dd if=/dev/zero of="$file" bs=256k count=2048 conv=notrunc 2>&1 |
		sed -n 's/.*, \(.*\)/writing a new file by 256 KiB:       \1/p'
	dd if="$file" of=/dev/null bs=256k 2>&1 |
		sed -n 's/.*, \(.*\)/reading it from the page cache:      \1/p'
	rm "$file"
	echo
}

# --- a recording -------------------------------------------------------------------------

# perf script, and what makes folded stacks of it
fold_by_perf() {
	perf script -i out.data 2> /dev/null | if [[ -n $collapse ]]; then
		perl "$collapse" --event-filter=gpu-kernel
	else
		awk 'BEGIN { RS = ""; ORS = "\n\n" } / gpu-kernel: *\n/' | python3 "$fold_script"
	fi
}
export -f fold_by_perf
export collapse fold_script

measure_inject() {
	local i

	for ((i = 0; i < runs; i++)); do
		# To remove what was there before takes time, too.
		rm -rf out.data*
		timed "$perf_gpu" inject -q -i perf.data -o out.data && keep "perf-gpu inject"
		[[ $1 -le $perf_limit ]] || continue
		timed perf inject -i perf.data -o by_perf.data && keep "perf inject"
		rm -f by_perf.data*
	done
}

# One run of perf's, which takes a minute for 100,000 launches
measure_folded() {
	local i

	for ((i = 0; i < runs; i++)); do
		timed "$perf_gpu" script -q --folded -i perf.data && keep "perf-gpu script --folded"
	done
	LC_ALL=C sort "$dir/out" > "$dir/ours"
	[[ $1 -le $((perf_limit / 10)) ]] || return 0
	timed bash -c fold_by_perf && keep "perf script | stackcollapse"
	LC_ALL=C sort "$dir/out" > "$dir/theirs"
	cmp -s "$dir/ours" "$dir/theirs" ||
		fail "folded stacks differ from those of perf script and stackcollapse"
}

measure_report() {
	local i

	for ((i = 0; i < runs; i++)); do
		timed "$perf_gpu" report -q -i perf.data && keep "perf-gpu report"
	done
}

measure_recording() {
	local nr=$1 kind=$2 name
	shift 2

	best=() best_cpu=() best_max=() best_anonymous=() best_mapped=()
	"$make_recording" "$@" "$nr" "$dir/perf.data"
	pushd "$dir" > /dev/null || return
	measure_inject "$nr"
	measure_folded "$nr"
	measure_report
	popd > /dev/null || return

	printf "%'d launches, %s: perf.data %d bytes each, sidecar %d, output of inject %d\n" "$nr" \
		"$kind" $(($(stat -c %s "$dir/perf.data") / nr)) \
		$(($(stat -c %s "$dir/perf.data.gpu") / nr)) $(($(stat -c %s "$dir/out.data") / nr))
	printf '%-34s %11s %11s %11s %12s %11s %11s\n' "" time "CPU time" launches/s \
		"memory" anonymous mapped
	for name in "perf-gpu inject" "perf inject" "perf-gpu script --folded" \
		"perf script | stackcollapse" "perf-gpu report"; do
		row "$name" "$nr"
	done
	ratio "inject" "perf-gpu inject" "perf inject"
	ratio "script --folded" "perf-gpu script --folded" "perf script | stackcollapse"
	echo
}
