// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The numbers up to 3.12 are offsetof() of CPython's own headers, for 64-bit machines;
 * they haven't changed within a version. From 3.13 on, the interpreter says them itself
 * (_Py_DebugOffsets, at the start of _PyRuntime; for debuggers).
 */
#include "python_layout.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COOKIE "xdebugpy"

/* Heads of objects and strings, without Py_TRACE_REFS and with a GIL */
#define PLAIN_OBJECT .object_bytes = 16, .object_type = 8
#define OLD_STRINGS  .ascii_bytes = 48, .compact_bytes = 72
#define NEW_STRINGS  .ascii_bytes = 40, .compact_bytes = 56

#define OLD_CODE                   \
	.code = {.bytes = 128,     \
		 .name = 112,      \
		 .file = 104,      \
		 .first_line = 40, \
		 .line_table = 120}

/* 3.8 and 3.9; 3.10 moved f_lasti, and made it count instructions */
#define OLD_FRAME(lasti, scale)             \
	.frame = {                          \
		.bytes = (lasti) + 4,       \
		.previous = 24,             \
		.code = 32,                 \
		.instruction = (lasti),     \
		.bytes_per_index = (scale), \
	}

static const struct python_layout fixed_layouts[] = {
	{
		.minor = 8,
		.group_end = PYTHON_EACH_FRAME,
		.line_format = PYTHON_LNOTAB,
		.thread = {.frame = 24},
		OLD_FRAME(104, 1),
		OLD_CODE,
		PLAIN_OBJECT,
		OLD_STRINGS,
	},
	{
		.minor = 9,
		.group_end = PYTHON_EACH_FRAME,
		.line_format = PYTHON_LNOTAB,
		.thread = {.frame = 24},
		OLD_FRAME(104, 1),
		OLD_CODE,
		PLAIN_OBJECT,
		OLD_STRINGS,
	},
	{
		.minor = 10,
		.group_end = PYTHON_EACH_FRAME,
		.line_format = PYTHON_LINE_RANGES,
		.thread = {.frame = 24, .cframe = 48},
		.cframe = {.previous = 8},
		OLD_FRAME(96, 2),
		OLD_CODE,
		PLAIN_OBJECT,
		OLD_STRINGS,
	},
	{
		.minor = 11,
		.group_end = PYTHON_ENTRY_FRAME,
		.line_format = PYTHON_LOCATIONS,
		.thread = {.cframe = 56},
		.cframe = {.frame = 8, .previous = 16},
		.frame = {.bytes = 72,
			  .previous = 48,
			  .code = 32,
			  .instruction = 56,
			  .entry = 68},
		.code = {.bytes = 184,
			 .name = 128,
			 .file = 112,
			 .first_line = 72,
			 .line_table = 136,
			 .instructions = 184},
		PLAIN_OBJECT,
		OLD_STRINGS,
	},
	{
		.minor = 12,
		.group_end = PYTHON_SHIM_FRAME,
		.line_format = PYTHON_LOCATIONS,
		.thread = {.cframe = 56},
		.cframe = {.frame = 0, .previous = 8},
		.frame = {.bytes = 72,
			  .previous = 8,
			  .code = 0,
			  .instruction = 56,
			  .owner = 70,
			  .shim_owner = 3},
		.code = {.bytes = 192,
			 .name = 128,
			 .file = 112,
			 .first_line = 68,
			 .line_table = 136,
			 .version = 92,
			 .instructions = 192},
		PLAIN_OBJECT,
		NEW_STRINGS,
	},
};

/*
 * Which of the 64-bit numbers behind cookie, version and "is free-threaded" are which:
 * they come in groups, and a later version has longer groups.
 */
struct debug_index {
	unsigned int minor;
	uint8_t thread_frame;
	uint8_t frame_previous, frame_code, frame_instruction, frame_owner;
	uint8_t code_file, code_name, code_line_table, code_first_line;
	uint8_t code_local_names, code_instructions;
	uint8_t object_bytes, object_type;
};

