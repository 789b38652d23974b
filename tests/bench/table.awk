# SPDX-License-Identifier: GPL-2.0-or-later
#
# Lines of programs that switch recording on and off, several a variant:
#   VARIANT  off (first quartile, median, third)  on (3)  on - off of neighbours (3)
# and of what can't be switched: bare-process, idle-process and nsys-process.
# Prints a table of medians over the lines. -v unit=WORD: what is measured, in ns.

BEGIN {
	FS = "\t"
	first = "activity"
}

function median(list,    n, i, j, swap, v) {
	n = split(list, v, " ")
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) {
			swap = v[j]; v[j] = v[j - 1]; v[j - 1] = swap
		}
	return v[int((n + 1) / 2)]
}

function cell(name, column) {
	return sprintf("%7d (%d-%d)", median(values[name, column + 1]),
		median(values[name, column]), median(values[name, column + 2]))
}

# What a variant costs beyond CUPTI's activity records alone
function beyond(name) {
	if (name !~ /^perf-gpu/ || !(first in seen))
		return ""
	return sprintf("%+d", median(values[name, 9]) - median(values[first, 9]))
}

function row(name,    line) {
	line = sprintf("%-26s %-26s %-26s %-26s %-6.3f %s", name, cell(name, 2), cell(name, 5),
		cell(name, 8), median(values[name, 6]) / median(values[name, 3]), beyond(name))
	sub(/ +$/, "", line)
	print line
}

function process_row(name, title,    off, on) {
	if (!((name "-process") in seen))
		return
	off = median(values["bare-process", 3])
	on = median(values[name "-process", 3])
	printf "%-26s %7d%19s %7d%19s %7d%19s %-6.3f (without and with, in processes of their own)\n",
		title, off, "", on, "", on - off, "", on / off
}

!($1 in seen) { seen[$1] = 1; names[++nr_names] = $1 }

{
	for (column = 2; column <= NF; column++)
		values[$1, column] = values[$1, column] " " $column
}

END {
	print "ns a " unit ": median (quartiles) of a process, by the median of the processes;"
	print "the last column is the difference less that of activity, CUPTI's records alone"
	printf "%-26s %-26s %-26s %-26s %-6s %s\n", "", "not recorded", "recorded",
		"difference", "ratio", "over activity"
	for (i = 1; i <= nr_names; i++)
		if (names[i] !~ /-process$/)
			row(names[i])
	process_row("idle", "loaded and idle")
	process_row("nsys", "nsys, no stacks")
}
