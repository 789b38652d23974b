/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Python functions of a stack: CPython's own frames of the calling thread, put
 * between the native frames.
 *
 *   leaf first   native                        with Python's
 *                at::native::add               at::native::add
 *                THPVariable_add               THPVariable_add
 *                _PyEval_EvalFrameDefault      g
 *                slot_tp_call                  f
 *                _PyEval_EvalFrameDefault      _PyEval_EvalFrameDefault
 *                ...                           slot_tp_call
 *                                              <module>
 *                                              _PyEval_EvalFrameDefault
 *                                              ...
 *
 * Every call of _PyEval_EvalFrameDefault executes one group of Python's frames: those
 * that call each other without leaving the interpreter's loop. Which native frame is
 * whose is told by the stack: from 3.10 on, each group has something in the C stack
 * frame of its loop. For earlier versions loops and groups are counted.
 *
 * The thread need not have the GIL, and mostly hasn't: PyTorch gives it up before it
 * launches. Its frames are its own all the same, and don't change while it is here.
 * Nothing of CPython is called but PyGILState_GetThisThreadState(), which reads a
 * thread-specific value; no lock is taken but for code that is seen the first time; and
 * no pointer is followed before it is known to be readable.
 */
#ifndef PERF_GPU_INJECT_PYTHON_H
#define PERF_GPU_INJECT_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log.h"

/**
 * python__begin - walk Python's frames, or not, from here on
 * @log: of a new recording, which gets the names; kept; NULL: Python isn't walked
 *
 * Not while python__look() runs.
 */
void python__begin(struct log *log);

/* Look for interpreters that were loaded since. Now and then; cheap if none was. */
void python__look(void);

/* The one flag that a launch looks at in a process without Python. */
bool python__is_there(void);

/**
 * python__merge - add the Python frames of the calling thread to its native ones
 * @frames: room for PYTHON_MAX_FRAMES; in and out
 * @stack_pointers: of the native ones, as unwind__frames() gives them
 * @nr:     how many frames there are; the last may be GPU_LOG_FRAME_TRUNCATED
 * @max:    how many are wanted; if they are more, the outermost are left out, and
 *          GPU_LOG_FRAME_TRUNCATED stands there as unwind__frames() has it
 *
 * From any thread, also several at once; not in a forked child. Changes errno. Takes
 * about 7 KiB of the stack.
 *
 * Return: how many there are now; @nr in a thread without Python.
 */
size_t python__merge(uint64_t *frames, const uint64_t *stack_pointers, size_t nr,
		     size_t max);

/* The recording ends: tell the user of stacks whose order is not sure. */
void python__end(void);

#endif
