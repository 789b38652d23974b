// SPDX-License-Identifier: GPL-2.0-or-later
#include "merge/repeats.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"

struct repeat {
	uint64_t hash;
	size_t part; /* in which it was last */
	uint32_t nr; /* new ones */
	uint32_t nr_left; /* which can come again in this part */
};

static struct repeat *find(struct repeats *repeats, uint64_t hash)
{
	struct hash_cursor cursor = hash_index__find(&repeats->index, hash);
	uint32_t id;

	while (hash_index__next(&repeats->index, &cursor, &id))
		if (repeats->records[id].hash == hash)
			return &repeats->records[id];
	return NULL;
}

int repeats__take(struct repeats *repeats, uint64_t hash, size_t part)
{
	struct repeat *record = find(repeats, hash);
	int err;

	if (!record) {
		err = array__grow(&repeats->records, repeats->nr, &repeats->nr_allocated,
				  sizeof(*record));
		if (!err)
			err = hash_index__add(&repeats->index, hash,
					      (uint32_t)repeats->nr);
		if (err)
			return err;
		repeats->records[repeats->nr++] =
			(struct repeat){.hash = hash, .part = part, .nr = 1};
		return 0;
	}
	if (record->part != part) {
		record->part = part;
		record->nr_left = record->nr;
	}
	if (record->nr_left) {
		record->nr_left--;
		return 1;
	}
	record->nr++;
	return 0;
}

void repeats__release(struct repeats *repeats)
{
	free(repeats->records);
	hash_index__release(&repeats->index);
	*repeats = (struct repeats){0};
}
