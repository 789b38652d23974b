/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The build ids of the files that a recording has mapped, so that their symbols
 * can be found later, or elsewhere (perf archive, debuginfod). One thread.
 */
#ifndef PERF_GPU_RECORD_BUILD_IDS_H
#define PERF_GPU_RECORD_BUILD_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "perfdata/buffer.h"

struct build_ids;

int build_ids__new(struct build_ids **ret); /* 0 or -ENOMEM */

/**
 * build_ids__add - remember a mapped file
 * @path: anything that isn't an absolute path is ignored, and so is what comes after
 *        the 65,536th file
 * @id, @id_bytes: as the kernel told it at the mapping; 0 bytes: it didn't. Of two for
 *        one path the later counts.
 */
void build_ids__add(struct build_ids *ids, const char *path, const uint8_t *id,
		    size_t id_bytes);

/* The path, of those that were added, that ends in @end ("/name"); NULL: none. */
const char *build_ids__find(const struct build_ids *ids, const char *end);

/* Files that may have an id, and could not be opened to look */
struct build_ids_unreadable {
	uint64_t nr;
	const char *path; /* of the first; lives as long as the ids */
	int err; /* why it couldn't; negative errno */
};

/**
 * build_ids__read - make the table; files without an id are read, as they are now
 * @table: gets an entry for each, as HEADER_BUILD_ID has them, and tells whether
 *         there was memory. Files that are gone, or no regular ELF files, or
 *         without a build id, are left out.
 * @ret:   those that could not be opened
 */
void build_ids__read(const struct build_ids *ids, struct perfdata_buffer *table,
		     struct build_ids_unreadable *ret);

void build_ids__delete(struct build_ids *ids); /* NULL is fine */

#endif
