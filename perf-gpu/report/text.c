// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report for a terminal:
 *
 *   what was recorded, in all         counts and sums as inject has them
 *   GPUs: busy, idle, overlap
 *   a table for each event            rows, and below each its callers
 *
 * Names have what is left of a line behind the figures; colours are perf report's.
 */
#include "report/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/caller.h"
#include "report/cells.h"
#include "report/name_fit.h"
#include "report/screen.h"
#include "util/format.h"
#include "util/gpu_events.h"

#define BOLD  "\033[1m"
#define RED   "\033[31m"
#define GREEN "\033[32m"
#define PLAIN "\033[m"

#define MAX_NAME_BYTES	 4096
#define MAX_COLUMNS	 1000 /* of a name */
#define NAME_GAP	 2 /* between the figures and the name */
#define NAME_INDENT	 7 /* of a name on a line of its own, and of callers */
#define MIN_NAME_COLUMNS 40
#define FIGURES_COLUMNS	 58 /* before a row's name */
#define MAX_GPUS	 2
#define RANGE_ROWS	 20 /* of NVTX ranges, whose names are the user's own */

static const char *const titles[GPU_LOG_NR_EVENTS] = {
	[GPU_LOG_EVENT_KERNEL] = "Kernels",
	[GPU_LOG_EVENT_MEMCPY] = "Copies",
	[GPU_LOG_EVENT_MEMSET] = "Memsets",
	[GPU_LOG_EVENT_SYNC] = "Waits for the GPU",
	[GPU_LOG_EVENT_LAUNCH] = "API calls",
	[GPU_LOG_EVENT_QUEUE] = "Kernels that waited",
	[GPU_LOG_EVENT_IDLE] = "GPU without work",
	[GPU_LOG_EVENT_ALLOC] = "Allocations",
	[GPU_LOG_EVENT_FAULT] = "Migrations",
};

/* Is it to be one screen? Not where an option says how much of it is wanted. */
static bool is_limited(const struct report_view *view)
{
	return !view->is_verbose && !view->report->by && view->limit == REPORT_DEFAULT &&
	       view->nr_callers == REPORT_DEFAULT;
}

static void colour(const struct report_view *view, const char *code)
{
	if (view->has_colours)
		fputs(code, stdout);
}

/* As perf report has it: 5 % is much, half a percent something. */
static void print_share(const struct report_view *view, uint64_t part, uint64_t whole)
{
	unsigned __int128 thousandths = (unsigned __int128)part * 1000;
	struct cell cell;

	if (thousandths >= (unsigned __int128)whole * 50)
		colour(view, RED);
	else if (thousandths >= (unsigned __int128)whole * 5)
		colour(view, GREEN);
	printf("%6s", cell__share(part, whole, &cell));
	if (thousandths >= (unsigned __int128)whole * 5)
		colour(view, PLAIN);
}

/* The name that ends a line, where @used columns are taken */
static void print_name(const struct report_view *view, size_t used, const char *text)
{
	size_t columns = view->columns > used + 12 ? view->columns - used : 12;
	char name[MAX_NAME_BYTES];

	cell__name(text, columns, name, sizeof(name));
	puts(name);
}

/* --- what was recorded ------------------------------------------------------------------- */

static void print_event(const struct report_view *view, unsigned int event)
{
	const struct source_event_stats *of = &view->stats->of[event];
	const struct event_total *total = &of->total;
	struct format_buf count, amount, percent, other;
	char text[64];

	if (report__is_in_bytes(event))
		snprintf(text, sizeof(text), "%s bytes",
			 format__count(total->period, &amount));
	else
		snprintf(text, sizeof(text), "%s", format__ms(total->period, &amount));
	printf("%-10s %13s %22s %12s", gpu_events[event].name,
	       format__count(total->nr, &count), text,
	       total->period ? format__percent(of->attributed, total->period, &percent)
			     : "-");
	if (report__has_rate(event) && report__is_in_bytes(event))
		printf("  %s", format__ms(total->ns, &other));
	else if (report__has_rate(event))
		printf("  %s B", format__count(total->bytes, &other));
	putchar('\n');
}

static size_t count_events(const struct report_view *view)
{
	size_t nr = 0;

	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++)
		nr += view->stats->of[i].total.nr != 0;
	return nr;
}

