/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a version of CUPTI lacks or does wrong, for perf-gpu check. Stateless; any thread. */
#ifndef PERF_GPU_INJECT_CUPTI_GAPS_H
#define PERF_GPU_INJECT_CUPTI_GAPS_H

#include <stddef.h>
#include <stdint.h>

/**
 * cupti_gaps__get - what recordings with a CUPTI are without, in words
 * @version: cuptiGetVersion()
 * @i:       counts from 0
 *
 * Return: a line that begins in lower case and has no full stop; NULL behind the last.
 */
const char *cupti_gaps__get(uint32_t version, size_t i);

#endif
