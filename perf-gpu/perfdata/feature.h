/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Header features that are more than a string: what is in them, as perf lays it
 * out (perfdata/format.h). What they say is the caller's to know. One thread.
 *
 * Those that write return 0 or -ENOMEM. All print nothing.
 */
#ifndef PERF_GPU_PERFDATA_FEATURE_H
#define PERF_GPU_PERFDATA_FEATURE_H

#include <stddef.h>
#include <stdint.h>

#include "perfdata/buffer.h"
#include "perfdata/cursor.h"
#include "perfdata/writer.h"

/* NRCPUS */
int perfdata_feature__set_nr_cpus(struct perfdata_writer *writer, uint32_t nr_configured,
				  uint32_t nr_online);

/* TOTAL_MEM */
int perfdata_feature__set_total_memory(struct perfdata_writer *writer, uint64_t kib);

/**
 * perfdata_feature__set_cmdline - CMDLINE: the command that recorded
 * @argv: NULL-terminated, the program first
 */
int perfdata_feature__set_cmdline(struct perfdata_writer *writer,
				  const char *const *argv);

/* SAMPLE_TIME: times of the first and of the last sample. */
int perfdata_feature__set_sample_time(struct perfdata_writer *writer, uint64_t first_ns,
				      uint64_t last_ns);

/**
 * perfdata_feature__set_clock - CLOCKID and CLOCK_DATA
 * @clockid: the clock of the samples' times, CLOCK_MONOTONIC, ...
 * @wall_ns, @clock_ns: CLOCK_REALTIME and that clock, read at the same moment
 */
int perfdata_feature__set_clock(struct perfdata_writer *writer, uint32_t clockid,
				uint64_t wall_ns, uint64_t clock_ns);

/**
 * perfdata_feature__add_build_id - one more file of BUILD_ID
 * @table:    given to perfdata_writer__set_feature(.., HEADER_BUILD_ID, ..)
 *            when it has all files; tells whether there was memory
 * @misc:     PERF_RECORD_MISC_USER, or _KERNEL for the kernel and its modules
 * @id, @id_bytes: the build id; what is past 20 bytes is cut off, as perf does
 * @path:     the name the file has in MMAP records; left out if longer than a
 *            record can be
 */
void perfdata_feature__add_build_id(struct perfdata_buffer *table, uint16_t misc,
				    const void *id, size_t id_bytes, const char *path);

struct perfdata_file_id {
	uint16_t mode; /* PERF_RECORD_MISC_USER, _KERNEL, ... */
	const uint8_t *id; /* points into the feature */
	size_t id_bytes; /* of older recordings PERFDATA_BUILD_ID_MAX_BYTES: all */
	const char *path; /* as the above */
};

/**
 * perfdata_feature__next_build_id - the next file of BUILD_ID
 * @cursor: over what perfdata_reader__feature() has of it
 * @ret:    written if there is a file
 *
 * Return: 1 for a file, 0 at the end, -EINVAL if the rest can't be read.
 */
int perfdata_feature__next_build_id(struct perfdata_cursor *cursor,
				    struct perfdata_file_id *ret);

#endif