/* A heading without a line below would leave open whether the report is whole. */
static void print_no_events(const struct report_view *view)
{
	char text[512] = "Nothing of";
	const char *separator = " ";

	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++) {
		if (!(view->stats->events & GPU_LOG_EVENT_BIT(i)))
			continue;
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
			 separator, gpu_events[i].name);
		separator = ", ";
	}
	snprintf(text + strlen(text), sizeof(text) - strlen(text),
		 " is in the recording.");
	format__print_wrapped(0, text);
}

static void print_events(const struct report_view *view)
{
	if (!count_events(view)) {
		print_no_events(view);
		return;
	}
	colour(view, BOLD);
	printf("%-10s %13s %22s %12s", "Event", "Count", "Total", "With a stack");
	colour(view, PLAIN);
	putchar('\n');
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++)
		if (view->stats->of[i].total.nr)
			print_event(view, i);
}

static void print_gpu(const struct gpu_time *gpu)
{
	struct format_buf busy, idle, gaps, copies, overlap, percent, all;
	char text[512], copying[128] = "", name[2 * sizeof(gpu->name)];

	cell__name(gpu->name, 40, name, sizeof(name));
	printf("GPU %" PRIu32 "%s%s%s\n  ", gpu->number, *name ? " (" : "", name,
	       *name ? ")" : "");
	if (gpu->copies_ns)
		snprintf(copying, sizeof(copying),
			 "; copying %s, of that %s while kernels ran",
			 format__ms(gpu->copies_ns, &copies),
			 format__ms(gpu->overlap_ns, &overlap));
	snprintf(text, sizeof(text), "busy %s, %s of %s; idle %s in %s %s%s",
		 format__ms(gpu->busy_ns, &busy),
		 format__percent(gpu->busy_ns, gpu->last_ns - gpu->first_ns, &percent),
		 format__ms(gpu->last_ns - gpu->first_ns, &all),
		 format__ms(gpu->idle_ns, &idle), format__count(gpu->nr_gaps, &gaps),
		 format__plural(gpu->nr_gaps, "gap", "gaps"), copying);
	format__print_wrapped(2, text);
}

/* GPUs of all; there are streams behind them. */
static size_t count_gpus(const struct report_view *view)
{
	size_t nr = 0;

	while (nr < view->report->nr_gpus && view->report->gpus[nr].stream < 0)
		nr++;
	return nr;
}

/* A screen isn't to be filled by them. */
static size_t nr_gpus_shown(const struct report_view *view)
{
	size_t nr = count_gpus(view);

	return is_limited(view) && nr > MAX_GPUS ? MAX_GPUS : nr;
}

static size_t count_gpu_lines(const struct report_view *view)
{
	if (!view->report->has_gpus)
		return 3;
	return view->report->nr_gpus ? 1 + 3 * nr_gpus_shown(view) : 0;
}

static void print_gpus(const struct report_view *view)
{
	if (!view->report->nr_gpus && (view->report->has_gpus || !count_events(view)))
		return;
	putchar('\n');
	if (!view->report->has_gpus)
		format__print_wrapped(0,
				      "How busy the GPU was isn't known: kernels, copies "
				      "and memsets weren't all recorded.");
	for (size_t i = 0; i < nr_gpus_shown(view); i++)
		print_gpu(&view->report->gpus[i]);
}

/* How busy the stream of a group was; nothing of groups that are less, or more, than one */
static void print_stream(const struct report_view *view, const struct report_group *group)
{
	struct format_buf busy, idle, gaps, percent, all;

	if ((view->report->by & REPORT_BY_GROUPS) !=
		    (REPORT_BY_DEVICE | REPORT_BY_STREAM) ||
	    group->stream < 0)
		return;
	for (size_t i = 0; i < view->report->nr_gpus; i++) {
		const struct gpu_time *gpu = &view->report->gpus[i];

		if (gpu->number != group->device || gpu->stream != group->stream)
			continue;
		printf("  busy %s, %s of %s; idle %s in %s %s\n",
		       format__ms(gpu->busy_ns, &busy),
		       format__percent(gpu->busy_ns, gpu->last_ns - gpu->first_ns,
				       &percent),
		       format__ms(gpu->last_ns - gpu->first_ns, &all),
		       format__ms(gpu->idle_ns, &idle),
		       format__count(gpu->nr_gaps, &gaps),
		       format__plural(gpu->nr_gaps, "gap", "gaps"));
	}
}

