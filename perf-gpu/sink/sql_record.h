/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A row of a table as SQLite's files have it (record format). */
#ifndef PERF_GPU_SINK_SQL_RECORD_H
#define PERF_GPU_SINK_SQL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the place of a number: there is none */
#define SQL_NULL INT64_MIN

/* A value of a row: a text in UTF-8, or if that is NULL a number */
struct sql_value {
	const char *text;
	int64_t number;
};

#define SQL_NUMBER(value)                  \
	(struct sql_value)                 \
	{                                  \
		.number = (int64_t)(value) \
	}
#define SQL_TEXT(value)                             \
	(struct sql_value)                          \
	{                                           \
		.text = (value), .number = SQL_NULL \
	}
#define SQL_NOTHING SQL_NUMBER(SQL_NULL)

#define SQL_MAX_COLUMNS 32

/* A row, and room for the next one. All 0: empty; free() bytes. */
struct sql_record {
	unsigned char *bytes;
	size_t nr_bytes, nr_allocated;
};

/**
 * sql_record__make - write a row
 * @row:        a value for each of the first columns
 * @nr:         how many
 * @nr_nothing: columns behind those, of which nothing is known; together SQL_MAX_COLUMNS at
 *              most
 * @has_key:    the first column is INTEGER PRIMARY KEY, which is where the row is, not in it
 *
 * Return: 0 or -ENOMEM.
 */
int sql_record__make(struct sql_record *record, const struct sql_value *row,
		     unsigned int nr, unsigned int nr_nothing, bool has_key);

#define SQL_MAX_VARINT 9

/* Put a number of 7 bits in each byte, the highest first. Return: behind it */
unsigned char *sql_record__put_varint(unsigned char *at, uint64_t number);

#endif
