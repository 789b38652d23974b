// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Turns the records of all logs into tables, but for activities, which stay where they are.
 *
 *   file ── blocks, of any log in any order ── records
 *                                                │ ids of the log
 *   log_reader, one per log: id → string, shape ─┤
 *                                                ▼ pointers and indexes
 *                                             sidecar's tables
 *
 * Invariant: a log that broke the format is read no further, since its ids can't
 * be trusted any more. What precedes the broken record stays.
 *
 * One thread.
 */
#include "sidecar/sidecar.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "sidecar/blocks.h"
#include "sidecar/records.h"
#include "sidecar/table.h"
#include "util/log.h"

struct reader {
	const char *path;
	struct sidecar *sidecar;
	void *logs; /* tsearch(3) tree of struct log_reader */
	struct log_reader *last; /* whose block was read last; NULL: none */
};

static int compare_log_ids(const void *a, const void *b)
{
	const struct log_reader *x = a, *y = b;

	return (x->log_id > y->log_id) - (x->log_id < y->log_id);
}

static void delete_log(void *node)
{
	log_reader__delete(node);
}

static int reader__add_log(struct reader *reader, uint64_t log_id)
{
	struct sidecar *sidecar = reader->sidecar;
	struct log_reader *log = calloc(1, sizeof(*log));
	struct sidecar_log *place;
	struct sidecar_ids *ids;

	if (!log)
		return -ENOMEM;
	log->log_id = log_id;
	log->log = (uint32_t)sidecar->nr_logs;
	if (!tsearch(log, &reader->logs, compare_log_ids)) {
		free(log);
		return -ENOMEM;
	}
	ids = table__grow(sidecar->ids, sidecar->nr_logs, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	sidecar->ids = ids;
	ids[sidecar->nr_logs] = (struct sidecar_ids){0};
	place = TABLE_APPEND(sidecar->logs, sidecar->nr_logs);
	if (!place)
		return -ENOMEM;
	*place = (struct sidecar_log){
		.log_id = log_id,
		.events = GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_KERNEL),
		.kinds = GPU_LOG_KIND_BIT(GPU_LOG_KIND_KERNEL),
	};
	reader->last = log;
	return 0;
}

/* Make reader->last the log of that id. */
static int reader__find_log(struct reader *reader, uint64_t log_id)
{
	struct log_reader key = {.log_id = log_id}, **found;

	if (reader->last && reader->last->log_id == log_id)
		return 0;
	found = tfind(&key, &reader->logs, compare_log_ids);
	if (!found)
		return reader__add_log(reader, log_id);
	reader->last = *found;
	return 0;
}

/* Damage is of the log before it or of the one behind it, which nobody can tell. */
static void reader__cut_last(struct reader *reader)
{
	if (reader->last)
		reader->sidecar->logs[reader->last->log].is_cut = true;
}

/* The block says that it can be read, and is of this recording. */
static int reader__check_block(struct reader *reader, const struct gpu_log_block *block)
{
	struct sidecar *sidecar = reader->sidecar;

	if (block->version > GPU_LOG_VERSION) {
		pr_err("%s is in version %u of the format, this perf-gpu reads version "
		       "%u: a later perf-gpu is needed",
		       reader->path, block->version, GPU_LOG_VERSION);
		return -ENOTSUP;
	}
	if (sidecar->session && sidecar->session != block->session) {
		pr_err("%s has logs of two recordings in it (sessions %016llx and "
		       "%016llx)",
		       reader->path, (unsigned long long)sidecar->session,
		       (unsigned long long)block->session);
		return -EXDEV;
	}
	sidecar->session = block->session;
	return 0;
}

static int reader__take_block(struct reader *reader, const struct gpu_log_block *block,
			      bool is_behind_damage)
{
	int err;

	err = reader__check_block(reader, block);
	if (err)
		return err;
	if (!block->log_id) {
		err = log_reader__take_block(NULL, reader->sidecar, block);
		if (err == -EINVAL)
			pr_warning("%s: what the recorder said of losses is broken, and "
				   "ignored",
				   reader->path);
		return err == -EINVAL ? 0 : err;
	}
	err = reader__find_log(reader, block->log_id);
	if (err)
		return err;
	if (is_behind_damage)
		reader__cut_last(reader);
	if (reader->last->is_broken)
		return 0;
	err = log_reader__take_block(reader->last, reader->sidecar, block);
	if (err != -EINVAL)
		return err;
	reader->last->is_broken = true;
	reader__cut_last(reader);
	return 0;
}

