/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records that are kept in memory for a while: a queue, in chunks, and an index of the
 * launches in it by their keys. One thread.
 */
#ifndef PERF_GPU_RECORD_KEPT_H
#define PERF_GPU_RECORD_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kept_kind {
	KEPT_SIDEBAND,
	KEPT_LAUNCH,
	KEPT_NODE, /* of a CUDA graph */
	KEPT_HIT, /* of a probe on the API */
	KEPT_BLOCK, /* of a GPU log */
	KEPT_LOSS, /* a struct carrier_losses */
};

struct kept {
	uint64_t time_ns;
	uint64_t log_id, key;
	uint32_t bytes; /* of data */
	uint32_t file; /* number of the last file that has it */
	uint8_t kind; /* enum kept_kind */
	bool is_maker; /* of a CUDA graph's node */
	bool has_record; /* the GPU has done something for it */
	uint64_t data[];
};

struct kept_chunk {
	struct kept_chunk *next;
	uint64_t newest_ns; /* time of what is in it */
	size_t used_bytes, size_bytes;
	uint64_t data[];
};

/* All 0 is empty. */
struct kept_queue {
	struct kept_chunk *first, *last;
	size_t bytes; /* of memory */
};

/**
 * kept_queue__add - add an entry
 * @like:  its time, kind and so on; and bytes, of which it gets room
 *
 * Return: the entry, whose data is to be filled in, and which stays where it is; or NULL
 * without memory.
 */
struct kept *kept_queue__add(struct kept_queue *queue, const struct kept *like);

/* Return: the entry behind @kept of a chunk, the first for NULL; NULL at the end. */
struct kept *kept_chunk__next(struct kept_chunk *chunk, struct kept *kept);

/* Forget the first chunk, if it isn't the last. */
void kept_queue__drop(struct kept_queue *queue);

/* Is the first chunk older than @horizon_ns, or beyond @max_bytes? Never of the last. */
bool kept_queue__has_old(const struct kept_queue *queue, uint64_t horizon_ns,
			 size_t max_bytes);

void kept_queue__release(struct kept_queue *queue);

/* Of entries by log_id and key; all 0 is empty. */
struct kept_index {
	struct kept **slots;
	size_t nr_slots; /* a power of two, or 0 */
	size_t nr; /* at most half of them */
};

/* Of two with one key, the later. Return: 0 or -ENOMEM. */
int kept_index__add(struct kept_index *index, struct kept *kept);
struct kept *kept_index__find(const struct kept_index *index, uint64_t log_id,
			      uint64_t key);

/* Nothing if another has its key by now. */
void kept_index__remove(struct kept_index *index, const struct kept *kept);
void kept_index__release(struct kept_index *index);

#endif
