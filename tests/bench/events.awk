# SPDX-License-Identifier: GPL-2.0-or-later
#
# Lines of launch_loop -w, several of each:
#   EVENTS  LOOP  off (first quartile, median, third)  on (3)  on - off of neighbours (3)
# Prints a table of what recording EVENTS adds to LOOP: medians over the lines.

BEGIN {
	FS = "\t"
}

function median(list,    n, i, j, swap, v) {
	n = split(list, v, " ")
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) {
			swap = v[j]; v[j] = v[j - 1]; v[j - 1] = swap
		}
	return v[int((n + 1) / 2)]
}

function cell(name, loop) {
	return sprintf("%+d (%d..%d)", median(values[name, loop, 10]),
		median(values[name, loop, 9]), median(values[name, loop, 11]))
}

!($1 in seen_name) { seen_name[$1] = 1; names[++nr_names] = $1 }
!($2 in seen_loop) { seen_loop[$2] = 1; loops[++nr_loops] = $2 }

{
	for (column = 3; column <= NF; column++)
		values[$1, $2, column] = values[$1, $2, column] " " $column
	off[$2] = off[$2] " " $4
}

END {
	print "ns a round of each loop: what recording adds, median and (quartiles) of a process,"
	print "by the median of the processes; first what a round takes when nothing is recorded"
	printf "%-26s", ""
	for (l = 1; l <= nr_loops; l++)
		printf " %-20s", loops[l]
	printf "\n%-26s", "not recorded"
	for (l = 1; l <= nr_loops; l++)
		printf " %-20d", median(off[loops[l]])
	printf "\n"
	for (n = 1; n <= nr_names; n++) {
		line = sprintf("%-26s", names[n])
		for (l = 1; l <= nr_loops; l++)
			line = line sprintf(" %-20s", cell(names[n], loops[l]))
		sub(/ +$/, "", line)
		print line
	}
}
