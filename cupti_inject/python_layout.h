/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where CPython keeps what, by version: byte offsets in its structures.
 *
 *   version    the thread's frame           a frame ends one run of the interpreter's
 *                                           loop, that is, one native frame of
 *                                           _PyEval_EvalFrameDefault
 *   3.8-3.10   frame                        always: a run for each frame
 *   3.11       cframe -> current_frame      if is_entry
 *   3.12       cframe -> current_frame      if the next one is a shim: a frame without
 *   3.13-3.14  current_frame                code, in the C stack frame of the loop itself
 *
 *   line tables (https://docs.python.org/3/c-api/code.html and the comments in
 *   CPython's Objects/lnotab_notes.txt, Objects/locations.md): python_line.h
 */
#ifndef PERF_GPU_INJECT_PYTHON_LAYOUT_H
#define PERF_GPU_INJECT_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum python_group_end {
	PYTHON_EACH_FRAME,
	PYTHON_ENTRY_FRAME, /* frame.entry is not 0 */
	PYTHON_SHIM_FRAME, /* a frame whose frame.owner is shim_owner or more */
};

enum python_line_format {
	PYTHON_LNOTAB, /* 3.8, 3.9 */
	PYTHON_LINE_RANGES, /* 3.10 */
	PYTHON_LOCATIONS, /* 3.11 and later */
};

struct python_layout {
	unsigned int minor; /* 3.minor */
	enum python_group_end group_end;
	enum python_line_format line_format;
	struct {
		uint16_t frame; /* 0: its cframe has it */
		uint16_t cframe; /* 0: it has none */
	} thread;
	struct { /* in the loop's C stack frame */
		uint16_t frame, previous;
	} cframe;
	struct {
		uint16_t bytes; /* of all that is read */
		uint16_t previous, code;
		uint16_t instruction; /* int32_t index, or an address in the code */
		uint16_t entry; /* of 3.11 */
		uint16_t owner; /* of 3.12 and later */
		uint8_t shim_owner;
		uint8_t bytes_per_index; /* 0: instruction is an address */
	} frame;
	struct {
		uint16_t bytes; /* of all that is read */
		uint16_t name; /* qualified, from 3.11 on */
		uint16_t file, first_line, line_table;
		uint16_t version; /* 0: it has none */
		uint16_t instructions; /* where an address is counted from */
	} code;
	uint16_t object_bytes; /* the head of every object ... */
	uint16_t object_type; /* ... and its type in it */
	uint16_t ascii_bytes; /* the head of an ASCII string */
	uint16_t compact_bytes; /* the head of another string */
};

/* Does each run of the loop have something of a known address on the C stack? */
static inline bool python_layout__has_addresses(const struct python_layout *layout)
{
	return layout->group_end == PYTHON_SHIM_FRAME || layout->thread.cframe;
}

/**
 * python_layout__of - the layout of a version
 * @version: "3.11.2 (main, ...", as Py_GetVersion() has it
 * @debug_offsets: the start of _PyRuntime, of which PYTHON_DEBUG_OFFSETS_BYTES can be
 *           read; NULL if it has none. Needed from 3.13 on.
 *
 * Return: 0, or -ENOTSUP for a version or a build that isn't known.
 */
#define PYTHON_DEBUG_OFFSETS_BYTES 512
int python_layout__of(const char *version, const void *debug_offsets,
		      struct python_layout *ret);

#endif
