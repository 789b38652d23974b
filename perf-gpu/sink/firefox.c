// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A timeline as a processed profile of the Firefox Profiler (profiler.firefox.com; JSON,
 * version 61, which later ones read):
 *
 *   threads   a timeline's tracks: slices are markers, with their stacks. A GPU's streams
 *             have samples too, of what ran, weighted by its time; a CPU thread has those of
 *             what it launched, when it did.
 *   shared    strings, frames (those of names, by their numbers), stacks (the fold's nodes)
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sink/export.h"
#include "sink/firefox_threads.h"
#include "sink/json_text.h"
#include "sink/out_file.h"
#include "sink/timeline.h"
#include "util/log.h"

struct firefox {
	struct out_file *file;
	const struct stack_fold *fold;
	const struct sidecar *sidecar;
	struct frame_names *strings;
	struct frame_names *files; /* of native code */
	struct firefox_threads *threads;
};

static int no_memory(void)
{
	pr_err("no memory for the timeline; fewer events (-e) need less");
	return -ENOMEM;
}

/* --- taking ----------------------------------------------------------------------------- */

static int firefox__start(void *writer, const struct sink_input *input,
			  const struct stack_fold *fold)
{
	struct firefox *firefox = writer;
	const struct sink_input nothing = {.machine = NULL};

	firefox->fold = fold;
	firefox->sidecar = input->sidecar;
	if (frame_names__new(&nothing, &firefox->strings) ||
	    frame_names__new(&nothing, &firefox->files))
		return no_memory();
	return 0;
}

static int firefox__track(void *writer, const struct timeline_track *track)
{
	return firefox_threads__track(((struct firefox *)writer)->threads, track);
}

static int firefox__event(void *writer, const struct timeline_event *event)
{
	return firefox_threads__event(((struct firefox *)writer)->threads, event);
}

static int firefox__begin(void *writer, const struct timeline_event *event)
{
	return firefox_threads__begin(((struct firefox *)writer)->threads, event);
}

static int firefox__end(void *writer, uint32_t track, uint64_t time_ns)
{
	firefox_threads__end(((struct firefox *)writer)->threads, track, time_ns);
	return 0;
}

/* --- writing: parts of arrays ---------------------------------------------------------------- */

static void key(struct firefox *firefox, const char *name)
{
	out_file__text(firefox->file, name);
}

static void comma(struct firefox *firefox, size_t i)
{
	if (i)
		out_file__char(firefox->file, ',');
}

/* "name":[text,text,...] */
static void repeat(struct firefox *firefox, const char *name, const char *text, size_t nr)
{
	key(firefox, name);
	for (size_t i = 0; i < nr; i++) {
		comma(firefox, i);
		out_file__text(firefox->file, text);
	}
	out_file__char(firefox->file, ']');
}

static int write_string(struct firefox *firefox, const char *text)
{
	const struct frame_name *name;

	if (frame_names__get(firefox->strings, text, NULL, FRAME_CLASS_NATIVE, &name))
		return no_memory();
	out_file__number(firefox->file, name->id);
	return 0;
}

/* --- writing: what threads share ------------------------------------------------------------ */

static void write_stacks(struct firefox *firefox)
{
	size_t nr = stack_fold__nr(firefox->fold);

	key(firefox, "\"stackTable\":{\"length\":");
	out_file__number(firefox->file, nr);
	key(firefox, ",\"frame\":[");
	for (uint32_t i = 0; i < nr; i++) {
		comma(firefox, i);
		out_file__number(firefox->file,
				 stack_fold__node(firefox->fold, i)->name->id);
	}
	key(firefox, "],\"prefix\":[");
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t parent = stack_fold__node(firefox->fold, i)->parent;

		comma(firefox, i);
		if (parent == STACK_FOLD_NO_NODE)
			key(firefox, "null");
		else
			out_file__number(firefox->file, parent);
	}
	key(firefox, "]},\n");
}

