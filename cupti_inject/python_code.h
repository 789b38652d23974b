/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code objects of CPython, as frames of a recording: their names go into the log, once,
 * and frames have the id that they get there.
 *
 * A code object is recognized by its address as long as what it is known by is still
 * the same; another one may be made where it was freed. What is known of it is a cache:
 * a table of fixed size, of which any entry may be overwritten.
 *
 * Any thread, also several at once. A code object that is known is found without a
 * lock; a new one is read under a mutex. The objects must be alive: of frames that are
 * being executed.
 */
#ifndef PERF_GPU_INJECT_PYTHON_CODE_H
#define PERF_GPU_INJECT_PYTHON_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "log.h"
#include "python_string.h"

/* A recording begins, whose log gets the names from here on. */
void python_code__begin(struct log *log);

/**
 * python_code__frame - a frame of a recording, for one that is executed
 * @code: address of what the frame says is its code
 * @instruction: of the frame: an address, or an index (layout->frame.bytes_per_index)
 * @ret: GPU_LOG_FRAME_PYTHON; of code 0 if its name can't be read, or the log has no
 *       room for it
 *
 * Return: false if @code is no code object.
 */
bool python_code__frame(const struct python_reader *reader, uintptr_t code,
			uint64_t instruction, uint64_t *ret);

#endif
