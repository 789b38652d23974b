// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A SQLite file ("Database File Format", sqlite.org/fileformat2.html), written from its
 * beginning to its end: SQLite itself takes three times as long for a launch as all else.
 *
 *	page 1         a head of 100 bytes, and the root of sqlite_schema, which has a row for
 *	               each table: its name, its root's page, its CREATE TABLE
 *	the next ones  the tables' roots, in the order of their numbers
 *	all others     leaves, as they are filled; then what is above them
 *
 * Roots are known last, so their pages are written again at the end.
 */
#include "sink/nsys_database.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sink/out_file.h"
#include "sink/sql_pages.h"
#include "sink/sql_tree.h"
#include "util/log.h"

#define HEAD_BYTES 100

struct nsys_database {
	struct sql_pages pages;
	struct sql_tree schema, tables[NR_NSYS_TABLES];
	int64_t nr_rows[NR_NSYS_TABLES];
	struct sql_record record;
};

static uint32_t root_of(enum nsys_table table)
{
	return 2 + (uint32_t)table;
}

static int no_memory(void)
{
	pr_err("no memory to write the database; fewer events (-e) need less");
	return -ENOMEM;
}

/* Add what is in the record. */
static int add_record(struct nsys_database *database, struct sql_tree *tree,
		      int64_t number)
{
	if (sql_tree__add(tree, &database->pages, &database->record, number))
		return no_memory();
	return out_file__error(database->pages.file);
}

int nsys_database__add(struct nsys_database *database, enum nsys_table table,
		       const struct sql_value *row)
{
	const struct nsys_table_format *format = &nsys_tables[table];
	int64_t number = format->has_key ? row[0].number : ++database->nr_rows[table];

	if (sql_record__make(&database->record, row, format->nr_columns,
			     format->nr_unknown, format->has_key))
		return no_memory();
	return add_record(database, &database->tables[table], number);
}

/* A row of sqlite_schema */
static int add_schema(struct nsys_database *database, enum nsys_table table)
{
	const struct nsys_table_format *format = &nsys_tables[table];
	char *statement;
	int err;

	if (asprintf(&statement, "CREATE TABLE %s (%s)", format->name, format->columns) <
	    0)
		return no_memory();
	err = sql_record__make(&database->record,
			       (const struct sql_value[]){
				       SQL_TEXT("table"),
				       SQL_TEXT(format->name),
				       SQL_TEXT(format->name),
				       SQL_NUMBER(root_of(table)),
				       SQL_TEXT(statement),
			       },
			       5, 0, false);
	free(statement);
	if (err)
		return no_memory();
	return add_record(database, &database->schema, 1 + (int64_t)table);
}

static int make_tables(struct nsys_database *database)
{
	static const unsigned char nothing[SQL_PAGE_BYTES];
	int err = 0;

	database->pages.lock_page = SQL_LOCK_PAGE;
	for (uint32_t i = 0; i < root_of(NR_NSYS_TABLES) - 1; i++)
		sql_pages__add(&database->pages, nothing);
	for (enum nsys_table table = 0; table < NR_NSYS_TABLES && !err; table++)
		err = add_schema(database, table);
	for (unsigned int i = 0; i < nsys_nr_enums && !err; i++)
		err = nsys_database__add(database, nsys_enums[i].table,
					 (const struct sql_value[]){
						 SQL_NUMBER(nsys_enums[i].id),
						 SQL_TEXT(nsys_enums[i].name),
						 SQL_TEXT(nsys_enums[i].label),
					 });
	return err;
}

int nsys_database__open(const char *path, struct nsys_database **ret)
{
	struct nsys_database *database;
	int err;

	if (!strcmp(path, "-")) {
		pr_err("a database can't be written to a pipe: name a file with -o");
		return -EINVAL;
	}
	database = calloc(1, sizeof(*database));
	if (!database) {
		pr_err("no memory to write %s", path);
		return -ENOMEM;
	}
	err = out_file__open(path, &database->pages.file);
	if (!err)
		err = make_tables(database);
	if (err) {
		nsys_database__close(database);
		return err;
	}
	*ret = database;
	return 0;
}

void nsys_database__close(struct nsys_database *database)
{
	if (!database)
		return;
	for (enum nsys_table table = 0; table < NR_NSYS_TABLES; table++)
		sql_tree__release(&database->tables[table]);
	sql_tree__release(&database->schema);
	out_file__close(database->pages.file);
	free(database->record.bytes);
	free(database);
}

/* The head: what isn't named is 0. */
static void put_head(unsigned char *page, uint32_t nr_pages)
{
	static const char magic[16] = "SQLite format 3";

	memset(page, 0, HEAD_BYTES);
	memcpy(page, magic, sizeof(magic));
	sql_pages__put16(page + 16, SQL_PAGE_BYTES);
	page[18] = page[19] = 1; /* no write-ahead log */
	page[21] = 64; /* these three are always so */
	page[22] = page[23] = 32;
	sql_pages__put32(page + 24, 1); /* how often it was changed */
	sql_pages__put32(page + 28, nr_pages);
	sql_pages__put32(page + 40, 1); /* how often its tables were */
	sql_pages__put32(page + 44, 4); /* the format that has 0 and 1 of no bytes */
	sql_pages__put32(page + 56, 1); /* UTF-8 */
	sql_pages__put32(page + 92, 1); /* the change that the number of pages is of, */
	sql_pages__put32(page + 96, 3007000); /* by a version that writes it */
}

static int finish_tree(struct nsys_database *database, struct sql_tree *tree,
		       uint32_t root)
{
	unsigned char page[SQL_PAGE_BYTES];
	unsigned int offset = root == 1 ? HEAD_BYTES : 0;

	if (sql_tree__finish(tree, &database->pages, page, offset))
		return no_memory();
	/* The schema is finished last: all pages are there then. */
	if (offset)
		put_head(page, database->pages.nr);
	out_file__rewrite(database->pages.file, (uint64_t)(root - 1) * SQL_PAGE_BYTES,
			  page, sizeof(page));
	return out_file__error(database->pages.file);
}

int nsys_database__finish(struct nsys_database *database)
{
	int err = 0;

	for (enum nsys_table table = 0; table < NR_NSYS_TABLES && !err; table++)
		err = finish_tree(database, &database->tables[table], root_of(table));
	if (!err)
		err = finish_tree(database, &database->schema, 1);
	return err ? err : out_file__finish(database->pages.file);
}