/* Frames and functions have the numbers of names; categories those of classes, and 1 more. */
static void write_frames(struct firefox *firefox, const struct frame_names *names)
{
	size_t nr = frame_names__nr(names);

	key(firefox, "\"frameTable\":{\"length\":");
	out_file__number(firefox->file, nr);
	repeat(firefox, ",\"address\":[", "-1", nr);
	repeat(firefox, ",\"inlineDepth\":[", "0", nr);
	key(firefox, ",\"category\":[");
	for (uint32_t i = 0; i < nr; i++) {
		comma(firefox, i);
		out_file__number(firefox->file, frame_names__at(names, i)->class + 1u);
	}
	repeat(firefox, "],\"subcategory\":[", "0", nr);
	key(firefox, ",\"func\":[");
	for (uint32_t i = 0; i < nr; i++) {
		comma(firefox, i);
		out_file__number(firefox->file, i);
	}
	repeat(firefox, "],\"nativeSymbol\":[", "null", nr);
	repeat(firefox, ",\"innerWindowID\":[", "null", nr);
	repeat(firefox, ",\"line\":[", "null", nr);
	repeat(firefox, ",\"column\":[", "null", nr);
	key(firefox, "},\n");
}

static int write_functions(struct firefox *firefox, const struct frame_names *names)
{
	size_t nr = frame_names__nr(names);
	int err = 0;

	key(firefox, "\"funcTable\":{\"length\":");
	out_file__number(firefox->file, nr);
	key(firefox, ",\"name\":[");
	for (uint32_t i = 0; i < nr && !err; i++) {
		comma(firefox, i);
		err = write_string(firefox, frame_names__at(names, i)->text);
	}
	key(firefox, "],\"resource\":[");
	for (uint32_t i = 0; i < nr && !err; i++) {
		const char *path = frame_names__at(names, i)->file;
		const struct frame_name *file;

		comma(firefox, i);
		if (!path)
			key(firefox, "-1");
		else if (frame_names__get(firefox->files, path, NULL, FRAME_CLASS_NATIVE,
					  &file))
			err = no_memory();
		else
			out_file__number(firefox->file, file->id);
	}
	repeat(firefox, "],\"isJS\":[", "false", nr);
	repeat(firefox, ",\"relevantForJS\":[", "false", nr);
	repeat(firefox, ",\"source\":[", "null", nr);
	repeat(firefox, ",\"lineNumber\":[", "null", nr);
	repeat(firefox, ",\"columnNumber\":[", "null", nr);
	key(firefox, "},\n");
	return err;
}

/* Files of code; type 1 is a library. */
static int write_files(struct firefox *firefox)
{
	size_t nr = frame_names__nr(firefox->files);
	int err = 0;

	key(firefox, "\"resourceTable\":{\"length\":");
	out_file__number(firefox->file, nr);
	key(firefox, ",\"name\":[");
	for (uint32_t i = 0; i < nr && !err; i++) {
		const char *path = frame_names__at(firefox->files, i)->text;
		const char *slash = strrchr(path, '/');

		comma(firefox, i);
		err = write_string(firefox, slash ? slash + 1 : path);
	}
	repeat(firefox, "],\"lib\":[", "null", nr);
	repeat(firefox, ",\"host\":[", "null", nr);
	repeat(firefox, ",\"type\":[", "1", nr);
	key(firefox, "},\n");
	return err;
}

static int write_shared(struct firefox *firefox)
{
	const struct frame_names *names = stack_fold__names(firefox->fold);
	int err;

	key(firefox, "\"shared\":{\n");
	write_stacks(firefox);
	write_frames(firefox, names);
	err = write_functions(firefox, names);
	if (!err)
		err = write_files(firefox);
	key(firefox, "\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],"
		     "\"name\":[],\"functionSize\":[]},\n"
		     "\"sources\":{\"length\":0,\"id\":[],\"filename\":[],"
		     "\"startLine\":[],\"startColumn\":[],\"sourceMapURL\":[]},\n"
		     "\"stringArray\":[");
	for (uint32_t i = 0; i < frame_names__nr(firefox->strings); i++) {
		comma(firefox, i);
		json_text__write(firefox->file,
				 frame_names__at(firefox->strings, i)->text);
	}
	key(firefox, "]}}\n");
	return err;
}

/* --- writing: the whole ---------------------------------------------------------------------- */

/*
 * Without an end of profiling, the profiler shows what is between the first and the last
 * sample alone. What is at the end itself is not shown; so it is 1 us later.
 */
