// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A place is an offset in the file, in units of 8 bytes, as records are aligned; where
 * there is a table (sidecar.activities), the index in it.
 */
#include "sidecar/activities.h"

#include <errno.h>
#include <stdlib.h>

#include "sidecar/blocks.h"
#include "sidecar/ids.h"

#define PLACE_BYTES 8

/* --- records --------------------------------------------------------------------------- */

static int decode_kernel(const struct sidecar_ids *ids,
			 const struct gpu_log_record *record,
			 struct sidecar_activity *ret)
{
	const struct gpu_log_kernel *kernel = (const void *)record;
	bool has_time = kernel->start_ns && kernel->end_ns >= kernel->start_ns;
	uint32_t shape;

	if (record->size < sizeof(*kernel) ||
	    ids__find_shape(ids->shapes, ids->nr_shapes, kernel->shape, &shape))
		return -EINVAL;
	*ret = (struct sidecar_activity){
		.correlation_id = kernel->correlation_id,
		.start_ns = has_time ? kernel->start_ns : 0,
		.end_ns = has_time ? kernel->end_ns : 0,
		.shape = shape,
	};
	return 0;
}

static int decode_activity(const struct sidecar *sidecar, const struct sidecar_ids *ids,
			   const struct gpu_log_record *record,
			   struct sidecar_activity *ret)
{
	const struct gpu_log_activity *activity = (const void *)record;
	bool has_time = activity->start_ns && activity->end_ns >= activity->start_ns;
	uint32_t shape;

	if (record->size < sizeof(*activity) ||
	    ids__find_shape(ids->operations, ids->nr_operations, activity->operation,
			    &shape))
		return -EINVAL;
	if (sidecar->shapes[shape].kind == GPU_LOG_KIND_MEMORY)
		return -EINVAL;
	*ret = (struct sidecar_activity){
		.correlation_id = activity->correlation_id,
		.start_ns = has_time ? activity->start_ns : 0,
		.end_ns = has_time ? activity->end_ns : 0,
		.bytes = activity->bytes,
		.shape = shape,
	};
	return 0;
}

static int decode_memory(const struct sidecar *sidecar, const struct sidecar_ids *ids,
			 const struct gpu_log_record *record,
			 struct sidecar_activity *ret)
{
	const struct gpu_log_memory *memory = (const void *)record;
	uint32_t shape;

	if (record->size < sizeof(*memory) ||
	    ids__find_shape(ids->operations, ids->nr_operations, memory->operation,
			    &shape))
		return -EINVAL;
	if (sidecar->shapes[shape].kind != GPU_LOG_KIND_MEMORY)
		return -EINVAL;
	*ret = (struct sidecar_activity){
		.correlation_id = memory->correlation_id,
		.start_ns = memory->time_ns,
		.address = memory->address,
		.bytes = memory->bytes,
		.shape = shape,
	};
	return 0;
}

int sidecar__decode(const struct sidecar *sidecar, uint32_t log,
		    const struct gpu_log_record *record, struct sidecar_activity *ret)
{
	const struct sidecar_ids *ids = &sidecar->ids[log];
	int err;

	switch (record->type) {
	case GPU_LOG_KERNEL:
		err = decode_kernel(ids, record, ret);
		break;
	case GPU_LOG_ACTIVITY:
		err = decode_activity(sidecar, ids, record, ret);
		break;
	case GPU_LOG_MEMORY:
		err = decode_memory(sidecar, ids, record, ret);
		break;
	default:
		return -ENOENT;
	}
	if (!err)
		ret->log = log;
	return err;
}

/* --- places ---------------------------------------------------------------------------- */

static const struct gpu_log_record *record_at(const struct sidecar *sidecar,
					      uint64_t place)
{
	return (const void *)(sidecar->file->data + place * PLACE_BYTES);
}

static bool is_in_file(const struct sidecar *sidecar, uint64_t place)
{
	uint64_t offset = place * PLACE_BYTES;

	return offset + sizeof(struct gpu_log_record) <= sidecar->file->bytes &&
	       offset + record_at(sidecar, place)->size <= sidecar->file->bytes;
}

