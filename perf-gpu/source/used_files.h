/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of the mapped files any launch's stack goes through: a program maps many more,
 * and readers of what inject writes look for all of them, and tell of those that they
 * don't find. Filled by one pass over a recording, in time order; then asked. One thread.
 */
#ifndef PERF_GPU_SOURCE_USED_FILES_H
#define PERF_GPU_SOURCE_USED_FILES_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "source/launches.h"

struct used_files;

int used_files__new(struct used_files **ret); /* 0 or -ENOMEM */
void used_files__delete(struct used_files *files); /* NULL is fine */

/*
 * Was the order in which all was added, as far as it matters, that of time? If not, it is to
 * be added in that order once more, anew. What matters is where a map changes.
 */
bool used_files__are_in_order(const struct used_files *files);

/* Side-band, before the launches that come later. 0 or -ENOMEM; broken ones are skipped. */
int used_files__add_record(struct used_files *files,
			   const struct perf_event_header *record, uint64_t time_ns);

/*
 * The files of a launch's callchain, which has a number (source/callchains.h; 0: it isn't
 * known); all files, if it has a copied stack. 0 or -ENOMEM.
 */
int used_files__add_launch(struct used_files *files, const struct launch_sample *sample,
			   uint64_t chain);

/*
 * Is a record to be shown? Those that map a file which no launch goes through aren't,
 * but for the program's own: by it readers know the process.
 */
bool used_files__wants(const struct used_files *files,
		       const struct perf_event_header *record);

#endif
