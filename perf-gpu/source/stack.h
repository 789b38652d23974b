/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a launch's callchain to the frames that are shown.
 *
 *   callchain, leaf first                    frames, leaf first
 *   perf_gpu_launch, ...  our library        [GPU_Kernel]k
 *   ...                   libcupti           cudaLaunchKernel
 *   ...                   libcuda            f
 *   cudaLaunchKernel      cudart             main
 *   __device_stub__k      nvcc's             _start
 *   f                     the program
 *   main, _start
 *
 * What lies between the kernel and the program's own code is dropped, and one
 * frame put in its place: the API function, by the name CUPTI has for it, since
 * a stripped program has no symbol of it. A runtime linked in statically is
 * part of the program's own file: its frames end at the API function's symbol.
 *
 * A frame in memory that no file describes is a JIT compiler's, and is shown by the
 * name that the recording has kept for it.
 *
 * A stack that the library knows to go on ends in a frame [truncated].
 */
#ifndef PERF_GPU_SOURCE_STACK_H
#define PERF_GPU_SOURCE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sink/sink.h"
#include "source/jit_names.h"
#include "symbol/machine.h"

/* perf's own limit, and three frames that are no code */
#define STACK_MAX_FRAMES (127 + 3)

/* The name of a frame behind which there are others, which weren't walked */
#define STACK_TRUNCATED "[truncated]"

struct stack {
	size_t nr_frames;
	bool has_code; /* a frame of the program was found */
	bool is_truncated; /* it goes on, but wasn't walked */
	/* All code is of mapped files, which are no JIT compiler's; false: it isn't known */
	bool is_of_files;
	uint64_t id; /* gpu_sample.stack_id */
	/* frames[0] is left for the kernel */
	struct gpu_frame frames[STACK_MAX_FRAMES];
};

/* A launch, as it was recorded. */
struct stack_launch {
	uint32_t pid;
	uint64_t time_ns;
	/* The callchain, with PERF_CONTEXT_* markers; may be empty */
	const uint64_t *ips;
	uint64_t nr_ips;
	const char
		*api; /* name of the API function, NULL: not known; kept by reference */
	struct jit_names *jit_names; /* NULL: none */
	int log; /* whose names; negative: not known */
	bool is_hit; /* the first address is no return address, but a probe's */
};

/**
 * stack__build - choose the frames of a launch
 * @ret:      filled in whole; names live as long as @machine and the names
 * @machine:  address spaces as of the launch
 * @keep_driver_frames: drop our own library's frames only
 */
void stack__build(struct stack *ret, const struct machine *machine,
		  const struct stack_launch *launch, bool keep_driver_frames);

#endif