static uint64_t place_behind(const struct sidecar *sidecar, uint64_t place)
{
	return place + record_at(sidecar, place)->size / PLACE_BYTES;
}

void sidecar__activity(const struct sidecar *sidecar, uint32_t log, uint64_t place,
		       struct sidecar_activity *ret)
{
	if (sidecar->activities) {
		*ret = sidecar->activities[place];
		return;
	}
	sidecar_file__touch(sidecar->file, sizeof(struct gpu_log_kernel));
	*ret = (struct sidecar_activity){.log = log};
	sidecar__decode(sidecar, log, record_at(sidecar, place), ret);
}

void sidecar__activity_behind(const struct sidecar *sidecar, uint32_t log,
			      uint64_t *place, struct sidecar_activity *ret)
{
	uint64_t at = *place, before;

	if (sidecar->activities) {
		*ret = sidecar->activities[++*place];
		return;
	}
	do {
		before = at;
		at = place_behind(sidecar, at);
		if (at == before || !is_in_file(sidecar, at)) /* the file has changed */
			return;
	} while (sidecar__decode(sidecar, log, record_at(sidecar, at), ret));
	*place = at;
	sidecar_file__touch(sidecar->file, sizeof(struct gpu_log_kernel));
}

uint32_t sidecar__log_at(const struct sidecar *sidecar, uint64_t place)
{
	size_t low = 0, high = sidecar->nr_blocks;

	if (sidecar->nr_logs == 1)
		return 0;
	if (sidecar->activities)
		return sidecar->activities[place].log;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (sidecar->blocks[middle].first > place)
			high = middle;
		else
			low = middle;
	}
	return sidecar->blocks[low].log;
}

/* --- all of them ------------------------------------------------------------------------ */

static bool walk_table(struct activity_walk *walk, struct sidecar_activity *ret,
		       uint64_t *ret_place)
{
	if (walk->place == walk->sidecar->nr_activities)
		return false;
	*ret = walk->sidecar->activities[walk->place];
	if (ret_place)
		*ret_place = walk->place;
	walk->place++;
	return true;
}

static bool enter_block(struct activity_walk *walk)
{
	const struct sidecar *sidecar = walk->sidecar;
	const struct sidecar_block *block = &sidecar->blocks[walk->block];

	if (walk->block == sidecar->nr_blocks)
		return false;
	walk->block++;
	walk->place = block->first;
	walk->end = block->end;
	walk->log = block->log;
	sidecar_file__touch(sidecar->file, (block->end - block->first) * PLACE_BYTES);
	return true;
}

bool activity_walk__next(struct activity_walk *walk, struct sidecar_activity *ret,
			 uint64_t *ret_place)
{
	const struct sidecar *sidecar = walk->sidecar;
	uint64_t place;

	if (sidecar->activities || !sidecar->file)
		return walk_table(walk, ret, ret_place);
	for (;;) {
		while (walk->place >= walk->end)
			if (!enter_block(walk))
				return false;
		place = walk->place;
		walk->place = place_behind(sidecar, place);
		if (walk->place == place) /* the file has changed */
			walk->place = walk->end;
		else if (!sidecar__decode(sidecar, walk->log, record_at(sidecar, place),
					  ret))
			break;
	}
	if (ret_place)
		*ret_place = place;
	return true;
}

bool activity_walk__is_first(const struct activity_walk *walk, uint64_t place)
{
	const struct sidecar *sidecar = walk->sidecar;

	if (sidecar->activities)
		return !place || sidecar->activities[place].log !=
					 sidecar->activities[place - 1].log;
	return place == sidecar->blocks[walk->block - 1].first;
}

int sidecar__list_activities(struct sidecar *sidecar)
{
	struct activity_walk walk = {.sidecar = sidecar};
	struct sidecar_activity *table;
	size_t nr = 0;

	if (sidecar->activities || !sidecar->nr_activities)
		return 0;
	table = calloc(sidecar->nr_activities, sizeof(*table));
	if (!table)
		return -ENOMEM;
	while (nr < sidecar->nr_activities &&
	       activity_walk__next(&walk, &table[nr], NULL))
		nr++;
	sidecar->activities = table;
	sidecar->nr_activities = nr;
	return 0;
}
