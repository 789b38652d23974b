// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/array.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_ITEMS 64

int array__grow(void *array, size_t nr, size_t *nr_allocated, size_t item_bytes)
{
	void **place = array, *grown;
	size_t wanted = nr ? 2 * nr : FIRST_ITEMS;

	if (nr < *nr_allocated)
		return 0;
	grown = reallocarray(*place, wanted, item_bytes);
	if (!grown)
		return -ENOMEM;
	*place = grown;
	*nr_allocated = wanted;
	return 0;
}
