// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "record/gpu_record.h"
#include "record/rotation_internal.h"
#include "util/clock.h"
#include "util/gpu_log_cursor.h"
#include "util/log.h"

static int no_memory(void)
{
	pr_err("no memory to keep what is recorded");
	return -ENOMEM;
}

static const struct perf_event_header *event_of(const struct kept *kept)
{
	return (const void *)kept->data;
}

/* The older half of what a process has. */
static void halve(struct rotation *rotation, struct perfdata_buffer *makers)
{
	size_t at = 0;

	while (at < makers->nr_bytes / 2) {
		at += ((const struct perf_event_header *)(const void *)(makers->data +
									at))
			      ->size;
		rotation->counts.nr_forgotten++;
	}
	memmove(makers->data, makers->data + at, makers->nr_bytes - at);
	makers->nr_bytes -= at;
}

static void keep_maker(struct rotation *rotation, const struct kept *kept)
{
	struct log_tail *tail = log_tails__find(&rotation->tails, kept->log_id);

	if (!tail)
		return;
	if (tail->state.is_full) {
		rotation->counts.nr_forgotten++;
		return;
	}
	if (tail->makers.nr_bytes > MAKERS_MAX_BYTES)
		halve(rotation, &tail->makers);
	perfdata_buffer__add(&tail->makers, kept->data, kept->bytes);
	if (tail->makers.no_memory)
		rotation->counts.nr_forgotten++;
}

/* It isn't kept any more. */
static void note_forgotten(struct rotation *rotation, const struct kept *kept)
{
	struct log_tail *tail = log_tails__find(&rotation->tails, kept->log_id);

	if (!tail)
		return;
	if (kept->key > tail->forgotten_key)
		tail->forgotten_key = kept->key;
	if (kept->file != rotation->file && kept->key > tail->forgotten_before)
		tail->forgotten_before = kept->key;
}

static int forget_launch(struct rotation *rotation, const struct kept *kept)
{
	struct kept *late;

	kept_index__remove(&rotation->index, kept);
	if (kept->is_maker) {
		keep_maker(rotation, kept);
		return 0;
	}
	if (kept->has_record || !kept->log_id) {
		note_forgotten(rotation, kept);
		return 0;
	}
	late = kept_queue__add(&rotation->late, kept);
	if (!late)
		return no_memory();
	memcpy(late->data, kept->data, kept->bytes);
	return kept_index__add(&rotation->index, late) ? no_memory() : 0;
}

/* What leaves the queue becomes what has to be known of before. */
static int forget(struct rotation *rotation, const struct kept *kept)
{
	switch ((enum kept_kind)kept->kind) {
	case KEPT_SIDEBAND:
		task_state__take(&rotation->tasks, event_of(kept), kept->time_ns);
		return 0;
	case KEPT_LAUNCH:
		return forget_launch(rotation, kept);
	case KEPT_NODE:
		keep_maker(rotation, kept);
		return 0;
	case KEPT_HIT:
	case KEPT_BLOCK:
	case KEPT_LOSS:
		break;
	}
	return 0;
}

static int forget_chunk(struct rotation *rotation)
{
	struct kept_chunk *chunk = rotation->queue.first;
	struct kept *kept = NULL;
	int err;

	while ((kept = kept_chunk__next(chunk, kept))) {
		err = forget(rotation, kept);
		if (err)
			return err;
	}
	kept_queue__drop(&rotation->queue);
	return 0;
}

static int forget_block_chunk(struct rotation *rotation)
{
	struct kept_chunk *chunk = rotation->blocks.first;
	struct kept *kept = NULL;

	while ((kept = kept_chunk__next(chunk, kept))) {
		struct log_tail *tail = log_tails__find(&rotation->tails, kept->log_id);
		struct gpu_log_cursor cursor =
			gpu_log_cursor__new(kept->data, kept->bytes);
		const struct gpu_log_record *record;

		if (!tail)
			continue;
		tail->nr_kept--;
		while (gpu_log_cursor__next(&cursor, &record) > 0)
			if (log_state__take(&tail->state, record))
				return no_memory();
	}
	kept_queue__drop(&rotation->blocks);
	return 0;
}

/* So long ago that nobody asks for it. */
static void forget_late(struct rotation *rotation)
{
	while (kept_queue__has_old(&rotation->late, 0, LATE_QUEUE_BYTES)) {
		struct kept *kept = NULL;

		while ((kept = kept_chunk__next(rotation->late.first, kept))) {
			kept_index__remove(&rotation->index, kept);
			note_forgotten(rotation, kept);
		}
		kept_queue__drop(&rotation->late);
	}
}

static uint64_t before(uint64_t now_ns, uint64_t ns)
{
	return now_ns > ns ? now_ns - ns : 0;
}

