/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Python programs' stacks: Python's functions, in the place of the interpreter.
 *
 *   recorded, leaf first         shown
 *   THPVariable_add              THPVariable_add
 *   (python3.11)
 *   code 7, line 3               py::Model.forward:/src/model.py
 *   (python3.11)
 *   _PyEval_EvalFrameDefault
 *   (libtorch_python.so)         (libtorch_python.so)
 *   (python3.11)
 *   code 1, line 20              py::<module>:/src/train.py
 *   _PyEval_EvalFrameDefault
 *   PyEval_EvalCode              PyEval_EvalCode
 *   ..., main, _start            ..., main, _start
 *
 * The interpreter's own frames are left out as far as they run Python functions; what
 * starts it stays, as do frames of extensions. Python's functions are either those that
 * the injected library has walked, or those of CPython's perf trampolines, which are
 * code in memory with names that begin with py::.
 */
#ifndef PERF_GPU_SOURCE_PYTHON_STACK_H
#define PERF_GPU_SOURCE_PYTHON_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "sidecar/sidecar.h"
#include "source/stack.h"
#include "symbol/machine.h"

/**
 * python_stack__show - name Python's functions in a stack, and leave the interpreter out
 * @stack:   as stack__build() made it
 * @sidecar, @log: whose functions; negative: not known
 * @machine, @pid: address spaces as of the launch
 * @keep_interpreter_frames: leave nothing out
 */
void python_stack__show(struct stack *stack, const struct sidecar *sidecar, int log,
			const struct machine *machine, uint32_t pid,
			bool keep_interpreter_frames);

#endif
