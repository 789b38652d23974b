// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/screen.h"

/* What there is of a table at a level; the higher, the less */
struct level {
	size_t kernels, kernel_callers;
	size_t others, callers;
	size_t idle_callers; /* the one row of gpu-idle says nothing else */
};

static const struct level levels[] = {
	{6, 2, 4, 1, 3}, {6, 1, 3, 1, 3}, {6, 1, 2, 1, 2},
	{5, 1, 1, 1, 2}, {4, 1, 1, 1, 1},
};

#define NR_LEVELS (sizeof(levels) / sizeof(*levels))

/* Of what is shown, the last is left out first. */
static const uint32_t by_weight[GPU_LOG_NR_EVENTS] = {
	GPU_LOG_EVENT_KERNEL, GPU_LOG_EVENT_MEMCPY, GPU_LOG_EVENT_IDLE,
	GPU_LOG_EVENT_SYNC,   GPU_LOG_EVENT_MEMSET, GPU_LOG_EVENT_FAULT,
	GPU_LOG_EVENT_LAUNCH, GPU_LOG_EVENT_QUEUE,  GPU_LOG_EVENT_ALLOC,
};

static struct screen_share share_at(const struct level *level, uint32_t event)
{
	if (event == GPU_LOG_EVENT_KERNEL)
		return (struct screen_share){level->kernels, level->kernel_callers};
	if (event == GPU_LOG_EVENT_IDLE)
		return (struct screen_share){level->others, level->idle_callers};
	return (struct screen_share){level->others, level->callers};
}

struct screen_share screen_share__default(uint32_t event)
{
	return share_at(&levels[0], event);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t count_lines(const struct screen *screen, const struct screen_table *table)
{
	struct screen_share share = screen->of[table->event];
	size_t nr_rows = smaller(share.nr_rows, table->nr_rows);
	size_t nr = 2; /* an empty line and the heading */

	if (!share.nr_rows)
		return 0;
	for (size_t i = 0; i < nr_rows; i++)
		nr += table->rows[i].nr_lines +
		      smaller(share.nr_callers, table->rows[i].nr_callers);
	return nr + (nr_rows < table->nr_rows); /* what the others come to */
}

static bool fits(const struct screen *screen, const struct screen_table *tables,
		 size_t nr_tables, size_t nr_lines)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_tables; i++)
		nr += count_lines(screen, &tables[i]);
	return nr <= nr_lines;
}

/* The one that stays to the last */
static size_t find_first(const struct screen_table *tables, size_t nr_tables)
{
	for (size_t i = 0; i < GPU_LOG_NR_EVENTS; i++)
		for (size_t k = 0; k < nr_tables; k++)
			if (tables[k].event == by_weight[i])
				return i;
	return 0;
}

static void leave_out(struct screen *screen, const struct screen_table *tables,
		      size_t nr_tables, size_t nr_lines)
{
	size_t first = find_first(tables, nr_tables);
	struct screen_share *share = &screen->of[by_weight[first]];

	for (size_t i = GPU_LOG_NR_EVENTS - 1; i > first; i--) {
		if (fits(screen, tables, nr_tables, nr_lines))
			return;
		screen->of[by_weight[i]].nr_rows = 0;
	}
	while (share->nr_rows > 1 && !fits(screen, tables, nr_tables, nr_lines))
		share->nr_rows--;
}

void screen__fit(struct screen *ret, const struct screen_table *tables, size_t nr_tables,
		 size_t nr_lines)
{
	for (size_t level = 0; level < NR_LEVELS; level++) {
		for (uint32_t event = 0; event < GPU_LOG_NR_EVENTS; event++)
			ret->of[event] = share_at(&levels[level], event);
		ret->is_whole = level == 0;
		if (fits(ret, tables, nr_tables, nr_lines))
			return;
		if (ret->is_whole)
			nr_lines -= smaller(nr_lines, SCREEN_LEFT_OUT_LINES);
	}
	leave_out(ret, tables, nr_tables, nr_lines);
}
