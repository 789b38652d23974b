// SPDX-License-Identifier: GPL-2.0-or-later
/* Bytes that grow. */
#include "perfdata/buffer.h"

#include <stdlib.h>
#include <string.h>

#include "perfdata/format.h"

#define FIRST_BYTES 256

/* Room for @nr_bytes more, or NULL. */
static unsigned char *buffer__grow(struct perfdata_buffer *buffer, size_t nr_bytes)
{
	size_t nr_allocated = buffer->nr_allocated ? buffer->nr_allocated : FIRST_BYTES;
	unsigned char *data;

	if (buffer->no_memory || nr_bytes > SIZE_MAX / 4 - buffer->nr_bytes)
		goto no_memory;
	while (nr_allocated < buffer->nr_bytes + nr_bytes)
		nr_allocated *= 2;
	if (nr_allocated != buffer->nr_allocated) {
		data = realloc(buffer->data, nr_allocated);
		if (!data)
			goto no_memory;
		buffer->data = data;
		buffer->nr_allocated = nr_allocated;
	}
	data = buffer->data + buffer->nr_bytes;
	buffer->nr_bytes += nr_bytes;
	return data;

no_memory:
	buffer->no_memory = true;
	return NULL;
}

void perfdata_buffer__add(struct perfdata_buffer *buffer, const void *data,
			  size_t nr_bytes)
{
	unsigned char *to = buffer__grow(buffer, nr_bytes);

	if (to && nr_bytes)
		memcpy(to, data, nr_bytes);
}

void perfdata_buffer__add_zeros(struct perfdata_buffer *buffer, size_t nr_bytes)
{
	unsigned char *to = buffer__grow(buffer, nr_bytes);

	if (to)
		memset(to, 0, nr_bytes);
}

void perfdata_buffer__add_u32(struct perfdata_buffer *buffer, uint32_t value)
{
	perfdata_buffer__add(buffer, &value, sizeof(value));
}

void perfdata_buffer__add_u64(struct perfdata_buffer *buffer, uint64_t value)
{
	perfdata_buffer__add(buffer, &value, sizeof(value));
}

void perfdata_buffer__add_string(struct perfdata_buffer *buffer, const char *text)
{
	size_t text_bytes = strlen(text) + 1;
	size_t pad_bytes = -text_bytes % PERFDATA_STRING_ALIGN;

	perfdata_buffer__add_u32(buffer, (uint32_t)(text_bytes + pad_bytes));
	perfdata_buffer__add(buffer, text, text_bytes);
	perfdata_buffer__add_zeros(buffer, pad_bytes);
}

void perfdata_buffer__release(struct perfdata_buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct perfdata_buffer){0};
}
