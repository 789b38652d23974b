/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing a perf.data file: to a temporary file beside the path, renamed when
 * it is whole, so that a failure never leaves something that looks like a
 * recording. One thread.
 *
 *   perfdata_writer__open()
 *   perfdata_writer__add_event() for each event
 *   perfdata_writer__write() for each record
 *   perfdata_writer__set_feature() at any time
 *   perfdata_writer__commit()
 *   perfdata_writer__close()
 */
#ifndef PERF_GPU_PERFDATA_WRITER_H
#define PERF_GPU_PERFDATA_WRITER_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct perfdata_writer;

/**
 * perfdata_writer__open - create the temporary file, mode 0600
 * @path: where the file will be once committed; kept as a copy. What is there
 *        now, if anything, must be a regular file: others can't be renamed onto
 * @ret:  released by perfdata_writer__close(); written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int perfdata_writer__open(const char *path, struct perfdata_writer **ret);

/**
 * perfdata_writer__add_event - declare an event, before the first record
 * @attr:   copied, as far as perf 6.1 knows it (PERF_ATTR_SIZE_VER7)
 * @ids:    copied; what samples carry as IDENTIFIER
 * @name:   copied; HEADER_EVENT_DESC's name for it
 *
 * Return: 0, -EBUSY after the first record, -ENOMEM.
 */
int perfdata_writer__add_event(struct perfdata_writer *writer,
			       const struct perf_event_attr *attr, const uint64_t *ids,
			       uint32_t nr_ids, const char *name);

/**
 * perfdata_writer__write_behind - write while more is made, in a thread of its own
 *
 * Call it once, before the first record. An error of writing is told up to a buffer later,
 * and by perfdata_writer__commit() at the latest. Without a thread it is as before.
 */
void perfdata_writer__write_behind(struct perfdata_writer *writer);

/* The event that was added last has no records after all: it isn't in the file. */
void perfdata_writer__drop_last_event(struct perfdata_writer *writer);

/* Append a whole record (event->size bytes, a multiple of 8). 0 or -errno, printed. */
int perfdata_writer__write(struct perfdata_writer *writer,
			   const struct perf_event_header *event);

/**
 * perfdata_writer__reserve - room for a record that is made where it is written from
 * @bytes: that it may have, 65,536 at most
 * @ret:   8-byte aligned; the caller's until the next call of anything here
 *
 * Return: 0 or a negative errno, printed.
 */
int perfdata_writer__reserve(struct perfdata_writer *writer, size_t bytes, void **ret);
/* Append the record that was made there, whose size is a multiple of 8. */
void perfdata_writer__append(struct perfdata_writer *writer);

/**
 * perfdata_writer__set_feature - add or replace a header feature
 * @feature: a HEADER_* bit; EVENT_DESC is made of the events, don't set it
 * @data:    copied
 *
 * Return: 0, -ENOMEM, -EINVAL for a bit past 255.
 */
int perfdata_writer__set_feature(struct perfdata_writer *writer, unsigned int feature,
				 const void *data, size_t bytes);
/* The same for a feature that is one string (HOSTNAME, ...). */
int perfdata_writer__set_feature_string(struct perfdata_writer *writer,
					unsigned int feature, const char *text);

/*
 * Hand records to the kernel that are in the buffer. What can't be written now stays there,
 * and fails when the buffer is full, if it still can't.
 */
void perfdata_writer__flush(struct perfdata_writer *writer);

/* Leave what was written where it is: without a header it is no perf.data yet. */
void perfdata_writer__keep(struct perfdata_writer *writer);

/* For who finishes the file where this process could not: its name, ... */
const char *perfdata_writer__temporary(const struct perfdata_writer *writer);
/* ... and where its records begin, once all events are added. */
uint64_t perfdata_writer__data_offset(const struct perfdata_writer *writer);

/* Bytes of the data section so far. */
uint64_t perfdata_writer__bytes(const struct perfdata_writer *writer);

/* Where the file will be after all, in the same folder. 0 or -ENOMEM. */
int perfdata_writer__rename(struct perfdata_writer *writer, const char *path);

/**
 * perfdata_writer__complete - write all but the name
 *
 * For who has to know before perfdata_writer__commit(), which does it, too, that there
 * is room for the rest.
 *
 * Return: 0 or a negative errno, printed.
 */
int perfdata_writer__complete(struct perfdata_writer *writer);

/**
 * perfdata_writer__commit - finish the file and give it its name
 *
 * Writes ids, attrs, data, features and the header, flushes, and renames
 * onto the path. The previous file of that name is gone unless the caller
 * has renamed it (perf.data.old) before.
 *
 * Return: 0 or a negative errno, printed; the path is then as it was.
 */
int perfdata_writer__commit(struct perfdata_writer *writer);

/* Release; removes the temporary file if it wasn't committed. NULL is fine. */
void perfdata_writer__close(struct perfdata_writer *writer);

#endif
