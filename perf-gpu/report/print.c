// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/print.h"

static size_t limited(size_t nr, size_t limit, size_t default_limit)
{
	if (limit == REPORT_DEFAULT)
		limit = default_limit;
	return limit && limit < nr ? limit : nr;
}

struct report_part report_view__part(const struct report_view *view, size_t first,
				     size_t default_limit)
{
	const struct report_entry *entries = view->entries;
	struct report_part part = {0};
	size_t end = first;

	while (end < view->report->nr_rows &&
	       entries[end].group == entries[first].group &&
	       entries[end].row->event == entries[first].row->event)
		end++;
	part.nr = end - first;
	part.nr_shown = limited(part.nr, view->limit, default_limit);
	return part;
}

size_t report_view__nr_callers(const struct report_view *view,
			       const struct report_row *row, size_t default_nr)
{
	size_t nr = view->nr_callers == REPORT_DEFAULT ? default_nr : view->nr_callers;

	return nr < row->nr_callers ? nr : row->nr_callers;
}
