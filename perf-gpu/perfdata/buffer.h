/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes that grow: where a header feature is put together. One thread.
 *
 *	struct perfdata_buffer buffer = {0};
 *
 *	perfdata_buffer__add_u32(&buffer, nr);
 *	perfdata_buffer__add_string(&buffer, name);
 *	if (buffer.no_memory)
 *		...
 *	perfdata_buffer__release(&buffer);
 *
 * Once there was no memory, nothing is added any more: ask at the end.
 */
#ifndef PERF_GPU_PERFDATA_BUFFER_H
#define PERF_GPU_PERFDATA_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfdata_buffer {
	unsigned char *data;
	size_t nr_bytes;
	size_t nr_allocated;
	bool no_memory;
};

void perfdata_buffer__add(struct perfdata_buffer *buffer, const void *data,
			  size_t nr_bytes);
void perfdata_buffer__add_zeros(struct perfdata_buffer *buffer, size_t nr_bytes);
void perfdata_buffer__add_u32(struct perfdata_buffer *buffer, uint32_t value);
void perfdata_buffer__add_u64(struct perfdata_buffer *buffer, uint64_t value);

/* A perf_header_string (perfdata/format.h). */
void perfdata_buffer__add_string(struct perfdata_buffer *buffer, const char *text);

/* Free the bytes; the buffer is empty and can be used again. */
void perfdata_buffer__release(struct perfdata_buffer *buffer);

#endif
