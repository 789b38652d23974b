/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernels that CUPTI records although they were launched while recording was off. CUPTI
 * 13 does so after kernels have been recorded a second time in a process (seen on an
 * H200 with CUDA graphs, 150,000 kernels at each attach). They have the correlation
 * id of the thread's last launch that was told of, and would get its stack.
 *
 * They are known by what a launch can't have: an id from before the recording; and, in
 * the buffer of a thread, another kernel of the same id on the same device, unless both
 * are nodes of graphs. (So a launch of a graph by a thread whose last launch was one,
 * too, is not known, and gets the stack of that.)
 *
 * From any thread.
 */
#ifndef PERF_GPU_INJECT_STRAY_H
#define PERF_GPU_INJECT_STRAY_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu_log.h"

/* Kernels of one id that follow each other in a buffer; all 0 at its start. */
struct stray_run {
	uint64_t correlation_id;
	uint32_t device;
	uint32_t graph;
	bool has_begun;
	bool is_over; /* all that follow are strays */
};

/**
 * stray__begin - a recording begins
 * @are_expected: there was another before; else all kernels are taken for what they are
 */
void stray__begin(bool are_expected);

/* The recording is switched off: from here on there may be some. */
void stray__expect(void);

/**
 * stray__is - is the next kernel of a buffer one?
 * @shape:          of the kernel: its device and graph are looked at
 * @correlation_id: of the kernel; 0: it has none, and is not one
 * @first_id:       of the recording's launches
 */
bool stray__is(struct stray_run *run, const struct gpu_log_shape *shape,
	       uint64_t correlation_id, uint64_t first_id);

/* The buffer ends: the thread's next one goes on there. */
void stray__end_buffer(const struct stray_run *run);

/* How many there were, in this recording. */
uint64_t stray__count(void);

#endif
