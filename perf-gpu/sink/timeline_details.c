// SPDX-License-Identifier: GPL-2.0-or-later
/* What a timeline tells of a slice beside its name. */
#include <stdint.h>
#include <stdarg.h>
#include <stdio.h>

#include "gpu_log.h"
#include "sink/timeline.h"

struct details {
	struct timeline_detail *items;
	size_t nr;
	char *text; /* what is left of the caller's */
	size_t bytes;
};

static void add_number(struct details *details, const char *name, uint64_t number)
{
	details->items[details->nr++] =
		(struct timeline_detail){.name = name, .number = number};
}

static void __attribute__((format(printf, 3, 4)))
add_text(struct details *details, const char *name, const char *fmt, ...)
{
	va_list args;
	int nr;

	va_start(args, fmt);
	nr = vsnprintf(details->text, details->bytes, fmt, args);
	va_end(args);
	if (nr < 0 || (size_t)nr >= details->bytes)
		return;
	details->items[details->nr++] =
		(struct timeline_detail){.name = name, .text = details->text};
	details->text += nr + 1;
	details->bytes -= (size_t)nr + 1;
}

static char *write_digits(char *at, uint32_t number)
{
	char digits[10];
	size_t nr = 0;

	do {
		digits[nr++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (nr)
		*at++ = digits[--nr];
	return at;
}

/* "8x1x1". Not by printf(3), which would take longer than all else of a kernel. */
static void add_size(struct details *details, const char *name, const uint32_t size[3])
{
	char *at = details->text;

	if (details->bytes < sizeof("4294967295x4294967295x4294967295"))
		return;
	at = write_digits(at, size[0]);
	*at++ = 'x';
	at = write_digits(at, size[1]);
	*at++ = 'x';
	at = write_digits(at, size[2]);
	*at++ = '\0';
	details->items[details->nr++] =
		(struct timeline_detail){.name = name, .text = details->text};
	details->bytes -= (size_t)(at - details->text);
	details->text = at;
}

static void add_kernel(struct details *details, const struct sidecar_shape *shape)
{
	add_size(details, "grid", shape->grid);
	add_size(details, "block", shape->block);
	add_number(details, "registers", shape->registers_per_thread);
	add_number(details, "static shared memory", shape->static_shared_bytes);
	add_number(details, "dynamic shared memory", shape->dynamic_shared_bytes);
}

/* Bytes in a nanosecond are GB in a second. */
static void add_bytes(struct details *details, const struct sidecar_activity *activity,
		      bool has_duration)
{
	add_number(details, "bytes", activity->bytes);
	if (has_duration && activity->end_ns > activity->start_ns)
		add_text(details, "GB/s", "%.3f",
			 (double)activity->bytes /
				 (double)(activity->end_ns - activity->start_ns));
}

static void add_shape(struct details *details, const struct sidecar_shape *shape)
{
	if (shape->kind == GPU_LOG_KIND_KERNEL)
		add_kernel(details, shape);
	if (shape->graph)
		add_number(details, "graph", shape->graph);
}

static void add_own(struct details *details, const struct timeline_event *event)
{
	if (event->shape->kind != GPU_LOG_KIND_KERNEL &&
	    event->shape->kind != GPU_LOG_KIND_SYNC)
		add_bytes(details, event->activity, !event->is_instant);
	if (event->activity->correlation_id)
		add_number(details, "correlation", event->activity->correlation_id);
}

size_t timeline_shape__details(const struct sidecar_shape *shape,
			       struct timeline_detail items[TIMELINE_MAX_DETAILS],
			       char text[512])
{
	struct details details = {.items = items, .text = text, .bytes = 512};

	add_shape(&details, shape);
	return details.nr;
}

size_t timeline_event__own_details(const struct timeline_event *event,
				   struct timeline_detail items[TIMELINE_MAX_DETAILS],
				   char text[512])
{
	struct details details = {.items = items, .text = text, .bytes = 512};

	if (event->shape)
		add_own(&details, event);
	return details.nr;
}

size_t timeline_event__details(const struct timeline_event *event,
			       struct timeline_detail items[TIMELINE_MAX_DETAILS],
			       char text[512])
{
	struct details details = {.items = items, .text = text, .bytes = 512};

	if (event->shape) {
		add_shape(&details, event->shape);
		add_own(&details, event);
	}
	return details.nr;
}
