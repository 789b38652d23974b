/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The build ids of the files that a recording has mapped, so that their symbols
 * can be found later, or elsewhere (perf archive, debuginfod). One thread.
 */
#ifndef PERF_GPU_RECORD_BUILD_IDS_H
#define PERF_GPU_RECORD_BUILD_IDS_H

#include <stddef.h>

struct build_ids;

int build_ids__new(struct build_ids **ret); /* 0 or -ENOMEM */

/*
 * Remember a mapped file; anything that isn't an absolute path is ignored, and
 * so is what comes after the 65,536th file. Files are read by build_ids__table().
 */
void build_ids__add(struct build_ids *ids, const char *path);

/**
 * build_ids__table - read the files, as they are now
 * @ret: malloc'd contents of perf.data's HEADER_BUILD_ID; the caller frees it.
 *       NULL and 0 bytes if no file has a build id.
 *
 * Return: 0 or -ENOMEM. Files that are gone, or no regular ELF files, or without
 * a build id, are left out.
 */
int build_ids__table(const struct build_ids *ids, void **ret, size_t *ret_bytes);

void build_ids__delete(struct build_ids *ids); /* NULL is fine */

#endif
