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
#                                LEVEL: build, check (and build), tests (and all)
#   features.sh --libperf-source print the kernel source archive to take libperf from
#   features.sh --foreign-arch   print Debian's name of CROSS_COMPILE's architecture
#
# Environment: CC, CLANG, BPFTOOL, CUDA_HOME, PKG_CONFIG, PKG_CONFIG_PATH, CROSS_COMPILE.
#
# With CROSS_COMPILE=aarch64-linux-gnu- the compiler and the libraries are those of the
# other machine, which Debian and Ubuntu have beside their own (multiarch); of the
# tests, only what an emulator can run is wanted.

set -uo pipefail

CROSS_COMPILE=${CROSS_COMPILE:-}
CC=${CC:-${CROSS_COMPILE}gcc}
CLANG=${CLANG:-clang}

# What is built for: the compiler's prefix without its "-", and as uname -m has it
cross_name=$(basename "${CROSS_COMPILE%-}")
arch=${cross_name%%-*}
arch=${arch:-$(uname -m)}

# Each requirement: level, name, packages of Debian and Ubuntu, of Fedora.
# "a|b": the first that the distribution has. "-": no package brings it.
# Level cross: for the tests of what was built for another machine. Level page: for the
# page of perf-gpu flamegraph, without which all else is built and works. Level option: something
# less can be done without it.
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
page   npm            npm                          npm
option protobuf-c     libprotobuf-c-dev            protobuf-c-devel
option protoc-c       protobuf-c-compiler          protobuf-c-compiler
option sqlite3        libsqlite3-dev               sqlite-devel
option libarchive     libarchive-dev               libarchive-devel
option libzstd        libzstd-dev                  libzstd-devel
check  perf           linux-perf|linux-tools-generic  perf
check  perl           perl                         perl-interpreter
check  python3        python3                      python3
check  g++            g++                          gcc-c++
check  man            man-db                       man-db
check  groff          groff-base                   groff-base
check  bash-completion  bash-completion            bash-completion
check  debuginfod     libdebuginfod1|libdebuginfod1t64  elfutils-debuginfod-client
check  setpriv        util-linux                   util-linux
check  setcap         libcap2-bin                  libcap
check  strace         strace                       strace
cross  qemu           qemu-user                    qemu-user
tests  mandoc         mandoc                       mandoc
tests  clang-format   clang-format                 clang-tools-extra
tests  clang-tidy     clang-tidy                   clang-tools-extra
tests  cppcheck       cppcheck                     cppcheck
tests  valgrind       valgrind                     valgrind
tests  shellcheck     shellcheck                   ShellCheck
tests  hotspot        hotspot                      hotspot
tests  xvfb           xvfb                         xorg-x11-server-Xvfb
tests  xauth          xauth                        xorg-x11-xauth
tests  xdotool        xdotool                      xdotool
tests  imagemagick    imagemagick                  ImageMagick
tests  chromium       chromium                     chromium
tests  trace-viewer   golang-src                   golang-src
tests  go             golang-go                    golang-bin
"

# Of these, a cross build takes those of the other machine.
target_packages=" libc6-dev libbpf-dev libelf-dev libdw-dev libtraceevent-dev
	libunwind-dev libiberty-dev zlib1g-dev libprotobuf-c-dev libsqlite3-dev
	libarchive-dev libzstd-dev "

# As Debian calls it
foreign_arch()
{
	case $arch in
	aarch64) echo arm64 ;;
	x86_64) echo amd64 ;;
	*) echo "$arch" ;;
	esac
}

# PACKAGE of Debian, as a cross build needs it
cross_package()
{
	if [ -z "$CROSS_COMPILE" ]; then
		echo "$1"
	elif [ "$1" = gcc ]; then
		echo "gcc-${cross_name//_/-}"
	elif [[ $target_packages =~ [[:space:]]$1[[:space:]] ]]; then
		echo "$1:$(foreign_arch)"
	else
		echo "$1"
	fi
}

# The other machine's pkg-config, or this one's with the other's folders
find_pkg_config()
{
	if [ -n "${PKG_CONFIG:-}" ]; then
		echo "$PKG_CONFIG"
	elif [ -z "$CROSS_COMPILE" ]; then
		echo pkg-config
	elif command -v "${CROSS_COMPILE}pkg-config" >/dev/null; then
		echo "${CROSS_COMPILE}pkg-config"
	else
		echo "env PKG_CONFIG_LIBDIR=/usr/lib/$cross_name/pkgconfig pkg-config"
	fi
}
read -r -a pkg_config < <(find_pkg_config)

# --- how each is found: a function prints the version, or fails ---------------

first_number()
{
	# Up to the end: who is cut off while he writes ends by SIGPIPE, as if he were not there.
	grep -oE '[0-9]+(\.[0-9]+)+' | sed -n 1p
}

command_version()
{
	command -v "$1" >/dev/null && "$1" --version 2>/dev/null | first_number
}

