// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/stack_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_log.h"

#define FIRST_IDS   256
#define CHUNK_BYTES (128u << 10)

struct stack_chunk {
	struct stack_chunk *next;
	size_t used_bytes;
	uint64_t data[CHUNK_BYTES / sizeof(uint64_t)];
};

/* All places up to that of @id */
static int make_place(struct stack_generation *young, uint32_t id)
{
	size_t nr_ids, nr_allocated = young->nr_allocated;
	struct launch_frames **by_id;

	if (!young->nr_ids)
		young->first_id = id;
	nr_ids = (size_t)(id - young->first_id) + 1;
	if (id < young->first_id || nr_ids <= young->nr_ids ||
	    nr_ids - young->nr_stacks - 1 > STACK_TABLE_MAX_MISSING)
		return -EINVAL;
	if (nr_ids > nr_allocated) {
		nr_allocated = nr_allocated ? nr_allocated : FIRST_IDS;
		while (nr_allocated < nr_ids)
			nr_allocated *= 2;
		by_id = reallocarray(young->by_id, nr_allocated, sizeof(*by_id));
		if (!by_id)
			return -ENOMEM;
		young->by_id = by_id;
		young->nr_allocated = nr_allocated;
	}
	memset(young->by_id + young->nr_ids, 0,
	       (nr_ids - young->nr_ids) * sizeof(*young->by_id));
	young->nr_ids = nr_ids;
	return 0;
}

static struct launch_frames *allocate(struct stack_generation *young, size_t bytes)
{
	struct stack_chunk *chunk = young->chunks;
	void *place;

	if (!chunk || bytes > CHUNK_BYTES - chunk->used_bytes) {
		chunk = malloc(sizeof(*chunk));
		if (!chunk)
			return NULL;
		chunk->next = young->chunks;
		chunk->used_bytes = 0;
		young->chunks = chunk;
	}
	place = (unsigned char *)chunk->data + chunk->used_bytes;
	chunk->used_bytes += bytes;
	return place;
}

static void stack_generation__release(struct stack_generation *generation)
{
	while (generation->chunks) {
		struct stack_chunk *next = generation->chunks->next;

		free(generation->chunks);
		generation->chunks = next;
	}
	free(generation->by_id);
	*generation = (struct stack_generation){};
}

int stack_table__add(struct stack_table *table, uint32_t id, uint32_t nr_frames,
		     struct launch_frames **ret)
{
	struct stack_generation *young = &table->young;
	struct launch_frames *launch;
	int err;

	if (young->nr_bytes >= GPU_LOG_STACK_REACH) {
		stack_generation__release(&table->old);
		table->old = *young;
		*young = (struct stack_generation){};
	}
	if (!id || (table->old.nr_ids && id - table->old.first_id < table->old.nr_ids))
		return -EINVAL;
	err = make_place(young, id);
	if (err)
		return err;
	launch = allocate(young, sizeof(*launch) + nr_frames * sizeof(*launch->frames));
	if (!launch)
		return -ENOMEM;
	*launch = (struct launch_frames){.nr_frames = nr_frames};
	young->by_id[young->nr_ids - 1] = launch;
	young->nr_stacks++;
	young->nr_bytes +=
		sizeof(struct gpu_log_stack) + nr_frames * sizeof(*launch->frames);
	*ret = launch;
	return 0;
}

static struct launch_frames *find(const struct stack_generation *generation, uint32_t id)
{
	/* An id below the first one gets a large number. */
	const size_t at = (uint32_t)(id - generation->first_id);

	return at < generation->nr_ids ? generation->by_id[at] : NULL;
}

struct launch_frames *stack_table__find(const struct stack_table *table, uint32_t id)
{
	struct launch_frames *found = find(&table->young, id);

	return found ? found : find(&table->old, id);
}

void stack_table__release(struct stack_table *table)
{
	stack_generation__release(&table->young);
	stack_generation__release(&table->old);
}
