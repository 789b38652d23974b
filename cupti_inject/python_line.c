// SPDX-License-Identifier: GPL-2.0-or-later
#include "python_line.h"

#define INSTRUCTION_BYTES 2
#define RANGE_NO_LINE	  (-128) /* in 3.10's tables */

/* Sums of what a table says wrap around, rather than be undefined. */
static int32_t add(int32_t line, int32_t delta)
{
	return (int32_t)((uint32_t)line + (uint32_t)delta);
}

static int32_t find_in_lnotab(const uint8_t *table, size_t nr_bytes, int64_t offset)
{
	int64_t end = 0;
	int32_t line = 0;

	for (size_t i = 0; i + 1 < nr_bytes; i += 2) {
		end += table[i];
		if (end > offset)
			break;
		line = add(line, (int8_t)table[i + 1]);
	}
	return line;
}

static int32_t find_in_ranges(const uint8_t *table, size_t nr_bytes, int64_t offset)
{
	int64_t end = 0;
	int32_t line = 0;

	for (size_t i = 0; i + 1 < nr_bytes; i += 2) {
		int8_t delta = (int8_t)table[i + 1];

		if (delta != RANGE_NO_LINE)
			line = add(line, delta);
		end += table[i];
		if (end > offset)
			return delta == RANGE_NO_LINE ? PYTHON_NO_LINE : line;
	}
	return PYTHON_NO_LINE;
}

/* Entries of locations: what stands in bits 3 to 6 of their first byte */
enum {
	FIRST_ONE_LINE = 10, /* so many lines further: less this */
	LAST_ONE_LINE = 12,
	NO_COLUMNS = 13,
	LONG = 14,
	NO_LOCATION = 15,
};

/* A varint: 6 bits a byte, the lowest first; bit 6 is set if another one follows. */
static int32_t signed_varint(const uint8_t *table, size_t nr_bytes, size_t at)
{
	uint32_t value = 0;

	for (unsigned int shift = 0; at < nr_bytes && shift < 32; shift += 6, at++) {
		value |= (uint32_t)(table[at] & 0x3f) << shift;
		if (!(table[at] & 0x40))
			break;
	}
	return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

static int32_t find_in_locations(const uint8_t *table, size_t nr_bytes, int64_t offset)
{
	int64_t end = 0;
	int32_t line = 0;

	for (size_t i = 0; i < nr_bytes; i++) {
		unsigned int code = table[i] >> 3 & 0xf;

		/* Only the first byte of an entry has bit 7 set. */
		if (!(table[i] & 0x80))
			continue;
		if (code >= FIRST_ONE_LINE && code <= LAST_ONE_LINE)
			line = add(line, (int32_t)code - FIRST_ONE_LINE);
		else if (code == NO_COLUMNS || code == LONG)
			line = add(line, signed_varint(table, nr_bytes, i + 1));
		end += ((table[i] & 7) + 1) * INSTRUCTION_BYTES;
		if (end > offset)
			return code == NO_LOCATION ? PYTHON_NO_LINE : line;
	}
	return PYTHON_NO_LINE;
}

int32_t python_line__find(enum python_line_format format, const uint8_t *table,
			  size_t nr_bytes, int64_t offset)
{
	if (offset < 0)
		return 0;
	switch (format) {
	case PYTHON_LNOTAB:
		return find_in_lnotab(table, nr_bytes, offset);
	case PYTHON_LINE_RANGES:
		return find_in_ranges(table, nr_bytes, offset);
	default:
		return find_in_locations(table, nr_bytes, offset);
	}
}
