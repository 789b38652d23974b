/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pages of a SQLite file, which are written one behind the other. One thread. */
#ifndef PERF_GPU_SINK_SQL_PAGES_H
#define PERF_GPU_SINK_SQL_PAGES_H

#include <stdint.h>

#include "sink/out_file.h"

#define SQL_PAGE_BYTES 4096

/*
 * The page with the byte at 2^30, which SQLite takes for locks and has nothing in ("The
 * Lock-Byte Page"): it is left out.
 */
#define SQL_LOCK_PAGE ((1u << 30) / SQL_PAGE_BYTES + 1)

struct sql_pages {
	struct out_file *file;
	uint32_t nr; /* so far; the first is number 1 */
	uint32_t lock_page; /* SQL_LOCK_PAGE, but in tests */
};

/* The number of the page that is written next, and of the one behind a page */
uint32_t sql_pages__next(const struct sql_pages *pages);
uint32_t sql_pages__behind(const struct sql_pages *pages, uint32_t page);

/* Write the next page; return its number. What fails is told by out_file__error(). */
uint32_t sql_pages__add(struct sql_pages *pages, const unsigned char *bytes);

static inline unsigned char *sql_pages__put16(unsigned char *at, unsigned int number)
{
	*at++ = (unsigned char)(number >> 8);
	*at++ = (unsigned char)number;
	return at;
}

static inline unsigned char *sql_pages__put32(unsigned char *at, uint32_t number)
{
	return sql_pages__put16(sql_pages__put16(at, number >> 16), number);
}

#endif
