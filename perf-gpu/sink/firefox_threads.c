// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/firefox_threads.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "sink/byte_cache.h"
#include "sink/json_text.h"
#include "sink/text_put.h"
#include "util/array.h"
#include "util/hash_index.h"
#include "util/log.h"

#define NO_MARKER UINT32_MAX

/* All of a marker but its details, and these, fit in. */
#define MAX_MARKER_BYTES  512
#define MAX_DETAILS_BYTES 1024

/* Gecko's: an instant, an interval, the start of one that nothing has ended */
enum phase {
	PHASE_INSTANT,
	PHASE_INTERVAL,
	PHASE_START,
};

struct marker {
	uint64_t start_ns, end_ns;
	/* Of its activity; 0 without one */
	uint64_t bytes, correlation_id;
	const struct sidecar_shape *shape; /* NULL: it has no details */
	const char *category;
	uint32_t name; /* in marker_names */
	uint32_t stack; /* in the fold; TIMELINE_NO_STACK */
	uint32_t outer; /* of a range: the one around it; NO_MARKER */
	uint32_t phase;
};

struct weighted_stack {
	uint64_t time_ns, weight_ns;
	uint32_t leaf;
};

struct thread {
	struct timeline_track track; /* its name is the timeline's */
	struct marker *markers;
	size_t nr_markers, nr_allocated_markers;
	uint32_t last_open; /* marker */
	struct weighted_stack *samples;
	size_t nr_samples, nr_allocated_samples;
	bool has_late_markers, has_late_samples; /* they aren't in the order of time */
};

/* The name of markers, by the text's address, which stays */
struct marker_name {
	const char *text;
	const struct frame_name *string; /* NULL: it isn't known yet */
};

struct firefox_threads {
	struct thread *items; /* by track; those that hold others are none */
	size_t nr, nr_allocated;
	struct marker_name *names;
	size_t nr_names, nr_allocated_names;
	struct hash_index names_index;
	uint64_t first_ns;
	/* While they are written */
	struct out_file *file;
	struct byte_cache shapes; /* the details that markers have by their shape */
};

static int no_memory(void)
{
	pr_err("no memory for the timeline; fewer events (-e) need less");
	return -ENOMEM;
}

int firefox_threads__new(struct firefox_threads **ret)
{
	struct firefox_threads *threads = calloc(1, sizeof(*threads));

	if (!threads)
		return no_memory();
	threads->first_ns = UINT64_MAX;
	*ret = threads;
	return 0;
}

void firefox_threads__delete(struct firefox_threads *threads)
{
	if (!threads)
		return;
	for (size_t i = 0; i < threads->nr; i++) {
		free(threads->items[i].markers);
		free(threads->items[i].samples);
	}
	free(threads->items);
	free(threads->names);
	hash_index__release(&threads->names_index);
	byte_cache__release(&threads->shapes);
	free(threads);
}

/* --- taking ----------------------------------------------------------------------------- */

int firefox_threads__track(struct firefox_threads *threads,
			   const struct timeline_track *track)
{
	if (array__grow(&threads->items, threads->nr, &threads->nr_allocated,
			sizeof(*threads->items)))
		return no_memory();
	threads->items[threads->nr++] =
		(struct thread){.track = *track, .last_open = NO_MARKER};
	return 0;
}

static int find_name(struct firefox_threads *threads, const char *text, uint32_t *ret)
{
	uint64_t hash = hash__mix(0, (uintptr_t)text);
	struct hash_cursor cursor = hash_index__find(&threads->names_index, hash);

	while (hash_index__next(&threads->names_index, &cursor, ret))
		if (threads->names[*ret].text == text)
			return 0;
	if (array__grow(&threads->names, threads->nr_names, &threads->nr_allocated_names,
			sizeof(*threads->names)) ||
	    hash_index__add(&threads->names_index, hash, (uint32_t)threads->nr_names))
		return no_memory();
	*ret = (uint32_t)threads->nr_names;
	threads->names[threads->nr_names++] = (struct marker_name){.text = text};
	return 0;
}

static int add_marker(struct firefox_threads *threads, const struct timeline_event *event,
		      enum phase phase)
{
	struct thread *thread = &threads->items[event->track];
	struct marker new = {
		.start_ns = event->start_ns,
		.end_ns = event->end_ns,
		.shape = event->shape,
		.category = event->category,
		.stack = event->stack,
		.outer = NO_MARKER,
		.phase = phase,
	};

