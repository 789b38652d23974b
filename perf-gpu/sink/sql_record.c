// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The record format of "Database File Format" (sqlite.org/fileformat2.html, 2.1):
 *
 *	+-----------------+----------------------------+-----------------------+
 *	| bytes of header | a type for each column     | their values          |
 *	+-----------------+----------------------------+-----------------------+
 *	  varint            varints                      of the type's length
 *
 *	0     NULL                        8, 9           0 and 1, of no bytes
 *	1..6  1, 2, 3, 4, 6 and 8 bytes   13 + 2 * n     a text of n bytes
 *
 * Numbers have their highest byte first.
 */
#include "sink/sql_record.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A number is written as 8 bytes, of which those behind are overwritten. */
#define SLACK_BYTES 8

#define TYPE_NULL 0
#define TYPE_ZERO 8
#define TYPE_ONE  9
#define TYPE_TEXT 13

static const unsigned char type_bytes[] = {0, 1, 2, 3, 4, 6, 8, 0, 0, 0};

unsigned char *sql_record__put_varint(unsigned char *at, uint64_t number)
{
	unsigned char digits[SQL_MAX_VARINT];
	size_t nr = 0;

	if (number < 0x80) {
		*at++ = (unsigned char)number;
		return at;
	}
	if (number >> 56) {
		/* The ninth byte has 8 bits. */
		digits[nr++] = (unsigned char)number;
		number >>= 8;
		for (; nr < SQL_MAX_VARINT; number >>= 7)
			digits[nr++] = (unsigned char)(number | 0x80);
	} else {
		for (; number; number >>= 7)
			digits[nr++] = (unsigned char)(number | 0x80);
		digits[0] &= 0x7f;
	}
	while (nr)
		*at++ = digits[--nr];
	return at;
}

static unsigned int varint_bytes(uint64_t number)
{
	unsigned int nr = 1;

	while (nr < SQL_MAX_VARINT && (number >>= 7))
		nr++;
	return nr;
}

static unsigned int type_of(int64_t number)
{
	uint64_t size = (uint64_t)(number < 0 ? ~number : number);

	if (number == SQL_NULL)
		return TYPE_NULL;
	if (size < 0x80)
		return size > 1 || number < 0 ? 1 : number ? TYPE_ONE : TYPE_ZERO;
	if (size < 0x8000)
		return 2;
	if (size < 0x800000)
		return 3;
	if (size < 0x80000000)
		return 4;
	return size < 0x800000000000 ? 5 : 6;
}

static int make_room(struct sql_record *record, size_t nr_bytes)
{
	unsigned char *bytes;

	if (nr_bytes <= record->nr_allocated)
		return 0;
	bytes = realloc(record->bytes, 2 * nr_bytes);
	if (!bytes)
		return -ENOMEM;
	record->bytes = bytes;
	record->nr_allocated = 2 * nr_bytes;
	return 0;
}

static unsigned char *put_number(unsigned char *at, int64_t number, unsigned int type)
{
	unsigned int nr_bytes = type_bytes[type];
	uint64_t bytes;

	if (!nr_bytes)
		return at;
	bytes = htobe64((uint64_t)number << (64 - 8 * nr_bytes));
	memcpy(at, &bytes, sizeof(bytes));
	return at + nr_bytes;
}

int sql_record__make(struct sql_record *record, const struct sql_value *row,
		     unsigned int nr, unsigned int nr_nothing, bool has_key)
{
	size_t text_bytes[SQL_MAX_COLUMNS], header_bytes = nr + nr_nothing, room;
	unsigned char *at, *value;

	room = header_bytes * (1 + sizeof(uint64_t)) + SQL_MAX_VARINT + SLACK_BYTES;
	for (unsigned int i = 0; i < nr; i++) {
		if (!row[i].text)
			continue;
		text_bytes[i] = strlen(row[i].text);
		header_bytes += varint_bytes(TYPE_TEXT + 2 * text_bytes[i]) - 1;
		room += SQL_MAX_VARINT + text_bytes[i];
	}
	/* The header's length counts itself. */
	header_bytes += header_bytes < 0x7f ? 1 : 2;
	if (make_room(record, room))
		return -ENOMEM;
	at = sql_record__put_varint(record->bytes, header_bytes);
	value = record->bytes + header_bytes;
	for (unsigned int i = 0; i < nr; i++) {
		if (row[i].text) {
			at = sql_record__put_varint(at, TYPE_TEXT + 2 * text_bytes[i]);
			value = mempcpy(value, row[i].text, text_bytes[i]);
		} else if (!i && has_key) {
			*at++ = TYPE_NULL;
		} else {
			unsigned int type = type_of(row[i].number);

			*at++ = (unsigned char)type;
			value = put_number(value, row[i].number, type);
		}
	}
	memset(at, TYPE_NULL, nr_nothing);
	record->nr_bytes = (size_t)(value - record->bytes);
	return 0;
}
