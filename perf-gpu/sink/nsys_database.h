/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A SQLite file with nsys' tables, that has its name once it is whole. One thread. */
#ifndef PERF_GPU_SINK_NSYS_DATABASE_H
#define PERF_GPU_SINK_NSYS_DATABASE_H

#include <stdint.h>

#include "sink/nsys_tables.h"

/* In the place of a number: there is none */
#define NSYS_NULL INT64_MIN

struct nsys_database;

/* A value of a row: a text, or if that is NULL a number */
struct nsys_value {
	const char *text;
	int64_t number;
};

#define NSYS_NUMBER(value)                 \
	(struct nsys_value)                \
	{                                  \
		.number = (int64_t)(value) \
	}
#define NSYS_TEXT(value)                             \
	(struct nsys_value)                          \
	{                                            \
		.text = (value), .number = NSYS_NULL \
	}
#define NSYS_NOTHING NSYS_NUMBER(NSYS_NULL)

/* What return an int: 0 or a negative errno, printed. */

/* @ret: released by nsys_database__close(); written on success only */
int nsys_database__open(const char *path, struct nsys_database **ret);

/* Remove what is not finished. NULL is fine. */
void nsys_database__close(struct nsys_database *database);

/* Add a row. @row: a value for each column of the table */
int nsys_database__add(struct nsys_database *database, enum nsys_table table,
		       const struct nsys_value *row);

/* Write all that is left, and give the file its name. */
int nsys_database__finish(struct nsys_database *database);

#endif
