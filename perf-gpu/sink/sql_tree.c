// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A b-tree of "Database File Format" (sqlite.org/fileformat2.html, 1.6): rows are in its
 * leaves, each of which is filled before the next one is begun.
 *
 *	leaf      13, 0 0, cells, where they begin, 0    2 bytes each for where cells are
 *	          ... nothing ...                        cells, the last one first
 *	inner     5, as above, the last child's page     likewise
 *
 *	leaf's cell     bytes of the record, number of the row, record [, first further page]
 *	inner's cell    page of a child, number of the last row there
 *
 * A record of more than 4061 bytes goes on in further pages, each of which begins with the
 * number of the one behind it.
 */
#include "sink/sql_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

#define TYPE_INNER 5
#define TYPE_LEAF  13

#define LEAF_HEADER_BYTES  8
#define INNER_HEADER_BYTES 12

/* Of a record, what is in the leaf: at most, and at least if it isn't all there */
#define MAX_LOCAL_BYTES	    (SQL_PAGE_BYTES - 35)
#define MIN_LOCAL_BYTES	    ((SQL_PAGE_BYTES - 12) * 32 / 255 - 23)
#define FURTHER_BYTES	    (SQL_PAGE_BYTES - 4)
#define MAX_CELL_HEAD_BYTES (2 * SQL_MAX_VARINT)

/* As many children have room in an inner page with 100 bytes before it, for any number. */
#define MAX_CHILDREN                                                     \
	((SQL_PAGE_BYTES - 100 - INNER_HEADER_BYTES) /                   \
		 (2 + (unsigned int)sizeof(uint32_t) + SQL_MAX_VARINT) + \
	 1)

/* The head of a page whose cells are there, behind @offset bytes */
static void put_head(unsigned char *page, unsigned int offset, int type,
		     unsigned int nr_cells, unsigned int nr_cell_bytes)
{
	unsigned char *at = page + offset;

	*at++ = (unsigned char)type;
	at = sql_pages__put16(at, 0);
	at = sql_pages__put16(at, nr_cells);
	at = sql_pages__put16(at, SQL_PAGE_BYTES - nr_cell_bytes);
	*at = 0;
}

static int write_leaf(struct sql_tree *tree, struct sql_pages *pages)
{
	if (array__grow(&tree->leaves, tree->nr_leaves, &tree->nr_allocated,
			sizeof(*tree->leaves)))
		return -ENOMEM;
	put_head(tree->page, 0, TYPE_LEAF, tree->nr_cells, tree->nr_cell_bytes);
	tree->leaves[tree->nr_leaves++] = (struct sql_child){
		.page = sql_pages__add(pages, tree->page), .last = tree->last};
	memset(tree->page, 0, sizeof(tree->page));
	tree->nr_cells = tree->nr_cell_bytes = 0;
	return 0;
}

/* For so many bytes more */
static bool has_room(const struct sql_tree *tree, size_t nr_bytes)
{
	return LEAF_HEADER_BYTES + 2 * tree->nr_cells + tree->nr_cell_bytes + nr_bytes <=
	       SQL_PAGE_BYTES;
}

/* How much of a record is in the leaf */
static size_t local_bytes(size_t nr_bytes)
{
	size_t nr;

	if (nr_bytes <= MAX_LOCAL_BYTES)
		return nr_bytes;
	nr = MIN_LOCAL_BYTES + (nr_bytes - MIN_LOCAL_BYTES) % FURTHER_BYTES;
	return nr <= MAX_LOCAL_BYTES ? nr : MIN_LOCAL_BYTES;
}

static void write_further(struct sql_pages *pages, const unsigned char *bytes,
			  size_t nr_bytes)
{
	while (nr_bytes) {
		unsigned char page[SQL_PAGE_BYTES] = {};
		size_t nr = nr_bytes < FURTHER_BYTES ? nr_bytes : FURTHER_BYTES;
		uint32_t next = sql_pages__behind(pages, sql_pages__next(pages));

		memcpy(sql_pages__put32(page, nr < nr_bytes ? next : 0), bytes, nr);
		sql_pages__add(pages, page);
		bytes += nr;
		nr_bytes -= nr;
	}
}

