// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One transaction without a journal: the file is nobody's until it is whole, and then it is
 * renamed.
 *
 * SQLite's inserts take longer than all else, so a thread makes them: rows are packed into
 * buffers, which it unpacks. Between these, and once all of them are done, SQLite is ours.
 *
 *	struct packed_row   a number for each column; of a text, its length
 *	                    the texts, each with a 0 behind it, up to a multiple of 8 bytes
 */
#include "sink/nsys_database.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/log.h"
#include "util/temporary.h"
#include "util/write_behind.h"

/* A prepared INSERT; its parameters keep the values that they were given last. */
struct insert {
	sqlite3_stmt *statement;
	struct nsys_value *row; /* the last one; at first all is NULL, as in SQLite */
};

struct packed_row {
	uint32_t table;
	uint32_t texts; /* bit i: column i is a text */
	int64_t numbers[];
};

#define MAX_COLUMNS  32
#define BUFFER_BYTES (256u << 10) /* as sink/out_file.c has it */

struct nsys_database {
	char *path, *temp_path;
	bool has_temp;
	sqlite3 *file;
	struct insert inserts[NR_NSYS_TABLES];
	struct write_behind *behind; /* NULL: no thread could be had */
	size_t nr_packed; /* bytes in its buffer */
};

static int fail(struct nsys_database *database)
{
	int status = sqlite3_errcode(database->file);
	int system_error = sqlite3_system_errno(database->file);

	if (system_error && status != SQLITE_NOMEM)
		pr_err("cannot write %s: %s (%s)", database->path,
		       sqlite3_errmsg(database->file), strerror(system_error));
	else
		pr_err("cannot write %s: %s", database->path,
		       sqlite3_errmsg(database->file));
	return status == SQLITE_NOMEM ? -ENOMEM : status == SQLITE_FULL ? -ENOSPC : -EIO;
}

static int run(struct nsys_database *database, const char *statement)
{
	if (sqlite3_exec(database->file, statement, NULL, NULL, NULL) != SQLITE_OK)
		return fail(database);
	return 0;
}

static int make_row(struct nsys_database *database, enum nsys_table table)
{
	unsigned int nr = nsys_tables[table].nr_columns;
	struct nsys_value *row = calloc(nr, sizeof(*row));

	if (!row) {
		pr_err("no memory to write %s", database->path);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < nr; i++)
		row[i] = NSYS_NOTHING;
	database->inserts[table].row = row;
	return 0;
}

static int prepare(struct nsys_database *database, enum nsys_table table)
{
	const struct nsys_table_format *format = &nsys_tables[table];
	char statement[1024];
	size_t nr;
	int err;

	snprintf(statement, sizeof(statement), "CREATE TABLE %s (%s)", format->name,
		 format->columns);
	err = run(database, statement);
	if (err)
		return err;
	nr = (size_t)snprintf(statement, sizeof(statement), "INSERT INTO %s VALUES (?",
			      format->name);
	for (unsigned int i = 1; i < format->nr_columns; i++)
		nr += (size_t)snprintf(statement + nr, sizeof(statement) - nr, ",?");
	for (unsigned int i = 0; i < format->nr_unknown; i++)
		nr += (size_t)snprintf(statement + nr, sizeof(statement) - nr, ",NULL");
	snprintf(statement + nr, sizeof(statement) - nr, ")");
	if (sqlite3_prepare_v3(database->file, statement, -1, SQLITE_PREPARE_PERSISTENT,
			       &database->inserts[table].statement, NULL) != SQLITE_OK)
		return fail(database);
	return make_row(database, table);
}

static int make_tables(struct nsys_database *database)
{
	int err = run(database, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
				"BEGIN");

	for (enum nsys_table table = 0; table < NR_NSYS_TABLES && !err; table++)
		err = prepare(database, table);
	for (unsigned int i = 0; i < nsys_nr_enums && !err; i++) {
		const struct nsys_value row[] = {
			NSYS_NUMBER(nsys_enums[i].id),
			NSYS_TEXT(nsys_enums[i].name),
			NSYS_TEXT(nsys_enums[i].label),
		};

		err = nsys_database__add(database, nsys_enums[i].table, row);
	}
	return err;
}

