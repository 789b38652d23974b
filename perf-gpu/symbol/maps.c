// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct maps {
	unsigned int nr_users;
	size_t nr, capacity;
	struct map *entries;
};

struct maps *maps__share(struct maps *maps)
{
	if (maps)
		maps->nr_users++;
	return maps;
}

void maps__put(struct maps *maps)
{
	if (!maps || --maps->nr_users)
		return;
	free(maps->entries);
	free(maps);
}

static int maps__reserve(struct maps *maps, size_t nr)
{
	size_t capacity = maps->capacity ? maps->capacity : 16;
	struct map *entries;

	if (nr <= maps->capacity)
		return 0;
	while (capacity < nr)
		capacity *= 2;
	entries = reallocarray(maps->entries, capacity, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	maps->entries = entries;
	maps->capacity = capacity;
	return 0;
}

/* Make *@maps its user's own: nobody else sees what is written to it next. */
static int maps__unshare(struct maps **maps)
{
	struct maps *shared = *maps, *own;

	if (shared && shared->nr_users == 1)
		return 0;
	own = calloc(1, sizeof(*own));
	if (!own)
		return -ENOMEM;
	own->nr_users = 1;
	if (shared && shared->nr) {
		if (maps__reserve(own, shared->nr)) {
			maps__put(own);
			return -ENOMEM;
		}
		memcpy(own->entries, shared->entries, shared->nr * sizeof(*own->entries));
		own->nr = shared->nr;
	}
	maps__put(shared);
	*maps = own;
	return 0;
}

/* Index of the first map that ends behind @address; nr if there is none. */
static size_t maps__lower_bound(const struct maps *maps, uint64_t address)
{
	size_t low = 0, high = maps->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (maps->entries[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static int maps__replace(struct maps *maps, const struct map *new)
{
	size_t first = maps__lower_bound(maps, new->start);
	size_t behind = first, nr_kept = 0, nr;
	struct map kept[3];

	while (behind < maps->nr && maps->entries[behind].start < new->end)
		behind++;

	if (first < behind && maps->entries[first].start < new->start) {
		kept[nr_kept] = maps->entries[first];
		kept[nr_kept++].end = new->start;
	}
	kept[nr_kept++] = *new;
	if (first < behind && maps->entries[behind - 1].end > new->end) {
		const struct map *last = &maps->entries[behind - 1];

		kept[nr_kept] = *last;
		kept[nr_kept].pgoff += new->end - last->start;
		kept[nr_kept++].start = new->end;
	}

	nr = maps->nr - (behind - first) + nr_kept;
	if (maps__reserve(maps, nr))
		return -ENOMEM;
	memmove(maps->entries + first + nr_kept, maps->entries + behind,
		(maps->nr - behind) * sizeof(*maps->entries));
	memcpy(maps->entries + first, kept, nr_kept * sizeof(*kept));
	maps->nr = nr;
	return 0;
}

int maps__insert(struct maps **maps, const struct map *new)
{
	if (maps__unshare(maps))
		return -ENOMEM;
	return maps__replace(*maps, new);
}

const struct map *maps__find(const struct maps *maps, uint64_t address)
{
	size_t i;

	if (!maps)
		return NULL;
	i = maps__lower_bound(maps, address);
	if (i == maps->nr || maps->entries[i].start > address)
		return NULL;
	return &maps->entries[i];
}
