// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * HEADER_TRACING_DATA, as perf writes it (tools/perf/util/trace-event-info.c):
 *
 *   17 08 44 "tracing"            version, NUL-terminated
 *   u8 is big endian, u8 bytes of a long, u32 bytes of a page
 *   "header_page\0"   u64 bytes, text
 *   "header_event\0"  u64 bytes, text
 *   u32 nr            nr times: u64 bytes, text        ftrace's own events
 *   u32 nr systems    each: name, NUL-terminated; u32 nr, nr times: u64 bytes, text
 *   ...               kallsyms, printk formats, threads' names
 *
 * The texts are those of /sys/kernel/tracing/events/SYSTEM/NAME/format. Those of the
 * systems are all that is read.
 */
#include "perfdata/tracepoints.h"

#include <errno.h>
#include <event-parse.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/cursor.h"
#include "perfdata/tracepoint_format.h"

static const char magic[] = "\027\b\104tracing";

struct tracepoints {
	struct tep_handle *tep;
};

/* A string without its length before it; NULL if it has no end. */
static const char *take_name(struct perfdata_cursor *cursor)
{
	const char *name = (const char *)cursor->at, *end = NULL;

	if (!cursor->failed && name)
		end = memchr(name, '\0', cursor->left_bytes);
	if (!end) {
		cursor->failed = true;
		return NULL;
	}
	perfdata_cursor__take(cursor, (uint64_t)(end - name) + 1, 1);
	return name;
}

static const char *take_text(struct perfdata_cursor *cursor, uint64_t *ret_bytes)
{
	*ret_bytes = perfdata_cursor__u64(cursor);
	return perfdata_cursor__take(cursor, *ret_bytes, 1);
}

static void skip_head(struct perfdata_cursor *cursor)
{
	const void *start = perfdata_cursor__take(cursor, sizeof(magic) - 1, 1);
	uint64_t bytes;

	if (start && memcmp(start, magic, sizeof(magic) - 1))
		cursor->failed = true;
	take_name(cursor); /* version */
	perfdata_cursor__take(cursor, 1 + 1 + sizeof(uint32_t), 1);
	for (int i = 0; i < 2; i++) {
		take_name(cursor);
		take_text(cursor, &bytes);
	}
	for (uint32_t nr = perfdata_cursor__u32(cursor); nr && !cursor->failed; nr--)
		take_text(cursor, &bytes);
}

/* What libtraceevent can't read is left out. */
static int take_format(struct tracepoints *tracepoints, const char *system,
		       const char *text, uint64_t bytes)
{
	char *format;

	if (tracepoint_format__copy(text, bytes, &format))
		return -ENOMEM;
	if (format)
		tep_parse_event(tracepoints->tep, format, strlen(format), system);
	free(format);
	return 0;
}

static int read_formats(struct tracepoints *tracepoints, struct perfdata_cursor *cursor)
{
	skip_head(cursor);
	for (uint32_t nr = perfdata_cursor__u32(cursor); nr && !cursor->failed; nr--) {
		const char *system = take_name(cursor);

		for (uint32_t k = perfdata_cursor__u32(cursor); k && !cursor->failed;
		     k--) {
			uint64_t bytes;
			const char *text = take_text(cursor, &bytes);

			if (text && take_format(tracepoints, system, text, bytes))
				return -ENOMEM;
		}
	}
	return 0;
}

int tracepoints__new(const void *data, size_t bytes, struct tracepoints **ret)
{
	struct perfdata_cursor cursor = perfdata_cursor__new(data, bytes);
	struct tracepoints *tracepoints = calloc(1, sizeof(*tracepoints));

	if (tracepoints)
		tracepoints->tep = tep_alloc();
	if (!tracepoints || !tracepoints->tep)
		goto no_memory;
	tep_set_loglevel(TEP_LOG_NONE);
	if (read_formats(tracepoints, &cursor))
		goto no_memory;
	*ret = tracepoints;
	return 0;
no_memory:
	tracepoints__delete(tracepoints);
	return -ENOMEM;
}

void tracepoints__delete(struct tracepoints *tracepoints)
{
	if (!tracepoints)
		return;
	tep_free(tracepoints->tep);
	free(tracepoints);
}

const struct tracepoint *tracepoints__find(const struct tracepoints *tracepoints,
					   uint64_t config)
{
	if (config > INT_MAX)
		return NULL;
	return (const struct tracepoint *)tep_find_event(tracepoints->tep, (int)config);
}

static struct tep_event *event_of(const struct tracepoint *tracepoint)
{
	return (struct tep_event *)tracepoint;
}

const char *tracepoint__system(const struct tracepoint *tracepoint)
{
	return event_of(tracepoint)->system;
}

const char *tracepoint__name(const struct tracepoint *tracepoint)
{
	return event_of(tracepoint)->name;
}

int tracepoint__number(const struct tracepoint *tracepoint, const char *field,
		       const void *raw, uint32_t raw_bytes, uint64_t *ret)
{
	struct tep_format_field *found = tep_find_field(event_of(tracepoint), field);
	unsigned long long value;

	if (!found)
		return -ENOENT;
	if (!raw)
		return 0;
	/* libtraceevent doesn't know where the sample ends. */
	if (found->offset < 0 || found->size < 0 ||
	    (uint64_t)found->offset + (uint64_t)found->size > raw_bytes ||
	    tep_read_number_field(found, raw, &value))
		return -EINVAL;
	*ret = value;
	return 0;
}
