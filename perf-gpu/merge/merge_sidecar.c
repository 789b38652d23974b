// SPDX-License-Identifier: GPL-2.0-or-later
/*
 *   block of an input ── records, rewritten ──► block in memory ── full, or at the
 *                                               input's block's end ──► file
 *
 * A rewritten record may have another size, so blocks are made anew; their records stay
 * in order, and none of two logs get into one.
 */
#include "merge/merge_sidecar.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "merge/log_records.h"
#include "merge/repeats.h"
#include "util/failure.h"
#include "util/gpu_log_cursor.h"
#include "util/gpu_log_definitions.h"
#include "util/log.h"
#include "util/sum.h"
#include "util/temporary.h"

struct merge_sidecar {
	const char *path;
	char temporary[PATH_MAX]; /* "" once it has its name */
	int fd;
	uint64_t session;
	uint64_t bytes;
	bool *has_origin; /* by the input's logs: they say now where they are from */
	struct log_limit limit; /* of warnings */
	struct repeats repeats; /* definitions in the parts of a recording */
	uint64_t nr_repeated; /* records that count, and were in several parts */
	struct {
		struct gpu_log_block header;
		unsigned char payload[GPU_LOG_MAX_PAYLOAD];
	} block;
	uint64_t record[UINT16_MAX / sizeof(uint64_t) + 1];
};

int merge_sidecar__open(const char *path, uint64_t session, struct merge_sidecar **ret)
{
	struct merge_sidecar *sidecar = calloc(1, sizeof(*sidecar));
	int err = 0;

	if (!sidecar) {
		pr_err("no memory to write %s", path);
		return -ENOMEM;
	}
	sidecar->path = path;
	sidecar->session = session;
	sidecar->fd = -1;
	if (snprintf(sidecar->temporary, PATH_MAX, "%s.XXXXXX", path) >= PATH_MAX)
		err = -ENAMETOOLONG;
	if (!err) {
		sidecar->fd = temporary__make(sidecar->temporary);
		err = sidecar->fd < 0 ? sidecar->fd : 0;
	}
	if (err) {
		pr_err("can't create %s: %s; name a place to write to with -o", path,
		       strerror(-err));
		free(sidecar);
		return err;
	}
	*ret = sidecar;
	return 0;
}

static int write_whole(struct merge_sidecar *sidecar, const void *data, size_t bytes)
{
	const char *at = data;

	while (bytes) {
		ssize_t nr = write(sidecar->fd, at, bytes);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0) {
			int err = -errno;

			pr_err("can't write %s: %s%s", sidecar->path, strerror(-err),
			       failure__room(err));
			return err;
		}
		at += nr;
		bytes -= (size_t)nr;
		sidecar->bytes += (uint64_t)nr;
	}
	return 0;
}

static void begin_block(struct merge_sidecar *sidecar, uint64_t log_id)
{
	sidecar->block.header = (struct gpu_log_block){
		.magic = GPU_LOG_MAGIC,
		.version = GPU_LOG_VERSION,
		.log_id = log_id,
		.session = sidecar->session,
	};
}

static int end_block(struct merge_sidecar *sidecar)
{
	struct gpu_log_block *header = &sidecar->block.header;
	int err;

	if (!header->payload_bytes)
		return 0;
	header->crc32 = gpu_log_block__crc32(header);
	err = write_whole(sidecar, &sidecar->block,
			  sizeof(*header) + header->payload_bytes);
	header->payload_bytes = 0;
	return err;
}

/* A whole record, whose size is a multiple of 8 */
static int add_record(struct merge_sidecar *sidecar, const struct gpu_log_record *record)
{
	struct gpu_log_block *header = &sidecar->block.header;
	int err;

	if (header->payload_bytes + record->size > GPU_LOG_MAX_PAYLOAD) {
		err = end_block(sidecar);
		if (err)
			return err;
	}
	memcpy(sidecar->block.payload + header->payload_bytes, record, record->size);
	header->payload_bytes += record->size;
	return 0;
}

/* Does the log at hand have no origin yet? It has one then. */
static bool wants_origin(struct merge_sidecar *sidecar, const struct merge_input *input)
{
	const ptrdiff_t log = merge_input__find_log(input, sidecar->block.header.log_id);
	bool *has_origin;

	if (input->has_origins || log < 0)
		return false;
	has_origin = &sidecar->has_origin[log];
	if (*has_origin)
		return false;
	*has_origin = true;
	return true;
}

