// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/log_state.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/gpu_log_cursor.h"
#include "util/gpu_log_definitions.h"
#include "util/gpu_log_sizes.h"

/* A library says a thing once, mostly. */
#define MAX_MESSAGES 64
/* Making room reads all that there is: it has to last for so much that is new. */
#define LEAST_ROOM_BYTES (LOG_STATE_MAX_BYTES / 16)

static int append(struct log_state *state, const struct gpu_log_record *record)
{
	size_t capacity = state->capacity_bytes ? state->capacity_bytes : 4096;
	unsigned char *grown;

	while (capacity - state->nr_bytes < record->size)
		capacity *= 2;
	if (capacity != state->capacity_bytes) {
		grown = realloc(state->records, capacity);
		if (!grown)
			return -ENOMEM;
		state->records = grown;
		state->capacity_bytes = capacity;
	}
	memcpy(state->records + state->nr_bytes, record, record->size);
	state->nr_bytes += record->size;
	return 0;
}

/* The strings that a record of ours names, which isn't a shape or an operation */
static void strings_of(const struct gpu_log_record *record, uint32_t ret[2])
{
	const void *any = record;

	ret[0] = ret[1] = 0;
	switch (record->type) {
	case GPU_LOG_API:
		ret[0] = ((const struct gpu_log_api *)any)->name;
		break;
	case GPU_LOG_DEVICE:
		ret[0] = ((const struct gpu_log_device *)any)->name;
		break;
	case GPU_LOG_RANK:
		ret[0] = ((const struct gpu_log_rank *)any)->source;
		break;
	case GPU_LOG_PYTHON_CODE:
		ret[0] = ((const struct gpu_log_python_code *)any)->name;
		ret[1] = ((const struct gpu_log_python_code *)any)->file;
		break;
	default:
		break;
	}
}

