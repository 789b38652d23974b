// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/sql_pages.h"

uint32_t sql_pages__behind(const struct sql_pages *pages, uint32_t page)
{
	return page + 1 == pages->lock_page ? page + 2 : page + 1;
}

uint32_t sql_pages__next(const struct sql_pages *pages)
{
	return sql_pages__behind(pages, pages->nr);
}

uint32_t sql_pages__add(struct sql_pages *pages, const unsigned char *bytes)
{
	static const unsigned char nothing[SQL_PAGE_BYTES];
	uint32_t page = sql_pages__next(pages);

	if (page > pages->nr + 1)
		out_file__write(pages->file, nothing, sizeof(nothing));
	out_file__write(pages->file, bytes, SQL_PAGE_BYTES);
	pages->nr = page;
	return page;
}