	if (find_name(threads, event->name, &new.name))
		return -ENOMEM;
	if (event->activity) {
		new.bytes = event->activity->bytes;
		new.correlation_id = event->activity->correlation_id;
	}
	if (array__grow(&thread->markers, thread->nr_markers,
			&thread->nr_allocated_markers, sizeof(*thread->markers)))
		return no_memory();
	if (thread->nr_markers &&
	    thread->markers[thread->nr_markers - 1].start_ns > new.start_ns)
		thread->has_late_markers = true;
	thread->markers[thread->nr_markers++] = new;
	if (new.start_ns < threads->first_ns)
		threads->first_ns = new.start_ns;
	return 0;
}

static int add_sample(struct firefox_threads *threads, uint32_t track, uint64_t time_ns,
		      const struct timeline_event *event)
{
	struct thread *thread = &threads->items[track];

	if (array__grow(&thread->samples, thread->nr_samples,
			&thread->nr_allocated_samples, sizeof(*thread->samples)))
		return no_memory();
	if (thread->nr_samples &&
	    thread->samples[thread->nr_samples - 1].time_ns > time_ns)
		thread->has_late_samples = true;
	thread->samples[thread->nr_samples++] = (struct weighted_stack){
		.time_ns = time_ns,
		.weight_ns = event->end_ns - event->start_ns,
		.leaf = event->leaf,
	};
	return 0;
}

static bool is_of_gpu(const struct firefox_threads *threads, uint32_t track)
{
	uint32_t parent = threads->items[track].track.parent;

	return parent != TIMELINE_NO_TRACK &&
	       threads->items[parent].track.kind == TIMELINE_GPU;
}

int firefox_threads__event(struct firefox_threads *threads,
			   const struct timeline_event *event)
{
	int err = add_marker(threads, event,
			     event->is_instant ? PHASE_INSTANT : PHASE_INTERVAL);

	if (!err && event->shape && is_of_gpu(threads, event->track))
		err = add_sample(threads, event->track, event->start_ns, event);
	if (!err && event->flow_in)
		err = add_sample(threads, event->flow_track, event->flow_ns, event);
	return err;
}

int firefox_threads__begin(struct firefox_threads *threads,
			   const struct timeline_event *event)
{
	struct thread *thread = &threads->items[event->track];
	int err = add_marker(threads, event, PHASE_START);

	if (err)
		return err;
	thread->markers[thread->nr_markers - 1].outer = thread->last_open;
	thread->last_open = (uint32_t)thread->nr_markers - 1;
	return 0;
}

void firefox_threads__end(struct firefox_threads *threads, uint32_t track,
			  uint64_t time_ns)
{
	struct thread *thread = &threads->items[track];
	struct marker *marker;

	if (thread->last_open == NO_MARKER)
		return;
	marker = &thread->markers[thread->last_open];
	marker->phase = PHASE_INTERVAL;
	marker->end_ns = time_ns;
	thread->last_open = marker->outer;
}

uint64_t firefox_threads__first_ns(const struct firefox_threads *threads)
{
	return threads->first_ns;
}

uint64_t firefox_threads__last_ns(const struct firefox_threads *threads)
{
	uint64_t last_ns = 0;

	for (size_t i = 0; i < threads->nr; i++)
		for (size_t k = 0; k < threads->items[i].nr_markers; k++) {
			const struct marker *marker = &threads->items[i].markers[k];
			uint64_t end_ns = marker->phase == PHASE_START ? marker->start_ns
								       : marker->end_ns;

			if (end_ns > last_ns)
				last_ns = end_ns;
		}
	return last_ns;
}

/* --- their order ---------------------------------------------------------------------------- */

