/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CUPTI beside another subscriber, who comes first (--share): from CUDA 13.2 on, one who
 * allows others can be joined. Nothing is done before somebody has: whoever is subscribed,
 * in whatever way, has profilers refused that know nothing of others, as Kineto is.
 *
 * One thread at a time, but for what CUPTI calls.
 */
#ifndef PERF_GPU_INJECT_CUPTI_SHARE_H
#define PERF_GPU_INJECT_CUPTI_SHARE_H

#include <stddef.h>

#include "cupti_table.h"

/**
 * cupti_share__join - subscribe beside who has CUPTI, if he allows it
 * @ret:    CUPTI, as far as it is ours: its functions go by our subscriber. It lives as
 *          long as the process; written on success only
 * @holder: receives what he is called, or ""
 *
 * Loads no CUPTI: one that nobody has loaded, nobody uses. May be called again and again.
 *
 * Return: 0; -EAGAIN if nobody has CUPTI yet; -EBUSY if somebody has it to himself; -ENOSYS
 * if there is a CUPTI, and it has room for one; -EIO if joining failed, with what and why in
 * @why.
 */
int cupti_share__join(struct cupti_table *ret, char *holder, size_t holder_bytes,
		      char *why, size_t why_bytes);

/* Others stay. */
void cupti_share__leave(void);

#endif