/* Where room decides, what is kept begins later. */
static void note_cut(struct rotation *rotation, const struct kept_chunk *first,
		     uint64_t horizon_ns)
{
	if (first->newest_ns >= horizon_ns && first->newest_ns > rotation->size_cut_ns)
		rotation->size_cut_ns = first->newest_ns;
}

/* Each process has its bound; anybody can have many processes. */
static void bound_states(struct rotation *rotation)
{
	const struct log_tails *tails = &rotation->tails;
	uint64_t bytes = 0;

	for (size_t i = 0; i < tails->nr; i++)
		bytes += tails->tails[i]->state.capacity_bytes +
			 tails->tails[i]->makers.nr_allocated;
	for (size_t i = 0; i < tails->nr; i++)
		tails->tails[i]->state.is_full = bytes > STATES_MAX_BYTES;
}

int rotation__forget_old(struct rotation *rotation)
{
	const struct switch_options *options = &rotation->config.options;
	const uint64_t now_ns = clock__now_ns();
	const uint64_t horizon_ns =
		options->overwrites ? before(now_ns, options->keep_ns) : 0;
	const uint64_t launch_horizon_ns = before(horizon_ns, LAUNCH_MARGIN_NS);
	/* A launch takes ten times the room of its GPU record. */
	const size_t max_block_bytes = options->keep_bytes / 4;
	const size_t max_bytes = options->overwrites
					 ? options->keep_bytes - max_block_bytes
					 : SPLIT_QUEUE_BYTES;
	int err = 0;

	while (!err &&
	       kept_queue__has_old(&rotation->queue, launch_horizon_ns, max_bytes)) {
		note_cut(rotation, rotation->queue.first, launch_horizon_ns);
		err = forget_chunk(rotation);
	}
	while (!err &&
	       kept_queue__has_old(&rotation->blocks, horizon_ns, max_block_bytes)) {
		note_cut(rotation, rotation->blocks.first, horizon_ns);
		err = forget_block_chunk(rotation);
	}
	forget_late(rotation);
	bound_states(rotation);
	task_state__settle(&rotation->tasks,
			   before(horizon_ns ? horizon_ns : now_ns, TASK_LAG_NS));
	return err;
}

static enum kept_kind kind_of(enum output_kind kind)
{
	switch (kind) {
	case OUTPUT_LAUNCH:
		return KEPT_LAUNCH;
	case OUTPUT_NODE:
		return KEPT_NODE;
	case OUTPUT_HIT:
		return KEPT_HIT;
	case OUTPUT_SIDEBAND:
		break;
	}
	return KEPT_SIDEBAND;
}

static int keep(struct rotation *rotation, const struct output_record *record)
{
	struct kept like = {
		.time_ns = record->time_ns,
		.log_id = record->log_id,
		.key = record->key,
		.bytes = record->event->size,
		.kind = (uint8_t)kind_of(record->kind),
		/* Where the newest is kept, it is in none until it is written. */
		.file = rotation->config.options.overwrites ? 0 : rotation->file,
		.is_maker = record->kind == OUTPUT_NODE,
	};
	struct kept *kept = kept_queue__add(&rotation->queue, &like);

	if (!kept)
		return no_memory();
	memcpy(kept->data, record->event, record->event->size);
	if (kept->kind == KEPT_LAUNCH && kept_index__add(&rotation->index, kept))
		return no_memory();
	return 0;
}

int rotation__take(void *ctx, const struct output_record *record)
{
	struct rotation *rotation = ctx;
	int err;

	if (rotation->config.options.overwrites)
		return keep(rotation, record);
	err = output__write(rotation->config.output, record->event);
	if (err || record->kind == OUTPUT_HIT)
		return err;
	if (record->kind != OUTPUT_SIDEBAND)
		return keep(rotation, record);
	task_state__take(&rotation->tasks, record->event, record->time_ns);
	return 0;
}

/* The launch of an earlier file has to be in this one, too. */
static int write_earlier(struct rotation *rotation, struct kept *kept)
{
	if (rotation->config.options.overwrites || kept->file == rotation->file)
		return 0;
	kept->file = rotation->file;
	return output__write_earlier(rotation->config.output, event_of(kept));
}

/* The stack of the launch is that of nodes of a graph. */
static int note_capture(struct rotation *rotation, const struct log_tail *tail,
			const struct gpu_log_graph_node *node)
{
	struct kept *kept;

	if (node->origin != GPU_LOG_NODE_CAPTURED)
		return 0;
	kept = kept_index__find(&rotation->index, tail->log_id, node->correlation_id);
	if (!kept)
		return 0;
	kept->is_maker = true;
	return write_earlier(rotation, kept);
}