# A library that pkg-config knows, in at least that version
library_version()
{
	"${pkg_config[@]}" --exists "$1 ${2:+>= $2}" 2>/dev/null &&
		"${pkg_config[@]}" --modversion "$1"
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

# npm, if the node that it runs is new enough for what the page is built with
find_npm()
{
	local major

	command -v npm >/dev/null && major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null) &&
		[ "$major" -ge 18 ] && command -v npm
}

has_static_library()
{
	[ -e "$($CC "-print-file-name=$1.a" 2>/dev/null)" ]
}

# The part for the own stack, and the one for any other of this machine's kind
find_libunwind()
{
	local name file

	for name in libunwind.so.8 "libunwind-$arch.so.8"; do
		file=$("${pkg_config[@]}" --variable=libdir libunwind 2>/dev/null)/$name
		[ -e "$file" ] || [ -n "$CROSS_COMPILE" ] ||
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
	make | pkg-config | perl | python3 | g++ | man | groff | setpriv | strace | clang-format | xz)
		command_version "$1"
		;;
	setcap) PATH=$PATH:/usr/sbin:/sbin command -v setcap >/dev/null ;;
	npm) find_npm >/dev/null && command_version npm ;;
	perf) command_version perf ;;
	qemu) command_version "qemu-$arch" ;;
	bpftool) tool=$(find_bpftool) && "$tool" version | first_number ;;
	libc)
		# A cross compiler brings another one, which no library here goes with.
		[ -z "$CROSS_COMPILE" ] || [ -e "/usr/include/$cross_name/gnu/libc-version.h" ] ||
			[ -z "$(dpkg --print-architecture 2>/dev/null)" ] || return 1
		echo '#include <features.h>
		__GLIBC__.__GLIBC_MINOR__' | $CC -E -P - 2>/dev/null | tail -n 1 | tr -d ' '
		;;
	libbpf) library_version libbpf 1.1 ;;
	libelf | libdw | libtraceevent | zlib | sqlite3) library_version "$1" ;;
	protobuf-c) library_version libprotobuf-c 1.3 ;;
	# The first that writes zstd
	libarchive) library_version libarchive 3.3.3 ;;
	# The first whose memory can be bounded
	libzstd) library_version libzstd 1.4.0 ;;
	protoc-c) command_version protoc-c ;;
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
	# The client library, which is loaded when it is needed
	debuginfod) ldconfig -p 2>/dev/null | grep 'libdebuginfod\.so\.1 ' >/dev/null && echo yes ;;
	bash-completion) [ -e /usr/share/bash-completion/bash_completion ] && echo yes ;;
	hotspot | mandoc | shellcheck | clang-tidy | cppcheck | valgrind | xauth | xdotool | chromium)
		command -v "$1"
		;;
	xvfb) command -v Xvfb ;;
	imagemagick) command -v convert ;;
	go) command -v go || compgen -G '/usr/lib/go-*/bin/go' ;;
	# Go comes with the one of chrome://tracing, for go tool trace.
	trace-viewer) find /usr/share/go*/src /usr/lib/go*/src /usr/lib/golang/src \
		-name trace_viewer_full.html -print -quit 2>/dev/null | grep . ;;
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

	[ "$1" = check ] && wanted=" build option check "
	[ "$1" = tests ] && wanted=" build option page check tests "
	[ -n "$CROSS_COMPILE" ] && [ "$1" != build ] && wanted=" build option cross "
	while read -r level name debian fedora; do
		[[ -n $level && $wanted == *" $level "* ]] || continue
		probe "$name" >/dev/null && continue
		if [ "$debian" = - ]; then
			continue
		elif command -v apt-get >/dev/null; then
			cross_package "$(apt_package "$debian")"
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
	if [ -n "$CROSS_COMPILE" ]; then
		# Fedora packages no libraries of another machine's.
		echo "  Debian, Ubuntu:  sudo dpkg --add-architecture $(foreign_arch) &&" \
			"sudo apt-get update &&"
		echo "                   sudo apt-get install$debian"
	else
		[ -n "${debian# }" ] && echo "  Debian, Ubuntu:  sudo apt-get install$debian"
		[ -n "${fedora# }" ] && echo "  Fedora:          sudo dnf install$fedora"
	fi
	if [[ $names == *CUPTI* ]]; then
		echo "  CUPTI headers:   come with the CUDA toolkit, see" \
			"https://developer.nvidia.com/cuda-downloads,"
		echo "                   or: pip install nvidia-cuda-cupti nvidia-cuda-runtime;" \
			"a toolkit elsewhere: CUDA_HOME="
	fi
}

# What can't be done without an optional thing
without()
{
	case $1 in
	protobuf-c | protoc-c) echo "perf-gpu export has no --perfetto and --pprof" ;;
	sqlite3) echo "perf-gpu export has no --sqlite" ;;
	libzstd) echo "what perf record -z compresses isn't read" ;;
	libarchive) echo "there is no perf-gpu archive, and archives aren't read" ;;
	esac
}

