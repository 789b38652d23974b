// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The text that `perf script` prints of the perf.data that inject writes, byte
 * by byte (tools/perf/builtin-script.c and util/evsel_fprintf.c of Linux 6.1),
 * but for the frames that are no code:
 *
 *   python3 11991 [000]  2119.885556:      31456 gpu-kernel:
 *   <tab> 100000000001020 [GPU_Kernel]sgemm ([GPU_Kernel])
 *   <tab>            2f10 cudaLaunchKernel+0x1e0 (/usr/lib/libcudart.so.13)
 *   <tab>            1149 main+0x20 (/usr/bin/python3)
 *   <empty line>
 *
 * The address is the offset in the file, as perf has it, or the address itself
 * where there is no file. A frame that is no code has no file and no offset in
 * it; tools that tell frames apart by address get one all the same: 64 bytes for
 * each name, in the order they come, and the middle of these.
 *
 * Samples have their whole stacks: copies of memory are unwound before they come here.
 *
 * Output is written when the buffer is full, in whole samples. One thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sink/frame_names.h"
#include "sink/sink.h"
#include "util/gpu_events.h"
#include "util/log.h"
#include "util/progress.h"
#include "util/visible.h"

/* Written out when it is this full; a sample is about 4 KiB. */
#define FLUSH_BYTES (64u << 10)

#define NAME_FIRST_ADDRESS 0x0100000000001000u
#define NAME_BYTES	   64u

struct named_frame {
	const char *name; /* first: key */
	uint64_t address;
};

struct script_sink {
	struct sink sink; /* first: what ops get is this */
	unsigned int fields;
	const struct machine *machine;
	int name_columns; /* of events: perf puts them in a column, at its right */
	void *named_frames; /* tsearch(3) tree */
	uint64_t next_address;
	char *text;
	size_t nr_text, capacity;
	bool is_out_of_memory; /* looked at once a sample */
};

/* Text */

/* Room for @nr more bytes, or NULL. */
static char *script__reserve(struct script_sink *script, size_t nr)
{
	size_t capacity = script->capacity ? script->capacity : 2 * FLUSH_BYTES;
	char *text;

	while (capacity - script->nr_text < nr)
		capacity *= 2;
	if (capacity != script->capacity) {
		text = realloc(script->text, capacity);
		if (!text) {
			script->is_out_of_memory = true;
			return NULL;
		}
		script->text = text;
		script->capacity = capacity;
	}
	return script->text + script->nr_text;
}

/* For our own formats, of a few bytes. */
static void __attribute__((format(printf, 2, 3)))
script__print(struct script_sink *script, const char *fmt, ...)
{
	enum { ROOM = 64 };
	char *text = script__reserve(script, ROOM);
	va_list args;
	int nr;

	if (!text)
		return;
	va_start(args, fmt);
	nr = vsnprintf(text, ROOM, fmt, args);
	va_end(args);
	if (nr > 0)
		script->nr_text += nr < ROOM ? (size_t)nr : ROOM - 1;
}

/* A name from outside */
static void script__print_name(struct script_sink *script, const char *name)
{
	size_t nr = strlen(name);
	char *text = script__reserve(script, nr);

	if (!text)
		return;
	visible__copy(text, name, nr);
	script->nr_text += nr;
}

static int script__flush(struct script_sink *script)
{
	size_t nr_written = 0;

	progress__yield_to(STDOUT_FILENO);
	while (nr_written < script->nr_text) {
		ssize_t n = write(STDOUT_FILENO, script->text + nr_written,
				  script->nr_text - nr_written);

		if (n >= 0) {
			nr_written += (size_t)n;
		} else if (errno != EINTR) {
			int err = -errno;

			/* Not news to whoever ended `| head`. */
			if (err != -EPIPE)
				pr_err("cannot write to stdout: %s", strerror(-err));
			return err;
		}
	}
	script->nr_text = 0;
	return 0;
}

/* Frames */