static const struct debug_index debug_indexes[] = {
	{
		.minor = 13,
		.thread_frame = 23,
		.frame_previous = 29,
		.frame_code = 30,
		.frame_instruction = 31,
		.frame_owner = 33,
		.code_file = 35,
		.code_name = 37,
		.code_line_table = 38,
		.code_first_line = 39,
		.code_local_names = 41,
		.code_instructions = 43,
		.object_bytes = 44,
		.object_type = 45,
	},
	{
		.minor = 14,
		.thread_frame = 26,
		.frame_previous = 32,
		.frame_code = 33,
		.frame_instruction = 34,
		.frame_owner = 36,
		.code_file = 40,
		.code_name = 42,
		.code_line_table = 43,
		.code_first_line = 44,
		.code_local_names = 46,
		.code_instructions = 48,
		.object_bytes = 50,
		.object_type = 51,
	},
};

static uint16_t larger(uint16_t a, uint16_t b)
{
	return a > b ? a : b;
}

static int layout_of_debug_offsets(unsigned int minor, const void *offsets,
				   struct python_layout *ret)
{
	const struct debug_index *index = NULL;
	uint64_t all[PYTHON_DEBUG_OFFSETS_BYTES / sizeof(uint64_t)];
	struct python_layout layout = {
		.minor = minor,
		.group_end = PYTHON_SHIM_FRAME,
		.line_format = PYTHON_LOCATIONS,
		.frame.shim_owner = 3,
	};

	for (size_t i = 0; i < sizeof(debug_indexes) / sizeof(*debug_indexes); i++) {
		if (debug_indexes[i].minor == minor)
			index = &debug_indexes[i];
	}
	if (!index || !offsets)
		return -ENOTSUP;
	memcpy(all, offsets, sizeof(all));
	if (memcmp(all, COOKIE, sizeof(COOKIE) - 1) || all[1] >> 16 != (3u << 8 | minor))
		return -ENOTSUP;
	/* What isn't small is no offset, and the table not what we think. */
	for (size_t i = index->thread_frame; i <= index->object_type; i++) {
		if (all[i] > 4096)
			return -ENOTSUP;
	}

	layout.thread.frame = (uint16_t)all[index->thread_frame];
	layout.frame.previous = (uint16_t)all[index->frame_previous];
	layout.frame.code = (uint16_t)all[index->frame_code];
	layout.frame.instruction = (uint16_t)all[index->frame_instruction];
	layout.frame.owner = (uint16_t)all[index->frame_owner];
	layout.frame.bytes = larger(layout.frame.owner + 1, layout.frame.instruction + 8);
	layout.code.file = (uint16_t)all[index->code_file];
	layout.code.name = (uint16_t)all[index->code_name];
	layout.code.line_table = (uint16_t)all[index->code_line_table];
	layout.code.first_line = (uint16_t)all[index->code_first_line];
	layout.code.instructions = (uint16_t)all[index->code_instructions];
	layout.code.bytes = layout.code.instructions;
	layout.object_bytes = (uint16_t)all[index->object_bytes];
	layout.object_type = (uint16_t)all[index->object_type];
	/* co_version isn't among them; it stands before co_localsplusnames. */
	layout.code.version = (uint16_t)(all[index->code_local_names] - 4);
	/* Behind the head: length, hash, state; and length and pointer of the UTF-8 */
	layout.ascii_bytes = layout.object_bytes + 24;
	layout.compact_bytes = layout.ascii_bytes + 16;
	*ret = layout;
	return 0;
}

int python_layout__of(const char *version, const void *debug_offsets,
		      struct python_layout *ret)
{
	unsigned int minor;

	if (sizeof(void *) != 8 || sscanf(version, "3.%u", &minor) != 1)
		return -ENOTSUP;
	for (size_t i = 0; i < sizeof(fixed_layouts) / sizeof(*fixed_layouts); i++) {
		if (fixed_layouts[i].minor == minor) {
			*ret = fixed_layouts[i];
			return 0;
		}
	}
	return layout_of_debug_offsets(minor, debug_offsets, ret);
}
