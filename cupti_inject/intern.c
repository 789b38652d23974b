// SPDX-License-Identifier: GPL-2.0-or-later
#include "intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The odd number nearest to 2^64 divided by the golden ratio (Knuth, TAOCP 3, 6.4) */
#define MULTIPLIER 0x9e3779b97f4a7c15u

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * MULTIPLIER;
	return hash ^ hash >> 29;
}

/*
 * It is done for every launch's stack and every kernel's name and shape, 300 bytes in
 * PyTorch: so 8 bytes at a step, and four steps at once, since each waits for the
 * multiplication of the one before (a stack of 40 frames: 25 ns instead of 75).
 */
uint64_t intern__hash(const void *key, size_t nr_bytes)
{
	const unsigned char *at = key;
	uint64_t lanes[4] = {nr_bytes, 1, 2, 3};
	uint64_t words[4];

	for (; nr_bytes >= sizeof(words); nr_bytes -= sizeof(words)) {
		memcpy(words, at, sizeof(words));
		for (size_t i = 0; i < 4; i++)
			lanes[i] = mix(lanes[i], words[i]);
		at += sizeof(words);
	}
	memset(words, 0, sizeof(words));
	memcpy(words, at, nr_bytes);
	for (size_t i = 0; i < 4; i++)
		lanes[0] = mix(lanes[0], i ? lanes[i] ^ words[i] * MULTIPLIER : words[0]);
	return lanes[0] ^ lanes[0] >> 32;
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

uint32_t intern__find_hashed(const struct intern *intern, uint64_t hash, const void *key,
			     size_t nr_bytes)
{
	if (!intern->nr_slots)
		return 0;
	return find_slot(intern, hash, key, nr_bytes)->id;
}

uint32_t intern__find(const struct intern *intern, const void *key, size_t nr_bytes)
{
	return intern__find_hashed(intern, intern__hash(key, nr_bytes), key, nr_bytes);
}

uint32_t intern__add(struct intern *intern, const void *key, size_t nr_bytes)
{
	uint64_t hash = intern__hash(key, nr_bytes);
	struct intern_slot *slot;
	void *copy;

	if (intern->nr_keys >= intern->nr_slots / 2 && grow(intern))
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
	intern->nr_keys++;
	intern->nr_key_bytes += nr_bytes;
	return slot->id;

no_memory:
	intern->nr_ids++;
	return 0;
}

void intern__forget(struct intern *intern)
{
	for (size_t i = 0; i < intern->nr_slots; i++)
		free(intern->slots[i].key);
	free(intern->slots);
	*intern = (struct intern){.nr_ids = intern->nr_ids};
}

void intern__clear(struct intern *intern)
{
	intern__forget(intern);
	intern->nr_ids = 0;
}

uint32_t intern__next_id(const struct intern *intern)
{
	return intern->nr_ids + 1;
}