int sql_tree__add(struct sql_tree *tree, struct sql_pages *pages,
		  const struct sql_record *record, int64_t number)
{
	size_t local = local_bytes(record->nr_bytes), nr;
	bool is_whole = local == record->nr_bytes;
	unsigned char head[MAX_CELL_HEAD_BYTES], *at;

	at = sql_record__put_varint(head, record->nr_bytes);
	at = sql_record__put_varint(at, (uint64_t)number);
	nr = (size_t)(at - head) + local + (is_whole ? 0 : sizeof(uint32_t));
	/* A cell, and where it is */
	if (!has_room(tree, nr + 2) && write_leaf(tree, pages))
		return -ENOMEM;
	tree->nr_cell_bytes += (unsigned int)nr;
	sql_pages__put16(tree->page + LEAF_HEADER_BYTES + 2 * (size_t)tree->nr_cells++,
			 SQL_PAGE_BYTES - tree->nr_cell_bytes);
	at = mempcpy(tree->page + SQL_PAGE_BYTES - tree->nr_cell_bytes, head,
		     (size_t)(at - head));
	at = mempcpy(at, record->bytes, local);
	if (!is_whole) {
		sql_pages__put32(at, sql_pages__next(pages));
		write_further(pages, record->bytes + local, record->nr_bytes - local);
	}
	tree->last = number;
	return 0;
}

static void put_inner(unsigned char *page, unsigned int offset,
		      const struct sql_child *children, size_t nr)
{
	unsigned char *places = page + offset + INNER_HEADER_BYTES;
	unsigned int nr_cell_bytes = 0;

	for (size_t i = 0; i + 1 < nr; i++) {
		unsigned char cell[sizeof(uint32_t) + SQL_MAX_VARINT], *at;

		at = sql_pages__put32(cell, children[i].page);
		at = sql_record__put_varint(at, (uint64_t)children[i].last);
		nr_cell_bytes += (unsigned int)(at - cell);
		memcpy(page + SQL_PAGE_BYTES - nr_cell_bytes, cell, (size_t)(at - cell));
		places = sql_pages__put16(places, SQL_PAGE_BYTES - nr_cell_bytes);
	}
	put_head(page, offset, TYPE_INNER, (unsigned int)nr - 1, nr_cell_bytes);
	sql_pages__put32(page + offset + LEAF_HEADER_BYTES, children[nr - 1].page);
}

/* Put pages above as many as there are, in their place. Return: how many these are */
static size_t add_level(struct sql_pages *pages, struct sql_child *children, size_t nr)
{
	size_t nr_above = (nr + MAX_CHILDREN - 1) / MAX_CHILDREN, first = 0;

	for (size_t i = 0; i < nr_above; i++) {
		unsigned char page[SQL_PAGE_BYTES] = {};
		size_t end = nr * (i + 1) / nr_above; /* as many to each */

		put_inner(page, 0, children + first, end - first);
		children[i] = (struct sql_child){.page = sql_pages__add(pages, page),
						 .last = children[end - 1].last};
		first = end;
	}
	return nr_above;
}

/* All rows are in one page, which is the root. */
static void put_only_leaf(const struct sql_tree *tree, unsigned char *root,
			  unsigned int offset)
{
	memcpy(root + offset + LEAF_HEADER_BYTES, tree->page + LEAF_HEADER_BYTES,
	       2 * (size_t)tree->nr_cells);
	memcpy(root + SQL_PAGE_BYTES - tree->nr_cell_bytes,
	       tree->page + SQL_PAGE_BYTES - tree->nr_cell_bytes, tree->nr_cell_bytes);
	put_head(root, offset, TYPE_LEAF, tree->nr_cells, tree->nr_cell_bytes);
}

int sql_tree__finish(struct sql_tree *tree, struct sql_pages *pages, unsigned char *root,
		     unsigned int offset)
{
	size_t nr;

	memset(root + offset, 0, SQL_PAGE_BYTES - offset);
	if (!tree->nr_leaves && has_room(tree, offset)) {
		put_only_leaf(tree, root, offset);
		return 0;
	}
	if (write_leaf(tree, pages))
		return -ENOMEM;
	for (nr = tree->nr_leaves; nr > MAX_CHILDREN;)
		nr = add_level(pages, tree->leaves, nr);
	put_inner(root, offset, tree->leaves, nr);
	return 0;
}

void sql_tree__release(struct sql_tree *tree)
{
	free(tree->leaves);
	tree->leaves = NULL;
}
