/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was read of records, so that they needn't be read twice: all that a launch's sample
 * says, but for its callchain, which has a number; of others, when they were and where they
 * are. 32 bytes each, and no more than there is room for: what is longer is read twice.
 *
 *   kept_record   time, correlation id, offset, chain, cpu ── kind ──► kept_kind
 *                                                                      log, api, pid, tid, ...
 *
 * Of a launch, the callchain is in the file still, and hardly ever looked at: only where its
 * number isn't known. One thread at a time.
 */
#ifndef PERF_GPU_SOURCE_KEPT_RECORDS_H
#define PERF_GPU_SOURCE_KEPT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/launches.h"
#include "util/hash_index.h"

struct kept_record {
	uint64_t time_ns;
	uint64_t correlation_id;
	uint32_t offset; /* in the data section, in units of 8 bytes */
	uint32_t chain; /* callchains__number() */
	uint32_t kind; /* index in kinds */
	uint16_t nr_ips;
	uint16_t cpu;
};

_Static_assert(sizeof(struct kept_record) == 32, "there are millions");

/* What is the same of many records */
struct kept_kind {
	uint64_t log_id;
	uint32_t api, pid, tid;
	uint32_t event;
	uint16_t ips_word; /* where callchains are in the record; 0: there are none */
	bool is_launch, is_hit, is_earlier;
};

/* They are in chunks of so much, which a processor's large pages have the size of. */
#define KEPT_CHUNK_BYTES   (2u << 20)
#define KEPT_CHUNK_RECORDS (KEPT_CHUNK_BYTES / sizeof(struct kept_record))
#define KEPT_MAX_CHUNKS	   32

/* All 0: none yet. */
struct kept_records {
	struct kept_record *chunks[KEPT_MAX_CHUNKS];
	size_t nr;
	struct kept_kind *kinds;
	size_t nr_kinds, nr_kinds_allocated;
	size_t last_kind; /* that was added or found */
	struct hash_index kinds_by_hash;
	bool are_given_up; /* nothing is kept, or will be */
};

/**
 * kept_records__add - keep a record that was read
 * @offset: of @record in the data section
 * @event:  of a sample
 * @launch: what it says, with the number of its callchain; NULL if it is no launch
 *
 * Return: true; false if it can't be kept: it has a copied stack, or there is no room or
 * memory.
 */
bool kept_records__add(struct kept_records *kept, uint64_t offset, uint64_t time_ns,
		       uint32_t event, const struct perf_event_header *record,
		       const struct launch *launch);

/* The record number @i */
static inline const struct kept_record *kept_records__at(const struct kept_records *kept,
							 size_t i)
{
	return &kept->chunks[i / KEPT_CHUNK_RECORDS][i % KEPT_CHUNK_RECORDS];
}

static inline const struct kept_kind *kept_records__kind(const struct kept_records *kept,
							 const struct kept_record *record)
{
	return &kept->kinds[record->kind];
}

/* Where one is in the data section */
static inline uint64_t kept_record__offset(const struct kept_record *kept)
{
	return (uint64_t)kept->offset * sizeof(uint64_t);
}

/**
 * kept_records__launch - what launches__look() said of a launch
 * @of:     that is one
 * @record: itself, which isn't looked at
 * @ret:    with the number of its callchain
 */
void kept_records__launch(const struct kept_records *kept, const struct kept_record *of,
			  const struct perf_event_header *record, struct launch *ret);

/* Free them, for good. */
void kept_records__give_up(struct kept_records *kept);

#endif
