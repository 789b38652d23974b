#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What perf-gpu is built from and tested with: the one place that knows how each
# thing is found, and which package brings it.
#
#   features.sh DIR              write DIR/features.mk and DIR/include/build_features.h
#                                for the build, and print a table; what is missing
#                                ends the build with one message
#   features.sh --missing LEVEL  print the packages to install here, one a line;
#                                LEVEL: build, check (and build), tests (and both)
#   features.sh --libperf-source print the kernel source archive to take libperf from
#
# Environment: CC, CLANG, BPFTOOL, CUDA_HOME, PKG_CONFIG_PATH.

set -uo pipefail

CC=${CC:-gcc}
CLANG=${CLANG:-clang}

# Each requirement: level, name, packages of Debian and Ubuntu, of Fedora.
# "a|b": the first that the distribution has. "-": no package brings it.
requirements="
build  cc             gcc                          gcc
build  make           make                         make
build  pkg-config     pkg-config                   pkgconf-pkg-config
build  libc           libc6-dev                    glibc-devel
build  clang          clang                        clang
build  bpftool        bpftool|linux-tools-generic  bpftool
build  libbpf         libbpf-dev                   libbpf-devel
build  libelf         libelf-dev                   elfutils-libelf-devel
build  libdw          libdw-dev                    elfutils-devel
build  libtraceevent  libtraceevent-dev            libtraceevent-devel
build  libperf        linux-source                 libperf-devel
build  libunwind      libunwind-dev                libunwind-devel
build  libiberty      libiberty-dev                binutils-devel
build  zlib           zlib1g-dev                   zlib-devel
build  libz.a         zlib1g-dev                   zlib-static
build  xz             xz-utils                     xz
build  CUPTI          -                            -
check  perf           linux-perf|linux-tools-generic  perf
check  perl           perl                         perl-interpreter
check  python3        python3                      python3
check  g++            g++                          gcc-c++
check  man            man-db                       man-db
check  groff          groff-base                   groff-base
check  bash-completion  bash-completion            bash-completion
check  setpriv        util-linux                   util-linux
tests  mandoc         mandoc                       mandoc
tests  clang-format   clang-format                 clang-tools-extra
tests  shellcheck     shellcheck                   ShellCheck
tests  hotspot        hotspot                      hotspot
tests  xvfb           xvfb                         xorg-x11-server-Xvfb
tests  xauth          xauth                        xorg-x11-xauth
tests  xdotool        xdotool                      xdotool
tests  imagemagick    imagemagick                  ImageMagick
"

# --- how each is found: a function prints the version, or fails ---------------

first_number()
{
	grep -oEm 1 '[0-9]+(\.[0-9]+)+' | head -n 1
}

command_version()
{
	command -v "$1" >/dev/null && "$1" --version 2>/dev/null | first_number
}

# A library that pkg-config knows, in at least that version
library_version()
{
	pkg-config --exists "$1 ${2:+>= $2}" 2>/dev/null && pkg-config --modversion "$1"
}

find_bpftool()
{
	local tool

	# Ubuntu's /usr/sbin/bpftool only works for the running kernel's version.
	for tool in "${BPFTOOL:-}" bpftool /usr/sbin/bpftool /usr/local/sbin/bpftool \
		/usr/lib/linux-tools*/*/bpftool /usr/lib/linux-tools-*/bpftool; do
		if [ -n "$tool" ] && "$tool" version >/dev/null 2>&1; then
			command -v "$tool"
			return
		fi
	done
	return 1
}

# The newest of the kernel source packages
find_libperf_source()
{
	local archives

	mapfile -t archives < <(compgen -G '/usr/src/linux-source-*.tar.*' | sort -V)
	[ ${#archives[@]} -gt 0 ] && echo "${archives[-1]}"
}

# Include folders where CUDA may be; most wanted first
cuda_include_dirs()
{
	local root nvcc

	nvcc=$(command -v nvcc 2>/dev/null) && nvcc=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
	for root in "${CUDA_HOME:-}" "$nvcc" /usr/local/cuda /usr/local/cuda-* /opt/cuda; do
		[ -n "$root" ] || continue
		echo "$root/include"
		echo "$root/extras/CUPTI/include"
	done
	echo /usr/include
	command -v python3 >/dev/null || return 0
	python3 -c 'import nvidia; print(*nvidia.__path__, sep="\n")' 2>/dev/null |
		while read -r root; do
			echo "$root/cuda_cupti/include"
			echo "$root/cuda_runtime/include"
			compgen -G "$root/cu[0-9]*/include"
		done
}

# The first of those folders that has a header
find_cuda_header()
{
	local dir

	while read -r dir; do
		if [ -e "$dir/$1" ]; then
			echo "$dir"
			return
		fi
	done < <(cuda_include_dirs)
	return 1
}

has_static_library()
{
	[ -e "$($CC "-print-file-name=$1.a" 2>/dev/null)" ]
}

# The part for the own stack, and the one for any other of this machine's kind
find_libunwind()
{
	local name file

	for name in libunwind.so.8 "libunwind-$(uname -m).so.8"; do
		file=$(pkg-config --variable=libdir libunwind 2>/dev/null)/$name
		[ -e "$file" ] ||
			file=$(ldconfig -p 2>/dev/null | awk -v name="$name" '$1 == name { print $NF; exit }')
		[ -e "$file" ] || return 1
		echo "$file"
	done
}

probe()
{
	local tool dir

	case $1 in
	cc) command_version "$CC" ;;
	clang) command_version "$CLANG" ;;
	make | pkg-config | perl | python3 | g++ | man | groff | setpriv | clang-format | xz)
		command_version "$1"
		;;
	perf) command_version perf ;;
	bpftool) tool=$(find_bpftool) && "$tool" version | first_number ;;
	libc) echo '#include <features.h>
		__GLIBC__.__GLIBC_MINOR__' | $CC -E -P - 2>/dev/null | tail -n 1 | tr -d ' ' ;;
	libbpf) library_version libbpf 1.1 ;;
	libelf | libdw | libtraceevent | zlib) library_version "$1" ;;
	libunwind) library_version libunwind && find_libunwind >/dev/null ;;
	libperf) library_version libperf || find_libperf_source | first_number ;;
	libiberty)
		echo '#include <libiberty/demangle.h>' | $CC -E - >/dev/null 2>&1 &&
			has_static_library libiberty && echo yes
		;;
	libz.a) has_static_library libz && library_version zlib ;;
	CUPTI)
		dir=$(find_cuda_header cupti_version.h) && find_cuda_header cuda.h >/dev/null &&
			awk '$2 == "CUPTI_API_VERSION" { print $3 }' "$dir/cupti_version.h"
		;;
	bash-completion) [ -e /usr/share/bash-completion/bash_completion ] && echo yes ;;
	hotspot | mandoc | shellcheck | xauth | xdotool) command -v "$1" ;;
	xvfb) command -v Xvfb ;;
	imagemagick) command -v convert ;;
	*)
		echo "features.sh: nobody knows how to find $1" >&2
		exit 2
		;;
	esac
}

