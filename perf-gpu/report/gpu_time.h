/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How each GPU spent its time: at work, without work, and with copies beside kernels.
 *
 *   kernels   ▐████▌   ▐██████▌
 *   copies        ▐██████▌                    ▐██▌
 *   busy      ▐████████████████▌              ▐██▌      the union, with memsets too
 *   idle                        └──── gap ────┘
 *   overlap       ▐▌   ▐█▌                              both at once
 *
 * What is work, and on which GPU it is, is as in join/idle.h, and so are busy_ns, idle_ns
 * and nr_gaps, which are those of gpu-idle.
 *
 * Pure: no I/O, no globals. Activities are nearly in order, and are read in it
 * (util/runs.h); nothing is kept of them.
 */
#ifndef PERF_GPU_REPORT_GPU_TIME_H
#define PERF_GPU_REPORT_GPU_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "join/devices.h"
#include "sidecar/sidecar.h"

struct gpu_time {
	uint32_t number; /* devices__shown_number() */
	int64_t stream; /* -1: all of the GPU's */
	char name[64]; /* "" if not known */
	uint64_t nr_activities;
	uint64_t first_ns, last_ns; /* start of the first, end of the last one's */
	uint64_t busy_ns, idle_ns, nr_gaps;
	uint64_t kernels_ns, copies_ns; /* in which at least one ran */
	uint64_t overlap_ns; /* of copies_ns, that which is of kernels_ns, too */
};

/**
 * gpu_time__find - those of all GPUs that did anything
 * @by_stream: behind them, those of each of their streams; streams of one number are one,
 *             whichever context and process they are of
 * @ret: for free(); written on success only, like @ret_nr
 *
 * Return: 0 or -ENOMEM.
 */
int gpu_time__find(const struct sidecar *sidecar, bool by_stream, struct gpu_time **ret,
		   size_t *ret_nr);

#endif
