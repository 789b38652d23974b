# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # variables are for the tests
#
# What shell tests have in common. A test says in its second line what it tests, and
# begins with
#
#	. "$(dirname "$0")/lib.sh"
#	need root bpf fake_cuda
#
# It has then
#   $PERF_GPU    the command that was built
#   $FAKE_CUDA   folder of the stand-in for CUDA's libraries
#   $WORKLOADS   folder of the programs to record
#   $TMP         an empty folder, removed at the end; the current one
#   $TESTS       the folder tests/ of the source
#
# and each of these prints one result:
#   ok WHAT                       passed
#   fail WHAT [DETAILS]           failed
#   skip_one WHAT REASON          not to be had here
#   check WHAT COMMAND...         COMMAND succeeds; its output is shown if not
#   check_status WHAT N COMMAND...  COMMAND exits with N; output in $TMP/out, $TMP/err
#   expect WHAT WANTED GOT        two texts are the same
#   expect_match WHAT REGEX TEXT  TEXT has a line that matches
#   expect_no_match WHAT REGEX TEXT
#
# `run_fake COMMAND...` runs a program on the stand-in.

set -uo pipefail

TESTS=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
O=${O:-$TESTS/../build}
O=$(cd "$O" && pwd) || exit 1
PERF_GPU=$O/perf-gpu
FAKE_CUDA=$O/fake_cuda
WORKLOADS=$O/tests/workloads
# make install, LD_PRELOAD and regular expressions of tests take a space for an end, and
# hotspot takes nothing below /dev for a program.
case ${TMPDIR:-} in *[[:space:]]* | /dev/*) unset TMPDIR ;; esac
# Not /tmp/perf-*: perf takes files of such names for symbol maps.
TMP=$(mktemp -d "${TMPDIR:-/tmp}/test-perf-gpu.XXXXXX") || exit 1

# Some tests run things as other users, who have to get there.
umask 022

# Whose files are is not to depend on who runs the tests.
unset SUDO_UID SUDO_GID

# Servers that somebody's login shell names are asked by none but who tests that.
unset DEBUGINFOD_URLS

# What libraries leak, for builds with SAN=address
export LSAN_OPTIONS=suppressions=$TESTS/lsan.supp:print_suppressions=0

nr_results=0
nr_failed=0

cleanup()
{
	local status=$?

	cd /
	rm -rf "$TMP"
	# The plan comes last and only from a test that got there.
	if [ $nr_results -gt 0 ] && [ $status -eq 0 ]; then
		echo "1..$nr_results"
		[ $nr_failed -eq 0 ] || exit 1
	fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM
cd "$TMP" || exit 1

ok()
{
	nr_results=$((nr_results + 1))
	echo "ok $nr_results - $1"
}

fail()
{
	nr_results=$((nr_results + 1))
	nr_failed=$((nr_failed + 1))
	echo "not ok $nr_results - $1"
	if [ -n "${2:-}" ]; then
		echo "# ${2//$'\n'/$'\n# '}"
	fi
}

skip_one()
{
	nr_results=$((nr_results + 1))
	echo "ok $nr_results - $1 # SKIP $2"
}

# Why a need isn't there; nothing if it is
why_not()
{
	case $1 in
	root) [ "$(id -u)" = 0 ] || echo "not root" ;;
	bpf)
		PATH=$PATH:/usr/sbin bpftool prog list >/dev/null 2>&1 ||
			echo "BPF programs can't be used"
		;;
	perf) perf version >/dev/null 2>&1 || echo "perf isn't installed" ;;
	gpu) [ -e /dev/nvidiactl ] || echo "no NVIDIA GPU" ;;
	nvcc) [ -x "$WORKLOADS/mini_llm" ] || echo "no nvcc to build the CUDA programs" ;;
	fake_cuda) [ -e "$FAKE_CUDA/libcuda.so.1" ] || echo "the stand-in isn't built" ;;
	hotspot)
		command -v hotspot >/dev/null && command -v Xvfb >/dev/null ||
			echo "hotspot and Xvfb aren't both installed"
		;;
	emulator) [ -n "${EMULATOR:-}" ] || echo "built for this machine" ;;
	viewers)
		if command -v node >/dev/null; then
			"$TESTS/viewers/fetch.sh" "$O/viewers" 2>&1
		else
			echo "node isn't installed"
		fi
		;;
	nsys)
		[ -n "$(command -v nsys)" ] || "$TESTS/viewers/fetch-nsys.sh" "$O/nsys" 2>&1
		;;
	namespaces)
		unshare --mount --uts --time --monotonic 1 --pid --fork --mount-proc true >/dev/null 2>&1 ||
			echo "unshare can't make them"
		;;
	plain) [ -z "${SAN:-}" ] || echo "built with sanitizers" ;;
	*) command -v "$1" >/dev/null || echo "$1 isn't installed" ;;
	esac
}

# Ends the test if one of the needs isn't there: root bpf perf hotspot gpu nvcc
# fake_cuda, viewers (their own code, in $O/viewers), nsys (installed, or in $O/nsys),
# emulator (a cross build), namespaces (of mounts, pids, names and times), plain (no
# sanitizers), or any program
need()
{
	local need why

	for need; do
		why=$(why_not "$need")
		[ -n "$why" ] || continue
		echo "1..0 # SKIP need $need: $why"
		exit 0
	done
}

# Whether a need is there, for a test that does less without
has()
{
	[ -z "$(why_not "$1")" ]
}

check()
{
	local what=$1 output status
	shift

	output=$("$@" 2>&1)
	status=$?
	if [ $status -eq 0 ]; then
		ok "$what"
	else
		fail "$what" "status $status of: $*"$'\n'"$output"
	fi
}

check_status()
{
	local what=$1 wanted=$2 status
	shift 2

	"$@" >"$TMP/out" 2>"$TMP/err"
	status=$?
	if [ $status -eq "$wanted" ]; then
		ok "$what"
	else
		fail "$what" "status $status, not $wanted, of: $*"$'\n'"$(tail -n 20 "$TMP/out" "$TMP/err")"
	fi
}

expect()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		fail "$1" "$(diff -u --label wanted --label got <(echo "$2") <(echo "$3") | head -n 200)"
	fi
}

expect_match()
{
	if grep -qE -- "$2" <<<"$3"; then
		ok "$1"
	else
		fail "$1" "no line matches '$2' in:"$'\n'"$3"
	fi
}

expect_no_match()
{
	if ! grep -qE -- "$2" <<<"$3"; then
		ok "$1"
	else
		fail "$1" "a line matches '$2' in:"$'\n'"$3"
	fi
}

run_fake()
{
	LD_LIBRARY_PATH=$FAKE_CUDA${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$@"
}
