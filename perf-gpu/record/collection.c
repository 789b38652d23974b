// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/collection.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
	struct jit_logs jit_logs;
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

/* Of the log that was copied last */
static int note_log(struct collection *collection, const struct log_file *file,
		    uint64_t log_id)
{
	const struct log_scan *scan = &collection->scan;
	struct jit_log log = {
		.log_id = log_id,
		.start_ns = scan->start_ns,
		.pid = scan->pid,
		.is_ended = !scan->is_unended_log,
		.perf_map_bytes = scan->perf_map_bytes,
	};
	struct stat st;

	if (fstat(file->fd, &st))
		return 0;
	log.uid = st.st_uid;
	return jit_logs__add(&collection->jit_logs, &log);
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
	if (!is_empty && note_log(collection, file, log_id))
		got = -ENOMEM;
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

/* Whose pieces come next */
struct jit_block {
	struct collection *collection;
	uint64_t log_id;
};

/* A block for each: their number is small, and they are large. */
static int write_piece(void *ctx, const struct gpu_log_jit *piece, const void *deflated)
{
	struct jit_block *of = ctx;
	struct {
		struct gpu_log_block header;
		struct gpu_log_jit piece;
		unsigned char data[UINT16_MAX];
	} block;
	size_t size = (sizeof(*piece) + piece->nr_deflated_bytes + 7) & ~(size_t)7;

	memset(&block, 0, sizeof(block.header) + size);
	block.piece = *piece;
	block.piece.rec.type = GPU_LOG_JIT;
	block.piece.rec.size = (uint16_t)size;
	memcpy(block.data, deflated, piece->nr_deflated_bytes);
	block.header = (struct gpu_log_block){
		.magic = GPU_LOG_MAGIC,
		.payload_bytes = (uint32_t)size,
		.version = GPU_LOG_VERSION,
		.log_id = of->log_id,
		.session = of->collection->session,
	};
	block.header.crc32 = gpu_log_block__crc32(&block.header);
	return write_whole(of->collection, &block, sizeof(block.header) + size);
}

int collection__add_jit_names(struct collection *collection,
			      const struct clock_pair *clock,
			      const struct build_ids *mapped)
{
	int err = 0;

	for (size_t i = 0; i < collection->jit_logs.nr && !err; i++) {
		struct jit_block of = {
			.collection = collection,
			.log_id = collection->jit_logs.logs[i].log_id,
		};

		err = jit_rescue__read(&collection->jit_logs, i, clock, mapped,
				       write_piece, &of);
	}
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
	jit_logs__release(&collection->jit_logs);
	free(collection);
}
