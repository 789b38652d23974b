// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A timeline in the trace event format, which chrome://tracing and ui.perfetto.dev read
 * (Google's document "Trace Event Format"):
 *
 *	{"displayTimeUnit":"ns","traceEvents":[
 *	{"ph":"M","name":"process_name","pid":615,"args":{"name":"app"}},
 *	{"ph":"X","name":"sgemm","cat":"kernel","pid":2000000001,"tid":1500000002,
 *	 "ts":12.345,"dur":3.136,"sf":4,"args":{"grid":"8x1x1"}},
 *	...
 *	],"stackFrames":{"0":{"name":"main"},"1":{"name":"f","parent":0},...}}
 *
 *   X  a slice; one without a length, too     B, E  the begin and end of a range
 *   i  an instant                             s, f  where an arrow begins and ends
 *
 * Times are in us, with three digits behind the point. Processes and threads keep their
 * numbers; GPUs and lanes have some that no process has. Frames come last, when all of them
 * are known, so that nothing has to wait.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sink/byte_cache.h"
#include "sink/export.h"
#include "sink/json_text.h"
#include "sink/out_file.h"
#include "sink/text_put.h"
#include "sink/timeline.h"
#include "util/log.h"

/* Above all process ids, /proc/sys/kernel/pid_max being 2^22 at most; below 2^31 */
#define FIRST_LANE 1500000000u
#define FIRST_GPU  2000000000u

struct place {
	uint32_t pid, tid;
	char text[64]; /* both, as events have them */
	size_t nr_bytes;
};

struct chrome {
	struct out_file *file;
	const struct stack_fold *fold;
	struct place *places; /* by track */
	size_t nr_allocated;
	uint64_t nr_arrows;
	bool has_event; /* a comma is due */
	struct byte_cache names; /* by text */
	struct byte_cache shapes; /* details, by shape */
};

static int no_memory(void)
{
	pr_err("no memory for the timeline; fewer events (-e) need less");
	return -ENOMEM;
}

static void begin_event(struct chrome *chrome, const char *phase)
{
	out_file__text(chrome->file,
		       chrome->has_event ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	out_file__text(chrome->file, phase);
	out_file__char(chrome->file, '"');
	chrome->has_event = true;
}

static void write_number(struct chrome *chrome, const char *key, uint64_t number)
{
	out_file__text(chrome->file, key);
	out_file__number(chrome->file, number);
}

static void write_text(struct chrome *chrome, const char *key, const char *text)
{
	out_file__text(chrome->file, key);
	json_text__write(chrome->file, text);
}

static void write_place(struct chrome *chrome, uint32_t track)
{
	const struct place *place = &chrome->places[track];

	out_file__write(chrome->file, place->text, place->nr_bytes);
}

static void write_time(struct chrome *chrome, const char *key, uint64_t time_ns)
{
	out_file__text(chrome->file, key);
	out_file__decimal(chrome->file, time_ns, 3);
}

static int end_event(struct chrome *chrome)
{
	out_file__char(chrome->file, '}');
	return out_file__error(chrome->file);
}

static int chrome__start(void *writer, const struct sink_input *input,
			 const struct stack_fold *fold)
{
	struct chrome *chrome = writer;

	(void)input;
	chrome->fold = fold;
	out_file__text(chrome->file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	return out_file__error(chrome->file);
}

static int keep_place(struct chrome *chrome, const struct timeline_track *track)
{
	struct place *place;
	char *at;

	if (track->id >= chrome->nr_allocated) {
		size_t nr = 2 * (size_t)track->id + 64;
		struct place *places = reallocarray(chrome->places, nr, sizeof(*places));

		if (!places)
			return no_memory();
		chrome->places = places;
		chrome->nr_allocated = nr;
	}
	place = &chrome->places[track->id];
	place->tid = 0;
	switch (track->kind) {
	case TIMELINE_PROCESS:
		place->pid = track->pid;
		break;
	case TIMELINE_THREAD:
		place->pid = track->pid;
		place->tid = track->tid;
		break;
	case TIMELINE_GPU:
		place->pid = FIRST_GPU + track->id;
		break;
	case TIMELINE_LANE:
		place->pid = chrome->places[track->parent].pid;
		place->tid = FIRST_LANE + track->id;
		break;
	}
	at = text_put__text(place->text, ",\"pid\":");
	at = text_put__number(at, place->pid);
	at = text_put__text(at, ",\"tid\":");
	at = text_put__number(at, place->tid);
	place->nr_bytes = (size_t)(at - place->text);
	return 0;
}

static int write_metadata(struct chrome *chrome, const struct timeline_track *track,
			  const char *name)
{
	begin_event(chrome, "M");
	write_text(chrome, ",\"name\":", name);
	write_place(chrome, track->id);
	out_file__text(chrome->file, ",\"args\":{");
	return 0;
}

static int chrome__track(void *writer, const struct timeline_track *track)
{
	struct chrome *chrome = writer;
	bool is_process = track->parent == TIMELINE_NO_TRACK;
	int err = keep_place(chrome, track);

	if (err)
		return err;
	write_metadata(chrome, track, is_process ? "process_name" : "thread_name");
	write_text(chrome, "\"name\":", track->name);
	out_file__char(chrome->file, '}');
	end_event(chrome);
	/* Tracks in the order that they come, GPUs below processes and by their numbers */
	write_metadata(chrome, track,
		       is_process ? "process_sort_index" : "thread_sort_index");
	write_number(chrome, "\"sort_index\":",
		     track->kind == TIMELINE_GPU ? FIRST_GPU + track->number : track->id);
	out_file__char(chrome->file, '}');
	return end_event(chrome);
}

/* --- what is written once for each launch -------------------------------------------- */

/* All of an event but names and details fits in. */
#define MAX_EVENT_BYTES 512

static char *put_place(const struct chrome *chrome, char *at, uint32_t track)
{
	const struct place *place = &chrome->places[track];

	return (char *)mempcpy(at, place->text, place->nr_bytes);
}

/* A name with quotes and escapes; NULL without memory */
static const struct cached_bytes *name_of(struct chrome *chrome, const char *text)
{
	const struct cached_bytes *name = byte_cache__find(&chrome->names, text);
	char *json;

	if (name)
		return name;
	json = malloc(JSON_TEXT_BYTES(strlen(text)));
	if (!json)
		return NULL;
	name = byte_cache__add(&chrome->names, text, json,
			       (size_t)(json_text__put(json, text) - json));
	free(json);
	return name;
}

/* "name":value, with a comma before all but the first */
static char *put_details(char *at, const struct timeline_detail *details, size_t nr,
			 bool is_first)
{
	for (size_t i = 0; i < nr; i++) {
		if (i || !is_first)
			*at++ = ',';
		*at++ = '"';
		at = text_put__text(at, details[i].name); /* has nothing to escape */
		*at++ = '"';
		*at++ = ':';
		at = details[i].text ? json_text__put(at, details[i].text)
				     : text_put__number(at, details[i].number);
	}
	return at;
}

/* Names are ours, and texts are in what timeline.h gives them room for. */
#define MAX_DETAILS_BYTES \
	(JSON_TEXT_BYTES(512) + TIMELINE_MAX_DETAILS * (TEXT_PUT_NUMBER + 64))

static const struct cached_bytes *shape_of(struct chrome *chrome,
					   const struct sidecar_shape *shape)
{
	const struct cached_bytes *known = byte_cache__find(&chrome->shapes, shape);
	struct timeline_detail details[TIMELINE_MAX_DETAILS];
	char text[512], json[MAX_DETAILS_BYTES];
	size_t nr;

	if (known)
		return known;
	nr = timeline_shape__details(shape, details, text);
	return byte_cache__add(&chrome->shapes, shape, json,
			       (size_t)(put_details(json, details, nr, true) - json));
}

/* -ENOMEM without memory */
static int write_details(struct chrome *chrome, const struct timeline_event *event)
{
	const struct cached_bytes *shape = shape_of(chrome, event->shape);
	struct timeline_detail details[TIMELINE_MAX_DETAILS];
	char text[512], *at;
	size_t nr;

	if (!shape)
		return -ENOMEM;
	nr = timeline_event__own_details(event, details, text);
	if (!shape->nr_bytes && !nr)
		return 0;
	out_file__text(chrome->file, ",\"args\":{");
	out_file__write(chrome->file, shape->bytes, shape->nr_bytes);
	at = out_file__room(chrome->file, MAX_DETAILS_BYTES);
	at = put_details(at, details, nr, !shape->nr_bytes);
	*at++ = '}';
	out_file__take(chrome->file, at);
	return 0;
}

/* Up to its name, in phase X, B or i */
static void begin_named(struct chrome *chrome, char phase)
{
	char *at = out_file__room(chrome->file, MAX_EVENT_BYTES);

	at = text_put__text(at, chrome->has_event ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	*at++ = phase;
	at = text_put__text(at, "\",\"name\":");
	out_file__take(chrome->file, at);
	chrome->has_event = true;
}

/* What follows the name: category, place and time */
static void write_rest(struct chrome *chrome, const struct timeline_event *event)
{
	char *at = out_file__room(chrome->file, MAX_EVENT_BYTES);

	at = text_put__text(at, ",\"cat\":\"");
	at = text_put__text(at, event->category);
	*at++ = '"';
	at = put_place(chrome, at, event->track);
	at = text_put__text(at, ",\"ts\":");
	at = text_put__thousandths(at, event->start_ns);
	out_file__take(chrome->file, at);
}

static char *put_arrow_end(const struct chrome *chrome, char *at, const char *phase,
			   uint32_t track, uint64_t time_ns)
{
	at = text_put__text(at, ",\n{\"ph\":\"");
	at = text_put__text(at, phase);
	at = text_put__text(at, "\",\"name\":\"launch\",\"cat\":\"launch\",\"id\":");
	at = text_put__number(at, chrome->nr_arrows);
	at = put_place(chrome, at, track);
	at = text_put__text(at, ",\"ts\":");
	at = text_put__thousandths(at, time_ns);
	*at++ = '}';
	return at;
}

static void write_arrow(struct chrome *chrome, const struct timeline_event *event)
{
	char *at = out_file__room(chrome->file, 2 * MAX_EVENT_BYTES);

	chrome->nr_arrows++;
	at = put_arrow_end(chrome, at, "s", event->flow_track, event->flow_ns);
	/* To the slice around this time, not the next one */
	at = put_arrow_end(chrome, at, "f\",\"bp\":\"e", event->track, event->start_ns);
	out_file__take(chrome->file, at);
}

static int chrome__event(void *writer, const struct timeline_event *event)
{
	struct chrome *chrome = writer;
	const struct cached_bytes *name = name_of(chrome, event->name);
	char *at;

	if (!name)
		return no_memory();
	begin_named(chrome, event->is_instant ? 'i' : 'X');
	out_file__write(chrome->file, name->bytes, name->nr_bytes);
	write_rest(chrome, event);
	at = out_file__room(chrome->file, MAX_EVENT_BYTES);
	if (event->is_instant) {
		at = text_put__text(at, ",\"s\":\"t\"");
	} else {
		at = text_put__text(at, ",\"dur\":");
		at = text_put__thousandths(at, event->end_ns - event->start_ns);
	}
	if (event->stack != TIMELINE_NO_STACK) {
		at = text_put__text(at, ",\"sf\":");
		at = text_put__number(at, event->stack);
	}
	out_file__take(chrome->file, at);
	if (event->shape && write_details(chrome, event))
		return no_memory();
	end_event(chrome);
	if (event->flow_in)
		write_arrow(chrome, event);
	return out_file__error(chrome->file);
}

static int chrome__begin(void *writer, const struct timeline_event *event)
{
	struct chrome *chrome = writer;

	/* There may be as many names as ranges. */
	begin_named(chrome, 'B');
	json_text__write(chrome->file, event->name);
	write_rest(chrome, event);
	return end_event(chrome);
}

static int chrome__end(void *writer, uint32_t track, uint64_t time_ns)
{
	struct chrome *chrome = writer;

	begin_event(chrome, "E");
	write_place(chrome, track);
	write_time(chrome, ",\"ts\":", time_ns);
	return end_event(chrome);
}

static void write_frame(struct chrome *chrome, uint32_t id)
{
	static const char *const categories[NR_FRAME_CLASSES] = {
		[FRAME_CLASS_NATIVE] = "native", [FRAME_CLASS_PYTHON] = "python",
		[FRAME_CLASS_API] = "api",	 [FRAME_CLASS_GPU] = "gpu",
		[FRAME_CLASS_LABEL] = "label",	 [FRAME_CLASS_ROOT] = "root",
	};
	const struct stack_node *node = stack_fold__node(chrome->fold, id);

	out_file__text(chrome->file, id ? ",\n\"" : "\n\"");
	out_file__number(chrome->file, id);
	write_text(chrome, "\":{\"name\":", node->name->text);
	write_text(chrome, ",\"category\":", categories[node->name->class]);
	if (node->parent != STACK_FOLD_NO_NODE)
		write_number(chrome, ",\"parent\":", node->parent);
	out_file__char(chrome->file, '}');
}

static int chrome__finish(void *writer)
{
	struct chrome *chrome = writer;
	size_t nr = stack_fold__nr(chrome->fold);

	out_file__text(chrome->file, "\n],\"stackFrames\":{");
	for (uint32_t i = 0; i < nr; i++)
		write_frame(chrome, i);
	out_file__text(chrome->file, "\n}}\n");
	return out_file__finish(chrome->file);
}

static void chrome__delete(void *writer)
{
	struct chrome *chrome = writer;

	if (!chrome)
		return;
	out_file__close(chrome->file);
	byte_cache__release(&chrome->names);
	byte_cache__release(&chrome->shapes);
	free(chrome->places);
	free(chrome);
}

int sink_chrome__new(const struct export_options *options, struct sink **ret)
{
	static const struct timeline_writer_ops ops = {
		.start = chrome__start,
		.track = chrome__track,
		.event = chrome__event,
		.begin = chrome__begin,
		.end = chrome__end,
		.finish = chrome__finish,
		.delete = chrome__delete,
	};
	struct chrome *chrome = calloc(1, sizeof(*chrome));
	int err;

	if (!chrome)
		return no_memory();
	err = out_file__open(options->path, &chrome->file);
	if (err) {
		free(chrome);
		return err;
	}
	return timeline__new(&ops, chrome, ret);
}
