/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CUPTI's records of unified memory: they have to be configured. Stateless. */
#ifndef PERF_GPU_INJECT_FAULT_H
#define PERF_GPU_INJECT_FAULT_H

#include "cupti_table.h"

/**
 * fault__configure - choose all counters of unified memory that there are
 *
 * Before the kind is enabled, and not within cuInit(): the driver must be initialized.
 *
 * Return: CUPTI's result for the first counter, if it allows none.
 */
CUptiResult fault__configure(const struct cupti_table *cupti);

#endif