static int named_frame__compare(const void *a, const void *b)
{
	const struct named_frame *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* The address that stands for a name; 0 without memory. */
static uint64_t script__address_of(struct script_sink *script, const char *name)
{
	struct named_frame key = {.name = name}, *new;
	struct named_frame **found =
		tfind(&key, &script->named_frames, named_frame__compare);

	if (found)
		return (*found)->address;
	new = malloc(sizeof(*new));
	if (!new)
		goto no_memory;
	*new = (struct named_frame){.name = name, .address = script->next_address};
	if (!tsearch(new, &script->named_frames, named_frame__compare))
		goto no_memory;
	script->next_address += NAME_BYTES;
	return new->address;
no_memory:
	free(new);
	script->is_out_of_memory = true;
	return 0;
}

/* On a line of its own, and without folders, as perf has it */
static void script__print_source_line(struct script_sink *script,
				      const struct gpu_frame *frame)
{
	const char *slash = strrchr(frame->file, '/');

	script__print(script, "\n  ");
	script__print_name(script, slash ? slash + 1 : frame->file);
	script__print(script, ":%" PRIu32, frame->line);
}

static void script__print_named_frame(struct script_sink *script,
				      const struct gpu_frame *frame)
{
	script__print(script, "\t%16" PRIx64, script__address_of(script, frame->name));
	if (script->fields & SCRIPT_SYM) {
		script__print(script, " ");
		script__print_name(script, frame->name);
	}
	if (script->fields & SCRIPT_DSO)
		script__print(script, " ([GPU_Kernel])");
	if (script->fields & SCRIPT_SRCLINE && frame->line)
		script__print_source_line(script, frame);
	script__print(script, "\n");
}

static void script__print_code_frame(struct script_sink *script, uint32_t pid,
				     uint64_t ip)
{
	struct code_place place = code_place__of(script->machine, pid, ip);
	const struct symbol *symbol = place.symbol;

	script__print(script, "\t%16" PRIx64, place.offset);
	if (script->fields & SCRIPT_SYM) {
		script__print(script, " ");
		script__print_name(script, symbol ? symbol->demangled : "[unknown]");
		if (symbol && script->fields & SCRIPT_SYMOFF)
			script__print(script, "+0x%" PRIx64,
				      place.address - symbol->start);
	}
	if (script->fields & SCRIPT_DSO) {
		script__print(script, " (");
		script__print_name(script,
				   place.map ? dso__path(place.map->dso) : "[unknown]");
		script__print(script, ")");
	}
	script__print(script, "\n");
}

/* The header line */

static void script__print_comm(struct script_sink *script, uint32_t pid, uint32_t tid)
{
	const char *comm = machine__comm(script->machine, pid, tid);
	char unknown[16];

	if (!*comm) {
		snprintf(unknown, sizeof(unknown), ":%" PRIu32, tid);
		comm = unknown;
	}
	/* In a column of its own where no stack follows. */
	if (!(script->fields & SCRIPT_IP))
		script__print(script, "%*s",
			      strlen(comm) < 16 ? 16 - (int)strlen(comm) : 0, "");
	script__print_name(script, comm);
	script__print(script, " ");
}

/* "device=0 ", or "device=- " where there is none */
static void script__print_label(struct script_sink *script, enum script_field field,
				const char *name, int64_t value)
{
	if (!(script->fields & field))
		return;
	if (value < 0)
		script__print(script, "%s=- ", name);
	else
		script__print(script, "%s=%" PRId64 " ", name, value);
}

/* In quotes, which a name that has some keeps as apostrophes */
static void script__print_nvtx(struct script_sink *script, const char *nvtx)
{
	size_t nr = nvtx ? strlen(nvtx) : 0;
	char *text;

	script__print(script, "nvtx=\"");
	text = script__reserve(script, nr);
	if (!text)
		return;
	if (nr)
		visible__copy(text, nvtx, nr);
	for (size_t i = 0; i < nr; i++)
		if (text[i] == '"')
			text[i] = '\'';
	script->nr_text += nr;
	script__print(script, "\" ");
}

/*
 * Ahead of the time: tools that read perf script's text know the thread by what is at the
 * beginning of the line, and the period and the event by what is at its end.
 */
static void script__print_labels(struct script_sink *script,
				 const struct gpu_labels *labels)
{
	script__print_label(script, SCRIPT_RANK, "rank", labels->rank);
	script__print_label(script, SCRIPT_DEVICE, "device", labels->device);
	script__print_label(script, SCRIPT_CONTEXT, "context", labels->context);
	script__print_label(script, SCRIPT_STREAM, "stream", labels->stream);
	script__print_label(script, SCRIPT_GRAPH, "graph", labels->graph);
	script__print_label(script, SCRIPT_BYTES, "bytes", labels->bytes);
	if (script->fields & SCRIPT_NVTX)
		script__print_nvtx(script, labels->nvtx);
}

static void script__print_header(struct script_sink *script,
				 const struct gpu_sample *sample)
{
	unsigned int fields = script->fields;

	if (fields & SCRIPT_COMM)
		script__print_comm(script, sample->pid, sample->tid);
	if (fields & SCRIPT_PID && fields & SCRIPT_TID)
		script__print(script, "%5" PRIu32 "/%-5" PRIu32 " ", sample->pid,
			      sample->tid);
	else if (fields & (SCRIPT_PID | SCRIPT_TID))
		script__print(script, "%5" PRIu32 " ",
			      fields & SCRIPT_PID ? sample->pid : sample->tid);
	if (fields & SCRIPT_CPU)
		script__print(script, "[%03" PRIu32 "] ", sample->cpu);
	if (fields & SCRIPT_LABEL_FIELDS)
		script__print_labels(script, sample->labels);
	if (fields & SCRIPT_TIME)
		script__print(script, "%5" PRIu64 ".%06" PRIu64 ": ",
			      sample->time_ns / 1000000000,
			      sample->time_ns % 1000000000 / 1000);
	if (fields & SCRIPT_PERIOD)
		script__print(script, "%10" PRIu64 " ", sample->period);
	if (fields & SCRIPT_EVENT)
		script__print(script, "%*s: ", script->name_columns,
			      gpu_events[sample->event].name);
	script__print(script, "\n");
}

/* The sink */

static int script__start(struct sink *sink, const struct sink_input *input)
{
	struct script_sink *script = (struct script_sink *)sink;

	script->machine = input->machine;
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++) {
		int columns = (int)strlen(gpu_events[i].name);

		if (input->events & GPU_LOG_EVENT_BIT(i) &&
		    columns > script->name_columns)
			script->name_columns = columns;
	}
	return 0;
}

