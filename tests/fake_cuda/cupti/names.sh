#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints array elements, [id] = "name", for the enumerators of a CUPTI header.
# usage: names.sh runtime|driver|result COMPILER [FLAG...]
#
# The real libcupti calls everything by its enumerator, so the header has the names,
# but for two results that it doesn't know.
set -eu

kind=$1
shift
case $kind in
result) header=cupti_result.h prefix=CUPTI_ kept=CUPTI_ ;;
*)
	header=cupti_${kind}_cbid.h kept=
	prefix=CUPTI_$(echo "$kind" | tr '[:lower:]' '[:upper:]')_TRACE_CBID_
	;;
esac

echo "#include <$header>" | "$@" -E -xc - |
	sed -nE "s/^ *$prefix([A-Za-z_0-9]+) *= *([0-9]+),.*/	[\\2] = \"$kept\\1\",/p" |
	grep -v -e '"SIZE"' -e OLD_PROFILER_API_INITIALIZED -e OPENACC_UNDEFINED_ROUTINE
