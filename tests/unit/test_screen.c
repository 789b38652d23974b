// SPDX-License-Identifier: GPL-2.0-or-later
/* What of a report a screen has room for. */
#include "unit.h"

#include "report/screen.h"

/* Rows of a line each, with more callers than are shown */
static const struct screen_row rows[SCREEN_MAX_ROWS] = {{1, 9}, {1, 9}, {1, 9},
							{1, 9}, {1, 9}, {1, 9}};

/* Tables of all events, as large as they can be */
static size_t all_tables(struct screen_table *ret)
{
	for (uint32_t event = 0; event < GPU_LOG_NR_EVENTS; event++)
		ret[event] = (struct screen_table){event, 20, rows};
	return GPU_LOG_NR_EVENTS;
}

/* Lines of a table, as the report prints it */
static size_t lines_of(const struct screen *screen, const struct screen_table *table)
{
	struct screen_share share = screen->of[table->event];
	size_t nr_rows = share.nr_rows < table->nr_rows ? share.nr_rows : table->nr_rows;

	if (!nr_rows)
		return 0;
	return 2 + nr_rows * (1 + share.nr_callers) + (nr_rows < table->nr_rows);
}

static size_t all_lines(const struct screen *screen, const struct screen_table *tables,
			size_t nr)
{
	size_t nr_lines = screen->is_whole ? 0 : SCREEN_LEFT_OUT_LINES;

	for (size_t i = 0; i < nr; i++)
		nr_lines += lines_of(screen, &tables[i]);
	return nr_lines;
}

TEST(what_has_room_is_whole)
{
	const struct screen_table table = {GPU_LOG_EVENT_KERNEL, 20, rows};
	struct screen screen;

	screen__fit(&screen, &table, 1, 2 + 6 * 3 + 1);
	CHECK(screen.is_whole);
	CHECK_EQ(screen.of[GPU_LOG_EVENT_KERNEL].nr_rows, 6);
	CHECK_EQ(screen.of[GPU_LOG_EVENT_KERNEL].nr_callers, 2);
	screen__fit(&screen, &table, 1, 2 + 6 * 3);
	CHECK(!screen.is_whole);
	CHECK_EQ(screen.of[GPU_LOG_EVENT_KERNEL].nr_callers, 1);
}

TEST(any_screen_is_enough)
{
	struct screen_table tables[GPU_LOG_NR_EVENTS];
	size_t nr = all_tables(tables);
	struct screen screen;

	for (size_t nr_lines = 8; nr_lines < 200; nr_lines++) {
		screen__fit(&screen, tables, nr, nr_lines);
		CHECK(all_lines(&screen, tables, nr) <= nr_lines);
		CHECK(screen.of[GPU_LOG_EVENT_KERNEL].nr_rows >= 1);
	}
	CHECK(screen.is_whole);
}

TEST(more_room_never_shows_fewer_tables)
{
	struct screen_table tables[GPU_LOG_NR_EVENTS];
	size_t nr = all_tables(tables), nr_before = 0;
	struct screen screen;

	for (size_t nr_lines = 8; nr_lines < 200; nr_lines++) {
		size_t nr_shown = 0;

		screen__fit(&screen, tables, nr, nr_lines);
		for (size_t i = 0; i < nr; i++)
			nr_shown += screen.of[i].nr_rows != 0;
		CHECK(nr_shown >= nr_before);
		nr_before = nr_shown;
	}
}

TEST(what_the_gpu_did_stays_longest)
{
	struct screen_table tables[GPU_LOG_NR_EVENTS];
	size_t nr = all_tables(tables);
	struct screen screen;

	screen__fit(&screen, tables, nr, 30);
	CHECK(screen.of[GPU_LOG_EVENT_KERNEL].nr_rows);
	CHECK(screen.of[GPU_LOG_EVENT_MEMCPY].nr_rows);
	CHECK(!screen.of[GPU_LOG_EVENT_ALLOC].nr_rows);
	CHECK(!screen.of[GPU_LOG_EVENT_QUEUE].nr_rows);
}

TEST(a_report_without_kernels_has_a_table)
{
	const struct screen_table table = {GPU_LOG_EVENT_ALLOC, 20, rows};
	struct screen screen;

	screen__fit(&screen, &table, 1, 0);
	CHECK_EQ(screen.of[GPU_LOG_EVENT_ALLOC].nr_rows, 1);
	CHECK(!screen.is_whole);
}

TEST(long_names_take_lines)
{
	static const struct screen_row long_rows[] = {{2, 1}, {2, 1}, {2, 0}};
	const struct screen_table table = {GPU_LOG_EVENT_KERNEL, 3, long_rows};
	struct screen screen;

	screen__fit(&screen, &table, 1, 2 + 3 + 3 + 2);
	CHECK(screen.is_whole);
	screen__fit(&screen, &table, 1, 2 + 3 + 3 + 1);
	CHECK(!screen.is_whole);
}