static void reader__tell_damage(const struct reader *reader,
				const struct block_cursor *cursor)
{
	const struct sidecar *sidecar = reader->sidecar;
	size_t nr_cut = 0;

	for (size_t i = 0; i < sidecar->nr_logs; i++)
		nr_cut += sidecar->logs[i].is_cut;
	if (cursor->nr_bytes_skipped)
		pr_warning("%s is damaged: %llu bytes at and behind byte %zu can't be "
			   "read; GPU records of %zu processes may be missing",
			   reader->path, (unsigned long long)cursor->nr_bytes_skipped,
			   cursor->skipped_offset, nr_cut);
	else if (nr_cut)
		pr_warning("%s breaks the format in the logs of %zu processes: GPU "
			   "records of theirs are missing",
			   reader->path, nr_cut);
}

static int reader__run(struct reader *reader)
{
	const struct gpu_log_block *block;
	struct block_cursor cursor = {0};
	int err;

	while ((block = sidecar_file__next_block(reader->sidecar->file, &cursor))) {
		if (cursor.has_skipped)
			reader__cut_last(reader);
		err = reader__take_block(reader, block, cursor.has_skipped);
		if (err)
			return err;
	}
	if (!reader->sidecar->session) {
		pr_err("%s has no GPU records in it: it is something else, or damaged "
		       "from the beginning",
		       reader->path);
		return -EINVAL;
	}
	if (cursor.has_skipped)
		reader__cut_last(reader);
	reader__tell_damage(reader, &cursor);
	return 0;
}

static int compare_apis(const void *a, const void *b)
{
	const struct sidecar_api *x = a, *y = b;

	if (x->log != y->log)
		return x->log < y->log ? -1 : 1;
	return (x->api > y->api) - (x->api < y->api);
}

static int compare_pythons(const void *a, const void *b)
{
	const struct sidecar_python *x = a, *y = b;

	if (x->log != y->log)
		return x->log < y->log ? -1 : 1;
	return (x->code > y->code) - (x->code < y->code);
}

int sidecar__open(const char *path, struct sidecar **ret)
{
	return sidecar__open_fd(-1, path, ret);
}

int sidecar__open_fd(int fd, const char *path, struct sidecar **ret)
{
	struct sidecar *sidecar = calloc(1, sizeof(*sidecar));
	struct reader reader = {.path = path, .sidecar = sidecar};
	int err = -ENOMEM;

	if (sidecar) {
		err = fd < 0 ? sidecar_file__open(path, &sidecar->file)
			     : sidecar_file__open_fd(fd, path, &sidecar->file);
		if (err)
			goto out;
		err = reader__run(&reader);
	}
	if (err == -ENOMEM)
		pr_err("no memory to read %s", path);
	if (err)
		goto out;
	if (sidecar->nr_apis)
		qsort(sidecar->apis, sidecar->nr_apis, sizeof(*sidecar->apis),
		      compare_apis);
	if (sidecar->nr_pythons)
		qsort(sidecar->pythons, sidecar->nr_pythons, sizeof(*sidecar->pythons),
		      compare_pythons);
	*ret = sidecar;
	sidecar = NULL;
out:
	tdestroy(reader.logs, delete_log);
	sidecar__close(sidecar);
	return err;
}

void sidecar__close(struct sidecar *sidecar)
{
	if (!sidecar)
		return;
	for (size_t i = 0; sidecar->ids && i < sidecar->nr_logs; i++) {
		free(sidecar->ids[i].shapes);
		free(sidecar->ids[i].operations);
	}
	free(sidecar->ids);
	free(sidecar->blocks);
	free(sidecar->logs);
	free(sidecar->shapes);
	free(sidecar->activities);
	free(sidecar->devices);
	free(sidecar->apis);
	for (size_t i = 0; i < sidecar->nr_pythons; i++)
		free((char *)sidecar->pythons[i].name);
	free(sidecar->pythons);
	free(sidecar->api_calls);
	free(sidecar->messages);
	free(sidecar->nvtx);
	free(sidecar->graph_nodes);
	free(sidecar->jits);
	sidecar_file__close(sidecar->file);
	free(sidecar);
}

const void *sidecar__file(const struct sidecar *sidecar, size_t *ret_bytes)
{
	*ret_bytes = sidecar->file->bytes;
	return sidecar->file->data;
}

const char *sidecar__api_name(const struct sidecar *sidecar, uint32_t log, uint32_t api)
{
	const struct sidecar_api key = {.log = log, .api = api}, *found = NULL;

	if (sidecar->nr_apis)
		found = bsearch(&key, sidecar->apis, sidecar->nr_apis,
				sizeof(*sidecar->apis), compare_apis);
	return found ? found->name : NULL;
}

const struct sidecar_python *sidecar__python(const struct sidecar *sidecar, uint32_t log,
					     uint32_t code)
{
	const struct sidecar_python key = {.log = log, .code = code};

	if (!sidecar->nr_pythons)
		return NULL;
	return bsearch(&key, sidecar->pythons, sidecar->nr_pythons,
		       sizeof(*sidecar->pythons), compare_pythons);
}
