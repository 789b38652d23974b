#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# reproducible.sh: build the committed tree twice, in folders with names of different
# lengths, one after the other, and compare all that is installed

set -euo pipefail

tree=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# build NAME: into $work/NAME.installed
build()
{
	mkdir "$work/$1"
	git -C "$tree" archive HEAD | tar -x -C "$work/$1"
	env -u MAKEFLAGS -u MAKELEVEL make -C "$work/$1" -j"$(nproc)" O=build prefix=/usr \
		DESTDIR="$work/$1.installed" install >"$work/$1.log" 2>&1 || {
		cat "$work/$1.log"
		exit 1
	}
}

build here
build another-place
diff -r "$work/here.installed" "$work/another-place.installed"
find "$work/here.installed" -type f | wc -l | sed 's/$/ installed files are the same in both/'
