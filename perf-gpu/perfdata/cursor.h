/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one way to read bytes of a perf.data: never past the end, and with any
 * alignment.
 *
 * A read that goes too far fails and makes all later ones fail, so that a
 * parser may read everything first and ask once, with perfdata_cursor__failed().
 * What a failed read gave is 0 or NULL.
 */
#ifndef PERF_GPU_PERFDATA_CURSOR_H
#define PERF_GPU_PERFDATA_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct perfdata_cursor {
	const unsigned char *at;
	size_t left_bytes;
	bool failed;
};

static inline struct perfdata_cursor perfdata_cursor__new(const void *data,
							  size_t nr_bytes)
{
	return (struct perfdata_cursor){.at = data, .left_bytes = nr_bytes};
}

static inline bool perfdata_cursor__failed(const struct perfdata_cursor *cursor)
{
	return cursor->failed;
}

/* The next @nr elements of @element_bytes (not 0) each; moves behind them. */
static inline const void *perfdata_cursor__take(struct perfdata_cursor *cursor,
						uint64_t nr, size_t element_bytes)
{
	const unsigned char *at = cursor->at;

	if (cursor->failed || nr > cursor->left_bytes / element_bytes) {
		cursor->failed = true;
		return NULL;
	}
	cursor->at += nr * element_bytes;
	cursor->left_bytes -= nr * element_bytes;
	return at;
}

static inline uint64_t perfdata_cursor__u64(struct perfdata_cursor *cursor)
{
	const void *at = perfdata_cursor__take(cursor, 1, sizeof(uint64_t));
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint32_t perfdata_cursor__u32(struct perfdata_cursor *cursor)
{
	const void *at = perfdata_cursor__take(cursor, 1, sizeof(uint32_t));
	uint32_t value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

/* A perf_header_string, which must have its NUL. */
static inline const char *perfdata_cursor__string(struct perfdata_cursor *cursor)
{
	uint32_t room_bytes = perfdata_cursor__u32(cursor);
	const char *text = perfdata_cursor__take(cursor, room_bytes, 1);

	if (text && !memchr(text, '\0', room_bytes)) {
		cursor->failed = true;
		return NULL;
	}
	return text;
}

#endif
