// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/labels.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_log.h"
#include "join/nvtx_ranges.h"
#include "source/graph_stack.h"

/* CUPTI's word for a sync that is of no stream */
#define NO_STREAM UINT32_MAX

/* As perf has it */
#define MAX_FRAMES GRAPH_STACK_MAX_FRAMES

struct labels {
	const struct sidecar *sidecar;
	const struct devices *devices;
	const struct label_list *list;
	struct nvtx_ranges *ranges;
	struct gpu_labels found;
	const struct sidecar_nvtx *const *open; /* NVTX ranges of what was found */
	size_t nr_open;
	char *nvtx_text; /* of found */
	size_t nvtx_text_bytes;
	void *names; /* tsearch(3) tree of texts */
	struct stack stack; /* with frames added */
	uint64_t nr_unknown_threads;
};

int labels__new(const struct sidecar *sidecar, const struct devices *devices,
		const struct label_list *list, struct labels **ret)
{
	struct labels *labels = calloc(1, sizeof(*labels));

	if (!labels)
		return -ENOMEM;
	labels->sidecar = sidecar;
	labels->devices = devices;
	labels->list = list;
	if (nvtx_ranges__new(sidecar, &labels->ranges)) {
		free(labels);
		return -ENOMEM;
	}
	*ret = labels;
	return 0;
}

void labels__delete(struct labels *labels)
{
	if (!labels)
		return;
	tdestroy(labels->names, free);
	nvtx_ranges__delete(labels->ranges);
	free(labels->nvtx_text);
	free(labels);
}

uint64_t labels__nr_unknown_threads(const struct labels *labels)
{
	return labels->nr_unknown_threads;
}

/* --- values ------------------------------------------------------------------------------ */

/* CUPTI has a stream for each of these, but it means something for some only. */
static bool has_stream(const struct sidecar_shape *shape)
{
	if (shape->kind == GPU_LOG_KIND_FAULT || shape->stream == NO_STREAM)
		return false;
	return shape->kind != GPU_LOG_KIND_MEMORY || shape->is_async;
}

static void find_place(struct labels *labels, const struct sidecar_shape *shape)
{
	struct gpu_labels *found = &labels->found;
	ssize_t gpu;

	gpu = devices__find(labels->devices, shape->log, shape->device);
	if (gpu >= 0)
		found->device = devices__shown_number(labels->devices, (size_t)gpu);
	if (has_stream(shape))
		found->stream = shape->stream;
	if (shape->context && shape->context != UINT32_MAX)
		found->context = shape->context;
	if (shape->graph)
		found->graph = shape->graph;
}

/*
 * The thread as its own process sees it, which in a pid namespace of its own is other
 * than the recorder sees it; 0: not known.
 */
static uint32_t own_tid(struct labels *labels, const struct labels_query *query)
{
	uint32_t pid = labels->sidecar->logs[query->occurrence->log].pid;
	uint32_t higher = query->pid - pid;

	/* 0: they are the same; or the recorder has told namespaces apart by it. */
	if (query->pid >= pid && higher % GPU_LOG_NAMESPACE_STEP == 0 &&
	    query->tid > higher)
		return query->tid - higher;
	if (query->pid == query->tid)
		return pid;
	labels->nr_unknown_threads++;
	return 0;
}

/* Room for one more text in nvtx_text, of which @used bytes are there. */
static char *reserve_text(struct labels *labels, size_t used, size_t bytes)
{
	size_t needed = used + bytes;
	char *text;

	if (needed > labels->nvtx_text_bytes) {
		text = realloc(labels->nvtx_text, 2 * needed);
		if (!text)
			return NULL;
		labels->nvtx_text = text;
		labels->nvtx_text_bytes = 2 * needed;
	}
	return labels->nvtx_text + used;
}

/* "mine:outer;inner" */
static int write_nvtx(struct labels *labels)
{
	size_t used = 0;

	for (size_t i = 0; i < labels->nr_open; i++) {
		size_t bytes = nvtx_range__name(labels->open[i], NULL, 0) + 2;
		char *text = reserve_text(labels, used, bytes);

		if (!text)
			return -ENOMEM;
		if (i)
			*text++ = ';';
		used += nvtx_range__name(labels->open[i], text, bytes - (i > 0)) +
			(i > 0);
	}
	labels->found.nvtx = labels->nr_open ? labels->nvtx_text : NULL;
	labels->found.ranges = labels->open;
	labels->found.nr_ranges = labels->nr_open;
	return 0;
}

static int find_nvtx(struct labels *labels, const struct labels_query *query)
{
	ssize_t nr;

	labels->nr_open = 0;
	if (!labels->sidecar->nr_nvtx || !query->pid)
		return 0;
	nr = nvtx_ranges__at(labels->ranges, query->occurrence->log,
			     own_tid(labels, query), query->time_ns, &labels->open);
	if (nr < 0)
		return (int)nr;
	labels->nr_open = (size_t)nr;
	if (labels->nr_open > LABELS_MAX_NVTX) {
		labels->open += labels->nr_open - LABELS_MAX_NVTX;
		labels->nr_open = LABELS_MAX_NVTX;
	}
	return write_nvtx(labels);
}