/* One of a block that log_scan__block() has read, and so whole */
static int note_record(struct rotation *rotation, struct log_tail *tail,
		       const struct gpu_log_record *record)
{
	uint64_t key = gpu_record__key(record);
	const void *any = record;
	struct kept *kept;

	if (record->type == GPU_LOG_GRAPH_NODE)
		return note_capture(rotation, tail, any);
	if (record->type == GPU_LOG_END) {
		tail->has_end = true;
		tail->nr_launches = ((const struct gpu_log_end *)any)->nr_launches;
	}
	if (!key)
		return 0;
	rotation->nr_records++;
	kept = kept_index__find(&rotation->index, tail->log_id, key);
	if (kept) {
		kept->has_record = true;
		return write_earlier(rotation, kept);
	}
	if (key <= tail->forgotten_before && !rotation->config.options.overwrites)
		rotation->counts.nr_without_stack++;
	return 0;
}

/*
 * When the last of what it tells of was done. If it tells of nothing that was, as of names:
 * the same of what came before; not now, which can be long behind what comes after it in
 * the log, and would make that too old.
 */
static uint64_t time_of(struct rotation *rotation, const struct gpu_log_block *block)
{
	struct gpu_log_cursor cursor =
		gpu_log_cursor__new(block + 1, block->payload_bytes);
	const uint64_t now_ns = clock__now_ns();
	const struct gpu_log_record *record;
	uint64_t newest_ns = 0, end_ns;

	while (gpu_log_cursor__next(&cursor, &record) > 0) {
		end_ns = gpu_record__end_ns(record);
		if (end_ns > newest_ns)
			newest_ns = end_ns;
	}
	if (newest_ns > now_ns)
		newest_ns = now_ns;
	if (newest_ns > rotation->newest_done_ns)
		rotation->newest_done_ns = newest_ns;
	return newest_ns ? newest_ns : rotation->newest_done_ns;
}

static int keep_block(struct rotation *rotation, struct log_tail *tail,
		      const struct gpu_log_block *block)
{
	struct kept like = {
		.time_ns = time_of(rotation, block),
		.log_id = tail->log_id,
		.bytes = block->payload_bytes,
		.kind = KEPT_BLOCK,
	};
	struct kept *kept = kept_queue__add(&rotation->blocks, &like);

	if (!kept)
		return no_memory();
	memcpy(kept->data, block + 1, block->payload_bytes);
	tail->nr_kept++;
	return 0;
}

/* All but its end, which each file says for itself. */
static int write_block(struct rotation *rotation, struct log_tail *tail,
		       const struct gpu_log_block *block)
{
	struct gpu_log_cursor cursor =
		gpu_log_cursor__new(block + 1, block->payload_bytes);
	const struct gpu_log_record *record;
	int err = 0;

	while (!err && gpu_log_cursor__next(&cursor, &record) > 0) {
		if (log_state__take(&tail->state, record))
			return no_memory();
		rotation->has_news |=
			record->type == GPU_LOG_LOSS || record->type == GPU_LOG_MESSAGE;
		if (record->type != GPU_LOG_END)
			err = block_builder__add(&rotation->builder, tail->log_id,
						 record);
	}
	return err;
}

int rotation__take_block(void *ctx, struct log_tail *tail,
			 const struct gpu_log_block *block)
{
	struct gpu_log_cursor cursor =
		gpu_log_cursor__new(block + 1, block->payload_bytes);
	const struct gpu_log_record *record;
	struct rotation *rotation = ctx;
	int err;

	rotation->scan.log = tail->scan;
	err = log_scan__block(&rotation->scan, block + 1, block->payload_bytes);
	tail->scan = rotation->scan.log;
	while (!err && gpu_log_cursor__next(&cursor, &record) > 0)
		err = note_record(rotation, tail, record);
	if (err)
		return err;
	return rotation->config.options.overwrites ? keep_block(rotation, tail, block)
						   : write_block(rotation, tail, block);
}

static int write_makers_of(struct rotation *rotation, const struct log_tail *tail)
{
	size_t at = 0;
	int err = 0;

	while (!err && at < tail->makers.nr_bytes) {
		const struct perf_event_header *event =
			(const void *)(tail->makers.data + at);

		err = output__write_earlier(rotation->config.output, event);
		at += event->size;
	}
	return err;
}

int rotation__write_makers(struct rotation *rotation)
{
	int err = 0;

	for (size_t i = 0; i < rotation->tails.nr && !err; i++)
		err = write_makers_of(rotation, rotation->tails.tails[i]);
	if (rotation->config.options.overwrites)
		return err;
	for (struct kept_chunk *chunk = rotation->queue.first; chunk && !err;
	     chunk = chunk->next) {
		struct kept *kept = NULL;

		while (!err && (kept = kept_chunk__next(chunk, kept)))
			if (kept->is_maker)
				err = write_earlier(rotation, kept);
	}
	return err;
}
