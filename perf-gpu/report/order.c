// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/log.h"
#include "util/sum.h"

static const char *const words[] = {
	[REPORT_SORT_TOTAL] = "total",	    [REPORT_SORT_CALLS] = "calls",
	[REPORT_SORT_MEAN] = "mean",	    [REPORT_SORT_MEDIAN] = "median",
	[REPORT_SORT_MIN] = "min",	    [REPORT_SORT_MAX] = "max",
	[REPORT_SORT_DEVIATION] = "stddev", [REPORT_SORT_BYTES] = "bytes",
	[REPORT_SORT_NAME] = "name",
};

int report_sort__parse(const char *text, enum report_sort *ret)
{
	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(text, words[i])) {
			*ret = i;
			return 0;
		}
	pr_err("--sort takes total, calls, mean, median, min, max, stddev, bytes or "
	       "name, "
	       "not %s",
	       text);
	return -EINVAL;
}

/* The largest first */
static int compare_u64(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int compare_double(double a, double b)
{
	return (a < b) - (a > b);
}

static int compare_i64_up(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_groups(const struct report_group *a, const struct report_group *b)
{
	int order = compare_i64_up(a->device, b->device);

	if (!order)
		order = compare_i64_up(a->stream, b->stream);
	if (!order)
		order = compare_i64_up(a->pid, b->pid);
	return order ? order : compare_i64_up(a->rank, b->rank);
}

static int compare_medians(const struct half *a, const struct half *b)
{
	int order = compare_u64(a->whole, b->whole);

	return order ? order : compare_u64(a->is_half, b->is_half);
}

static int compare_by(const struct report_entry *a, const struct report_entry *b,
		      enum report_sort sort)
{
	const struct spread *x = &a->row->spread, *y = &b->row->spread;

	switch (sort) {
	case REPORT_SORT_CALLS:
		return compare_u64(a->row->nr, b->row->nr);
	case REPORT_SORT_MEAN:
		return compare_double(a->mean, b->mean);
	case REPORT_SORT_MEDIAN:
		return compare_medians(&a->median, &b->median);
	case REPORT_SORT_MIN:
		return compare_u64(x->min, y->min);
	case REPORT_SORT_MAX:
		return compare_u64(x->max, y->max);
	case REPORT_SORT_DEVIATION:
		return compare_double(a->deviation, b->deviation);
	case REPORT_SORT_BYTES:
		return compare_u64(a->row->bytes, b->row->bytes);
	case REPORT_SORT_NAME:
		return strcmp(report_row__name(a->row), report_row__name(b->row));
	default:
		return 0;
	}
}

static int compare_entries(const void *a, const void *b, void *sort)
{
	const struct report_entry *x = a, *y = b;
	int order = compare_groups(x->group, y->group);

	if (!order)
		order = compare_u64(y->row->event, x->row->event);
	if (!order)
		order = compare_by(x, y, *(enum report_sort *)sort);
	if (!order)
		order = compare_u64(x->row->spread.sum, y->row->spread.sum);
	return order ? order : strcmp(report_row__name(x->row), report_row__name(y->row));
}

static bool is_same_table(const struct report_entry *a, const struct report_entry *b)
{
	return a->group == b->group && a->row->event == b->row->event;
}

/* Those of a table stand together. */
static void add_totals(struct report_entry *entries, size_t nr)
{
	for (size_t first = 0, end; first < nr; first = end) {
		uint64_t total = 0;

		for (end = first;
		     end < nr && is_same_table(&entries[first], &entries[end]); end++)
			sum__add(&total, entries[end].row->own);
		for (size_t i = first; i < end; i++)
			entries[i].event_total = total;
	}
}

int report_order__new(struct report *report, enum report_sort sort,
		      struct report_entry **ret)
{
	struct report_entry *entries = calloc(report->nr_rows + 1, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < report->nr_rows; i++) {
		struct report_row *row = &report->rows[i];

		entries[i].row = row;
		entries[i].group = &report->groups[row->group];
		entries[i].mean = spread__mean(&row->spread);
		entries[i].deviation = spread__deviation(&row->spread);
		if (spread__median(&row->spread, &entries[i].median)) {
			free(entries);
			return -ENOMEM;
		}
	}
	qsort_r(entries, report->nr_rows, sizeof(*entries), compare_entries, &sort);
	add_totals(entries, report->nr_rows);
	*ret = entries;
	return 0;
}
