#!/bin/bash
# make install: what it installs, that the tree works from anywhere, and as `perf gpu`
. "$(dirname "$0")/lib.sh"

source_dir=$(dirname "$TESTS")
version=$("$PERF_GPU" version)

check "make install DESTDIR= prefix=" \
	make -s -C "$source_dir" O="$O" SAN="${SAN:-}" CC="${CC:-gcc}" \
	DESTDIR="$TMP/root" prefix=/opt/tool install
files=$(cd "$TMP/root" && find . -type f | sort)
expect_no_match "nothing outside the prefix" '^\./[^o]|^\./opt/[^t]' "$files"
for file in bin/perf-gpu lib/perf-gpu/libperf-gpu-inject.so lib/perf-gpu/libunwind.so.8 \
	"lib/perf-gpu/libunwind-$(uname -m).so.8" share/bash-completion/completions/perf-gpu \
	libexec/perf-gpu/scripts/python/gpu-flamegraph.py \
	libexec/perf-gpu/scripts/python/bin/gpu-flamegraph-record \
	libexec/perf-gpu/scripts/python/bin/gpu-flamegraph-report; do
	check "$file" test -s "$TMP/root/opt/tool/$file"
done
for page in "$source_dir"/man/*.[1-8]; do
	[ -e "$page" ] || continue
	check "share/man/man${page##*.}/${page##*/}" \
		cmp "$page" "$TMP/root/opt/tool/share/man/man${page##*.}/${page##*/}"
done
expect "installed program runs" "$version" "$("$TMP/root/opt/tool/bin/perf-gpu" version)"

mv "$TMP/root/opt/tool" "$TMP/moved tree"
expect "moved tree runs" "$version" "$("$TMP/moved tree/bin/perf-gpu" version)"

# A library that nothing can resolve breaks the target that it is loaded into.
library="$TMP/moved tree/lib/perf-gpu/libperf-gpu-inject.so"
expect "injected library needs the C library alone" "libc.so.6" \
	"$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
		grep -vE '^(libdl|libpthread)\.so' | grep -v '^ld-linux')"
expect_no_match "and exports nothing of zlib's or of its own insides" \
	'crc32|inflate|log__|intern__' "$(nm -D --defined-only "$library")"

if has perf; then
	expect "perf gpu version" "$version" \
		"$(PATH="$TMP/moved tree/bin:$PATH" perf gpu version 2>&1)"
else
	skip_one "perf gpu version" "need perf: perf isn't installed"
fi
if perf version --build-options 2>/dev/null | grep 'libpython: \[ on' >/dev/null; then
	expect_match "perf script -l lists the installed script" '^ +gpu-flamegraph ' \
		"$(PERF_EXEC_PATH="$TMP/moved tree/libexec/perf-gpu" perf script -l)"
else
	skip_one "perf script -l lists the installed script" "perf isn't there, or without Python"
fi

if [ -e /usr/share/bash-completion/bash_completion ]; then
	# What bash would offer for a line that ends in the last word
	complete_line()
	{
		PATH="$TMP/moved tree/bin:$PATH" bash -c '
			. /usr/share/bash-completion/bash_completion
			. "$0/share/bash-completion/completions/perf-gpu"
			COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
			COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
			_perf_gpu && printf "%s\n" "${COMPREPLY[@]}"' "$TMP/moved tree" "$@" 2>&1
	}
	expect "completes commands" "version" "$(complete_line perf-gpu vers | sed 's/ *$//')"
	expect "completes options" "--build-options" \
		"$(complete_line perf-gpu version --build | sed 's/ *$//')"
else
	skip_one "completion" "need bash-completion: it isn't installed"
fi
