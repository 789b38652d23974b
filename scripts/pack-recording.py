#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""pack-recording.py COMMAND PERF.DATA: write to stdout what tests/fuzz/fuzz_commands.c
reads: the number of a command, the recording's sidecar (PERF.DATA.gpu), and itself."""

import struct
import sys

if len(sys.argv) != 3:
    sys.exit(__doc__)
with open(sys.argv[2] + ".gpu", "rb") as file:
    sidecar = file.read()
with open(sys.argv[2], "rb") as file:
    perfdata = file.read()
head = struct.pack("<BxxxI", int(sys.argv[1]), len(sidecar))
sys.stdout.buffer.write(head + sidecar + perfdata)