# --- what is done with it --------------------------------------------------------

# The first of "a|b" that apt can install; the first of all where none is known
apt_package()
{
	local name

	# Each look-up takes a second for a user who may not write apt's cache.
	if [[ $1 != *"|"* ]]; then
		echo "$1"
		return
	fi
	for name in ${1//|/ }; do
		if apt-cache show "$name" >/dev/null 2>&1; then
			echo "$name"
			return
		fi
	done
	echo "${1%%|*}"
}

print_missing()
{
	local wanted=" build "
	local level name debian fedora

	[ "$1" = check ] && wanted=" build check "
	[ "$1" = tests ] && wanted=" build check tests "
	while read -r level name debian fedora; do
		[[ -n $level && $wanted == *" $level "* ]] || continue
		probe "$name" >/dev/null && continue
		if [ "$debian" = - ]; then
			continue
		elif command -v apt-get >/dev/null; then
			apt_package "$debian"
		else
			echo "$fedora"
		fi
	done <<<"$requirements" | sort -u
}

say_what_is_missing()
{
	local debian=" $1" fedora=" $2" names=" $3"

	echo
	echo "perf-gpu can't be built here. Missing:$names"
	[ -n "${debian# }" ] && echo "  Debian, Ubuntu:  sudo apt-get install$debian"
	[ -n "${fedora# }" ] && echo "  Fedora:          sudo dnf install$fedora"
	if [[ $names == *CUPTI* ]]; then
		echo "  CUPTI headers:   come with the CUDA toolkit, see" \
			"https://developer.nvidia.com/cuda-downloads,"
		echo "                   or: pip install nvidia-cuda-cupti nvidia-cuda-runtime;" \
			"a toolkit elsewhere: CUDA_HOME="
	fi
}

write_features()
{
	local dir=$1 level name debian fedora version
	local missing_debian="" missing_fedora="" missing=""
	local mk="" header="" cupti cuda

	while read -r level name debian fedora; do
		[ "$level" = build ] || continue
		if version=$(probe "$name"); then
			printf '...%30s: [ on  ] %s\n' "$name" "$version"
			case $name in
			make | pkg-config | xz) ;; # leave no trace in what is built
			*) header+="BUILD_FEATURE(\"$name\", \"$version\")"$'\n' ;;
			esac
			continue
		fi
		printf '...%30s: [ OFF ]\n' "$name"
		missing+=" $name"
		[ "$debian" = - ] && continue
		# One package may bring several.
		[[ " $missing_debian " == *" ${debian%%|*} "* ]] ||
			missing_debian+=" ${debian%%|*}"
		missing_fedora+=" $fedora"
	done <<<"$requirements"
	if [ -n "$missing" ]; then
		say_what_is_missing "${missing_debian# }" "${missing_fedora# }" "${missing# }" >&2
		return 1
	fi

	cupti=$(find_cuda_header cupti.h)
	cuda=$(find_cuda_header cuda.h)
	mk+="BPFTOOL ?= $(find_bpftool)"$'\n'
	mk+="LIB_CFLAGS := $(pkg-config --cflags libbpf libelf libdw libtraceevent zlib)"$'\n'
	mk+="LIB_LIBS := $(pkg-config --libs libbpf libelf libdw libtraceevent zlib) -liberty"$'\n'
	if pkg-config --exists libperf; then
		mk+="LIBPERF_PACKAGE := yes"$'\n'
		mk+="LIBPERF_CFLAGS := $(pkg-config --cflags libperf)"$'\n'
		mk+="LIBPERF_LIBS := $(pkg-config --libs libperf)"$'\n'
	fi
	mk+="CUDA_CFLAGS := -isystem $cupti"
	[ "$cuda" != "$cupti" ] && mk+=" -isystem $cuda"
	mk+=$'\n'"CUDA_INCLUDE := $cuda"
	mk+=$'\n'"LIBUNWIND_SO := $(find_libunwind | paste -sd ' ')"$'\n'
	mk+="MULTIARCH := $($CC -print-multiarch 2>/dev/null)"$'\n'

	mkdir -p "$dir/include"
	printf '%s' "$header" >"$dir/include/build_features.h"
	printf '%s' "$mk" >"$dir/features.mk"
	echo
}

case ${1:-} in
--missing) print_missing "${2:-build}" ;;
--libperf-source) find_libperf_source ;;
"" | -*)
	sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
*) write_features "$1" ;;
esac