/* Where the log is from, behind the first record that says whose it is */
static int add_origin(struct merge_sidecar *sidecar, const struct merge_input *input,
		      const struct gpu_log_process *process)
{
	struct {
		struct gpu_log_origin origin;
		char host[256];
	} record = {};
	size_t nr_bytes = strnlen(input->host, sizeof(record.host) - 8);

	record.origin = (struct gpu_log_origin){
		.rec = {.type = GPU_LOG_ORIGIN,
			.size = (uint16_t)((sizeof(record.origin) + nr_bytes + 8) &
					   ~(size_t)7)},
		.pid = process->pid,
		.session = input->session,
		.nr_bytes = (uint32_t)nr_bytes,
	};
	memcpy(record.host, input->host, nr_bytes);
	return add_record(sidecar, &record.origin.rec);
}

/* The log goes on in the next part, and ends there. 0 or -ENOMEM */
static int carry_launches(struct merge_input *next, ptrdiff_t log, uint64_t nr_launches)
{
	if (!next->earlier_launches)
		next->earlier_launches =
			calloc(next->nr_logs, sizeof(*next->earlier_launches));
	if (!next->earlier_launches)
		return -ENOMEM;
	sum__add(&next->earlier_launches[log], nr_launches);
	return 0;
}

/* Of a log that goes on, 1: its end isn't here. Else 0, or -ENOMEM */
static int join_end(struct merge_sidecar *sidecar, const struct merge_input *input,
		    struct gpu_log_end *end)
{
	const uint64_t log_id = sidecar->block.header.log_id;
	const ptrdiff_t log = merge_input__find_log(input, log_id);
	ptrdiff_t next_log;

	if (log >= 0 && input->earlier_launches)
		sum__add(&end->nr_launches, input->earlier_launches[log]);
	if (!input->next_part)
		return 0;
	next_log = merge_input__find_log(input->next_part, log_id);
	if (next_log < 0)
		return 0;
	return carry_launches(input->next_part, next_log, end->nr_launches) ? -ENOMEM : 1;
}

/*
 * What several parts of a recording have of a record is to be there once. 1: it was
 * there, or will be; 0, or -ENOMEM. @rewritten: aligned, of the record's size
 */
static int join_part(struct merge_sidecar *sidecar, const struct merge_input *input,
		     struct gpu_log_record *rewritten)
{
	uint64_t hash;
	int repeated;

	if (!merge_input__has_parts(input))
		return 0;
	if (rewritten->type == GPU_LOG_END)
		return join_end(sidecar, input, (void *)rewritten);
	/* As each part begins with what was defined in those before */
	if (!gpu_log_record__is_definition(rewritten))
		return 0;
	hash = hash__words((const uint64_t *)rewritten,
			   rewritten->size / sizeof(uint64_t));
	repeated = repeats__take(&sidecar->repeats,
				 hash__mix(hash, sidecar->block.header.log_id),
				 (size_t)(uintptr_t)input);
	if (repeated > 0 && gpu_log_is_counted(rewritten->type))
		sidecar->nr_repeated++;
	return repeated;
}

/*
 * One record that isn't as its type has to be. Those behind it stay, since ids are said, not
 * counted: what refers to it is for who reads to find. That it isn't there is counted, by
 * what the recorder had counted.
 */
static void tell_broken(struct merge_sidecar *sidecar, const struct merge_input *input,
			const struct gpu_log_record *record)
{
	if (log_limit__take(&sidecar->limit))
		pr_warning("%s breaks the format in a log: a record (of type %u) is left "
			   "out",
			   input->sidecar_path, record->type);
}

static int take_record(struct merge_sidecar *sidecar, const struct merge_input *input,
		       const struct gpu_log_record *record)
{
	struct gpu_log_record *rewritten = (void *)sidecar->record;
	int err;

	err = log_record__rewrite(record, &input->shift, rewritten);
	if (err == -EINVAL) {
		tell_broken(sidecar, input, record);
		return 0;
	}
	if (!err)
		err = join_part(sidecar, input, rewritten);
	if (err > 0)
		return 0;
	if (!err)
		err = add_record(sidecar, rewritten);
	if (!err && record->type == GPU_LOG_PROCESS && wants_origin(sidecar, input))
		err = add_origin(sidecar, input, (const void *)record);
	if (err == -ENOTSUP)
		pr_err("%s has records (of type %u) that this perf-gpu doesn't know, nor "
		       "which part of them is a time: a later perf-gpu is needed",
		       input->sidecar_path, record->type);
	if (err == -ENOMEM)
		pr_err("no memory to merge");
	return err;
}

