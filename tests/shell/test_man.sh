#!/bin/bash
# manual pages: no lint, the options that --help has and no others, the format's layout
. "$(dirname "$0")/lib.sh"
need man groff

man_dir=$TESTS/../man
source_dir=$TESTS/..

for page in "$man_dir"/*.[1-8]; do
	name=$(basename "$page")
	expect "man has no warnings about $name" "" \
		"$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -l "$page" 2>&1 >/dev/null)"
	if has mandoc; then
		expect "mandoc has no warnings about $name" "" "$(mandoc -T lint -W warning "$page")"
	else
		skip_one "mandoc has no warnings about $name" "mandoc isn't installed"
	fi
	expect_match "$name is of this version" "\"$("$PERF_GPU" version | sed 's/ version//')\"" \
		"$(grep '^\.TH' "$page")"
done

# "-o --output file", a line for each option
help_options()
{
	for command; do
		"$PERF_GPU" ${command:+"$command"} --help
	done | grep -oE '^ +(-[A-Za-z], )?--[a-z][a-z-]*( <[^>]*>|\[=<[^>]*>\])?' |
		sed 's/[,<>]//g; s/^ *//' | sort -u
}

page_options()
{
	sed -n '/^\.TP/ { n; s/\\-/-/g; s/[",]//g
		s/  */ /g; s/\[= \(.*\) \]$/[=\1]/; s/^\.BI* \(-[A-Za-z-].*\)/\1/p }' "$1" | sort -u
}

# A page has what the help has.
compare_options()
{
	local page=$1
	shift

	expect "options of $page" "$(help_options "$@")" "$(page_options "$man_dir/$page")"
}

commands=$("$PERF_GPU" --help | sed -n '/^ Commands:/,/^$/ s/^    \([a-z][a-z-]*\) .*/\1/p')
own_pages=""
for command in $commands; do
	if [ "$command" = version ] || [ "$command" = help ]; then
		own_pages+=" $command"
		continue
	fi
	check "page of $command" test -s "$man_dir/perf-gpu-$command.1"
	compare_options "perf-gpu-$command.1" "$command"
	expect_match "perf-gpu.1 refers to $command" "^\.BR perf-gpu.?-$command \(1\)" \
		"$(sed 's/\\-/-/' "$man_dir/perf-gpu.1")"
done
# shellcheck disable=SC2086 # they are words
compare_options perf-gpu.1 "" $own_pages

# shellcheck disable=SC2013 # names have no blanks
for page in $(cat "$man_dir"/*.[1-8] | sed 's/\\-/-/g' |
	sed -nE 's/^\.BR (perf-gpu[a-z-]*) \(([1-8])\).*/\1.\2/p' | sort -u); do
	check "$page, which is referred to, exists" test -e "$man_dir/$page"
done

variables=$(grep -hoE '"(PERF_GPU_[A-Z_]+|CUDA_INJECTION64_PATH)"' \
	"$source_dir"/cupti_inject/config.c "$source_dir"/perf-gpu/record/injection.c | tr -d '"' | sort -u)
for variable in $variables; do
	expect_match "perf-gpu-record.1 has $variable" "$variable" "$(cat "$man_dir/perf-gpu-record.1")"
done

# The format: each heading "NAME (N): struct NAME" with its table becomes assertions,
# and the structure's own fields must leave no gap in it.
layout_assertions()
{
	awk -F @ '
	BEGIN {
		print "#include <stddef.h>"
		print "#include \"gpu_log.h\""
		print "#include \"launch_event.h\""
	}
	function finish() {
		if (name && !is_open)
			printf "_Static_assert(sizeof(struct %s) == %d, \"size of %s\");\n", name, end, name
		name = ""
	}
	/^\.S[SH] / {
		finish()
		if (match($0, /struct [a-z_]+$/)) {
			name = substr($0, RSTART + 7)
			end = is_open = 0
			if ($0 ~ /^\.SS GPU_LOG_/) {
				split($0, words, /[ ():]+/)
				printf "_Static_assert(%s == %d, \"%s\");\n", words[2], words[3], words[2]
			}
		}
	}
	name && /^[0-9]+@/ {
		if ($1 != end)
			printf "#error gap before %s.%s\n", name, $3
		printf "_Static_assert(offsetof(struct %s, %s) == %d, \"%s.%s\");\n", name, $3, $1, name, $3
		if ($2 == "-")
			is_open = 1
		else
			printf "_Static_assert(sizeof(((struct %s *)0)->%s) == %d, \"%s.%s\");\n", name, $3, $2, name, $3
		end = $1 + $2
	}
	END { finish() }' "$man_dir/perf-gpu-data.5"
}

if has "${CC:-gcc}"; then
	layout_assertions >layout.c
	# shellcheck disable=SC2013
	for structure in $(grep -ohE '^struct (gpu_log_[a-z_]+|launch_event) ' \
		"$source_dir"/cupti_inject/gpu_log.h "$source_dir"/bpf/launch_event.h | cut -d ' ' -f 2); do
		[ "$structure" = gpu_log_record ] && continue # drawn, not listed
		expect_match "perf-gpu-data.5 has $structure" "offsetof\(struct $structure," "$(cat layout.c)"
	done
	check "perf-gpu-data.5 has the layout of the headers" "${CC:-gcc}" -std=gnu11 -fsyntax-only \
		-I"$source_dir/cupti_inject" -I"$source_dir/bpf" layout.c
else
	skip_one "perf-gpu-data.5 has the layout of the headers" "no compiler"
fi
