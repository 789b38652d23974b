/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CUPTI's activity records, into the log. Stateless; any thread. */
#ifndef PERF_GPU_INJECT_RECORDS_H
#define PERF_GPU_INJECT_RECORDS_H

#include <stdbool.h>

#include <cupti.h>

#include "log.h"
#include "stray.h"

/**
 * records__take - write a record, if it is of a kind that is wanted at all
 * @version: cuptiGetVersion()
 * @run:     of the buffer that it is in
 *
 * Return: false if it was left out, and counted as lost: it is of a CUPTI that isn't known,
 * and not laid out as records of its kind are.
 */
bool records__take(struct log *log, const CUpti_Activity *record, uint32_t version,
		   struct stray_run *run);

#endif