static int take_block(struct merge_sidecar *sidecar, const struct merge_input *input,
		      const struct gpu_log_block *block)
{
	struct gpu_log_cursor cursor =
		gpu_log_cursor__new(block + 1, block->payload_bytes);
	const struct gpu_log_record *record;
	int got, err;

	begin_block(sidecar, block->log_id);
	while ((got = gpu_log_cursor__next(&cursor, &record)) > 0) {
		err = take_record(sidecar, input, record);
		if (err)
			return err;
	}
	/* Where the next one would begin, only its size could tell. */
	if (got == -EINVAL && log_limit__take(&sidecar->limit))
		pr_warning(
			"%s breaks the format in a log: the rest of a block is left out",
			input->sidecar_path);
	return end_block(sidecar);
}

int merge_sidecar__add(struct merge_sidecar *sidecar, const struct merge_input *input)
{
	const struct gpu_log_block *block;
	struct block_cursor cursor = {0};
	int err = 0;

	sidecar->has_origin = calloc(input->nr_logs + 1, sizeof(*sidecar->has_origin));
	if (!sidecar->has_origin) {
		pr_err("no memory to merge");
		return -ENOMEM;
	}
	while (!err && (block = sidecar_file__next_block(input->sidecar, &cursor)))
		if (block->log_id)
			err = take_block(sidecar, input, block);
	free(sidecar->has_origin);
	sidecar->has_origin = NULL;
	if (!input->next_part)
		repeats__release(&sidecar->repeats);
	return err;
}

int merge_sidecar__end(struct merge_sidecar *sidecar, struct merge_input *const *inputs,
		       size_t nr_inputs)
{
	struct gpu_log_recorder all = {
		.rec = {.type = GPU_LOG_RECORDER, .size = sizeof(all)}};
	int err;

	for (size_t i = 0; i < nr_inputs; i++) {
		struct gpu_log_recorder recorder = inputs[i]->recorder;

		if (recorder.nr_cpus > all.nr_cpus)
			all.nr_cpus = recorder.nr_cpus;
		recorder.nr_lost_sideband = merge_input__lost_sideband(inputs[i]);
		log_record__add_recorder(&all, &recorder);
		/* Whose clock it is: begin and end go by the same difference. */
		if (inputs[i]->shift.time_ns || all.realtime_ns)
			continue;
		all.monotonic_ns = recorder.monotonic_ns ? recorder.monotonic_ns : 1;
		all.realtime_ns = (uint64_t)inputs[i]->boot_ns + all.monotonic_ns;
		all.end_monotonic_ns = all.monotonic_ns;
		all.end_realtime_ns = all.realtime_ns;
	}
	log_limit__tell(&sidecar->limit, "records and blocks");
	all.nr_records -= sidecar->nr_repeated < all.nr_records ? sidecar->nr_repeated
								: all.nr_records;
	begin_block(sidecar, 0);
	err = add_record(sidecar, &all.rec);
	return err ? err : end_block(sidecar);
}

uint64_t merge_sidecar__bytes(const struct merge_sidecar *sidecar)
{
	return sidecar->bytes;
}

int merge_sidecar__commit(struct merge_sidecar *sidecar)
{
	int err;

	/* Some file systems say only now that there is no room. */
	err = close(sidecar->fd) ? -errno : 0;
	sidecar->fd = -1;
	if (!err)
		err = temporary__rename(sidecar->temporary, sidecar->path);
	if (err) {
		pr_err("can't write %s: %s%s", sidecar->path, strerror(-err),
		       failure__room(err));
		return err;
	}
	sidecar->temporary[0] = '\0';
	return 0;
}

void merge_sidecar__close(struct merge_sidecar *sidecar)
{
	if (!sidecar)
		return;
	if (sidecar->fd >= 0)
		close(sidecar->fd);
	if (sidecar->temporary[0])
		temporary__remove(sidecar->temporary);
	repeats__release(&sidecar->repeats);
	free(sidecar);
}
