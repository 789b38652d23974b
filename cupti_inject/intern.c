// SPDX-License-Identifier: GPL-2.0-or-later
#include "intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * 8 bytes at a step, because it is done for every kernel that a process runs,
 * over its name and shape: 300 bytes in PyTorch. The multiplier is the odd
 * number nearest to 2^64 divided by the golden ratio (Knuth, TAOCP 3, 6.4).
 */
static uint64_t hash_bytes(const void *data, size_t nr_bytes)
{
	const unsigned char *at = data;
	uint64_t hash = nr_bytes;
	uint64_t word;

	for (; nr_bytes >= sizeof(word); nr_bytes -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	word = 0;
	memcpy(&word, at, nr_bytes);
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

/* The slot of a key, or the free one where it belongs. */
static struct intern_slot *find_slot(const struct intern *intern, uint64_t hash,
				     const void *key, size_t nr_bytes)
{
	for (size_t i = hash;; i++) {
		struct intern_slot *slot = &intern->slots[i & (intern->nr_slots - 1)];

		if (!slot->key || (slot->hash == hash && slot->nr_bytes == nr_bytes &&
				   !memcmp(slot->key, key, nr_bytes)))
			return slot;
	}
}

static int grow(struct intern *intern)
{
	struct intern bigger = *intern;

	bigger.nr_slots = intern->nr_slots ? intern->nr_slots * 2 : 256;
	bigger.slots = calloc(bigger.nr_slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < intern->nr_slots; i++) {
		const struct intern_slot *slot = &intern->slots[i];

		if (slot->key)
			*find_slot(&bigger, slot->hash, slot->key, slot->nr_bytes) =
				*slot;
	}
	free(intern->slots);
	*intern = bigger;
	return 0;
}

uint32_t intern__find(const struct intern *intern, const void *key, size_t nr_bytes)
{
	if (!intern->nr_slots)
		return 0;
	return find_slot(intern, hash_bytes(key, nr_bytes), key, nr_bytes)->id;
}

uint32_t intern__add(struct intern *intern, const void *key, size_t nr_bytes)
{
	uint64_t hash = hash_bytes(key, nr_bytes);
	struct intern_slot *slot;
	void *copy;

	if (intern->nr_ids >= intern->nr_slots / 2 && grow(intern))
		goto no_memory;
	copy = malloc(nr_bytes + 1);
	if (!copy)
		goto no_memory;
	memcpy(copy, key, nr_bytes);
	slot = find_slot(intern, hash, key, nr_bytes);
	*slot = (struct intern_slot){
		.hash = hash,
		.key = copy,
		.nr_bytes = (uint32_t)nr_bytes,
		.id = ++intern->nr_ids,
	};
	return slot->id;

no_memory:
	intern->nr_ids++;
	return 0;
}

uint32_t intern__next_id(const struct intern *intern)
{
	return intern->nr_ids + 1;
}
