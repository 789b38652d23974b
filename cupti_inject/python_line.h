/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPython's line tables: from an instruction to the line it is of.
 *
 *   3.8, 3.9   co_lnotab     u8 bytes of instructions, s8 lines; a line's first
 *                            instruction stands where both are added up so far
 *   3.10       co_linetable  u8 bytes, s8 lines: this many bytes are of the line
 *                            that is so much further; -128: of no line
 *   3.11...    co_linetable  entries of 1 1xxx LLL and more, of LLL + 1 instructions:
 *                            short (0-9), one line further (10-12), with a varint
 *                            (13, 14), no line (15)
 *
 * Pure; any thread. A table that breaks the format gives some line, and is never read
 * beyond its end.
 */
#ifndef PERF_GPU_INJECT_PYTHON_LINE_H
#define PERF_GPU_INJECT_PYTHON_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "python_layout.h"

/**
 * python_line__find - how far from the first line of its code is an instruction?
 * @table, @nr_bytes: the line table
 * @offset: of the instruction, in bytes; negative: none is executed yet
 *
 * Return: lines, which may be negative; 0 too before the first instruction;
 * PYTHON_NO_LINE if the instruction is of none.
 */
#define PYTHON_NO_LINE INT32_MIN
int32_t python_line__find(enum python_line_format format, const uint8_t *table,
			  size_t nr_bytes, int64_t offset);

#endif
