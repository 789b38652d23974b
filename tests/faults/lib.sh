# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # variables are for the tests, or of ../shell/lib.sh
#
# What tests of faults have in common, beside ../shell/lib.sh. A test begins with
#
#	. "$(dirname "$0")/lib.sh"
#	rows_of target.md
#	need root bpf fake_cuda
#
# and plays rows of that table:
#
#   play NAME [COMMAND...]  by COMMAND ("faults NAME" of the workloads), without perf-gpu and
#                           by `record --stacks uprobe` and `--stacks process`, each in an
#                           empty folder. One result for each recording: the row is true.
#
# A test may set, before it plays one, the array `recorder`: what `record` is, a command or a
# function, which gets record's options and the command; `bare` for the run without; and `ways`,
# the --stacks to play. It may have a function after_NAME, for what is to be done behind each run.

. "$(dirname "${BASH_SOURCE[0]}")/../shell/lib.sh"

FAULTS=$TESTS/faults

# In a session of its own, so that a signal to the process group stays there.
bare=(setsid -w)
recorder=(setsid -w "$PERF_GPU" record)
ways=(uprobe process)
ulimit -c 0

# recorder=(in_small_tmpfs BYTES): perf.data in a file system that may get full
in_small_tmpfs()
{
	local bytes=$1 status
	shift

	mkdir disk && mount -t tmpfs -o "size=$bytes" none disk || return
	setsid -w "$PERF_GPU" record -o disk/perf.data "$@"
	status=$?
	cp disk/* . 2>/dev/null
	umount disk
	return $status
}

rows_of()
{
	table=$FAULTS/$1
}

# The cells of a table's rows, a line each, with tabs between; `\|` in a cell stands for |
cells()
{
	sed -nE 's/\\\|/\x01/g; s/^\| *(.*[^ ]) *\|$/\1/p' "$1" | sed -E 's/ *\| */\t/g; s/\x01/|/g'
}

# The line of README.md's table that fits what was said; "?" and the line itself if none does
word_of()
{
	local word pattern

	while IFS=$'\t' read -r word pattern; do
		if grep -qxE -- "$pattern" <<<"$1"; then
			echo "$word"
			return
		fi
	done <"$TMP/words"
	echo "?$1"
}

# Lines on standard input become words, in order, each once; "–" for none.
words_of()
{
	local line

	while read -r line; do
		[ -z "$line" ] || word_of "$line"
	done | sort -u | paste -sd ',' | sed 's/,/, /g; s/^$/–/'
}

# README.md's words, with a regular expression each
read_words()
{
	cells "$FAULTS/README.md" | sed -nE 's/^([^\t]+)\t`((\[ )?perf-gpu .*)`$/\1\t\2/p' |
		sed -E 's/[][().*+?^${}|\\]/\\&/g; s/…/.*/g; s/\bN\b/[0-9,]+/g' >"$TMP/words"
}