static int compare_ids(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Ids of strings that are used still; the caller frees them. */
static int list_used(const struct log_state *state, uint32_t **ret, size_t *ret_nr)
{
	struct gpu_log_cursor cursor =
		gpu_log_cursor__new(state->records, state->nr_bytes);
	size_t nr = 0, capacity = 1024 + 2 * state->nr_ranges;
	uint32_t *used = calloc(capacity, sizeof(*used)), *grown, two[2];
	const struct gpu_log_record *record;

	for (size_t i = 0; used && i < state->nr_ranges; i++) {
		used[nr++] = state->ranges[i].domain;
		used[nr++] = state->ranges[i].name;
	}
	while (used && gpu_log_cursor__next(&cursor, &record) > 0) {
		strings_of(record, two);
		for (int i = 0; used && i < 2; i++) {
			if (!two[i])
				continue;
			if (nr == capacity) {
				capacity *= 2;
				grown = reallocarray(used, capacity, sizeof(*used));
				if (!grown)
					free(used);
				used = grown;
			}
			if (used)
				used[nr++] = two[i];
		}
	}
	if (!used)
		return -ENOMEM;
	qsort(used, nr, sizeof(*used), compare_ids);
	*ret = used;
	*ret_nr = nr;
	return 0;
}

struct sweep {
	const struct gpu_log_forget *forget; /* NULL: for lack of room */
	const uint32_t *used;
	size_t nr_used;
};

static bool is_garbage(const struct sweep *sweep, const struct gpu_log_record *record)
{
	const void *any = record;

	switch (record->type) {
	case GPU_LOG_STRING: {
		const uint32_t id = ((const struct gpu_log_string *)any)->id;

		return sweep->forget && id < sweep->forget->strings &&
		       !bsearch(&id, sweep->used, sweep->nr_used, sizeof(id),
				compare_ids);
	}
	case GPU_LOG_SHAPE:
		return sweep->forget &&
		       ((const struct gpu_log_shape *)any)->shape < sweep->forget->shapes;
	case GPU_LOG_OPERATION:
		return sweep->forget &&
		       ((const struct gpu_log_operation *)any)->operation <
			       sweep->forget->operations;
	default:
		return false;
	}
}

/* Is it of those that have no end, and can be missing? */
static bool can_be_forgotten(const struct gpu_log_record *record)
{
	return record->type == GPU_LOG_JIT ||
	       (record->type == GPU_LOG_GRAPH_NODE &&
		((const struct gpu_log_graph_node *)(const void *)record)->origin);
}

/* Leave out what is garbage; and, of what can be forgotten, the first half of its bytes. */
static void sweep_records(struct log_state *state, const struct sweep *sweep)
{
	struct gpu_log_cursor cursor =
		gpu_log_cursor__new(state->records, state->nr_bytes);
	const size_t half = sweep->forget ? 0 : state->nr_bytes / 2;
	const struct gpu_log_record *record;
	unsigned char *to = state->records;
	size_t at = 0;

	while (gpu_log_cursor__next(&cursor, &record) > 0) {
		const size_t size = record->size;
		bool is_old = at < half && can_be_forgotten(record);

		at += size;
		state->nr_forgotten += is_old;
		if (is_old || is_garbage(sweep, record))
			continue;
		memmove(to, record, size);
		to += size;
	}
	state->nr_bytes = (size_t)(to - state->records);
}

static int forget(struct log_state *state, const struct gpu_log_forget *forget)
{
	struct sweep sweep = {.forget = forget};
	uint32_t *used;
	int err = list_used(state, &used, &sweep.nr_used);

	if (err)
		return err;
	sweep.used = used;
	sweep_records(state, &sweep);
	state->is_crowded = false;
	free(used);
	return 0;
}

static bool has_room(struct log_state *state, const struct gpu_log_record *record)
{
	const struct sweep sweep = {.forget = NULL};

	if (state->is_full)
		return false;
	if (state->nr_bytes + record->size <= LOG_STATE_MAX_BYTES)
		return true;
	if (state->is_crowded)
		return false;
	sweep_records(state, &sweep);
	state->is_crowded = state->nr_bytes > LOG_STATE_MAX_BYTES - LEAST_ROOM_BYTES;
	return state->nr_bytes + record->size <= LOG_STATE_MAX_BYTES;
}

/* The innermost range of the thread, or the one of an id; nr_ranges if there is none */
static size_t find_range(const struct log_state *state, const struct gpu_log_nvtx *end)
{
	for (size_t i = state->nr_ranges; i-- > 0;) {
		const struct gpu_log_nvtx *range = &state->ranges[i];

		if (end->operation == GPU_LOG_NVTX_POP
			    ? range->operation == GPU_LOG_NVTX_PUSH &&
				      range->tid == end->tid &&
				      range->domain == end->domain
			    : range->operation == GPU_LOG_NVTX_START &&
				      range->range == end->range)
			return i;
	}
	return state->nr_ranges;
}

static int take_nvtx(struct log_state *state, const struct gpu_log_nvtx *nvtx)
{
	size_t at;

	switch (nvtx->operation) {
	case GPU_LOG_NVTX_PUSH:
	case GPU_LOG_NVTX_START:
		if (!state->ranges)
			state->ranges =
				calloc(LOG_STATE_MAX_RANGES, sizeof(*state->ranges));
		if (!state->ranges)
			return -ENOMEM;
		if (state->nr_ranges == LOG_STATE_MAX_RANGES) {
			state->nr_forgotten++;
			return 0;
		}
		state->ranges[state->nr_ranges] = *nvtx;
		state->ranges[state->nr_ranges++].rec.size = sizeof(*nvtx);
		return 0;
	case GPU_LOG_NVTX_POP:
	case GPU_LOG_NVTX_END:
		at = find_range(state, nvtx);
		if (at < state->nr_ranges)
			memmove(&state->ranges[at], &state->ranges[at + 1],
				(--state->nr_ranges - at) * sizeof(*state->ranges));
		return 0;
	default:
		return 0;
	}
}

int log_state__take(struct log_state *state, const struct gpu_log_record *record)
{
	const void *any = record;

	if (!gpu_log_record__is_whole(record))
		return 0;
	if (record->type == GPU_LOG_NVTX)
		return take_nvtx(state, any);
	if (record->type == GPU_LOG_FORGET)
		return forget(state, any);
	if (!gpu_log_record__is_definition(record))
		return 0;
	if (record->type == GPU_LOG_MESSAGE && state->nr_messages++ >= MAX_MESSAGES)
		return 0;
	if (!has_room(state, record)) {
		state->nr_forgotten++;
		return 0;
	}
	return append(state, record);
}

int log_state__write(const struct log_state *state, uint64_t log_id,
		     struct block_builder *to)
{
	struct gpu_log_cursor cursor =
		gpu_log_cursor__new(state->records, state->nr_bytes);
	const struct gpu_log_record *record;
	int err = 0;

	while (!err && gpu_log_cursor__next(&cursor, &record) > 0)
		err = block_builder__add(to, log_id, record);
	for (size_t i = 0; i < state->nr_ranges && !err; i++)
		err = block_builder__add(to, log_id, &state->ranges[i].rec);
	return err;
}

void log_state__release(struct log_state *state)
{
	free(state->records);
	free(state->ranges);
	*state = (struct log_state){0};
}
