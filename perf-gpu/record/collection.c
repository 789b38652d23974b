// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/collection.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/log_file.h"
#include "util/gpu_log_cursor.h"
#include "util/log.h"

struct collection {
	const char *path;
	char temporary[PATH_MAX]; /* "" once it has its name */
	int fd;
	uint64_t session;
	struct collection_counts counts;
	struct log_scan scan;
};

int collection__open(const char *path, uint64_t session, struct collection **ret)
{
	struct collection *collection;
	int err;

	collection = calloc(1, sizeof(*collection));
	if (!collection) {
		pr_err("no memory to write %s", path);
		return -ENOMEM;
	}
	collection->path = path;
	collection->session = session;
	if (snprintf(collection->temporary, PATH_MAX, "%s.XXXXXX", path) >= PATH_MAX) {
		collection->fd = -1;
		errno = ENAMETOOLONG;
	} else {
		collection->fd = mkostemp(collection->temporary, O_CLOEXEC);
	}
	if (collection->fd < 0) {
		err = -errno;
		pr_err("can't create %s: %s; name a place to write to with -o", path,
		       strerror(-err));
		free(collection);
		return err;
	}
	*ret = collection;
	return 0;
}

static int write_whole(struct collection *collection, const void *data, size_t bytes)
{
	const char *at = data;

	while (bytes) {
		ssize_t nr = write(collection->fd, at, bytes);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0) {
			int err = -errno;

			pr_err("can't write %s: %s", collection->path, strerror(-err));
			return err;
		}
		at += nr;
		bytes -= (size_t)nr;
		collection->counts.bytes += (uint64_t)nr;
	}
	return 0;
}

/* Return: 0, or -errno, printed, if the sidecar can't be made. */
static int copy_blocks(struct collection *collection, struct log_file *file,
		       const char *name, const struct launch_counts *launches)
{
	bool is_empty = true;
	uint64_t log_id = 0; /* of all its blocks; a made-up log may have several */
	int got, err;

	log_scan__begin_log(&collection->scan);
	while ((got = log_file__next(file)) > 0) {
		got = log_scan__block(&collection->scan, log_file__payload(file),
				      file->block->payload_bytes);
		if (got)
			break;
		err = write_whole(collection, file->block,
				  sizeof(*file->block) + file->block->payload_bytes);
		if (err)
			return err;
		is_empty = false;
		log_id = file->block->log_id;
	}
	log_scan__end_log(&collection->scan, launch_counts__of(launches, log_id));
	if (!is_empty)
		collection->counts.nr_logs++;
	else if (!got)
		collection->counts.nr_empty_logs++;
	if (got == -ENOMEM) {
		pr_err("no memory to read the GPU log %s", name);
		return got;
	}
	if (got < 0) {
		collection->counts.nr_cut_logs++;
		pr_warning("the GPU log %s is %s, what follows is lost: %s", name,
			   is_empty ? "no log of this recording" : "broken",
			   log_file__strerror(got));
	}
	return 0;
}

int collection__add_spool(struct collection *collection, const struct spool *spool,
			  const struct launch_counts *launches)
{
	struct spool_names logs;
	int err;

	err = spool__list(spool, SPOOL_LOG_SUFFIX, &logs);
	if (err)
		return err;
	for (size_t i = 0; i < logs.nr_names && !err; i++) {
		int fd = spool__open_log(spool, logs.names[i]);
		struct log_file file;

		if (fd < 0)
			continue;
		file = log_file__new(fd, collection->session);
		err = copy_blocks(collection, &file, logs.names[i], launches);
		log_file__close(&file);
	}
	spool_names__release(&logs);
	return err;
}

int collection__add_recorder(struct collection *collection,
			     struct gpu_log_recorder *recorder)
{
	struct {
		struct gpu_log_block header;
		struct gpu_log_recorder recorder;
	} block;

	recorder->rec.type = GPU_LOG_RECORDER;
	recorder->rec.size = sizeof(*recorder);
	block.recorder = *recorder;
	block.header = (struct gpu_log_block){
		.magic = GPU_LOG_MAGIC,
		.payload_bytes = sizeof(*recorder),
		.version = GPU_LOG_VERSION,
		.session = collection->session,
	};
	block.header.crc32 = gpu_log_block__crc32(&block.header);
	return write_whole(collection, &block, sizeof(block));
}

const struct log_scan *collection__scan(const struct collection *collection)
{
	return &collection->scan;
}

struct collection_counts collection__counts(const struct collection *collection)
{
	return collection->counts;
}

int collection__commit(struct collection *collection)
{
	int err;

	/* Some file systems say only now that there is no room. */
	err = close(collection->fd) ? -errno : 0;
	collection->fd = -1;
	if (!err && rename(collection->temporary, collection->path))
		err = -errno;
	if (err) {
		pr_err("can't write %s: %s", collection->path, strerror(-err));
		return err;
	}
	collection->temporary[0] = '\0';
	return 0;
}

void collection__close(struct collection *collection)
{
	if (!collection)
		return;
	if (collection->fd >= 0)
		close(collection->fd);
	if (collection->temporary[0])
		unlink(collection->temporary);
	log_scan__release(&collection->scan);
	free(collection);
}
