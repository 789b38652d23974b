/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The caller of each sample: the innermost function of the program's own in its stack
 * (report/caller.h tells which that are). Stacks that were there a short while ago are
 * recognized, and not looked through again. One thread.
 */
#ifndef PERF_GPU_REPORT_CALLER_FINDER_H
#define PERF_GPU_REPORT_CALLER_FINDER_H

#include "sink/frame_names.h"
#include "sink/sink.h"

struct caller_finder;

/**
 * caller_finder__new - for samples of one source
 * @names: where names come from; must outlive it
 * @ret:   released by caller_finder__delete(); written on success only
 *
 * Return: 0 or -ENOMEM, like the one below.
 */
int caller_finder__new(struct frame_names *names, struct caller_finder **ret);
void caller_finder__delete(struct caller_finder *finder); /* NULL is fine */

/**
 * caller_finder__find - who sent a sample's work to the GPU
 * @kernel:      the leaf's name, if it is a kernel, whose stub is no caller; else NULL
 * @kernel_name: the name of the kernel in it
 * @ret:         a function; or "[thread NAME]", if none of the program's is there, or
 *               "[unattributed]". Lives as long as the names.
 */
int caller_finder__find(struct caller_finder *finder, const struct gpu_sample *sample,
			const struct frame_name *kernel, const char *kernel_name,
			const struct frame_name **ret);

#endif
