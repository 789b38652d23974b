#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What walking stacks costs a recorded process: warm and cold, in many threads, among
# many shared objects, and through a large one; beside libunwind's own unw_backtrace().
# Needs no GPU. Medians over processes, each of which is short.
#
# usage: tests/bench/unwind.sh [PROCESSES]
#   PROCESSES  per line (5)
set -euo pipefail
cd "$(dirname "$0")/../.."

O=${O:-build}
processes=${1:-5}
nr_objects=500
nr_functions=200000
bench=$O/tests/bench/unwind
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

[[ $(uname -m) = x86_64 ]] || {
	echo "bench: its shared objects are written for x86-64, and this is $(uname -m)" >&2
	exit 1
}
[[ -x $bench ]] || {
	echo "bench: $bench is not built: make check builds it" >&2
	exit 1
}

# An object with a function that calls the next of the chain, among NR others
make_object() {
	local file=$1 nr=$2
	cat > "$tmp/object.s" <<EOF
	.text
	.globl pass_through
	.type pass_through, @function
pass_through:
	.cfi_startproc
	push %rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	mov %rdi, %rbx
	add \$8, %rdi
	call *(%rbx)
	pop %rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.rept $nr
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	pop %rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.endr
	.section .note.GNU-stack, "", @progbits
EOF
	"${CC:-gcc}" -shared -nostdlib -o "$file" "$tmp/object.s"
}

# Prints the medians of what processes print, line by line, with the given title.
measure() {
	local title=$1 i
	shift
	for ((i = 0; i < processes; i++)); do
		"$@"
	done > "$tmp/out"
	awk -F '\t' -v title="$title" '
		function median(list,    n, i, j, swap, v) {
			n = split(list, v, " ")
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) {
					swap = v[j]; v[j] = v[j - 1]; v[j - 1] = swap
				}
			return v[int((n + 1) / 2)]
		}
		NF == 1 { prefix = $1 " "; next }
		{
			if (NR == 1 || $1 == first)
				prefix = ""
			if (NR == 1)
				first = $1
			name = prefix $1
			if (!(name in values))
				names[++nr] = name
			values[name] = values[name] " " $2
			units[name] = $3
		}
		END {
			print title
			for (i = 1; i <= nr; i++)
				printf "  %-48s %10s %s\n", names[i],
					median(values[names[i]]), units[names[i]]
		}' "$tmp/out"
}

both() {
	local title=$1
	shift
	measure "$title, perf-gpu" "$bench" "$@"
	measure "$title, unw_backtrace" "$bench" -l "$@"
}

for ((i = 0; i < nr_objects; i++)); do
	make_object "$tmp/object$i.so" 10
done
make_object "$tmp/large.so" "$nr_functions"

echo "kernel $(uname -r), $(nproc) CPUs, $(sed -n 's/^model name.*: //p;T;q' /proc/cpuinfo);"
echo "medians of $processes processes"
both "warm" warm
both "1,000 threads" threads 1000
both "$nr_objects shared objects" objects "$tmp"/object*.so
both "a shared object of $nr_functions functions" objects "$tmp/large.so"
