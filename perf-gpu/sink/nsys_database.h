/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A SQLite file with nsys' tables, that has its name once it is whole. One thread. */
#ifndef PERF_GPU_SINK_NSYS_DATABASE_H
#define PERF_GPU_SINK_NSYS_DATABASE_H

#include "sink/nsys_tables.h"
#include "sink/sql_record.h"

struct nsys_database;

/* What return an int: 0 or a negative errno, printed. */

/* @ret: released by nsys_database__close(); written on success only */
int nsys_database__open(const char *path, struct nsys_database **ret);

/* Remove what is not finished. NULL is fine. */
void nsys_database__close(struct nsys_database *database);

/**
 * nsys_database__add - add a row
 * @row: a value for each column of the table; if the first is its key, that is above the one
 *       of the row before
 */
int nsys_database__add(struct nsys_database *database, enum nsys_table table,
		       const struct sql_value *row);

/* Write all that is left, and give the file its name. */
int nsys_database__finish(struct nsys_database *database);

#endif
