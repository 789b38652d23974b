/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a program's life that it marks itself, with cudaProfilerStart() and
 * cudaProfilerStop() or the driver's functions of that name (record --capture-range):
 * the runtime's call the driver's, and CUPTI tells of both. The callbacks of these two are
 * on as long as there is a recording; recorded is from the end of the first call of the one
 * to the beginning of the next of the other, as often as they come.
 */
#ifndef PERF_GPU_INJECT_CAPTURE_RANGE_H
#define PERF_GPU_INJECT_CAPTURE_RANGE_H

#include <stdbool.h>

#include "cupti_table.h"

/**
 * capture_range__begin - have CUPTI tell of the two functions
 * @cupti, @subscriber: not kept
 *
 * Return: 0, or -ENOSYS if it knows no such functions.
 */
int capture_range__begin(const struct cupti_table *cupti,
			 CUpti_SubscriberHandle subscriber);

/* Is it one of the two? From any thread. */
bool capture_range__has(CUpti_CallbackDomain domain, CUpti_CallbackId cbid);

/* Within a callback of one of the two: begin or cease to record, if it is time to. */
void capture_range__on_call(CUpti_CallbackId cbid, CUpti_ApiCallbackSite site);

#endif