/* A rename onto /dev/null would replace it. */
static int check_target(const char *path)
{
	struct stat st;

	if (!strcmp(path, "-")) {
		pr_err("a database can't be written to a pipe: name a file with -o");
		return -EINVAL;
	}
	if (stat(path, &st) || S_ISREG(st.st_mode))
		return 0;
	pr_err("cannot write %s: it is not a regular file, name another with -o", path);
	return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
}

/* An empty file is an empty database. */
static int make_temporary(struct nsys_database *database)
{
	mode_t mask = umask(0);
	int fd, err = 0;

	umask(mask);
	fd = temporary__make(database->temp_path);
	if (fd < 0 || fchmod(fd, 0666 & ~mask)) {
		err = fd < 0 ? fd : -errno;
		pr_err("cannot make %s: %s, choose another place with -o", database->path,
		       strerror(-err));
	}
	database->has_temp = fd >= 0;
	if (fd >= 0)
		close(fd);
	return err;
}

/* One thread at a time has the connection: it needs no lock, which each call would take. */
static int open_file(struct nsys_database *database)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;

	/* To count each allocation under a lock takes 8 % of the time. Too late, it is refused. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	if (sqlite3_open_v2(database->temp_path, &database->file, flags, NULL) !=
	    SQLITE_OK)
		return fail(database);
	return 0;
}

/* A text's bytes may be others by now, so it is never taken for the same. */
static bool is_same(const struct nsys_value *a, const struct nsys_value *b)
{
	return !a->text && !b->text && a->number == b->number;
}

static int bind(sqlite3_stmt *statement, int at, const struct nsys_value *value)
{
	if (value->text)
		return sqlite3_bind_text(statement, at, value->text, -1, SQLITE_STATIC);
	if (value->number == NSYS_NULL)
		return sqlite3_bind_null(statement, at);
	return sqlite3_bind_int64(statement, at, value->number);
}

/* 0, or -EIO: fail() tells what it was. */
static int insert_row(struct nsys_database *database, enum nsys_table table,
		      const struct nsys_value *row)
{
	struct insert *insert = &database->inserts[table];
	int status = SQLITE_OK;

	for (unsigned int i = 0; i < nsys_tables[table].nr_columns; i++) {
		if (is_same(&insert->row[i], &row[i]))
			continue;
		status |= bind(insert->statement, (int)i + 1, &row[i]);
		insert->row[i] = row[i];
	}
	if (status != SQLITE_OK || sqlite3_step(insert->statement) != SQLITE_DONE)
		return -EIO;
	sqlite3_reset(insert->statement);
	return 0;
}

/* --- the thread ------------------------------------------------------------------------- */

static size_t round_up(size_t nr_bytes)
{
	return (nr_bytes + 7) & ~(size_t)7;
}

static size_t packed_bytes(enum nsys_table table, const struct nsys_value *row)
{
	size_t nr_columns = nsys_tables[table].nr_columns, nr_text_bytes = 0;

	for (size_t i = 0; i < nr_columns; i++)
		if (row[i].text)
			nr_text_bytes += strlen(row[i].text) + 1;
	return sizeof(struct packed_row) + nr_columns * sizeof(int64_t) +
	       round_up(nr_text_bytes);
}

static void pack(struct packed_row *packed, enum nsys_table table,
		 const struct nsys_value *row)
{
	unsigned int nr_columns = nsys_tables[table].nr_columns;
	char *texts = (char *)&packed->numbers[nr_columns];

	packed->table = table;
	packed->texts = 0;
	for (unsigned int i = 0; i < nr_columns; i++) {
		packed->numbers[i] = row[i].number;
		if (!row[i].text)
			continue;
		packed->numbers[i] = (int64_t)strlen(row[i].text);
		packed->texts |= 1u << i;
		texts = mempcpy(texts, row[i].text, (size_t)packed->numbers[i] + 1);
	}
}

/* Return: how many bytes it was in */
static size_t unpack(const struct packed_row *packed, struct nsys_value *row)
{
	unsigned int nr_columns = nsys_tables[packed->table].nr_columns;
	const char *texts = (const char *)&packed->numbers[nr_columns], *first = texts;

	for (unsigned int i = 0; i < nr_columns; i++) {
		if (packed->texts & 1u << i) {
			row[i] = NSYS_TEXT(texts);
			texts += packed->numbers[i] + 1;
		} else {
			row[i] = NSYS_NUMBER(packed->numbers[i]);
		}
	}
	return sizeof(*packed) + nr_columns * sizeof(int64_t) +
	       round_up((size_t)(texts - first));
}

