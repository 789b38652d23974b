/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The build ids of the files that a recording has mapped, so that their symbols
 * can be found later, or elsewhere (perf archive, debuginfod). One thread.
 */
#ifndef PERF_GPU_RECORD_BUILD_IDS_H
#define PERF_GPU_RECORD_BUILD_IDS_H

#include "perfdata/buffer.h"

struct build_ids;

int build_ids__new(struct build_ids **ret); /* 0 or -ENOMEM */

/*
 * Remember a mapped file; anything that isn't an absolute path is ignored, and
 * so is what comes after the 65,536th file. Files are read by build_ids__read().
 */
void build_ids__add(struct build_ids *ids, const char *path);

/* The path, of those that were added, that ends in @end ("/name"); NULL: none. */
const char *build_ids__find(const struct build_ids *ids, const char *end);

/**
 * build_ids__read - read the files, as they are now
 * @table: gets an entry for each, as HEADER_BUILD_ID has them, and tells whether
 *         there was memory. Files that are gone, or no regular ELF files, or
 *         without a build id, are left out.
 */
void build_ids__read(const struct build_ids *ids, struct perfdata_buffer *table);

void build_ids__delete(struct build_ids *ids); /* NULL is fine */

#endif