int labels__find(struct labels *labels, const struct labels_query *query,
		 const struct gpu_labels **ret)
{
	const struct occurrence *occurrence = query->occurrence;
	const struct sidecar_log *log = &labels->sidecar->logs[occurrence->log];
	const struct sidecar_shape *shape =
		occurrence__shape(occurrence, labels->sidecar);
	int err;

	labels->found = (struct gpu_labels){
		.device = -1,
		.stream = -1,
		.context = -1,
		.graph = -1,
		.rank = log->has_rank ? (int64_t)log->rank : -1,
		.bytes = -1,
	};
	if (shape)
		find_place(labels, shape);
	if (shape && shape->kind != GPU_LOG_KIND_KERNEL &&
	    shape->kind != GPU_LOG_KIND_SYNC)
		labels->found.bytes = (int64_t)occurrence->activity->bytes;
	err = find_nvtx(labels, query);
	*ret = &labels->found;
	return err;
}

/* --- frames ------------------------------------------------------------------------------ */

static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The same text, kept; NULL without memory. */
static const char *keep_name(struct labels *labels, const char *text)
{
	char **found = tfind(text, &labels->names, compare_texts);
	char *copy;

	if (found)
		return *found;
	copy = strdup(text);
	if (copy && tsearch(copy, &labels->names, compare_texts))
		return copy;
	free(copy);
	return NULL;
}

/* Text of a program's in a frame: stackcollapse-perf.pl splits at ";" and "->". */
static void make_harmless(char *text, size_t bytes)
{
	for (char *at = text; *at; at++) {
		if (*at == ';')
			*at = ':';
		else if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = ' ';
	}
	for (char *at = text; (at = strstr(at, "->"));) {
		static const char arrow[] = "\u2192";

		if (strlen(text) + sizeof(arrow) > bytes) {
			*at = '-';
			at[1] = ' ';
			continue;
		}
		memmove(at + strlen(arrow), at + 2, strlen(at + 2) + 1);
		memcpy(at, arrow, strlen(arrow));
	}
}

/* Frames from the root to the leaf, of which the list gives the order */
struct frame_list {
	const char *names[NR_LABELS + LABELS_MAX_NVTX];
	size_t nr;
};

static int add_name(struct labels *labels, struct frame_list *frames, const char *text)
{
	const char *name = keep_name(labels, text);

	if (!name)
		return -ENOMEM;
	frames->names[frames->nr++] = name;
	return 0;
}

static int add_number(struct labels *labels, struct frame_list *frames, const char *word,
		      int64_t number)
{
	char text[64];

	if (number < 0)
		return 0;
	snprintf(text, sizeof(text), "[%s %" PRId64 "]", word, number);
	return add_name(labels, frames, text);
}

static int add_nvtx(struct labels *labels, struct frame_list *frames)
{
	char text[4096];
	int err = 0;

	for (size_t i = 0; i < labels->nr_open && !err; i++) {
		const struct sidecar_nvtx *range = labels->open[i];
		char name[sizeof(text) - 16];

		nvtx_range__name(range, name, sizeof(name));
		make_harmless(name, sizeof(name));
		snprintf(text, sizeof(text), "[nvtx%s%s]", *name ? " " : "", name);
		err = add_name(labels, frames, text);
	}
	return err;
}

static int add_label(struct labels *labels, struct frame_list *frames, enum label label)
{
	const struct gpu_labels *found = &labels->found;

	switch (label) {
	case LABEL_DEVICE:
		return add_number(labels, frames, "device", found->device);
	case LABEL_STREAM:
		return add_number(labels, frames, "stream", found->stream);
	case LABEL_CONTEXT:
		return add_number(labels, frames, "context", found->context);
	case LABEL_GRAPH:
		return add_number(labels, frames, "graph", found->graph);
	case LABEL_RANK:
		return add_number(labels, frames, "rank", found->rank);
	case LABEL_NVTX:
		return add_nvtx(labels, frames);
	case NR_LABELS:
		break;
	}
	return 0;
}

static void append(struct stack *stack, const struct gpu_frame *frames, size_t nr)
{
	memcpy(&stack->frames[stack->nr_frames], frames, nr * sizeof(*frames));
	stack->nr_frames += nr;
}

/* Leaf first, as stacks are */
static void append_names(struct stack *stack, const struct frame_list *frames)
{
	for (size_t i = frames->nr; i > 0; i--)
		stack->frames[stack->nr_frames++] =
			(struct gpu_frame){.name = frames->names[i - 1]};
}

/* @from, without its leaf, as far as there is room beside the labels */
static void append_rest(struct stack *stack, const struct stack *from, size_t nr_labels)
{
	size_t nr = from->nr_frames - 1, room = MAX_FRAMES - 1 - nr_labels;

	if (nr <= room) {
		append(stack, &from->frames[1], nr);
		return;
	}
	append(stack, &from->frames[1], room - 1);
	append(stack, &(const struct gpu_frame){.name = STACK_TRUNCATED}, 1);
}

int labels__add_frames(struct labels *labels, const struct stack *stack,
		       const struct stack **ret)
{
	struct frame_list frames = {.nr = 0};
	struct stack *labelled = &labels->stack;
	int err = 0;

	*ret = stack;
	for (size_t i = 0; i < labels->list->nr && !err; i++)
		err = add_label(labels, &frames, labels->list->items[i]);
	if (err || !frames.nr)
		return err;
	labelled->nr_frames = 0;
	labelled->id = 0;
	labelled->has_code = stack->has_code;
	append(labelled, stack->frames, 1);
	if (!labels->list->is_at_root)
		append_names(labelled, &frames);
	append_rest(labelled, stack, frames.nr);
	if (labels->list->is_at_root)
		append_names(labelled, &frames);
	*ret = labelled;
	return 0;
}
