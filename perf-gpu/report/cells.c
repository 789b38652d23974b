// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/cells.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/format.h"

#define NO_CHARACTER 0xfffd

struct unit {
	double size;
	const char *name;
};

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* Three digits in the largest unit of which there is one at least; units rise. */
static const char *write_scaled(double value, const struct unit *units, size_t nr,
				struct cell *cell)
{
	size_t i = nr - 1;
	double scaled;

	/* 999.6 would be rounded to 1000 */
	while (i && value < 0.9995 * units[i].size)
		i--;
	scaled = value / units[i].size;
	snprintf(cell->text, sizeof(cell->text), "%.*f%s",
		 !i || scaled >= 99.95 ? 0
		 : scaled >= 9.995     ? 1
				       : 2,
		 scaled, units[i].name);
	return cell->text;
}

const char *cell__duration(double ns, struct cell *cell)
{
	static const struct unit units[] = {
		{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};

	return write_scaled(ns, units, NR(units), cell);
}

const char *cell__bytes(double bytes, struct cell *cell)
{
	static const struct unit units[] = {
		{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}};

	return write_scaled(bytes, units, NR(units), cell);
}

const char *cell__count(uint64_t count, struct cell *cell)
{
	static const struct unit units[] = {{1, ""}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}};
	struct format_buf buf;

	if (count >= 10000000)
		return write_scaled((double)count, units, NR(units), cell);
	snprintf(cell->text, sizeof(cell->text), "%.15s", format__count(count, &buf));
	return cell->text;
}

const char *cell__share(uint64_t part, uint64_t whole, struct cell *cell)
{
	unsigned int tenths =
		whole ? (unsigned int)((unsigned __int128)part * 1000 / whole) : 0;

	snprintf(cell->text, sizeof(cell->text), "%u.%u%%", tenths / 10, tenths % 10);
	return cell->text;
}

const char *cell__rate(uint64_t bytes, uint64_t ns, struct cell *cell)
{
	static const struct unit units[] = {{1, ""}, {1, ""}};
	double rate = ns ? (double)bytes / (double)ns : 0;

	if (!ns)
		snprintf(cell->text, sizeof(cell->text), "-");
	else if (rate < 1)
		snprintf(cell->text, sizeof(cell->text), "%.3f", rate);
	else
		write_scaled(rate, units, NR(units), cell);
	return cell->text;
}

/* --- characters --------------------------------------------------------------------- */

uint32_t utf8__next(const char **at)
{
	/* The smallest character of each length: others have shorter forms. */
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *byte = (const unsigned char *)(*at)++;
	unsigned int nr = *byte < 0x80		   ? 1
			  : (*byte & 0xe0) == 0xc0 ? 2
			  : (*byte & 0xf0) == 0xe0 ? 3
			  : (*byte & 0xf8) == 0xf0 ? 4
						   : 0;
	uint32_t character;

	if (nr < 2)
		return nr ? *byte : NO_CHARACTER;
	character = *byte & (0x7fu >> nr);
	for (unsigned int i = 1; i < nr; i++) {
		if ((byte[i] & 0xc0) != 0x80) /* the text's end, too */
			return NO_CHARACTER;
		character = character << 6 | (byte[i] & 0x3f);
	}
	if (character < smallest[nr] || character > 0x10ffff ||
	    (character >= 0xd800 && character < 0xe000))
		return NO_CHARACTER;
	*at += nr - 1;
	return character;
}

int utf8__is_control(uint32_t c)
{
	return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

struct range {
	uint32_t first, last;
};

static bool is_in(uint32_t c, const struct range *ranges, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* Blocks of Unicode that terminals draw two columns wide, or over what precedes them */
static size_t columns_of(uint32_t c)
{
	static const struct range wide[] = {
		{0x1100, 0x115f},   {0x2e80, 0xa4cf},	{0xac00, 0xd7a3},
		{0xf900, 0xfaff},   {0xfe30, 0xfe6f},	{0xff00, 0xff60},
		{0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff},
		{0x20000, 0x3fffd},
	};
	static const struct range none[] = {
		{0x300, 0x36f}, {0x200b, 0x200d}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};

	if (c < 0x300)
		return 1;
	if (is_in(c, none, NR(none)))
		return 0;
	return is_in(c, wide, NR(wide)) ? 2 : 1;
}

static size_t columns_of_text(const char *text)
{
	size_t columns = 0;

	while (*text)
		columns += columns_of(utf8__next(&text));
	return columns;
}

/* A name that is being written */
struct name_writer {
	char *at, *end; /* room for the NUL is behind end */
	size_t columns;
};

/* Copy characters up to a number of columns; returns where it ended. */
static const char *copy(struct name_writer *writer, const char *text, size_t columns)
{
	const size_t last = writer->columns + columns;

	while (*text) {
		const char *next = text;
		uint32_t c = utf8__next(&next);
		bool is_shown = c != NO_CHARACTER && !utf8__is_control(c);
		size_t nr = is_shown ? (size_t)(next - text) : 1;

		if (writer->columns + columns_of(c) > last ||
		    nr > (size_t)(writer->end - writer->at))
			break;
		if (is_shown)
			memcpy(writer->at, text, nr);
		else
			*writer->at = '?';
		writer->at += nr;
		writer->columns += is_shown ? columns_of(c) : 1;
		text = next;
	}
	return text;
}

size_t cell__name(const char *text, size_t columns, char *ret, size_t bytes)
{
	struct name_writer writer = {.at = ret, .end = ret + bytes - 1};
	size_t all = columns_of_text(text), head, left;

	if (all <= columns || columns < 8) {
		copy(&writer, text, columns);
	} else {
		head = (columns - 3 + 1) / 2;
		copy(&writer, text, head);
		copy(&writer, "...", 3);
		/* What is left out at least, so that the rest fits in */
		left = all - (columns - 3 - head);
		while (left && *text) {
			size_t nr = columns_of(utf8__next(&text));

			left -= nr < left ? nr : left;
		}
		copy(&writer, text, columns - writer.columns);
	}
	*writer.at = '\0';
	return writer.columns;
}