write_features()
{
	local dir=$1 level name debian fedora version
	local missing_debian="" missing_fedora="" missing=""
	local mk="" header="" cupti cuda

	while read -r level name debian fedora; do
		[[ $level =~ ^(build|page|option)$ ]] || continue
		if version=$(probe "$name"); then
			printf '...%30s: [ on  ] %s\n' "$name" "$version"
			case $name in
			make | pkg-config | xz | protoc-c) ;; # leave no trace in what is built
			*) header+="BUILD_FEATURE(\"$name\", \"$version\")"$'\n' ;;
			esac
			continue
		fi
		if [ "$level" = page ]; then
			printf '...%30s: [ OFF ] %s\n' "$name" \
				"perf-gpu flamegraph will only draw with --svg"
			header+="BUILD_FEATURE_OFF(\"$name\", \"perf-gpu flamegraph only draws with --svg\")"$'\n'
			continue
		fi
		if [ "$level" = option ]; then
			printf '...%30s: [ OFF ] %s\n' "$name" "$(without "$name")"
			header+="BUILD_FEATURE_OFF(\"$name\", \"$(without "$name")\")"$'\n'
			continue
		fi
		printf '...%30s: [ OFF ]\n' "$name"
		missing+=" $name"
		[ "$debian" = - ] && continue
		# One package may bring several.
		[[ " $missing_debian " == *" $(cross_package "${debian%%|*}") "* ]] ||
			missing_debian+=" $(cross_package "${debian%%|*}")"
		missing_fedora+=" $fedora"
	done <<<"$requirements"
	if [ -n "$missing" ]; then
		say_what_is_missing "${missing_debian# }" "${missing_fedora# }" "${missing# }" >&2
		return 1
	fi

	cupti=$(find_cuda_header cupti.h)
	cuda=$(find_cuda_header cuda.h)
	mk+="BPFTOOL ?= $(find_bpftool)"$'\n'
	mk+="LIB_CFLAGS := $("${pkg_config[@]}" --cflags libbpf libelf libdw libtraceevent zlib)"$'\n'
	mk+="LIB_LIBS := $("${pkg_config[@]}" --libs libbpf libelf libdw libtraceevent zlib) -liberty"$'\n'
	if [ -n "$(probe protobuf-c)" ] && [ -n "$(probe protoc-c)" ]; then
		mk+="HAVE_PROTOBUF_C := yes"$'\n'
		mk+="LIB_CFLAGS += -DHAVE_PROTOBUF_C $("${pkg_config[@]}" --cflags libprotobuf-c)"$'\n'
		mk+="LIB_LIBS += $("${pkg_config[@]}" --libs libprotobuf-c)"$'\n'
	fi
	if [ -n "$(probe sqlite3)" ]; then
		mk+="HAVE_SQLITE3 := yes"$'\n'
		mk+="LIB_CFLAGS += -DHAVE_SQLITE3 $("${pkg_config[@]}" --cflags sqlite3)"$'\n'
		mk+="LIB_LIBS += $("${pkg_config[@]}" --libs sqlite3)"$'\n'
	fi
	if [ -n "$(probe libarchive)" ]; then
		mk+="HAVE_LIBARCHIVE := yes"$'\n'
		mk+="LIB_CFLAGS += $("${pkg_config[@]}" --cflags libarchive)"$'\n'
		mk+="LIB_LIBS += $("${pkg_config[@]}" --libs libarchive)"$'\n'
	fi
	if [ -n "$(probe libzstd)" ]; then
		mk+="HAVE_ZSTD := yes"$'\n'
		mk+="LIB_CFLAGS += -DHAVE_ZSTD $("${pkg_config[@]}" --cflags libzstd)"$'\n'
		mk+="LIB_LIBS += $("${pkg_config[@]}" --libs libzstd)"$'\n'
	fi
	if "${pkg_config[@]}" --exists libperf; then
		mk+="LIBPERF_PACKAGE := yes"$'\n'
		mk+="LIBPERF_CFLAGS := $("${pkg_config[@]}" --cflags libperf)"$'\n'
		mk+="LIBPERF_LIBS := $("${pkg_config[@]}" --libs libperf)"$'\n'
	fi
	mk+="CUDA_CFLAGS := -isystem $cupti"
	[ "$cuda" != "$cupti" ] && mk+=" -isystem $cuda"
	mk+=$'\n'"CUDA_INCLUDE := $cuda"
	mk+=$'\n'"LIBUNWIND_SO := $(find_libunwind | paste -sd ' ')"$'\n'
	mk+="NPM := $(find_npm)"$'\n'
	mk+="NODE := $(find_npm >/dev/null && command -v node)"$'\n'
	mk+="MULTIARCH := $($CC -print-multiarch 2>/dev/null)"$'\n'

	mkdir -p "$dir/include"
	printf '%s' "$header" >"$dir/include/build_features.h"
	printf '%s' "$mk" >"$dir/features.mk"
	echo
}

case ${1:-} in
--missing) print_missing "${2:-build}" ;;
--libperf-source) find_libperf_source ;;
--foreign-arch) foreign_arch ;;
"" | -*)
	sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
*) write_features "$1" ;;
esac
