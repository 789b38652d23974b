/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report on stdout: as text for a terminal, as CSV, as JSON. One thread. */
#ifndef PERF_GPU_REPORT_PRINT_H
#define PERF_GPU_REPORT_PRINT_H

#include <stdbool.h>
#include <stddef.h>

#include "report/order.h"
#include "report/report.h"
#include "source/stats.h"

#define REPORT_DEFAULT SIZE_MAX /* of limit and nr_callers: different ones for events */

struct report_view {
	const struct report *report;
	const struct report_entry *entries; /* report_order__new() */
	const struct source_stats *stats;
	const char *path; /* of the recording */
	size_t limit; /* rows of a table; 0: all */
	size_t nr_callers; /* of a row */
	/* of the text alone */
	size_t columns;
	size_t lines; /* for what is shown if neither limit nor nr_callers is given */
	bool has_colours, is_verbose;
};

void report__print_text(const struct report_view *view);

/*
 * Whole: without a limit they have all rows, callers and shapes. What is no UTF-8 becomes
 * U+FFFD, and control characters are escaped (JSON) or question marks (CSV).
 */
void report__print_csv(const struct report_view *view);
void report__print_json(const struct report_view *view);

/*
 * From an entry on, how many are of one table, and how many of these are shown by the
 * limit, or by one that is used if none is given (0: all).
 */
struct report_part {
	size_t nr, nr_shown;
};
struct report_part report_view__part(const struct report_view *view, size_t first,
				     size_t default_limit);

/* How many callers of a row are shown; as above */
size_t report_view__nr_callers(const struct report_view *view,
			       const struct report_row *row, size_t default_nr);

#endif
