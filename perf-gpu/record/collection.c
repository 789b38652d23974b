// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/collection.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/log_file.h"
#include "record/log_stop.h"
#include "util/failure.h"
#include "util/gpu_log_cursor.h"
#include "util/log.h"
#include "util/sum.h"
#include "util/temporary.h"

struct collection {
	const char *path;
	char temporary[PATH_MAX]; /* "" once it has its name */
	int fd;
	uint64_t session;
	const struct tallies *tallies; /* NULL: there are none */
	uint64_t max_bytes; /* of what logs have */
	uint64_t
		stop_ns; /* what launches of behind that did is left out; 0: nothing is */
	struct collection_counts counts;
	struct log_scan scan;
	struct jit_logs jit_logs;
	uint64_t rescued_bytes; /* of what was read for them */
	struct log_limit limit; /* of warnings */
};

int collection__open(const char *path, uint64_t session, struct collection **ret)
{
	struct collection *collection;

	collection = calloc(1, sizeof(*collection));
	if (!collection) {
		pr_err("no memory to write %s", path);
		return -ENOMEM;
	}
	collection->path = path;
	collection->session = session;
	collection->max_bytes = UINT64_MAX;
	if (snprintf(collection->temporary, PATH_MAX, "%s.XXXXXX", path) >= PATH_MAX) {
		collection->fd = -ENAMETOOLONG;
	} else {
		collection->fd = temporary__make(collection->temporary);
	}
	if (collection->fd < 0) {
		int err = collection->fd;

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

			pr_err("can't write %s: %s%s", collection->path, strerror(-err),
			       failure__room(err));
			return err;
		}
		at += nr;
		bytes -= (size_t)nr;
		collection->counts.bytes += (uint64_t)nr;
	}
	return 0;
}

int collection__add_block(struct collection *collection,
			  const struct gpu_log_block *block)
{
	return write_whole(collection, block, sizeof(*block) + block->payload_bytes);
}

/* Of the log that was copied last */
static int note_log(struct collection *collection, const struct log_file *file,
		    uint64_t log_id)
{
	const struct log_scan_log *scan = &collection->scan.log;
	struct jit_log log = {
		.log_id = log_id,
		.start_ns = scan->start_ns,
		.pid = scan->pid,
		.is_ended = !scan->is_unended,
		.perf_map_bytes = scan->perf_map_bytes,
	};
	struct stat st;

	if (fstat(file->fd, &st))
		return 0;
	log.uid = st.st_uid;
	return jit_logs__add(&collection->jit_logs, &log);
}

/* A log is broken: at its end it says how much it had. */
static void look_behind(struct collection *collection, struct log_file *file,
			uint64_t log_id)
{
	while (log_file__find(file) > 0)
		if (file->block->log_id == log_id)
			log_scan__block_behind(&collection->scan, log_file__payload(file),
					       file->block->payload_bytes);
}

/* If the block that was read is too much, the rest of the log is, too. */
static bool is_over_limit(struct collection *collection, const struct log_file *file)
{
	const uint64_t bytes =
		sizeof(*file->block) + (uint64_t)file->block->payload_bytes;

	if (collection->counts.bytes + bytes <= collection->max_bytes)
		return false;
	log_scan__leave_out(&collection->scan, 0);
	sum__add(&collection->counts.nr_bytes_cut, bytes);
	if (file->limit > file->next)
		sum__add(&collection->counts.nr_bytes_cut,
			 (uint64_t)(file->limit - file->next));
	return true;
}

/* Of a log that has nothing in it: PID-ID.gpulog. 0: it isn't called so */
static uint64_t id_of_name(const char *name)
{
	unsigned long long id;

	return sscanf(name, "%*u-%16llx.", &id) == 1 ? id : 0;
}

/* What a process has counted that didn't end in order, if it isn't still at it */
static void take_tally(struct collection *collection, uint64_t log_id)
{
	struct tally_counts counts;

	if (collection->tallies && !tallies__find(collection->tallies, log_id, &counts))
		log_scan__tally(&collection->scan, counts.nr_launches, counts.nr_records);
}

/*
 * Leave out of a block what the GPU did for launches that are no samples, so that nothing is
 * without its stack for the limit alone. What belongs to no launch goes by its time.
 */
static void leave_out(struct collection *collection, struct gpu_log_block *block,
		      const struct launch_counts *launches)
{
	const struct log_stop stop = {
		.launches = launches,
		.time_ns = collection->stop_ns,
	};

	if (collection->stop_ns)
		log_scan__leave_out(&collection->scan, log_stop__apply(&stop, block));
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
		if (is_over_limit(collection, file)) {
			got = 0;
			is_empty = false;
			break;
		}
		leave_out(collection, file->block, launches);
		got = log_scan__block(&collection->scan, log_file__payload(file),
				      file->block->payload_bytes);
		if (got)
			break;
		/* Of one that is behind a stop, nothing may be left. */
		err = file->block->payload_bytes
			      ? collection__add_block(collection, file->block)
			      : 0;
		if (err)
			return err;
		is_empty = false;
		log_id = file->block->log_id;
	}
	if (got == -EINVAL && !is_empty)
		look_behind(collection, file, log_id);
	if (is_empty)
		log_id = id_of_name(name);
	take_tally(collection, log_id);
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
		if (log_limit__take(&collection->limit))
			pr_warning("the GPU log %s %s: %s", name,
				   log_file__what(got, !is_empty),
				   log_file__strerror(got));
	}
	return 0;
}

void collection__use_tallies(struct collection *collection, const struct tallies *tallies)
{
	collection->tallies = tallies;
}

void collection__set_max_bytes(struct collection *collection, uint64_t max_bytes)
{
	collection->max_bytes = max_bytes;
}

void collection__stop_at(struct collection *collection, uint64_t time_ns)
{
	collection->stop_ns = time_ns;
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
		int fd = spool__open_log(spool, logs.names[i], &collection->limit);
		struct log_file file;

		if (fd < 0)
			continue;
		file = log_file__new(fd, collection->session);
		err = copy_blocks(collection, &file, logs.names[i], launches);
		log_file__close(&file);
	}
	log_limit__tell(&collection->limit, "GPU logs");
	spool_names__release(&logs);
	return err;
}

/* Whose pieces come next */
struct jit_block {
	struct collection *collection;
	uint64_t log_id;
};

/*
 * Of all files that JIT compilers have written, if one can believe the logs: anybody can
 * make any number of both. A process's own are taken as they are written.
 */
#define MAX_RESCUED_BYTES (1ull << 30)

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

	of->collection->rescued_bytes += piece->nr_bytes;
	if (of->collection->counts.bytes + size > of->collection->max_bytes) {
		sum__add(&of->collection->counts.nr_bytes_cut, size);
		return 0;
	}
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
		if (collection->rescued_bytes > MAX_RESCUED_BYTES) {
			pr_warning("JIT compilers have written more symbols for "
				   "processes that did not end in order than there is "
				   "room for: those of some are left out");
			break;
		}
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
	return collection__commit_as(collection, collection->path);
}

int collection__commit_as(struct collection *collection, const char *path)
{
	int err;

	/* Some file systems say only now that there is no room. */
	err = close(collection->fd) ? -errno : 0;
	collection->fd = -1;
	if (!err)
		err = temporary__rename(collection->temporary, path);
	if (err) {
		pr_err("can't write %s: %s%s", path, strerror(-err), failure__room(err));
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
		temporary__remove(collection->temporary);
	log_scan__release(&collection->scan);
	jit_logs__release(&collection->jit_logs);
	free(collection);
}
