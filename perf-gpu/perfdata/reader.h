/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a perf.data file (tools/perf/Documentation/perf.data-file-format.txt).
 *
 * The file is mapped, and copied only if it is packed; nothing in it is trusted. One thread.
 */
#ifndef PERF_GPU_PERFDATA_READER_H
#define PERF_GPU_PERFDATA_READER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfdata_reader;

struct perfdata_event_desc {
	struct perf_event_attr attr; /* zero-extended where the file's is older */
	const uint64_t *ids;
	uint32_t nr_ids;
	const char *name; /* of HEADER_EVENT_DESC; "" if the file doesn't say */
};

/**
 * perfdata_reader__open - map and check a perf.data file
 * @path: of a regular file
 * @ret:  released by perfdata_reader__close(); written on success only
 *
 * A file with compressed records, or of pipe mode, is unpacked first, onto disk.
 *
 * Return: 0 or a negative errno, with the reason printed: -ENOENT and others
 * of open(2), -EINVAL not a perf.data file or broken, -ENOTSUP a kind of
 * perf.data that isn't read (a directory, other endianness, compressed too much), those
 * of perfdata_unpack().
 */
int perfdata_reader__open(const char *path, struct perfdata_reader **ret);
/*
 * The same of what is open: @fd stays the caller's, @name is for messages. It may also be a
 * pipe, which is read to its end.
 */
int perfdata_reader__open_fd(int fd, const char *name, struct perfdata_reader **ret);
void perfdata_reader__close(struct perfdata_reader *reader); /* NULL is fine */

/* The whole file, as long as the reader */
const void *perfdata_reader__file(const struct perfdata_reader *reader,
				  size_t *ret_bytes);

size_t perfdata_reader__nr_events(const struct perfdata_reader *reader);
/* @i < nr_events; lives as long as the reader */
const struct perfdata_event_desc *
perfdata_reader__event(const struct perfdata_reader *reader, size_t i);

/**
 * perfdata_reader__find_event - which event a record belongs to
 * @record: any record; with one event in the file it is that one
 *
 * Return: index of the event, or -ENOENT if the record's id is no event's.
 */
int perfdata_reader__find_event(const struct perfdata_reader *reader,
				const struct perf_event_header *record);

/**
 * perfdata_reader__next - the next record of the data section
 * @cursor: 0 at first; moved behind the record. The offset of a record in
 *          the data section is the cursor's value before the call.
 * @ret:    the record, whole, 8-byte aligned. Valid as long as the reader.
 *
 * Return: 1 for a record, 0 at the end, -EINVAL for a broken one, printed.
 * A file that ends in the middle of a record (perf was killed) gives the whole
 * records, then -ENODATA (printed as a warning).
 */
int perfdata_reader__next(struct perfdata_reader *reader, uint64_t *cursor,
			  const struct perf_event_header **ret);

/* How many bytes the data section has: up to which the cursor goes. */
uint64_t perfdata_reader__data_bytes(const struct perfdata_reader *reader);

/* The record at @offset, which perfdata_reader__next() returned before. */
const struct perf_event_header *perfdata_reader__at(const struct perfdata_reader *reader,
						    uint64_t offset);
/*
 * So many bytes may have been read there since: perfdata_reader__next() keeps account of what
 * it returns by itself. After some megabytes, the pages of the file are given back.
 */
void perfdata_reader__touch(struct perfdata_reader *reader, uint64_t bytes);

/**
 * perfdata_reader__feature - the bytes of a header feature
 * @feature: a HEADER_* bit (perfdata/format.h)
 * @ret, @ret_bytes: point into the file
 *
 * Return: true if the file has it.
 */
bool perfdata_reader__feature(const struct perfdata_reader *reader, unsigned int feature,
			      const void **ret, size_t *ret_bytes);

/* The string of a feature that is one (HOSTNAME, VERSION, ...), else NULL. */
const char *perfdata_reader__feature_string(const struct perfdata_reader *reader,
					    unsigned int feature);

#endif
