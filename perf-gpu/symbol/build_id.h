/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tells one build of a file from another: the NT_GNU_BUILD_ID note that
 * the linker puts into it, and that perf.data has of the files that ran.
 */
#ifndef PERF_GPU_SYMBOL_BUILD_ID_H
#define PERF_GPU_SYMBOL_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What perf and the kernel keep of one; the linker's own have 16 or 20. */
#define BUILD_ID_MAX_BYTES  20
#define BUILD_ID_TEXT_BYTES (2 * BUILD_ID_MAX_BYTES + 1)

struct build_id {
	uint8_t bytes[BUILD_ID_MAX_BYTES]; /* zeros behind the last */
	size_t nr_bytes; /* 0: not known, or the file has none */
};

/**
 * build_id__make - a build id of its bytes
 * @bytes: what is past BUILD_ID_MAX_BYTES is cut off, as perf does. Nothing but
 *         zeros is none: older recordings have that where there was no id.
 */
struct build_id build_id__make(const void *bytes, size_t nr_bytes);

/*
 * Trailing zeros count for nothing: before Linux 5.11, perf wrote 20 bytes of
 * every id.
 */
bool build_id__is_equal(const struct build_id *a, const struct build_id *b);

/* As hexadecimal digits, which is how files are named after it; returns @ret. */
const char *build_id__format(const struct build_id *id, char ret[BUILD_ID_TEXT_BYTES]);

#endif
