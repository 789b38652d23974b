// SPDX-License-Identifier: GPL-2.0-or-later
/* The index is open addressing with linear probing; removing moves back what follows. */
#include "record/kept.h"

#include <errno.h>
#include <stdlib.h>

#include "util/hash_index.h"

/* Some hundred launches: what is forgotten at once */
#define CHUNK_BYTES (256u << 10)
#define FIRST_SLOTS 1024

static size_t entry_bytes(size_t bytes)
{
	return sizeof(struct kept) + ((bytes + 7) & ~(size_t)7);
}

static struct kept_chunk *add_chunk(struct kept_queue *queue, size_t bytes)
{
	size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
	struct kept_chunk *chunk = malloc(sizeof(*chunk) + size);

	if (!chunk)
		return NULL;
	*chunk = (struct kept_chunk){.size_bytes = size};
	if (queue->last)
		queue->last->next = chunk;
	else
		queue->first = chunk;
	queue->last = chunk;
	queue->bytes += sizeof(*chunk) + size;
	return chunk;
}

struct kept *kept_queue__add(struct kept_queue *queue, const struct kept *like)
{
	size_t bytes = entry_bytes(like->bytes);
	struct kept_chunk *chunk = queue->last;
	struct kept *kept;

	if (!chunk || bytes > chunk->size_bytes - chunk->used_bytes)
		chunk = add_chunk(queue, bytes);
	if (!chunk)
		return NULL;
	kept = (struct kept *)((char *)chunk->data + chunk->used_bytes);
	chunk->used_bytes += bytes;
	if (like->time_ns > chunk->newest_ns)
		chunk->newest_ns = like->time_ns;
	*kept = *like;
	return kept;
}

struct kept *kept_chunk__next(struct kept_chunk *chunk, struct kept *kept)
{
	char *at = kept ? (char *)kept + entry_bytes(kept->bytes) : (char *)chunk->data;

	return at < (char *)chunk->data + chunk->used_bytes ? (struct kept *)at : NULL;
}

void kept_queue__drop(struct kept_queue *queue)
{
	struct kept_chunk *first = queue->first;

	if (!first || !first->next)
		return;
	queue->first = first->next;
	queue->bytes -= sizeof(*first) + first->size_bytes;
	free(first);
}

bool kept_queue__has_old(const struct kept_queue *queue, uint64_t horizon_ns,
			 size_t max_bytes)
{
	return queue->first && queue->first->next &&
	       (queue->first->newest_ns < horizon_ns || queue->bytes > max_bytes);
}

void kept_queue__release(struct kept_queue *queue)
{
	struct kept_chunk *next;

	for (struct kept_chunk *chunk = queue->first; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	*queue = (struct kept_queue){0};
}

static size_t home_of(const struct kept_index *index, uint64_t log_id, uint64_t key)
{
	return hash__mix(hash__mix(0, log_id), key) & (index->nr_slots - 1);
}

/* The place of a key, or the free one where it belongs */
static size_t find_slot(const struct kept_index *index, uint64_t log_id, uint64_t key)
{
	size_t at = home_of(index, log_id, key);

	while (index->slots[at] &&
	       (index->slots[at]->key != key || index->slots[at]->log_id != log_id))
		at = (at + 1) & (index->nr_slots - 1);
	return at;
}

static int grow(struct kept_index *index)
{
	struct kept_index grown = *index;

	grown.nr_slots = index->nr_slots ? 2 * index->nr_slots : FIRST_SLOTS;
	grown.slots = calloc(grown.nr_slots, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < index->nr_slots; i++) {
		struct kept *kept = index->slots[i];

		if (kept)
			grown.slots[find_slot(&grown, kept->log_id, kept->key)] = kept;
	}
	free(index->slots);
	*index = grown;
	return 0;
}

int kept_index__add(struct kept_index *index, struct kept *kept)
{
	size_t at;
	int err;

	if (index->nr >= index->nr_slots / 2) {
		err = grow(index);
		if (err)
			return err;
	}
	at = find_slot(index, kept->log_id, kept->key);
	index->nr += !index->slots[at];
	index->slots[at] = kept;
	return 0;
}

struct kept *kept_index__find(const struct kept_index *index, uint64_t log_id,
			      uint64_t key)
{
	return index->nr_slots ? index->slots[find_slot(index, log_id, key)] : NULL;
}

/* Would an entry at @from be found, if it were at @hole? Both are behind its home. */
static bool can_move(const struct kept_index *index, size_t hole, size_t from)
{
	const struct kept *kept = index->slots[from];
	size_t home = home_of(index, kept->log_id, kept->key);
	size_t mask = index->nr_slots - 1;

	return ((from - home) & mask) >= ((from - hole) & mask);
}

void kept_index__remove(struct kept_index *index, const struct kept *kept)
{
	size_t mask = index->nr_slots - 1, hole, at;

	if (!index->nr_slots)
		return;
	hole = find_slot(index, kept->log_id, kept->key);
	if (index->slots[hole] != kept)
		return;
	for (at = (hole + 1) & mask; index->slots[at]; at = (at + 1) & mask) {
		if (!can_move(index, hole, at))
			continue;
		index->slots[hole] = index->slots[at];
		hole = at;
	}
	index->slots[hole] = NULL;
	index->nr--;
}

void kept_index__release(struct kept_index *index)
{
	free(index->slots);
	*index = (struct kept_index){0};
}
