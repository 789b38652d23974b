/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of a report is shown where no option says it: as many rows and callers of each
 * table as one screen has room for. Kernels come first, and what the GPU did or didn't do
 * before what the CPU did; a table that has no room at all is left out, and named.
 *
 * Pure; one thread.
 */
#ifndef PERF_GPU_REPORT_SCREEN_H
#define PERF_GPU_REPORT_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"

/* A table, as it would be: how large it can be, by what is to be shown of it */
struct screen_table {
	uint32_t event;
	size_t nr_rows;
	const struct screen_row *rows; /* of them, the first SCREEN_MAX_ROWS at most */
};

#define SCREEN_MAX_ROWS 6

/* An empty line, and two that tell what is left out */
#define SCREEN_LEFT_OUT_LINES 3

struct screen_row {
	size_t nr_lines; /* with its name */
	size_t nr_callers;
};

struct screen_share {
	size_t nr_rows, nr_callers; /* of the table, of a row */
};

struct screen {
	struct screen_share of[GPU_LOG_NR_EVENTS]; /* 0 rows: the table is left out */
	bool is_whole; /* each table has as many as it can have without an option */
};

/* That many rows and callers without a limit, where there is room */
struct screen_share screen_share__default(uint32_t event);

/**
 * screen__fit - share the lines out
 * @tables:   of different events
 * @nr_lines: that there are for tables, their headings, and, unless all is whole, the
 *            lines that tell what is left out. The first row of the first table is shown
 *            even if they are too few.
 */
void screen__fit(struct screen *ret, const struct screen_table *tables, size_t nr_tables,
		 size_t nr_lines);

#endif
