// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report as comma-separated values (RFC 4180, with plain newlines): one table, a line
 * for each row, caller and shape, and for each GPU. Fields that a line has no value for
 * are empty.
 */
#include "report/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
			putchar('?');
		else if (c == '"')
			fputs("\"\"", stdout);
		else
			fwrite(at, 1, (size_t)(text - at), stdout);
	}
	putchar('"');
}

static void print_id(int64_t id)
{
	if (id >= 0)
		printf("%" PRId64, id);
	putchar(',');
}

/* The fields up to the caller's */
static void print_key(const char *line, const struct report_entry *entry)
{
	const struct report_group *group = entry->group;

	printf("%s,%s,", line, gpu_events[entry->row->event].name);
	print_id(group->device);
	print_id(group->stream);
	print_id(group->pid);
	print_id(group->rank);
	print_text(report_row__name(entry->row));
	putchar(',');
}

/* A share as a number from 0 to 1 */
static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* How its values are spread; what was within no NVTX range has nothing to be. */
static void print_spread(const struct report_entry *entry, bool is_by_range)
{
	const struct spread *spread = &entry->row->spread;

	if (is_by_range && !entry->row->is_range)
		printf(",,,,,");
	else
		printf("%.3f,%" PRIu64 "%s,%" PRIu64 ",%" PRIu64 ",%.3f,", entry->mean,
		       entry->median.whole, entry->median.is_half ? ".5" : "",
		       spread->min, spread->max, entry->deviation);
}

static void print_row(const struct report_view *view, const struct report_entry *entry)
{
	const bool is_by_range = view->report->by & REPORT_BY_NVTX;
	const struct report_row *row = entry->row;

	print_key(is_by_range ? "range" : "row", entry);
	printf(",%s,%.6f,%" PRIu64 ",%" PRIu64 ",", gpu_events[row->event].unit,
	       share_of(row->spread.sum, entry->event_total), row->spread.sum, row->nr);
	print_spread(entry, is_by_range);
	if (report__has_rate(row->event)) {
		printf("%" PRIu64 ",%" PRIu64 ",", row->bytes, row->ns);
		if (row->ns)
			printf("%.6f", (double)row->bytes / (double)row->ns);
	} else {
		printf(",,");
	}
	printf(",,,,,");
	if (is_by_range)
		printf(",%" PRIu64 ",%" PRIu64 "\n", row->own,
		       row->is_range ? row->spread.nr : 0);
	else
		printf(",,\n");
}

/* Of a row; of an NVTX range the kernels that were launched within it, and the like */
static void print_callers(const struct report_view *view,
			  const struct report_entry *entry)
{
	const bool is_by_range = view->report->by & REPORT_BY_NVTX;
	size_t nr = report_view__nr_callers(view, entry->row, SIZE_MAX);

	for (size_t i = 0; i < nr; i++) {
		const struct report_caller *caller =
			&view->report->callers[entry->row->first_caller + i];
		char text[MAX_NAME_BYTES];

		print_key(is_by_range ? "leaf" : "caller", entry);
		if (is_by_range) {
			print_text(report_leaf__name(entry->row->event, caller->name));
		} else {
			caller__write(caller->name, text, sizeof(text));
			print_text(text);
		}
		printf(",%s,%.6f,%" PRIu64 ",%" PRIu64 ",,,,,,,,,,,,,,,\n",
		       gpu_events[entry->row->event].unit,
		       share_of(caller->period, entry->row->spread.sum), caller->period,
		       caller->nr);
	}
}

static void print_shapes(const struct report_view *view, const struct report_entry *entry)
{
	for (size_t i = 0; i < entry->row->nr_shapes; i++) {
		const struct report_shape *shape =
			&view->report->shapes[entry->row->first_shape + i];

		print_key("shape", entry);
		printf(",%s,%.6f,%" PRIu64 ",%" PRIu64 ",,,,,,,,,%" PRIu32 "x%" PRIu32
		       "x%" PRIu32 ",%" PRIu32 "x%" PRIu32 "x%" PRIu32 ",%" PRIu32
		       ",%" PRIu32 ",%" PRIu32 ",,\n",
		       gpu_events[entry->row->event].unit,
		       share_of(shape->period, entry->row->spread.sum), shape->period,
		       shape->nr, shape->grid[0], shape->grid[1], shape->grid[2],
		       shape->block[0], shape->block[1], shape->block[2],
		       shape->registers_per_thread, shape->static_shared_bytes,
		       shape->dynamic_shared_bytes);
	}
}

/* A GPU's times, each as the total of a line */
static void print_gpu(const struct gpu_time *gpu)
{
	const struct {
		const char *what;
		uint64_t ns, nr;
		bool has_nr;
	} lines[] = {
		{"busy", gpu->busy_ns, gpu->nr_activities, true},
		{"idle", gpu->idle_ns, gpu->nr_gaps, true},
		{"kernels", gpu->kernels_ns, 0, false},
		{"copies", gpu->copies_ns, 0, false},
		{"overlap", gpu->overlap_ns, 0, false},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		printf("gpu,%s,%" PRIu32 ",", lines[i].what, gpu->number);
		print_id(gpu->stream);
		printf(",,");
		print_text(gpu->name);
		printf(",,ns,%.6f,%" PRIu64 ",",
		       share_of(lines[i].ns, gpu->last_ns - gpu->first_ns), lines[i].ns);
		if (lines[i].has_nr)
			printf("%" PRIu64, lines[i].nr);
		printf(",,,,,,,,,,,,,,,\n");
	}
}

void report__print_csv(const struct report_view *view)
{
	struct report_part part;

	puts("line,event,device,stream,process,rank,name,caller,unit,share,total,calls,"
	     "mean,median,min,max,stddev,bytes,ns,gb_per_s,grid,block,registers,"
	     "static_shared_bytes,dynamic_shared_bytes,own,ranges");
	for (size_t i = 0; i < view->report->nr_gpus; i++)
		print_gpu(&view->report->gpus[i]);
	for (size_t first = 0; first < view->report->nr_rows; first += part.nr) {
		part = report_view__part(view, first, 0);
		for (size_t i = first; i < first + part.nr_shown; i++) {
			print_row(view, &view->entries[i]);
			print_callers(view, &view->entries[i]);
			print_shapes(view, &view->entries[i]);
		}
	}
}
