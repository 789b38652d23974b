/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of a perf.data, laid out as perfdata/format.h has them: a file that is mapped,
 * what comes out of a pipe, or either of them unpacked (perfdata/unpack.h). Nothing but the
 * kind of file is looked at here. One thread.
 */
#ifndef PERF_GPU_PERFDATA_MAPPING_H
#define PERF_GPU_PERFDATA_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfdata_mapping {
	const unsigned char *data;
	size_t bytes;
	bool is_cut; /* it was packed, and ends within a record */
	uint64_t touched_bytes; /* since pages were last given back */
};

/* So much is enough to read ahead of, and little beside what else is in memory. */
#define PERFDATA_MAPPING_WINDOW_BYTES (32u << 20)

/* Give back the pages of the file, which are read anew where they are needed. */
void perfdata_mapping__give_back(struct perfdata_mapping *mapping);

/* So many bytes more were read: the process is to have no more than a window of it. */
static inline void perfdata_mapping__touch(struct perfdata_mapping *mapping,
					   uint64_t bytes)
{
	mapping->touched_bytes += bytes;
	if (mapping->touched_bytes >= PERFDATA_MAPPING_WINDOW_BYTES)
		perfdata_mapping__give_back(mapping);
}

/*
 * Open a file for reading; to be closed. A FIFO isn't waited for, and is refused.
 *
 * Return: a file descriptor, or a negative errno, printed.
 */
int perfdata_mapping__open_file(const char *path);

/**
 * perfdata_mapping__new - map what is open
 * @fd:   of a regular file or a pipe; stays the caller's
 * @path: for messages
 * @ret:  released by perfdata_mapping__release(); written on success only
 *
 * Return: 0 or a negative errno, printed: -EINVAL for an empty file, -ENOTSUP for a
 * directory or a device, those of mmap(2), and of perfdata_unpack().
 */
int perfdata_mapping__new(int fd, const char *path, struct perfdata_mapping *ret);
void perfdata_mapping__release(struct perfdata_mapping *mapping); /* all zero is fine */

#endif
