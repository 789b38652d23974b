/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How large the ring of each CPU may be, where the user doesn't say. */
#ifndef PERF_GPU_RECORD_RING_SIZE_H
#define PERF_GPU_RECORD_RING_SIZE_H

#include <stddef.h>
#include <unistd.h>

#define RING_SIZE_MIN_BYTES ((size_t)512 << 10)
#define RING_SIZE_ALL_BYTES ((size_t)512 << 20)

/*
 * On machines with many CPUs, of which a program launches from a few, all rings
 * together stay within a bound that such a machine doesn't feel. @bytes: of one, a
 * power of two.
 */
static inline size_t ring_size__fit(size_t bytes)
{
	size_t nr_cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);

	while (bytes > RING_SIZE_MIN_BYTES && bytes * nr_cpus > RING_SIZE_ALL_BYTES)
		bytes /= 2;
	return bytes;
}

#endif
