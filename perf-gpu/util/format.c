// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/format.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LINE_COLUMNS 80

const char *format__count(uint64_t count, struct format_buf *buf)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *out = buf->text;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return buf->text;
}

const char *format__ms(uint64_t ns, struct format_buf *buf)
{
	const uint64_t us = ns / 1000 + (ns % 1000 >= 500);
	char *end;

	format__count(us / 1000, buf);
	end = buf->text + strlen(buf->text);
	snprintf(end, sizeof(buf->text) - (size_t)(end - buf->text), ".%03u ms",
		 (unsigned int)(us % 1000));
	return buf->text;
}

const char *format__file_size(uint64_t bytes, struct format_buf *buf)
{
	const double kb = (double)bytes / 1024;
	const bool is_small = kb < 0.1 * 1024;

	snprintf(buf->text, sizeof(buf->text), "%.1f %s", is_small ? kb : kb / 1024,
		 is_small ? "KB" : "MB");
	return buf->text;
}

const char *format__percent(uint64_t part, uint64_t whole, struct format_buf *buf)
{
	unsigned int tenths = 1000;

	if (whole)
		tenths = (unsigned int)((unsigned __int128)part * 1000 / whole);
	snprintf(buf->text, sizeof(buf->text), "%u.%u %%", tenths / 10, tenths % 10);
	return buf->text;
}

const char *format__plural(uint64_t nr, const char *one, const char *many)
{
	return nr == 1 ? one : many;
}

const char *format__uuid(const uint8_t uuid[16], struct format_buf *buf)
{
	size_t used = 0;

	for (int i = 0; i < 16; i++)
		used += (size_t)snprintf(buf->text + used, sizeof(buf->text) - used,
					 "%s%02x",
					 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
					 uuid[i]);
	return buf->text;
}

void format__print_wrapped(int column, const char *text)
{
	const int start = column;

	text += strspn(text, " ");
	while (*text) {
		int word = (int)strcspn(text, " ");

		if (column > start && column + 1 + word > LINE_COLUMNS) {
			printf("\n%*s", start, "");
			column = start;
		}
		column += printf("%s%.*s", column > start ? " " : "", word, text);
		text += word;
		text += strspn(text, " ");
	}
	putchar('\n');
}
