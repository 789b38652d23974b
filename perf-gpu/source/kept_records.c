// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/kept_records.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "util/array.h"

/* Where a launch's callchain is in its record; 0: it has none. A record has 64 KiB at most. */
static uint16_t ips_word_of(const struct perf_event_header *record,
			    const struct launch *launch)
{
	const uint64_t *ips = launch->sample.ips;

	return ips ? (uint16_t)(ips - (const uint64_t *)record) : 0;
}

static struct kept_kind kind_of(uint32_t event, const struct perf_event_header *record,
				const struct launch *launch)
{
	if (!launch)
		return (struct kept_kind){.event = event};
	return (struct kept_kind){
		.log_id = launch->event.log_id,
		.api = launch->event.api,
		.pid = launch->sample.pid,
		.tid = launch->sample.tid,
		.event = event,
		.ips_word = ips_word_of(record, launch),
		.is_launch = true,
		.is_hit = launch->is_hit,
		.is_earlier = launch->is_earlier,
	};
}

static bool is_same_kind(const struct kept_kind *a, const struct kept_kind *b)
{
	return a->log_id == b->log_id && a->api == b->api && a->pid == b->pid &&
	       a->tid == b->tid && a->event == b->event && a->ips_word == b->ips_word &&
	       a->is_launch == b->is_launch && a->is_hit == b->is_hit &&
	       a->is_earlier == b->is_earlier;
}

/*
 * The same of a kind that needn't be made for it: mostly the one before is meant, and to read
 * what was just written in other pieces takes the processor 15 ns.
 */
static bool is_kind_of(const struct kept_kind *kind, uint32_t event,
		       const struct perf_event_header *record,
		       const struct launch *launch)
{
	if (!launch)
		return !kind->is_launch && kind->event == event;
	return kind->is_launch && kind->event == event &&
	       kind->log_id == launch->event.log_id && kind->api == launch->event.api &&
	       kind->pid == launch->sample.pid && kind->tid == launch->sample.tid &&
	       kind->ips_word == ips_word_of(record, launch) &&
	       kind->is_hit == launch->is_hit && kind->is_earlier == launch->is_earlier;
}

static uint64_t hash_of(const struct kept_kind *kind)
{
	return hash__mix(hash__mix(kind->log_id, (uint64_t)kind->pid << 32 | kind->tid),
			 (uint64_t)kind->event << 32 | kind->api);
}

/* The index of a record's kind in @kept->last_kind; false without memory */
static bool find_kind(struct kept_records *kept, uint32_t event,
		      const struct perf_event_header *record, const struct launch *launch)
{
	struct hash_cursor cursor;
	struct kept_kind kind;
	uint64_t hash;
	uint32_t id;

	if (kept->nr_kinds &&
	    is_kind_of(&kept->kinds[kept->last_kind], event, record, launch))
		return true;
	kind = kind_of(event, record, launch);
	hash = hash_of(&kind);
	cursor = hash_index__find(&kept->kinds_by_hash, hash);
	while (hash_index__next(&kept->kinds_by_hash, &cursor, &id))
		if (is_same_kind(&kept->kinds[id], &kind)) {
			kept->last_kind = id;
			return true;
		}
	if (array__grow(&kept->kinds, kept->nr_kinds, &kept->nr_kinds_allocated,
			sizeof(*kept->kinds)) ||
	    hash_index__add(&kept->kinds_by_hash, hash, (uint32_t)kept->nr_kinds))
		return false;
	kept->last_kind = kept->nr_kinds++;
	kept->kinds[kept->last_kind] = kind;
	return true;
}

/* Room for one more; NULL: there is none. */
static struct kept_record *room(struct kept_records *kept)
{
	size_t chunk = kept->nr / KEPT_CHUNK_RECORDS;

	if (chunk == KEPT_MAX_CHUNKS)
		return NULL;
	if (!kept->chunks[chunk]) {
		kept->chunks[chunk] = aligned_alloc(KEPT_CHUNK_BYTES, KEPT_CHUNK_BYTES);
		if (!kept->chunks[chunk])
			return NULL;
		/* Page by page, the kernel takes as long for it as we for what is in it. */
		madvise(kept->chunks[chunk], KEPT_CHUNK_BYTES, MADV_HUGEPAGE);
	}
	return &kept->chunks[chunk][kept->nr % KEPT_CHUNK_RECORDS];
}

static bool is_small(uint64_t offset, const struct launch *launch)
{
	return offset / sizeof(uint64_t) <= UINT32_MAX &&
	       (!launch ||
		(!launch->sample.user_state_bytes && launch->chain <= UINT32_MAX &&
		 launch->sample.cpu <= UINT16_MAX));
}

bool kept_records__add(struct kept_records *kept, uint64_t offset, uint64_t time_ns,
		       uint32_t event, const struct perf_event_header *record,
		       const struct launch *launch)
{
	struct kept_record *new = room(kept);

	if (!new || !is_small(offset, launch) || !find_kind(kept, event, record, launch))
		return false;
	*new = (struct kept_record){
		.time_ns = time_ns,
		.offset = (uint32_t)(offset / sizeof(uint64_t)),
		.kind = (uint32_t)kept->last_kind,
	};
	if (launch) {
		new->correlation_id = launch->event.correlation_id;
		new->chain = (uint32_t)launch->chain;
		new->nr_ips = (uint16_t)launch->sample.nr_ips;
		new->cpu = (uint16_t)launch->sample.cpu;
	}
	kept->nr++;
	return true;
}

void kept_records__launch(const struct kept_records *kept, const struct kept_record *of,
			  const struct perf_event_header *record, struct launch *ret)
{
	const struct kept_kind *kind = kept_records__kind(kept, of);

	*ret = (struct launch){
		.sample = {.time_ns = of->time_ns,
			   .pid = kind->pid,
			   .tid = kind->tid,
			   .cpu = of->cpu,
			   .ips = kind->ips_word
					  ? (const uint64_t *)record + kind->ips_word
					  : NULL,
			   .nr_ips = of->nr_ips},
		.event = {.log_id = kind->log_id,
			  .correlation_id = of->correlation_id,
			  .api = kind->api},
		.is_hit = kind->is_hit,
		.is_earlier = kind->is_earlier,
		.chain = of->chain,
	};
}

void kept_records__give_up(struct kept_records *kept)
{
	for (size_t i = 0; i < KEPT_MAX_CHUNKS; i++)
		free(kept->chunks[i]);
	free(kept->kinds);
	hash_index__release(&kept->kinds_by_hash);
	*kept = (struct kept_records){.are_given_up = true};
}
