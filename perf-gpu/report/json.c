// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report as JSON (RFC 8259), described in perf-gpu-report(1). Counts, sums and medians
 * are exact; readers that have doubles alone round what is above 2^53.
 */
#include "report/print.h"

#include <inttypes.h>
#include <stdio.h>

#include "report/caller.h"
#include "report/cells.h"
#include "util/gpu_events.h"

#define MAX_NAME_BYTES 4096

static void print_text(const char *text)
{
	putchar('"');
	while (*text) {
		const char *at = text;
		uint32_t c = utf8__next(&text);

		if (c == 0xfffd)
			fputs("\xef\xbf\xbd", stdout);
		else if (utf8__is_control(c))
			printf("\\u%04" PRIx32, c);
		else if (c == '"' || c == '\\')
			printf("\\%c", (char)c);
		else
			fwrite(at, 1, (size_t)(text - at), stdout);
	}
	putchar('"');
}

static void print_member(const char *name, const char *text)
{
	printf("\"%s\": ", name);
	print_text(text);
}

static void print_events(const struct report_view *view)
{
	const char *comma = "";

	printf("  \"events\": [");
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++) {
		const struct source_event_stats *of = &view->stats->of[i];

		if (!of->total.nr)
			continue;
		printf("%s\n    {\"event\": \"%s\", \"unit\": \"%s\", \"calls\": %" PRIu64
		       ", \"empty\": %" PRIu64 ", \"total\": %" PRIu64
		       ", \"with_stack\": %" PRIu64,
		       comma, gpu_events[i].name, gpu_events[i].unit, of->total.nr,
		       of->total.nr_empty, of->total.period, of->attributed);
		if (report__has_rate(i))
			printf(", \"bytes\": %" PRIu64 ", \"ns\": %" PRIu64,
			       of->total.bytes, of->total.ns);
		printf("}");
		comma = ",";
	}
	printf("\n  ],\n");
}

static void print_id(const char *name, int64_t id)
{
	if (id >= 0)
		printf(", \"%s\": %" PRId64, name, id);
}

static void print_gpus(const struct report_view *view)
{
	printf("  \"gpus\": [");
	for (size_t i = 0; i < view->report->nr_gpus; i++) {
		const struct gpu_time *gpu = &view->report->gpus[i];

		printf("%s\n    {\"device\": %" PRIu32 ", ", i ? "," : "", gpu->number);
		print_member("name", gpu->name);
		print_id("stream", gpu->stream);
		printf(", \"first_ns\": %" PRIu64 ", \"last_ns\": %" PRIu64
		       ", \"busy_ns\": %" PRIu64 ", \"idle_ns\": %" PRIu64
		       ", \"gaps\": %" PRIu64 ", \"kernels_ns\": %" PRIu64
		       ", \"copies_ns\": %" PRIu64 ", \"overlap_ns\": %" PRIu64 "}",
		       gpu->first_ns, gpu->last_ns, gpu->busy_ns, gpu->idle_ns,
		       gpu->nr_gaps, gpu->kernels_ns, gpu->copies_ns, gpu->overlap_ns);
	}
	printf("\n  ],\n");
}

/* Of a row; of an NVTX range the kernels that were launched within it, and the like */
static void print_callers(const struct report_view *view, const struct report_row *row)
{
	const bool is_by_range = view->report->by & REPORT_BY_NVTX;
	size_t nr = report_view__nr_callers(view, row, SIZE_MAX);

	printf(",\n     \"%s\": [", is_by_range ? "leaves" : "callers");
	for (size_t i = 0; i < nr; i++) {
		const struct report_caller *caller =
			&view->report->callers[row->first_caller + i];
		char text[MAX_NAME_BYTES];

		printf("%s\n      {", i ? "," : "");
		if (is_by_range) {
			print_member("name", report_leaf__name(row->event, caller->name));
		} else {
			caller__write(caller->name, text, sizeof(text));
			print_member("name", text);
		}
		if (caller->name->file && !is_by_range) {
			printf(", ");
			print_member("file", caller->name->file);
		}
		printf(", \"calls\": %" PRIu64 ", \"total\": %" PRIu64 "}", caller->nr,
		       caller->period);
	}
	printf("]");
}

static void print_shapes(const struct report_view *view, const struct report_row *row)
{
	if (row->event != GPU_LOG_EVENT_KERNEL || view->report->by & REPORT_BY_NVTX)
		return;
	printf(",\n     \"shapes\": [");
	for (size_t i = 0; i < row->nr_shapes; i++) {
		const struct report_shape *shape =
			&view->report->shapes[row->first_shape + i];

		printf("%s\n      {\"grid\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32
		       "], \"block\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32
		       "], \"registers\": %" PRIu32 ", \"static_shared_bytes\": %" PRIu32
		       ", \"dynamic_shared_bytes\": %" PRIu32 ", \"calls\": %" PRIu64
		       ", \"total\": %" PRIu64 "}",
		       i ? "," : "", shape->grid[0], shape->grid[1], shape->grid[2],
		       shape->block[0], shape->block[1], shape->block[2],
		       shape->registers_per_thread, shape->static_shared_bytes,
		       shape->dynamic_shared_bytes, shape->nr, shape->period);
	}
	printf("]");
}

/* How its values are spread; what was within no NVTX range has nothing to be. */
static void print_spread(const struct report_view *view, const struct report_entry *entry)
{
	const bool is_by_range = view->report->by & REPORT_BY_NVTX;
	const struct spread *spread = &entry->row->spread;

	if (is_by_range)
		printf(", \"own\": %" PRIu64 ", \"ranges\": %" PRIu64, entry->row->own,
		       entry->row->is_range ? spread->nr : 0);
	if (is_by_range && !entry->row->is_range)
		return;
	printf(", \"mean\": %.3f, \"median\": %" PRIu64 "%s, \"min\": %" PRIu64
	       ", \"max\": %" PRIu64 ", \"stddev\": %.3f",
	       entry->mean, entry->median.whole, entry->median.is_half ? ".5" : "",
	       spread->min, spread->max, entry->deviation);
}

static void print_row(const struct report_view *view, const struct report_entry *entry)
{
	const struct report_row *row = entry->row;
	const struct report_group *group = entry->group;

	printf("    {\"event\": \"%s\", ", gpu_events[row->event].name);
	print_member("name", report_row__name(row));
	print_id("device", group->device);
	print_id("stream", group->stream);
	print_id("rank", group->rank);
	print_id("process", group->pid);
	if (group->pid >= 0) {
		printf(", ");
		print_member("comm", group->comm);
	}
	printf(",\n     \"unit\": \"%s\", \"calls\": %" PRIu64 ", \"total\": %" PRIu64,
	       gpu_events[row->event].unit, row->nr, row->spread.sum);
	print_spread(view, entry);
	if (report__has_rate(row->event))
		printf(", \"bytes\": %" PRIu64 ", \"ns\": %" PRIu64, row->bytes, row->ns);
	print_callers(view, row);
	print_shapes(view, row);
	printf("}");
}

void report__print_json(const struct report_view *view)
{
	struct report_part part;
	const char *comma = "";

	printf("{\n  ");
	print_member("input", view->path);
	printf(",\n");
	print_events(view);
	print_gpus(view);
	printf("  \"rows\": [");
	for (size_t first = 0; first < view->report->nr_rows; first += part.nr) {
		part = report_view__part(view, first, 0);
		for (size_t i = first; i < first + part.nr_shown; i++) {
			printf("%s\n", comma);
			print_row(view, &view->entries[i]);
			comma = ",";
		}
	}
	printf("\n  ]\n}\n");
}