static void write_range(struct firefox *firefox, uint64_t first_ns)
{
	uint64_t last_ns = firefox_threads__last_ns(firefox->threads);

	key(firefox, ",\"profilingStartTime\":0,\"profilingEndTime\":");
	out_file__decimal(firefox->file,
			  (last_ns > first_ns ? last_ns - first_ns : 0) + 1000, 6);
}

static void write_meta(struct firefox *firefox, uint64_t first_ns)
{
	const struct sidecar_recorder *recorder = &firefox->sidecar->recorder;
	uint64_t start_ns = 0;

	if (recorder->is_there)
		start_ns = recorder->realtime_ns + first_ns - recorder->monotonic_ns;
	key(firefox, "{\"meta\":{\"interval\":1,\"startTime\":");
	out_file__decimal(firefox->file, start_ns, 6);
	write_range(firefox, first_ns);
	key(firefox,
	    ",\"version\":24,\"preprocessedProfileVersion\":61,\"processType\":0,"
	    "\"product\":\"perf-gpu\",\"importedFrom\":\"perf-gpu\",\"stackwalk\":1,"
	    "\"debug\":false,\"symbolicated\":true,\"usesOnlyOneStackType\":true,"
	    "\"doesNotUseFrameImplementation\":true,\"sourceCodeIsNotOnSearchfox\":true,"
	    "\"toolkit\":\"\",\"platform\":\"Linux\",\"oscpu\":\"Linux\",\"misc\":\"\","
	    "\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]},\n"
	    "\"categories\":["
	    "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	    "{\"name\":\"Native\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
	    "{\"name\":\"Python\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	    "{\"name\":\"CUDA API\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	    "{\"name\":\"GPU\",\"color\":\"green\",\"subcategories\":[\"Other\"]},"
	    "{\"name\":\"Label\",\"color\":\"purple\",\"subcategories\":[\"Other\"]},"
	    "{\"name\":\"Process\",\"color\":\"brown\",\"subcategories\":[\"Other\"]}],\n"
	    "\"markerSchema\":[{\"name\":\"perf-gpu\","
	    "\"tooltipLabel\":\"{marker.name}\","
	    "\"tableLabel\":\"{marker.name} {marker.data.details}\","
	    "\"chartLabel\":\"{marker.name}\","
	    "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
	    "\"fields\":[{\"key\":\"kind\",\"label\":\"Kind\",\"format\":\"string\"},"
	    "{\"key\":\"details\",\"label\":\"Details\",\"format\":\"string\"}]}]},\n"
	    "\"libs\":[],\"pages\":[],\n");
}

static int firefox__finish(void *writer)
{
	struct firefox *firefox = writer;
	uint64_t first_ns = firefox_threads__first_ns(firefox->threads);
	int err;

	if (first_ns == UINT64_MAX)
		first_ns = firefox->sidecar->recorder.monotonic_ns;
	write_meta(firefox, first_ns);
	err = firefox_threads__write(firefox->threads, firefox->file, firefox->strings,
				     first_ns);
	if (!err)
		err = write_shared(firefox);
	return err ? err : out_file__finish(firefox->file);
}

static void firefox__delete(void *writer)
{
	struct firefox *firefox = writer;

	if (!firefox)
		return;
	out_file__close(firefox->file);
	frame_names__delete(firefox->strings);
	frame_names__delete(firefox->files);
	firefox_threads__delete(firefox->threads);
	free(firefox);
}

int sink_firefox__new(const struct export_options *options, struct sink **ret)
{
	static const struct timeline_writer_ops ops = {
		.has_leaves = true,
		.start = firefox__start,
		.track = firefox__track,
		.event = firefox__event,
		.begin = firefox__begin,
		.end = firefox__end,
		.finish = firefox__finish,
		.delete = firefox__delete,
	};
	struct firefox *firefox = calloc(1, sizeof(*firefox));
	int err;

	if (!firefox)
		return no_memory();
	err = firefox_threads__new(&firefox->threads);
	if (!err)
		err = out_file__open(options->path, &firefox->file);
	if (err) {
		firefox_threads__delete(firefox->threads);
		free(firefox);
		return err;
	}
	return timeline__new(&ops, firefox, ret);
}
