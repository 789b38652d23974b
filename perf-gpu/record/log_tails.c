// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/log_tails.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "util/log.h"

/* A log that hasn't grown for so many looks may be one of a process that has ended. */
#define IDLE_LOOKS 4

static int compare_names(const void *a, const void *b)
{
	const struct log_tail *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static bool has_name(const struct log_tails *tails, char *name)
{
	const struct log_tail key = {.name = name};

	return tfind(&key, &tails->by_name, compare_names);
}

static void delete_tail(struct log_tails *tails, struct log_tail *tail)
{
	if (tail->name)
		tdelete(tail, &tails->by_name, compare_names);
	log_file__close(&tail->file);
	log_state__release(&tail->state);
	perfdata_buffer__release(&tail->makers);
	free(tail->name);
	free(tail);
}

/* Those without an id are in front. */
static int insert(struct log_tails *tails, struct log_tail *tail)
{
	size_t at = 0;
	int err = array__grow(&tails->tails, tails->nr, &tails->capacity, sizeof(tail));

	if (err)
		return err;
	while (at < tails->nr && tails->tails[at]->log_id < tail->log_id)
		at++;
	memmove(&tails->tails[at + 1], &tails->tails[at],
		(tails->nr - at) * sizeof(*tails->tails));
	tails->tails[at] = tail;
	tails->nr++;
	return 0;
}

static void set_id(struct log_tails *tails, struct log_tail *tail, uint64_t log_id)
{
	size_t at = 0;

	while (tails->tails[at] != tail)
		at++;
	tails->nr--;
	memmove(&tails->tails[at], &tails->tails[at + 1],
		(tails->nr - at) * sizeof(*tails->tails));
	tail->log_id = log_id;
	insert(tails, tail); /* there is room */
}

/* Space can be given back only by who may write. */
static int add_log(struct log_tails *tails, const char *name)
{
	struct log_tail *tail = calloc(1, sizeof(*tail));
	struct stat st;
	int fd, err = -ENOMEM;

	if (!tail)
		return err;
	fd = spool__open_grown_log(tails->spool, name, &tails->warnings);
	tail->file = log_file__new(fd, tails->session);
	tail->file.is_growing = true;
	tail->is_broken = fd < 0; /* which has been told */
	if (fd >= 0 && !fstat(fd, &st))
		tail->uid = st.st_uid;
	tail->name = strdup(name);
	if (tail->name && tsearch(tail, &tails->by_name, compare_names))
		err = insert(tails, tail);
	if (err)
		delete_tail(tails, tail);
	return err;
}

/*
 * The names of logs in the spool are few, and those that were read are removed once their
 * process has ended.
 */
static int add_new_logs(struct log_tails *tails)
{
	struct spool_names names;
	int err;

	err = spool__list(tails->spool, SPOOL_LOG_SUFFIX, &names);
	if (err)
		return err;
	for (size_t i = 0; i < names.nr_names && !err; i++)
		if (!has_name(tails, names.names[i]))
			err = add_log(tails, names.names[i]);
	if (err)
		pr_err("no memory for the logs of %zu processes", tails->nr);
	spool_names__release(&names);
	return err;
}

int log_tails__look(struct log_tails *tails)
{
	int err = add_new_logs(tails);

	for (size_t i = 0; i < tails->nr; i++) {
		struct log_tail *tail = tails->tails[i];
		struct stat st;

		if (tail->file.fd >= 0 && !fstat(tail->file.fd, &st))
			tail->file.limit = st.st_size;
	}
	return err;
}

static void end_tail(struct log_tails *tails, struct log_tail *tail)
{
	struct stat st;

	if (!tail->is_broken && !tail->file.next && !fstat(tail->file.fd, &st))
		tails->nr_empty++;
	tail->is_over = true;
	log_file__close(&tail->file);
}

static void tell_broken(struct log_tails *tails, struct log_tail *tail, int err)
{
	tail->is_broken = true;
	tails->nr_cut++;
	if (log_limit__take(&tails->warnings))
		pr_warning("the GPU log %s %s: %s", tail->name,
			   log_file__what(err, tail->log_id != 0),
			   log_file__strerror(err));
}

static void free_read(struct log_tails *tails, struct log_tail *tail)
{
	int err;

	if (tails->is_stuck)
		return;
	err = log_file__free_read(&tail->file);
	if (!err)
		return;
	tails->is_stuck = true;
	pr_warning(
		"the file system of %s can't give back what was read (%s): GPU records "
		"take room there until the end",
		tails->spool->path, strerror(-err));
}

static int read_tail(struct log_tails *tails, struct log_tail *tail,
		     int (*take)(void *ctx, struct log_tail *tail,
				 const struct gpu_log_block *block),
		     void *ctx)
{
	int got = 0, err = 0;

	while (!err && (got = log_file__next(&tail->file)) > 0) {
		const struct gpu_log_block *block = tail->file.block;

		tail->nr_idle = 0;
		if (!tail->log_id) {
			tails->nr_logs++;
			set_id(tails, tail, block->log_id);
		}
		err = tail->log_id == block->log_id ? take(ctx, tail, block) : -EINVAL;
	}
	if (err == -EINVAL)
		got = err;
	if (got == -ENOMEM || (err && err != -EINVAL))
		return err ? err : got;
	if (got < 0)
		tell_broken(tails, tail, got);
	free_read(tails, tail);
	return 0;
}

int log_tails__read(struct log_tails *tails, bool is_last,
		    int (*take)(void *ctx, struct log_tail *tail,
				const struct gpu_log_block *block),
		    void *ctx)
{
	int err = 0;

	/* Getting its id, a log gets another place, where it may be read once more. */
	for (size_t i = 0; i < tails->nr && !err; i++) {
		struct log_tail *tail = tails->tails[i];
		bool is_new = !tail->log_id;

		if (tail->file.fd < 0)
			continue;
		tail->file.is_growing = !is_last;
		tail->nr_idle++;
		if (!tail->is_broken)
			err = read_tail(tails, tail, take, ctx);
		if (err == -ENOMEM)
			pr_err("no memory to read the GPU log %s", tail->name);
		if (is_new && tail->log_id && tails->tails[i] != tail)
			i--;
		if (!err && tail->nr_idle > IDLE_LOOKS &&
		    spool__has_ended(tail->file.fd, tail->has_end, tail->scan.pid)) {
			/* What came behind the look, or comes now, is still to be read. */
			struct stat st;

			if (tails->tallies)
				tallies__complete(tails->tallies, tail->log_id);
			if (!fstat(tail->file.fd, &st) && !tail->is_broken &&
			    st.st_size > tail->file.limit)
				continue;
			unlinkat(tails->spool->dir_fd, tail->name, 0);
			end_tail(tails, tail);
		}
	}
	return err;
}

struct log_tail *log_tails__find(const struct log_tails *tails, uint64_t log_id)
{
	size_t low = 0, high = tails->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tails->tails[middle]->log_id < log_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < tails->nr && tails->tails[low]->log_id == log_id ? tails->tails[low]
								      : NULL;
}

void log_tails__forget(struct log_tails *tails, size_t index)
{
	delete_tail(tails, tails->tails[index]);
	tails->nr--;
	memmove(&tails->tails[index], &tails->tails[index + 1],
		(tails->nr - index) * sizeof(*tails->tails));
}

void log_tails__release(struct log_tails *tails)
{
	for (size_t i = 0; i < tails->nr; i++)
		delete_tail(tails, tails->tails[i]);
	free(tails->tails);
	*tails = (struct log_tails){0};
}
