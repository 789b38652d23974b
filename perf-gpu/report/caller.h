/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which function of the program's own sent work to the GPU: the innermost frame of a
 * stack, below the CUDA call, that is none of
 *
 *   CUDA's     API functions, what the runtime linked into a program brings
 *              (__cuda..., cuda[A-Z]..., __device_stub__..., cudart::), and the function
 *              that nvcc makes for a kernel, which is called like it
 *   libraries' files in the system's library directories, in site-packages and
 *              dist-packages, and those of well-known names (libcu*, libnv*, libtorch*,
 *              libc.so, ...) wherever they are; Python's own modules; functions of
 *              std::, __gnu_cxx::, thrust:: and cub::, which are compiled into programs
 *   no code    labels, the interpreter of Python or Node itself, _start
 *
 * So of functions that a program has, those of its executable, of its own shared objects,
 * of its own scripts, and what a JIT compiler made.
 *
 * Pure: it looks at names and paths alone.
 */
#ifndef PERF_GPU_REPORT_CALLER_H
#define PERF_GPU_REPORT_CALLER_H

#include <stdbool.h>

#include "sink/frame_names.h"

/* Is it code of the program's own? A kernel's own stub isn't told here. */
bool caller__is_own(const struct frame_name *name);

/**
 * caller__write - what a caller is called in a table
 * @ret: "train_step", "Block.forward (model.py)"; at most @bytes, with the NUL
 */
void caller__write(const struct frame_name *name, char *ret, size_t bytes);

#endif
