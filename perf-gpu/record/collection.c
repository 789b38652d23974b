// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/collection.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/gpu_log_cursor.h"
#include "util/log.h"

struct whole_block {
	struct gpu_log_block header;
	unsigned char payload[GPU_LOG_MAX_PAYLOAD];
};

struct collection {
	const char *path;
	char temporary[PATH_MAX]; /* "" once it has its name */
	int fd;
	uint64_t session;
	struct collection_counts counts;
	struct log_scan scan;
	struct whole_block block;
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

/* Return: bytes read, fewer than asked for at the end of the file; or -errno. */
static ssize_t read_whole(int fd, void *buf, size_t bytes)
{
	size_t nr_read = 0;

	while (nr_read < bytes) {
		ssize_t nr = read(fd, (char *)buf + nr_read, bytes - nr_read);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			return -errno;
		if (!nr)
			break;
		nr_read += (size_t)nr;
	}
	return (ssize_t)nr_read;
}

/* Return: 1 for a whole block, 0 at the end of the log, -EINVAL else, or -errno. */
static int read_block(struct collection *collection, int fd)
{
	struct gpu_log_block *header = &collection->block.header;
	ssize_t nr;

	nr = read_whole(fd, header, sizeof(*header));
	if (nr <= 0)
		return (int)nr;
	if (nr != sizeof(*header) || header->magic != GPU_LOG_MAGIC ||
	    header->version != GPU_LOG_VERSION ||
	    header->session != collection->session || !header->log_id ||
	    header->payload_bytes > GPU_LOG_MAX_PAYLOAD)
		return -EINVAL;
	nr = read_whole(fd, collection->block.payload, header->payload_bytes);
	if (nr < 0)
		return (int)nr;
	if (nr != header->payload_bytes || gpu_log_block__crc32(header) != header->crc32)
		return -EINVAL;
	return 1;
}

/* Return: 0, or -errno, printed, if the sidecar can't be made. */
static int copy_blocks(struct collection *collection, int fd, const char *name)
{
	struct whole_block *block = &collection->block;
	bool is_empty = true;
	int got, err;

	log_scan__begin_log(&collection->scan);
	while ((got = read_block(collection, fd)) > 0) {
		got = log_scan__block(&collection->scan, block->payload,
				      block->header.payload_bytes);
		if (got)
			break;
		err = write_whole(collection, block,
				  sizeof(block->header) + block->header.payload_bytes);
		if (err)
			return err;
		is_empty = false;
	}
	if (!is_empty)
		collection->counts.nr_logs++;
	else if (!got)
		collection->counts.nr_empty_logs++;
	if (got == -ENOMEM) {
		pr_err("no memory for the messages of the GPU log %s", name);
		return got;
	}
	if (got < 0) {
		collection->counts.nr_cut_logs++;
		pr_warning("the GPU log %s is %s, what follows is lost: %s", name,
			   is_empty ? "no log of this recording" : "broken",
			   got == -EINVAL ? "a block is not whole" : strerror(-got));
	}
	return 0;
}

static int add_log(struct collection *collection, int dir_fd, const char *name)
{
	struct stat st;
	int fd, err = 0;

	fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		pr_warning("can't read the GPU log %s: %s", name, strerror(errno));
		return 0;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		pr_warning("the GPU log %s is left out: not a file of this user", name);
	else
		err = copy_blocks(collection, fd, name);
	close(fd);
	return err;
}

static int is_log(const struct dirent *entry)
{
	const char *suffix = strrchr(entry->d_name, '.');

	return suffix && !strcmp(suffix, SPOOL_LOG_SUFFIX);
}

int collection__add_spool(struct collection *collection, const struct spool *spool)
{
	struct dirent **entries;
	int nr, dir_fd, err = 0;

	dir_fd = open(spool->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	nr = dir_fd < 0 ? -1 : scandirat(dir_fd, ".", &entries, is_log, alphasort);
	if (nr < 0) {
		err = -errno;
		pr_err("can't read the folder of GPU records %s: %s", spool->path,
		       strerror(-err));
		goto out;
	}
	for (int i = 0; i < nr; i++) {
		if (!err)
			err = add_log(collection, dir_fd, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
out:
	if (dir_fd >= 0)
		close(dir_fd);
	return err;
}

int collection__add_recorder(struct collection *collection,
			     struct gpu_log_recorder *recorder)
{
	struct whole_block *block = &collection->block;

	recorder->rec.type = GPU_LOG_RECORDER;
	recorder->rec.size = sizeof(*recorder);
	memcpy(block->payload, recorder, sizeof(*recorder));
	block->header = (struct gpu_log_block){
		.magic = GPU_LOG_MAGIC,
		.payload_bytes = sizeof(*recorder),
		.version = GPU_LOG_VERSION,
		.session = collection->session,
	};
	block->header.crc32 = gpu_log_block__crc32(&block->header);
	return write_whole(collection, block, sizeof(block->header) + sizeof(*recorder));
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