/* --- tables ------------------------------------------------------------------------------ */

static const char *cell__value(uint32_t event, double value, struct cell *cell)
{
	return report__is_in_bytes(event) ? cell__bytes(value, cell)
					  : cell__duration(value, cell);
}

static int print_cell(const char *text)
{
	return printf(" %6s", text);
}

static void print_heading(const struct report_view *view, uint32_t event)
{
	putchar('\n');
	colour(view, BOLD);
	if (view->report->by & REPORT_BY_NVTX) {
		printf("%6s %6s %6s %9s %6s %6s %6s %6s  %s, by NVTX range", "Share",
		       "Total", "Own", "Calls", "Ranges", "Mean", "Median", "Max",
		       titles[event]);
		colour(view, PLAIN);
		putchar('\n');
		return;
	}
	printf("%6s %6s %9s", "Share", "Total", "Calls");
	if (report__has_rate(event))
		printf(" %6s %6s %6s %6s %6s",
		       report__is_in_bytes(event) ? "Time" : "Bytes", "GB/s", "Mean",
		       "Median", "Max");
	else
		printf(" %6s %6s %6s %6s %6s", "Mean", "Median", "Min", "Max", "StdDev");
	printf("  %s", titles[event]);
	colour(view, PLAIN);
	putchar('\n');
}

static size_t print_rate(const struct report_row *row)
{
	struct cell cell;
	int columns;

	if (report__is_in_bytes(row->event))
		columns = print_cell(cell__duration((double)row->ns, &cell));
	else
		columns = print_cell(cell__bytes((double)row->bytes, &cell));
	columns += print_cell(cell__rate(row->bytes, row->ns, &cell));
	return (size_t)columns;
}

/* The same of an NVTX range, whose values are what each time that it was open comes to */
static size_t print_range_figures(const struct report_view *view,
				  const struct report_entry *entry)
{
	const struct report_row *row = entry->row;
	const uint32_t event = row->event;
	double median = (double)entry->median.whole + (entry->median.is_half ? 0.5 : 0);
	struct cell cell;
	size_t columns = 6;

	print_share(view, row->spread.sum, entry->event_total);
	columns += (size_t)print_cell(cell__value(event, (double)row->spread.sum, &cell));
	columns += (size_t)print_cell(cell__value(event, (double)row->own, &cell));
	columns += (size_t)printf(" %9s", cell__count(row->nr, &cell));
	if (!row->is_range)
		return columns + (size_t)printf(" %6s %6s %6s %6s", "-", "-", "-", "-");
	columns += (size_t)print_cell(cell__count(row->spread.nr, &cell));
	columns += (size_t)print_cell(cell__value(event, entry->mean, &cell));
	columns += (size_t)print_cell(cell__value(event, median, &cell));
	return columns +
	       (size_t)print_cell(cell__value(event, (double)row->spread.max, &cell));
}

/* The figures of a row; returns how many columns they take. */
static size_t print_figures(const struct report_view *view,
			    const struct report_entry *entry)
{
	const struct report_row *row = entry->row;
	const struct spread *spread = &row->spread;
	double median = (double)entry->median.whole + (entry->median.is_half ? 0.5 : 0);
	struct cell cell;
	size_t columns = 6;

	if (view->report->by & REPORT_BY_NVTX)
		return print_range_figures(view, entry);
	print_share(view, spread->sum, entry->event_total);
	columns +=
		(size_t)print_cell(cell__value(row->event, (double)spread->sum, &cell));
	columns += (size_t)printf(" %9s", cell__count(row->nr, &cell));
	if (report__has_rate(row->event))
		columns += print_rate(row);
	columns += (size_t)print_cell(cell__value(row->event, entry->mean, &cell));
	columns += (size_t)print_cell(cell__value(row->event, median, &cell));
	if (!report__has_rate(row->event))
		columns += (size_t)print_cell(
			cell__value(row->event, (double)spread->min, &cell));
	columns +=
		(size_t)print_cell(cell__value(row->event, (double)spread->max, &cell));
	if (!report__has_rate(row->event))
		columns += (size_t)print_cell(
			cell__value(row->event, entry->deviation, &cell));
	return columns;
}

