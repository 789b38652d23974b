/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about the driver and its devices, asked of the CUDA driver itself: the
 * functions are the same in every version, CUPTI's record of a device isn't.
 */
#ifndef PERF_GPU_INJECT_DEVICE_H
#define PERF_GPU_INJECT_DEVICE_H

#include <stdbool.h>

#include "log.h"

/*
 * Both must not be called from within cuInit(), where InitializeInjection() runs. Another
 * thread may do it meanwhile: the driver knows its version then, and no device so far.
 */

/* Write versions to the log. */
void device__tell_versions(struct log *log, uint32_t cupti_version);

/* Write devices to the log. Return: are they told, or is nobody there to ask? Else later. */
bool device__tell_all(struct log *log);

#endif
