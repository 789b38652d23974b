/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Build ids of the recorded files. perf.data has one for each path; where hosts have
 * different files of one path, the records of mappings tell which it is. One thread.
 */
#ifndef PERF_GPU_MERGE_FILES_H
#define PERF_GPU_MERGE_FILES_H

#include <linux/perf_event.h>
#include <stdint.h>

#include "perfdata/buffer.h"
#include "perfdata/reader.h"

struct merge_files {
	void *files; /* a tree of tsearch(3): the first of each path */
};

/* Files of one recording that are not those of the same path in the others. */
struct merge_other_files {
	void *files;
};

/**
 * merge_files__add - take the files of a recording
 * @ret_others: released by merge_other_files__release()
 *
 * Return: 0, -ENOMEM, or -EINVAL if its table breaks off: what precedes is taken.
 */
int merge_files__add(struct merge_files *files, const struct perfdata_reader *reader,
		     struct merge_other_files *ret_others);

/* Say in a mapping's record which file it is of, if it is one of the others. */
void merge_other_files__tell(const struct merge_other_files *others,
			     struct perf_event_header *record);

/* What HEADER_BUILD_ID has; ask the buffer for whether there was memory. */
void merge_files__write(const struct merge_files *files, struct perfdata_buffer *table);

void merge_files__release(struct merge_files *files);
void merge_other_files__release(struct merge_other_files *others);

#endif
