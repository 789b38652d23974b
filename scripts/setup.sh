#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# setup.sh [--tests]: install what building and checking perf-gpu needs and isn't
# there yet; --tests: also what only some tests need (hotspot, a virtual X server).
# Installs as root on Debian and Ubuntu, and names the packages elsewhere. The CUDA
# toolkit is nobody's package there: the build says where it comes from.
#
# With CROSS_COMPILE=aarch64-linux-gnu- in the environment, what building for that
# machine needs, and the emulator that runs the unit tests.

set -euo pipefail

here=$(dirname "$0")
level=check

case ${1:-} in
--tests) level=tests ;;
"") ;;
*)
	sed -n '4,/^$/s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac

look_for_missing()
{
	local list

	list=$("$here/features.sh" --missing $level) || exit
	missing=()
	[ -z "$list" ] || mapfile -t missing <<<"$list"
}

look_for_missing
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	export DEBIAN_FRONTEND=noninteractive
	echo "setup: installing ${missing[*]}"
	log=$(mktemp)
	trap 'rm -f "$log"' EXIT
	[ -z "${CROSS_COMPILE:-}" ] || dpkg --add-architecture "$("$here/features.sh" --foreign-arch)"
	# The lists come first: without them no package has a name here.
	if apt-get update -qq >"$log" 2>&1 &&
		look_for_missing &&
		apt-get install -y -qq --no-install-recommends "${missing[@]}" \
			>>"$log" 2>&1; then
		exit 0
	fi
	cat "$log" >&2
fi

if command -v apt-get >/dev/null; then
	install="apt-get install"
	[ -z "${CROSS_COMPILE:-}" ] ||
		install="dpkg --add-architecture $("$here/features.sh" --foreign-arch) && \
sudo apt-get update && sudo apt-get install"
else
	install="dnf install"
fi
echo "setup: not installed; do it with: sudo $install ${missing[*]}" >&2

# Tests say for themselves what they can't do; a build can't do anything.
[ -z "$("$here/features.sh" --missing build)" ]