static void print_callers(const struct report_view *view, const struct report_row *row,
			  size_t default_nr)
{
	size_t nr = report_view__nr_callers(view, row, default_nr);

	for (size_t i = 0; i < nr; i++) {
		const struct report_caller *caller =
			&view->report->callers[row->first_caller + i];
		const bool is_by_range = view->report->by & REPORT_BY_NVTX;
		const char *word = is_by_range ? " in " : " from ";
		char text[MAX_NAME_BYTES];

		caller__write(caller->name, text, sizeof(text));
		printf("%*s", NAME_INDENT, "");
		print_share(view, caller->period, row->spread.sum);
		printf("%s", word);
		print_name(view, NAME_INDENT + 6 + strlen(word),
			   is_by_range ? report_leaf__name(row->event, caller->name)
				       : text);
	}
}

static void print_shapes(const struct report_view *view, const struct report_row *row)
{
	for (size_t i = 0; i < row->nr_shapes; i++) {
		const struct report_shape *shape =
			&view->report->shapes[row->first_shape + i];
		struct cell share, nr;

		printf("%7s%6s %9s  grid %" PRIu32 ",%" PRIu32 ",%" PRIu32
		       " block %" PRIu32 ",%" PRIu32 ",%" PRIu32 " %" PRIu32
		       " registers\n",
		       "", cell__share(shape->period, row->spread.sum, &share),
		       cell__count(shape->nr, &nr), shape->grid[0], shape->grid[1],
		       shape->grid[2], shape->block[0], shape->block[1], shape->block[2],
		       shape->registers_per_thread);
	}
}

/* A few letters of a long name say nothing: it has a line of its own, then. */
static bool has_own_line(const struct report_view *view, size_t used, const char *name)
{
	char cut[MAX_NAME_BYTES];

	return view->columns < used + MIN_NAME_COLUMNS &&
	       used + cell__name(name, MAX_COLUMNS, cut, sizeof(cut)) > view->columns;
}

/* Those of the rows that a table shows; NULL without memory: they are cut, then */
static struct fitted_name *fit_names(const struct report_view *view,
				     const struct report_entry *entries, size_t nr)
{
	const size_t used = FIGURES_COLUMNS + NAME_GAP;
	struct fitted_name *names = calloc(nr + 1, sizeof(*names));

	for (size_t i = 0; i < nr && names; i++) {
		names[i].name = report_row__name(entries[i].row);
		names[i].columns =
			view->columns -
			(has_own_line(view, used, names[i].name) ? NAME_INDENT : used);
	}
	if (names && names__fit(names, nr)) {
		names__release(names, nr);
		free(names);
		return NULL;
	}
	return names;
}

/* @shown: what of its name there is room for; NULL: not known */
static void print_row(const struct report_view *view, const struct report_entry *entry,
		      const char *shown, size_t nr_callers)
{
	size_t used = print_figures(view, entry) + NAME_GAP;
	const char *name = report_row__name(entry->row);

	if (has_own_line(view, used, name)) {
		used = NAME_INDENT;
		printf("\n%*s", NAME_INDENT, "");
	} else {
		printf("%*s", NAME_GAP, "");
	}
	print_name(view, used, shown ? shown : name);
	if (view->is_verbose)
		print_shapes(view, entry->row);
	print_callers(view, entry->row, nr_callers);
}

static void print_rows(const struct report_view *view, const struct report_entry *entries,
		       size_t nr, size_t nr_callers)
{
	struct fitted_name *names = fit_names(view, entries, nr);

	for (size_t i = 0; i < nr; i++)
		print_row(view, &entries[i], names ? names[i].ret : NULL, nr_callers);
	if (names)
		names__release(names, nr);
	free(names);
}

/* What the limit has left out */
static void print_rest(const struct report_view *view, const struct report_entry *first,
		       const struct report_part *part)
{
	struct cell cell;
	uint64_t sum = 0;

	if (part->nr_shown == part->nr)
		return;
	/* Sums of what is one within the other would say nothing. */
	if (view->report->by & REPORT_BY_NVTX) {
		printf("%13s  ... %zu more (--limit 0 shows all)\n", "",
		       part->nr - part->nr_shown);
		return;
	}
	for (size_t i = part->nr_shown; i < part->nr; i++)
		sum += first[i].row->spread.sum;
	print_share(view, sum, first->event_total);
	printf(" %6s  ... in %zu more (--limit 0 shows all)\n",
	       cell__value(first->row->event, (double)sum, &cell),
	       part->nr - part->nr_shown);
}

