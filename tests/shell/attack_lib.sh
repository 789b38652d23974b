# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # variables are for the tests
#
# For tests of programs that attack their recorder, often as another user: behind lib.sh and
# what the test needs, which are root and setpriv at least. They have then
#   $ATTACK   what attacks (tests/workloads/attack.py), which others can read
# and are in a folder that others may enter.

export FAKE_CUDA_INSTANT=1
ATTACK=$TESTS/workloads/attack.py
chmod 755 "$TMP"
mkdir -m 755 here && cd here || exit 1

if ! setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$PERF_GPU" -a -r "$ATTACK"; then
	echo "1..0 # SKIP the build is not for others to read"
	exit 0
fi

# Lines with a byte that a terminal obeys, in what is read
escapes()
{
	LC_ALL=C grep -caP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|(^|[\x00-\x7f])[\x80-\xbf]' "$1"
}