static int script__sample(struct sink *sink, const struct gpu_sample *sample)
{
	struct script_sink *script = (struct script_sink *)sink;

	script__print_header(script, sample);
	if (script->fields & SCRIPT_IP) {
		for (size_t i = 0; i < sample->nr_frames; i++) {
			const struct gpu_frame *frame = &sample->frames[i];

			if (frame->name)
				script__print_named_frame(script, frame);
			else
				script__print_code_frame(script, sample->pid, frame->ip);
		}
		script__print(script, "\n");
	}
	if (script->is_out_of_memory) {
		pr_err("no memory to print samples");
		return -ENOMEM;
	}
	return script->nr_text < FLUSH_BYTES ? 0 : script__flush(script);
}

static int script__finish(struct sink *sink)
{
	return script__flush((struct script_sink *)sink);
}

static void script__delete(struct sink *sink)
{
	struct script_sink *script = (struct script_sink *)sink;

	if (!script)
		return;
	tdestroy(script->named_frames, free);
	free(script->text);
	free(script);
}

int sink_script__new(unsigned int fields, struct sink **ret)
{
	static const struct sink_ops ops = {
		.start = script__start,
		.sample = script__sample,
		.finish = script__finish,
		.delete = script__delete,
	};
	struct script_sink *script = calloc(1, sizeof(*script));

	if (!script) {
		pr_err("no memory to print samples");
		return -ENOMEM;
	}
	script->sink.ops = &ops;
	script->fields = fields;
	script->next_address = NAME_FIRST_ADDRESS + NAME_BYTES / 2;
	*ret = &script->sink;
	return 0;
}