static void print_group(const struct report_view *view, const struct report_group *group)
{
	char comm[64];

	if (!(view->report->by & REPORT_BY_GROUPS))
		return;
	putchar('\n');
	colour(view, BOLD);
	printf("---");
	if (group->device >= 0)
		printf(" GPU %" PRId64, group->device);
	if (group->stream >= 0)
		printf(" stream %" PRId64, group->stream);
	if (group->rank >= 0)
		printf(" rank %" PRId64, group->rank);
	if (group->pid >= 0) {
		cell__name(group->comm, 15, comm, sizeof(comm));
		printf(" %s (pid %" PRId64 ")", *comm ? comm : "process", group->pid);
	}
	if (group->device < 0 && group->stream < 0 && group->rank < 0 && group->pid < 0)
		printf(" on none");
	printf(" ---");
	colour(view, PLAIN);
	putchar('\n');
	print_stream(view, group);
}

/* --- one screen -------------------------------------------------------------------------- */

/* Without groups: a table for each event */
static void fit_screen(const struct report_view *view, struct screen *screen)
{
	struct screen_row rows[GPU_LOG_NR_EVENTS][SCREEN_MAX_ROWS];
	struct screen_table tables[GPU_LOG_NR_EVENTS];
	size_t nr_tables = 0, nr_used = 1 + count_events(view) + count_gpu_lines(view);

	for (size_t first = 0; first < view->report->nr_rows;
	     first += tables[nr_tables++].nr_rows) {
		const struct report_entry *entries = &view->entries[first];
		struct report_part part = report_view__part(view, first, SCREEN_MAX_ROWS);

		tables[nr_tables] = (struct screen_table){
			.event = entries->row->event,
			.nr_rows = part.nr,
			.rows = rows[nr_tables],
		};
		for (size_t i = 0; i < part.nr_shown; i++) {
			const struct report_row *row = entries[i].row;
			bool is_long = has_own_line(view, FIGURES_COLUMNS + NAME_GAP,
						    report_row__name(row));

			rows[nr_tables][i] = (struct screen_row){
				.nr_lines = is_long ? 2 : 1,
				.nr_callers = row->nr_callers,
			};
		}
	}
	screen__fit(screen, tables, nr_tables,
		    view->lines > nr_used ? view->lines - nr_used : 0);
}

static void print_left_out(const struct report_view *view, const struct screen *screen,
			   uint32_t events)
{
	char text[512] = "Left out: ";
	size_t nr_gpus = count_gpus(view) - nr_gpus_shown(view);
	const char *separator = "";

	if (screen->is_whole && !nr_gpus)
		return;
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++) {
		if (!(events & GPU_LOG_EVENT_BIT(i)))
			continue;
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
			 separator, gpu_events[i].name);
		separator = ", ";
	}
	if (nr_gpus)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%zu GPUs",
			 separator, nr_gpus);
	else if (!events)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "callers and rows");
	snprintf(text + strlen(text), sizeof(text) - strlen(text),
		 ". All tables: -v; all rows: --limit 0; one event: -e.");
	putchar('\n');
	format__print_wrapped(0, text);
}

void report__print_text(const struct report_view *view)
{
	const struct report_entry *entries = view->entries;
	uint32_t left_out = 0;
	struct report_part part;
	struct screen screen;

	for (uint32_t event = 0; event < GPU_LOG_NR_EVENTS; event++)
		screen.of[event] = screen_share__default(event);
	screen.is_whole = true;
	if (is_limited(view))
		fit_screen(view, &screen);
	print_events(view);
	print_gpus(view);
	for (size_t first = 0; first < view->report->nr_rows; first += part.nr) {
		uint32_t event = entries[first].row->event;
		struct screen_share share = screen.of[event];

		if (view->report->by & REPORT_BY_NVTX)
			share.nr_rows = RANGE_ROWS;
		part = report_view__part(view, first, share.nr_rows);
		if (!share.nr_rows) {
			left_out |= GPU_LOG_EVENT_BIT(event);
			continue;
		}
		if (!first || entries[first].group != entries[first - 1].group)
			print_group(view, entries[first].group);
		print_heading(view, event);
		print_rows(view, &entries[first], part.nr_shown, share.nr_callers);
		print_rest(view, &entries[first], &part);
	}
	print_left_out(view, &screen, left_out);
}
