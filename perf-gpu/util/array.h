/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow by doubling. Stateless; any thread. */
#ifndef PERF_GPU_UTIL_ARRAY_H
#define PERF_GPU_UTIL_ARRAY_H

#include <stddef.h>

/**
 * array__grow - room for one more item
 * @array: the address of a pointer to items, or to NULL, of which the caller frees the
 *         array; moved if there was no room
 * @nr: how many items there are
 * @nr_allocated: how many there is room for; updated
 *
 * Return: 0 or -ENOMEM, with which nothing has changed.
 */
int array__grow(void *array, size_t nr, size_t *nr_allocated, size_t item_bytes);

#endif
