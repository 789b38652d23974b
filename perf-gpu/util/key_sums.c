// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/key_sums.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "util/array.h"
#include "util/sum.h"

/* Fetch what the index has for each that is pending: most often, the item itself. */
static void fetch_items(const struct key_sums *sums)
{
	for (size_t i = 0; i < sums->nr_pending; i++) {
		struct hash_cursor cursor =
			hash_index__find(&sums->index, sums->pending[i].nr);
		uint32_t id;

		if (hash_index__next(&sums->index, &cursor, &id))
			__builtin_prefetch(&sums->items[id], 1);
	}
}

static struct key_sum *find(struct key_sums *sums, const struct key_sum *wanted)
{
	struct hash_cursor cursor = hash_index__find(&sums->index, wanted->nr);
	uint32_t id;

	while (hash_index__next(&sums->index, &cursor, &id)) {
		struct key_sum *item = &sums->items[id];

		if (item->a == wanted->a && item->b == wanted->b)
			return item;
	}
	if (array__grow(&sums->items, sums->nr, &sums->nr_allocated,
			sizeof(*sums->items)) ||
	    hash_index__add(&sums->index, wanted->nr, (uint32_t)sums->nr))
		return NULL;
	sums->items[sums->nr] = (struct key_sum){.a = wanted->a, .b = wanted->b};
	return &sums->items[sums->nr++];
}

int key_sums__settle(struct key_sums *sums)
{
	fetch_items(sums);
	for (size_t i = 0; i < sums->nr_pending; i++) {
		struct key_sum *item = find(sums, &sums->pending[i]);

		if (!item)
			return -ENOMEM;
		item->nr++;
		sum__add(&item->sum, sums->pending[i].sum);
	}
	sums->nr_pending = 0;
	return 0;
}

void key_sums__release(struct key_sums *sums)
{
	free(sums->items);
	hash_index__release(&sums->index);
	*sums = (struct key_sums){.items = NULL};
}
