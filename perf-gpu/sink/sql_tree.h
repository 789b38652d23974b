/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of a SQLite file, whose rows come in the order of their numbers. One thread. */
#ifndef PERF_GPU_SINK_SQL_TREE_H
#define PERF_GPU_SINK_SQL_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "sink/sql_pages.h"
#include "sink/sql_record.h"

/* A page below another, and the number of the last row in it */
struct sql_child {
	uint32_t page;
	int64_t last;
};

/* All 0: a table without rows. */
struct sql_tree {
	unsigned char page[SQL_PAGE_BYTES]; /* a leaf that rows are put into */
	unsigned int nr_cells, nr_cell_bytes; /* in it */
	int64_t last; /* the row that was added last; 0: none, or that of number 0 */
	struct sql_child *leaves; /* those that are written */
	size_t nr_leaves, nr_allocated;
};

/**
 * sql_tree__add - add a row
 * @number: above that of the row before
 *
 * Return: 0 or -ENOMEM. What can't be written is told by out_file__error().
 */
int sql_tree__add(struct sql_tree *tree, struct sql_pages *pages,
		  const struct sql_record *record, int64_t number);

/**
 * sql_tree__finish - write all pages but the root
 * @root:   gets the root's SQL_PAGE_BYTES
 * @offset: what comes first in the root, which is left as it is: 0, or of page 1 100 bytes
 *
 * Return: as sql_tree__add().
 */
int sql_tree__finish(struct sql_tree *tree, struct sql_pages *pages, unsigned char *root,
		     unsigned int offset);

void sql_tree__release(struct sql_tree *tree);

#endif