static int compare_markers(const void *a, const void *b)
{
	const struct marker *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int compare_samples(const void *a, const void *b)
{
	const struct weighted_stack *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Most are in order already: launches and kernels come as they were launched. */
static void sort_thread(struct thread *thread)
{
	if (thread->has_late_markers)
		qsort(thread->markers, thread->nr_markers, sizeof(*thread->markers),
		      compare_markers);
	if (thread->has_late_samples)
		qsort(thread->samples, thread->nr_samples, sizeof(*thread->samples),
		      compare_samples);
}

/* --- writing: an array for each field ---------------------------------------------------- */

/* The beginning of an array, or what is between its items: 1 byte */
static char *put_comma(char *at, size_t i)
{
	if (i)
		*at++ = ',';
	return at;
}

static void write_numbers(struct out_file *file, size_t i, uint64_t number)
{
	char *at = put_comma(out_file__room(file, MAX_MARKER_BYTES), i);

	out_file__take(file, text_put__number(at, number));
}

static void write_ms(struct out_file *file, size_t i, uint64_t ns)
{
	char *at = put_comma(out_file__room(file, MAX_MARKER_BYTES), i);

	out_file__take(file, text_put__millionths(at, ns));
}

static void write_samples(struct out_file *file, const struct thread *thread,
			  uint64_t first_ns)
{
	const struct weighted_stack *samples = thread->samples;
	size_t nr = thread->nr_samples;

	out_file__text(file, "\"samples\":{\"weightType\":\"tracing-ms\",\"length\":");
	out_file__number(file, nr);
	out_file__text(file, ",\"stack\":[");
	for (size_t i = 0; i < nr; i++)
		write_numbers(file, i, samples[i].leaf);
	out_file__text(file, "],\"time\":[");
	for (size_t i = 0; i < nr; i++)
		write_ms(file, i, samples[i].time_ns - first_ns);
	out_file__text(file, "],\"weight\":[");
	for (size_t i = 0; i < nr; i++)
		write_ms(file, i, samples[i].weight_ns);
	out_file__text(file, "]}");
}

/* "grid 8x1x1, registers 40", with ", " before all but the first */
static char *put_details(char *at, const struct timeline_detail *details, size_t nr,
			 bool is_first)
{
	for (size_t i = 0; i < nr; i++) {
		if (i || !is_first)
			at = text_put__text(at, ", ");
		/* Ours, and made of digits: there is nothing to escape. */
		at = text_put__text(at, details[i].name);
		*at++ = ' ';
		at = details[i].text ? text_put__text(at, details[i].text)
				     : text_put__number(at, details[i].number);
	}
	return at;
}

/* NULL without memory */
static const struct cached_bytes *shape_of(struct firefox_threads *threads,
					   const struct sidecar_shape *shape)
{
	const struct cached_bytes *known = byte_cache__find(&threads->shapes, shape);
	struct timeline_detail details[TIMELINE_MAX_DETAILS];
	char text[512], line[MAX_DETAILS_BYTES];
	size_t nr;

	if (known)
		return known;
	nr = timeline_shape__details(shape, details, text);
	return byte_cache__add(&threads->shapes, shape, line,
			       (size_t)(put_details(line, details, nr, true) - line));
}

/* At most MAX_DETAILS_BYTES; NULL without memory */
static char *put_all_details(struct firefox_threads *threads, char *at,
			     const struct marker *marker)
{
	const struct sidecar_activity activity = {
		.start_ns = marker->start_ns,
		.end_ns = marker->end_ns,
		.bytes = marker->bytes,
		.correlation_id = marker->correlation_id,
	};
	const struct timeline_event event = {
		.is_instant = marker->phase == PHASE_INSTANT,
		.activity = &activity,
		.shape = marker->shape,
	};
	struct timeline_detail details[TIMELINE_MAX_DETAILS];
	const struct cached_bytes *shape;
	char text[512];
	size_t nr;

	if (!marker->shape)
		return at;
	shape = shape_of(threads, marker->shape);
	if (!shape)
		return NULL;
	at = (char *)mempcpy(at, shape->bytes, shape->nr_bytes);
	nr = timeline_event__own_details(&event, details, text);
	return put_details(at, details, nr, !shape->nr_bytes);
}

static int write_data(struct firefox_threads *threads, size_t i,
		      const struct marker *marker, uint64_t first_ns)
{
	char *at = out_file__room(threads->file, MAX_MARKER_BYTES + MAX_DETAILS_BYTES);

	at = put_comma(at, i);
	at = text_put__text(at, "{\"type\":\"perf-gpu\",\"kind\":\"");
	at = text_put__text(at, marker->category); /* likewise */
	at = text_put__text(at, "\",\"details\":\"");
	at = put_all_details(threads, at, marker);
	if (!at)
		return no_memory();
	*at++ = '"';
	if (marker->stack != TIMELINE_NO_STACK) {
		at = text_put__text(at, ",\"cause\":{\"stack\":");
		at = text_put__number(at, marker->stack);
		at = text_put__text(at, ",\"time\":");
		at = text_put__millionths(at, marker->start_ns - first_ns);
		*at++ = '}';
	}
	*at++ = '}';
	out_file__take(threads->file, at);
	return 0;
}

static int write_names(struct firefox_threads *threads, const struct thread *thread,
		       struct frame_names *strings)
{
	for (size_t i = 0; i < thread->nr_markers; i++) {
		struct marker_name *name = &threads->names[thread->markers[i].name];

		if (!name->string && frame_names__get(strings, name->text, NULL,
						      FRAME_CLASS_NATIVE, &name->string))
			return no_memory();
		write_numbers(threads->file, i, name->string->id);
	}
	return 0;
}

static int write_markers(struct firefox_threads *threads, const struct thread *thread,
			 struct frame_names *strings, uint64_t first_ns)
{
	const struct marker *markers = thread->markers;
	struct out_file *file = threads->file;
	size_t nr = thread->nr_markers;
	int err;

	out_file__text(file, "\"markers\":{\"length\":");
	out_file__number(file, nr);
	out_file__text(file, ",\"name\":[");
	err = write_names(threads, thread, strings);
	out_file__text(file, "],\"startTime\":[");
	for (size_t i = 0; i < nr; i++)
		write_ms(file, i, markers[i].start_ns - first_ns);
	out_file__text(file, "],\"endTime\":[");
	for (size_t i = 0; i < nr; i++) {
		if (markers[i].phase == PHASE_INTERVAL)
			write_ms(file, i, markers[i].end_ns - first_ns);
		else
			out_file__text(file, i ? ",null" : "null");
	}
	out_file__text(file, "],\"phase\":[");
	for (size_t i = 0; i < nr; i++)
		write_numbers(file, i, markers[i].phase);
	out_file__text(file, "],\"category\":[");
	for (size_t i = 0; i < nr; i++)
		write_numbers(file, i, 0);
	out_file__text(file, "],\"data\":[");
	for (size_t i = 0; i < nr && !err; i++)
		err = write_data(threads, i, &markers[i], first_ns);
	out_file__text(file, "]}");
	return err;
}

/* --- writing: threads --------------------------------------------------------------------- */

/* What tells who it is */
static void write_head(struct out_file *file, const struct timeline_track *track,
		       const struct timeline_track *parent)
{
	char text[64];

	out_file__text(file, "{\"processType\":\"default\",\"processStartupTime\":0,"
			     "\"processShutdownTime\":null,\"registerTime\":0,"
			     "\"unregisterTime\":null,\"pausedRanges\":[],"
			     "\"showMarkersInTimeline\":true,\"processName\":");
	json_text__write(file, parent->name);
	out_file__text(file, ",\"name\":");
	json_text__write(file, track->name);
	/* Pids are texts. A GPU has one that no process has. */
	if (parent->kind == TIMELINE_GPU)
		snprintf(text, sizeof(text), ",\"pid\":\"GPU-%" PRIu32 "\"", parent->id);
	else
		snprintf(text, sizeof(text), ",\"pid\":\"%" PRIu32 "\"", parent->pid);
	out_file__text(file, text);
	out_file__text(file, track->kind == TIMELINE_THREAD && track->tid == track->pid
				     ? ",\"isMainThread\":true"
				     : ",\"isMainThread\":false");
	out_file__text(file, ",\"tid\":");
	out_file__number(file, track->kind == TIMELINE_THREAD ? track->tid
							      : 1500000000u + track->id);
}

static int write_thread(struct firefox_threads *threads, struct thread *thread,
			struct frame_names *strings, uint64_t first_ns)
{
	struct out_file *file = threads->file;

	sort_thread(thread);
	write_head(file, &thread->track, &threads->items[thread->track.parent].track);
	out_file__text(file, ",\n");
	write_samples(file, thread, first_ns);
	out_file__text(file, ",\n");
	if (write_markers(threads, thread, strings, first_ns))
		return -ENOMEM;
	out_file__text(file, "}");
	return out_file__error(file);
}

int firefox_threads__write(struct firefox_threads *threads, struct out_file *file,
			   struct frame_names *strings, uint64_t first_ns)
{
	size_t nr_written = 0;
	int err = 0;

	threads->file = file;
	out_file__text(file, "\"threads\":[");
	for (size_t i = 0; i < threads->nr && !err; i++) {
		if (threads->items[i].track.parent == TIMELINE_NO_TRACK)
			continue;
		out_file__text(file, nr_written++ ? ",\n" : "\n");
		err = write_thread(threads, &threads->items[i], strings, first_ns);
	}
	out_file__text(file, "],\n");
	return err;
}
