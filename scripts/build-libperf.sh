#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# build-libperf.sh DIR: build libperf from the distribution's kernel source
# package into DIR/lib and DIR/include, once. Debian and Ubuntu package the
# source (linux-source-*) but not the library. No network is used. Environment:
# CROSS_COMPILE, for another machine than this one.

set -euo pipefail

dir=$1
here=$(dirname "$0")
source=$("$here/features.sh" --libperf-source)

if [ -z "$source" ]; then
	echo "libperf: no /usr/src/linux-source-*.tar.*; install linux-source" >&2
	exit 1
fi
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

work=$(mktemp -d "$dir/build.XXXXXX")
trap 'rm -rf "$work"' EXIT

# All of the kernel takes a minute to unpack; these folders are what is needed.
name=$(basename "$source")
name=${name%.tar.*}
tar -xf "$source" -C "$work" --strip-components=1 \
	"$name/tools/lib" "$name/tools/build" "$name/tools/include" \
	"$name/tools/scripts" "$name/tools/arch" "$name/scripts" \
	"$name/include" "$name/arch/x86/include" "$name/arch/arm64/include" "$name/lib"

# In the kernel's words
cross=()
if [ -n "${CROSS_COMPILE:-}" ]; then
	arch=$(basename "$CROSS_COMPILE")
	arch=${arch%%-*}
	cross=("CROSS_COMPILE=$CROSS_COMPILE" "ARCH=${arch/aarch64/arm64}")
fi

# The caller's make flags and compiler settings are not libperf's.
quiet_make()
{
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u CFLAGS -u LDFLAGS -u O -u V \
		${cross:+-u CC} make "${cross[@]}" -C "$work/tools/lib/perf" O="$work/out/" prefix= \
		DESTDIR="$work/root" libdir=/lib libdir_SQ=/lib \
		EXTRA_CFLAGS="-g -ffile-prefix-map=$work=." "$@" >>"$work/log" 2>&1
}

mkdir "$work/out"
if ! quiet_make -j"$(nproc)" libs || ! quiet_make install_lib install_headers; then
	cat "$work/log" >&2
	echo "libperf: could not be built from $source" >&2
	exit 1
fi

rm -rf "${dir:?}/include" "${dir:?}/lib"
mv "$work/root/include" "$dir/include"
mkdir "$dir/lib"
# Under another name until it is whole: make takes the file for the result.
libapi=$(find "$work/out" -name libapi.a | head -n 1)
cp "$libapi" "$dir/lib/libapi.a"
cp "$work/out/libperf.a" "$dir/lib/libperf.a.new"
mv "$dir/lib/libperf.a.new" "$dir/lib/libperf.a"
