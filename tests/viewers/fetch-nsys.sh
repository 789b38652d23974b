#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fetch-nsys.sh FOLDER: brings "nsys stats", NVIDIA's own reader of databases as --sqlite
# writes them, by apt from the non-free part of the Debian that this machine runs, into
# FOLDER, where it stays:
#
#   target-linux-x64/nsys     of Nsight Systems; that of Debian 12 is 2022.4 (NVIDIA's licence)
#   target-linux-x64/reports, python   what it runs; it asks for a folder of this name
#
# Nothing is installed, and the machine's own sources of packages stay as they are: this has
# its own. The packages are signed by Debian. Nothing of this is part of perf-gpu or in its
# source.
#
# Without apt, Debian or a network it says so on standard error, and exits with 1.

set -uo pipefail

if [ $# -ne 1 ]; then
	sed -n '4,/^$/s/^# \{0,1\}//p' "$0" >&2
	exit 2
fi

package=nsight-systems-target
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

die()
{
	echo "$1" >&2
	exit 1
}

# apt, with its lists and archives below ./apt
own_apt()
{
	"$1" -o Dir::Etc::sourcelist="$PWD/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$PWD/apt/lists" -o Dir::Cache="$PWD/apt/cache" \
		-o APT::Sandbox::User= -o Acquire::Retries=1 "${@:2}"
}

wanted="$(cat "$0")"
mkdir -p "$1" && cd "$1" || exit 1
[ "$(cat fetched 2>/dev/null)" != "$wanted" ] || exit 0
command -v apt-get >/dev/null || die "this isn't a Debian, whose non-free has nsys"
[ -e "$keyring" ] || die "this isn't a Debian, whose non-free has nsys"
[ "$(dpkg --print-architecture)" = amd64 ] || die "Debian has nsys for amd64 alone"
read -r mirror release < <(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' \
	'Created-By: Packages' 'Origin: Debian' | awk '$3 == "main" && $2 !~ /-/ { print; exit }')
[ -n "${release:-}" ] || die "apt has no sources of Debian's: apt-get update"

for entry in *; do
	rm -rf "${entry:?}"
done
mkdir -p apt/lists/partial apt/cache/archives/partial
echo "deb [signed-by=$keyring] $mirror $release non-free" >apt/sources.list
own_apt apt-get -qq update >apt/log 2>&1 ||
	die "apt couldn't read Debian's non-free: $(grep '^[EW]:' apt/log | head -n 1)"
own_apt apt-get -qq download "$package" >apt/log 2>&1 ||
	die "apt couldn't fetch $package: $(grep '^[EW]:' apt/log | head -n 1)"
dpkg-deb --fsys-tarfile "$package"_*.deb | tar -x --strip-components=5 --wildcards \
	'./usr/lib/*/nsight-systems/target-linux-x64/nsys' \
	'./usr/lib/*/nsight-systems/target-linux-x64/reports/*' \
	'./usr/lib/*/nsight-systems/target-linux-x64/python/*' ||
	die "$package isn't packed as in Debian 12"
rm -rf apt "$package"_*.deb
# Last, so that what was cut off is begun anew
printf '%s\n' "$wanted" >fetched
