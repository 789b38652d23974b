/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about the driver and its devices, asked of the CUDA driver itself: the
 * functions are the same in every version, CUPTI's record of a device isn't.
 */
#ifndef PERF_GPU_INJECT_DEVICE_H
#define PERF_GPU_INJECT_DEVICE_H

#include "log.h"

/*
 * Write versions and devices to the log. Must not be called from within cuInit(), where
 * InitializeInjection() runs.
 */
void device__tell(struct log *log, uint32_t cupti_version);

#endif
