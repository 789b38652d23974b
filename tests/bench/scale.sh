#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How fast recordings of many launches are read, and in how much memory: inject, script
# --folded and report, beside what stock perf does with the same files, in turns.
#
# usage: tests/bench/scale.sh [LAUNCHES...]
#   LAUNCHES    of the recordings (100000 1000000)
#
#   SCALE_DIR        where they are made: 1.2 KB for each launch. By default a folder of
#                    /dev/shm, where all files are in memory; $TMPDIR is as large as disks
#   SCALE_RUNS       of each command, of which the fastest counts (3)
#   SCALE_PERF       perf inject is run up to so many launches, perf script up to a tenth of
#                    them (1000000)
#   SCALE_DISTINCT   also with all stacks distinct, up to so many launches (100000)
#   STACKCOLLAPSE    FlameGraph's stackcollapse-perf.pl; by default that on PATH. Without one
#                    its rules as tests/tools/fold_script.py has them stand in, and that is said
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/bench/scale_lib.sh
. tests/bench/scale_lib.sh

[[ $# -gt 0 ]] || set -- 100000 1000000
print_machine
print_limits
for nr in "$@"; do
	measure_recording "$nr" realistic
	[[ $nr -gt ${SCALE_DISTINCT:-100000} ]] || measure_recording "$nr" distinct -d
done
exit "$failed"