# The row of a fault that is about these stacks: sets what, ends, launches, kernels, said
find_row()
{
	local name=$1 stacks=$2 row

	row=$(cells "$table" | awk -F '\t' -v name="$name" -v stacks="$stacks" '
		$1 == name && $2 { what = $2 }
		$1 == name && ($3 == stacks || $3 == "both") { $2 = what; print; exit }' OFS='\t')
	[ -n "$row" ] || return
	IFS=$'\t' read -r _ what _ ends launches kernels said <<<"$row"
}

end_of()
{
	if [ "$1" -gt 128 ]; then
		echo "SIG$(kill -l "$1")"
	else
		echo "$1"
	fi
}

# What programs print has pids in it, in some places.
without_pids()
{
	sed -E 's/^launches [0-9]+ /launches PID /' "$1"
}

# What it says it has made: launches, or kernels (2 or 3)
made()
{
	awk -v column="$1" '$1 == "launched" { n += $column } $1 == "launches" { n += $3 } END { print n + 0 }' "$2"
}

# The first number, or the sum of all, in lines of `err` that match
number()
{
	sed -nE "s/$1/\1/p" err | tr -d , | awk '{ n += $1 } END { print n + 0 }'
}

# kept WANTED NR TOLD MADE: the cell, as it is wanted if it can be so
kept()
{
	local wanted=$1 nr=$2 told=$3 made=$4

	if [ "$wanted" = "all told of $made" ] && [ $((nr + told)) -eq "$made" ]; then
		echo "$wanted"
	elif [ "$wanted" = "some of $made" ] && [ $((nr + told)) -le "$made" ]; then
		echo "$wanted"
	elif [ "$told" -gt 0 ]; then
		echo "$nr, $told told of $made"
	else
		echo "$nr of $made"
	fi
}

# What is in the recording: sets got_launches and got_kernels
read_recording()
{
	local nr_kernels

	if [ ! -e perf.data ]; then
		got_launches="no file" got_kernels="no file"
		return
	fi
	if ! "$PERF_GPU" inject -o gpu.data >inject.out 2>inject.err ||
		! "$PERF_GPU" script -F event,ip,sym >script.out 2>script.err; then
		got_launches="not readable" got_kernels=$(tail -n 1 inject.err script.err)
		return
	fi
	nr_kernels=$(grep -c 'gpu-kernel:' script.out)
	got_launches=$(kept "$launches" "$(number '^\[ perf-gpu record: ([0-9,]+) launch[a-z]* of .*')" \
		"$(number '^\[ perf-gpu record: ([0-9,]+) launch[a-z]* lost, .*')" \
		"$(made 2 out)")
	got_kernels=$(kept "$kernels" "$nr_kernels" \
		$(($(number '^\[ perf-gpu record: .* lost, ([0-9,]+) GPU records? dropped \]') +
			$(number '^perf-gpu record: warning: ([0-9,]+) kernels? (has|have) no time.*'))) \
		"$(made 3 out)")
	! grep -q '\[unattributed\]' script.out || got_kernels+=", some without a launch"
}

# What is wrong of a run in the current folder, beside the one in FOLDER that is without
# perf-gpu; nothing if nothing is
trouble()
{
	local folder=$1 status bare_status got_ends got_said

	read -r status <./status
	read -r bare_status <"$folder/status"
	got_ends=$(end_of "$bare_status")
	[ "$status" -eq "$bare_status" ] || got_ends+=", record $(end_of "$status")"
	read_recording
	got_said=$(cat err inject.err 2>/dev/null | grep -E '^(\[ )?perf-gpu' |
		grep -vE '^\[ perf-gpu (record: .* in [a-z/]*perf\.data |record: .* dropped \]|inject: .*GPU kernels[,:])' | words_of)
	[ "$got_ends $got_launches $got_kernels $got_said" = "$ends $launches $kernels $said" ] ||
		printf 'is:     | %s\nwanted: | %s\n' \
			"$got_ends | $got_launches | $got_kernels | $got_said |" \
			"$ends | $launches | $kernels | $said |"
	diff -u --label "output without" --label "and with perf-gpu" <(without_pids "$folder/out") <(without_pids out)
	diff -u --label "errors without" --label "and with perf-gpu" "$folder/err" \
		<(grep -vE '^(\[ )?perf-gpu record: ' err)
}

# run_in FOLDER COMMAND...: leaves `out`, `err` and `status` there. What the shell says of a
# signal that ended the program is no output of that.
run_in()
{
	mkdir "$1" && cd "$1" || exit 1
	shift
	(
		export LD_LIBRARY_PATH=$FAKE_CUDA
		"$@" 2>err | cat >out # a pipe, which has no limit
		exit "${PIPESTATUS[0]}"
	) 2>/dev/null
	echo $? >status
	[ "$(type -t "after_$name")" != function ] || "after_$name"
}

play()
{
	local name=$1 stacks why
	shift
	[ $# -gt 0 ] || set -- "$WORKLOADS/faults" "$name"

	[ -e "$TMP/words" ] || read_words
	(run_in "$TMP/$name.bare" "${bare[@]}" "$@") &
	for stacks in "${ways[@]}"; do
		(run_in "$TMP/$name.$stacks" "${recorder[@]}" --stacks "$stacks" "$@") &
	done
	wait
	for stacks in "${ways[@]}"; do
		find_row "$name" "$stacks" || {
			fail "$name, $stacks" "no row in $table"
			continue
		}
		cd "$TMP/$name.$stacks" || exit 1
		why=$(trouble "$TMP/$name.bare")
		if [ -z "$why" ]; then
			ok "$name, $stacks: ends $ends, $launches launches, $kernels kernels"
		else
			fail "$name, $stacks: $what" "$why"$'\n'"$(grep '^\(\[ \)\?perf-gpu' err)"
		fi
	done
	cd "$TMP" || exit 1
}
