// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What --overwrite has kept, into a file. The GPU's records come first, since they decide
 * which launches of before the window have to be there too.
 */
#include <errno.h>
#include <string.h>

#include "record/gpu_record.h"
#include "record/rotation_internal.h"
#include "util/gpu_log_cursor.h"

struct window {
	struct rotation *rotation;
	uint64_t begin_ns;
	uint64_t nr_records; /* of the GPU, that belong to launches */
	uint64_t nr_launches;
	struct carrier_losses losses;
};

/* Is a record of what the GPU did in the window, with its launch? */
static bool is_inside(struct window *window, const struct log_tail *tail,
		      const struct gpu_log_record *record)
{
	struct rotation *rotation = window->rotation;
	const uint64_t key = gpu_record__key(record), end_ns = gpu_record__end_ns(record);
	struct kept *launch;

	if (!key)
		return end_ns >= window->begin_ns;
	launch = kept_index__find(&rotation->index, tail->log_id, key);
	/* Its launch was lost, if it isn't one of those that were let go. */
	if (!launch)
		return key > tail->forgotten_key && end_ns >= window->begin_ns;
	if (launch->time_ns < window->begin_ns && end_ns < window->begin_ns)
		return false;
	launch->file = rotation->file;
	return true;
}

static int write_record(struct window *window, const struct log_tail *tail,
			const struct kept *block, const struct gpu_log_record *record)
{
	struct rotation *rotation = window->rotation;

	if (record->type == GPU_LOG_END ||
	    (record->type == GPU_LOG_LOSS && block->time_ns < window->begin_ns))
		return 0;
	if (gpu_record__has_key(record)) {
		if (!is_inside(window, tail, record))
			return 0;
		window->nr_records += gpu_record__key(record) != 0;
	}
	return block_builder__add(&rotation->builder, tail->log_id, record);
}

static int write_block(struct window *window, const struct kept *block)
{
	const struct log_tail *tail =
		log_tails__find(&window->rotation->tails, block->log_id);
	struct gpu_log_cursor cursor = gpu_log_cursor__new(block->data, block->bytes);
	const struct gpu_log_record *record;
	int err = 0;

	while (tail && !err && gpu_log_cursor__next(&cursor, &record) > 0)
		err = write_record(window, tail, block, record);
	return err;
}

static void add_loss(struct window *window, const struct kept *kept)
{
	struct carrier_losses losses;

	memcpy(&losses, kept->data, sizeof(losses));
	window->losses.nr_ring += losses.nr_ring;
	window->losses.nr_log += losses.nr_log;
	window->losses.nr_stack += losses.nr_stack;
}

static int write_launch(struct window *window, const struct kept *kept)
{
	struct rotation *rotation = window->rotation;
	const struct perf_event_header *event = (const void *)kept->data;
	struct log_tail *tail;

	if (kept->time_ns < window->begin_ns)
		return kept->file == rotation->file || kept->is_maker
			       ? output__write_earlier(rotation->config.output, event)
			       : 0;
	tail = log_tails__find(&rotation->tails, kept->log_id);
	if (tail && kept->kind == KEPT_LAUNCH)
		tail->nr_in_file++;
	window->nr_launches += kept->kind != KEPT_NODE;
	return output__write(rotation->config.output, event);
}

static int write_entry(struct window *window, const struct kept *kept)
{
	switch ((enum kept_kind)kept->kind) {
	case KEPT_SIDEBAND:
		return output__write(window->rotation->config.output,
				     (const void *)kept->data);
	case KEPT_LAUNCH:
	case KEPT_NODE:
	case KEPT_HIT:
		return write_launch(window, kept);
	case KEPT_LOSS:
		if (kept->time_ns >= window->begin_ns)
			add_loss(window, kept);
		break;
	case KEPT_BLOCK:
		return write_block(window, kept);
	}
	return 0;
}

static int write_queue(struct window *window, const struct kept_queue *queue)
{
	int err = 0;

	for (struct kept_chunk *chunk = queue->first; chunk && !err;
	     chunk = chunk->next) {
		struct kept *kept = NULL;

		while (!err && (kept = kept_chunk__next(chunk, kept)))
			err = write_entry(window, kept);
	}
	return err;
}

static uint64_t begin_of_window(struct rotation *rotation, uint64_t end_ns)
{
	const uint64_t keep_ns = rotation->config.options.keep_ns;
	uint64_t begin_ns = end_ns > keep_ns ? end_ns - keep_ns : 0;

	rotation->is_size_limited =
		rotation->size_cut_ns && begin_ns <= rotation->size_cut_ns;
	if (rotation->is_size_limited)
		begin_ns = rotation->size_cut_ns + 1;
	return begin_ns;
}

int rotation__write_kept(struct rotation *rotation, struct gpu_log_recorder *recorder)
{
	struct window window = {
		.rotation = rotation,
		.begin_ns = begin_of_window(rotation, recorder->end_monotonic_ns),
	};
	const uint64_t nr_launches = output__counts(rotation->config.output).nr_launches;
	int err;

	for (size_t i = 0; i < rotation->tails.nr; i++)
		rotation->tails.tails[i]->nr_in_file = 0;
	err = write_queue(&window, &rotation->blocks);
	if (!err)
		err = write_queue(&window, &rotation->late);
	if (!err)
		err = write_queue(&window, &rotation->queue);
	recorder->nr_launches = window.nr_launches;
	recorder->nr_lost_ring = carrier_losses__launches(&window.losses);
	recorder->nr_lost_stack = window.losses.nr_stack;
	recorder->nr_lost_log = window.losses.nr_log;
	recorder->nr_cut_launches = nr_launches - window.nr_launches;
	recorder->nr_cut_records = rotation->nr_records - window.nr_records;
	if (recorder->nr_cut_launches || recorder->nr_cut_records)
		recorder->kept_from_ns = window.begin_ns;
	return err;
}
