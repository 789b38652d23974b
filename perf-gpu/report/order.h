/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a report in the order in which they are shown. One thread. */
#ifndef PERF_GPU_REPORT_ORDER_H
#define PERF_GPU_REPORT_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

/* By what rows of an event are sorted: largest first, but for the name */
enum report_sort {
	REPORT_SORT_TOTAL,
	REPORT_SORT_CALLS,
	REPORT_SORT_MEAN,
	REPORT_SORT_MEDIAN,
	REPORT_SORT_MIN,
	REPORT_SORT_MAX,
	REPORT_SORT_DEVIATION,
	REPORT_SORT_BYTES,
	REPORT_SORT_NAME,
};

/* A row, with what is computed of it */
struct report_entry {
	const struct report_row *row;
	const struct report_group *group;
	struct half median;
	double mean, deviation;
	uint64_t event_total; /* periods of all samples of its group and event */
};

/* "total", "calls", ... 0, or -EINVAL, printed with the words that there are. */
int report_sort__parse(const char *text, enum report_sort *ret);

/**
 * report_order__new - sort rows by group, event and @sort
 * @report: finished
 * @ret:    report->nr_rows of them, for free(); written on success only
 *
 * Groups are in the order of their device, stream, process and rank. Rows that are alike
 * in @sort are by total, then by name.
 *
 * Return: 0 or -ENOMEM.
 */
int report_order__new(struct report *report, enum report_sort sort,
		      struct report_entry **ret);

#endif
