/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The build id of an MMAP2 record, if it has one. Linux marks the record of a mapping for
 * all who record, once one of them has asked for build ids (seen on 6.18; the header's misc
 * bits are shared between them): what the others get is the device and the inode, marked as a
 * build id. perf 6.1 copies up to 255 bytes of such.
 */
#ifndef PERF_GPU_PERFDATA_MMAP2_H
#define PERF_GPU_PERFDATA_MMAP2_H

#include <stddef.h>

#include "perfdata/format.h"

/* Bytes of mmap2->build_id, 0 if there is none; the whole of *@mmap2 can be read. */
static inline size_t perfdata_mmap2__id_bytes(const struct perfdata_mmap2 *mmap2)
{
	if (!(mmap2->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) ||
	    mmap2->build_id_bytes > sizeof(mmap2->build_id) || mmap2->reserved[0] ||
	    mmap2->reserved[1] || mmap2->reserved[2])
		return 0;
	/* The kernel clears what a shorter one leaves. */
	for (size_t i = mmap2->build_id_bytes; i < sizeof(mmap2->build_id); i++)
		if (mmap2->build_id[i])
			return 0;
	return mmap2->build_id_bytes;
}

/* Take the mark away from a record that has no build id. */
static inline void perfdata_mmap2__mend(struct perf_event_header *record)
{
	const struct perfdata_mmap2 *mmap2 = (const void *)record;

	if (record->type == PERF_RECORD_MMAP2 && record->size >= sizeof(*mmap2) &&
	    !perfdata_mmap2__id_bytes(mmap2))
		record->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
}

#endif