static int insert_packed(void *data, const unsigned char *bytes, size_t nr)
{
	struct nsys_value row[MAX_COLUMNS];
	int err = 0;

	for (size_t at = 0; at < nr && !err;) {
		const struct packed_row *packed = (const void *)(bytes + at);

		at += unpack(packed, row);
		err = insert_row(data, packed->table, row);
	}
	return err;
}

/* --- the file --------------------------------------------------------------------------- */

int nsys_database__open(const char *path, struct nsys_database **ret)
{
	struct nsys_database *database;
	int err = check_target(path);

	if (err)
		return err;
	database = calloc(1, sizeof(*database));
	if (!database)
		goto no_memory;
	database->path = strdup(path);
	if (asprintf(&database->temp_path, "%s.XXXXXX", path) < 0)
		database->temp_path = NULL;
	if (!database->path || !database->temp_path)
		goto no_memory;
	err = make_temporary(database);
	if (!err)
		err = open_file(database);
	if (!err)
		err = make_tables(database);
	/* Without a thread it takes longer. */
	if (!err && write_behind__new_by(insert_packed, database, BUFFER_BYTES,
					 &database->behind))
		database->behind = NULL;
	if (err) {
		nsys_database__close(database);
		return err;
	}
	*ret = database;
	return 0;
no_memory:
	pr_err("no memory to write %s", path);
	nsys_database__close(database);
	return -ENOMEM;
}

static void close_file(struct nsys_database *database)
{
	for (enum nsys_table table = 0; table < NR_NSYS_TABLES; table++) {
		sqlite3_finalize(database->inserts[table].statement);
		free(database->inserts[table].row);
		database->inserts[table] = (struct insert){.statement = NULL};
	}
	sqlite3_close(database->file);
	database->file = NULL;
}

void nsys_database__close(struct nsys_database *database)
{
	if (!database)
		return;
	write_behind__delete(database->behind);
	close_file(database);
	if (database->has_temp)
		temporary__remove(database->temp_path);
	free(database->temp_path);
	free(database->path);
	free(database);
}

/* After an error the thread does nothing more: what SQLite says is of that. */
static int fail_drained(struct nsys_database *database)
{
	if (database->behind)
		write_behind__drain(database->behind);
	return fail(database);
}

static int pass_on(struct nsys_database *database)
{
	int err = write_behind__put(database->behind, database->nr_packed);

	database->nr_packed = 0;
	return err;
}

/* The thread has nothing to do then. */
static int drain(struct nsys_database *database)
{
	int err = 0;

	if (database->behind)
		err = pass_on(database);
	if (database->behind && !err)
		err = write_behind__drain(database->behind);
	return err;
}

static int add_packed(struct nsys_database *database, enum nsys_table table,
		      const struct nsys_value *row, size_t nr_bytes)
{
	int err = 0;

	if (nr_bytes > BUFFER_BYTES - database->nr_packed)
		err = pass_on(database);
	pack((void *)(write_behind__buffer(database->behind) + database->nr_packed),
	     table, row);
	database->nr_packed += nr_bytes;
	return err;
}

int nsys_database__add(struct nsys_database *database, enum nsys_table table,
		       const struct nsys_value *row)
{
	size_t nr_bytes = packed_bytes(table, row);
	int err;

	if (database->behind && nr_bytes <= BUFFER_BYTES) {
		err = add_packed(database, table, row, nr_bytes);
	} else {
		err = drain(database);
		if (!err)
			err = insert_row(database, table, row);
	}
	return err ? fail_drained(database) : 0;
}

int nsys_database__finish(struct nsys_database *database)
{
	int err = drain(database);

	if (err)
		return fail_drained(database);
	err = run(database, "COMMIT");
	if (err)
		return err;
	close_file(database);
	err = temporary__rename(database->temp_path, database->path);
	if (err) {
		pr_err("cannot rename %s to %s: %s", database->temp_path, database->path,
		       strerror(-err));
		return err;
	}
	database->has_temp = false;
	return 0;
}
