/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of what files say, which never wrap around. */
#ifndef PERF_GPU_UTIL_SUM_H
#define PERF_GPU_UTIL_SUM_H

#include <stdint.h>

/* Add to *@sum; what is too large for it is UINT64_MAX. */
static inline void sum__add(uint64_t *sum, uint64_t nr)
{
	if (__builtin_add_overflow(*sum, nr, sum))
		*sum = UINT64_MAX;
}

#endif
