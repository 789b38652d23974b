// SPDX-License-Identifier: GPL-2.0-or-later
/*
 *   head     object head | s64 length | s64 hash | u32 state       (ASCII: that's all)
 *            | s64 UTF-8's length | UTF-8's address | 3.11: one word more
 *   data     length characters of 1, 2 or 4 bytes, and a NUL
 *
 *   state    interned:2, kind:3 (bytes per character), compact:1, ascii:1
 *            3.14 and later, free-threaded: interned:8, then the same
 */
#include "python_string.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Longer than any name, path or line table; a length that isn't is none */
#define MAX_LENGTH	 (1u << 20)
#define MAX_BYTES	 (64u << 20)
#define GIL_OBJECT_BYTES 16

/* Bytes of the character, or 0 if SIZE has no room for it. */
static size_t put_utf8(uint32_t c, char *ret, size_t size)
{
	if (!c || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		c = '?';
	if (c < 0x80 && size >= 1) {
		ret[0] = (char)c;
		return 1;
	}
	if (c >= 0x80 && c < 0x800 && size >= 2) {
		ret[0] = (char)(0xc0 | c >> 6);
		ret[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c >= 0x800 && c < 0x10000 && size >= 3) {
		ret[0] = (char)(0xe0 | c >> 12);
		ret[1] = (char)(0x80 | (c >> 6 & 0x3f));
		ret[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	if (c >= 0x10000 && size >= 4) {
		ret[0] = (char)(0xf0 | c >> 18);
		ret[1] = (char)(0x80 | (c >> 12 & 0x3f));
		ret[2] = (char)(0x80 | (c >> 6 & 0x3f));
		ret[3] = (char)(0x80 | (c & 0x3f));
		return 4;
	}
	return 0;
}

static uint32_t character(const void *data, unsigned int kind, size_t i)
{
	switch (kind) {
	case 1:
		return ((const uint8_t *)data)[i];
	case 2:
		return ((const uint16_t *)data)[i];
	default:
		return ((const uint32_t *)data)[i];
	}
}

/* A word of an object, in readable memory and aligned */
static uint64_t word_at(uintptr_t address)
{
	uint64_t word;

	memcpy(&word, (const void *)address, sizeof(word));
	return word;
}

static bool is_object(const struct python_reader *reader, uintptr_t address,
		      uintptr_t type, size_t head_bytes)
{
	return !(address % sizeof(void *)) &&
	       readable__check(&reader->readable, address, head_bytes) &&
	       word_at(address + reader->layout->object_type) == type;
}

int python_string__read(const struct python_reader *reader, uintptr_t address,
			struct python_string *ret)
{
	const struct python_layout *layout = reader->layout;
	unsigned int kind;
	uint64_t length;
	uintptr_t data;
	uint32_t state;

	if (!is_object(reader, address, reader->types->string, layout->ascii_bytes))
		return -EINVAL;
	length = word_at(address + layout->object_bytes);
	state = (uint32_t)word_at(address + layout->object_bytes + 16);
	state >>= layout->minor >= 14 && layout->object_bytes > GIL_OBJECT_BYTES ? 8 : 2;
	kind = state & 7;
	if (length > MAX_LENGTH || (kind != 1 && kind != 2 && kind != 4) ||
	    !(state & 1 << 3))
		return -EINVAL;
	data = address + (state & 1 << 4 ? layout->ascii_bytes : layout->compact_bytes);
	if (!readable__check(&reader->readable, data, length * kind))
		return -EINVAL;
	*ret = (struct python_string){
		.data = (const void *)data,
		.length = length,
		.kind = kind,
		.hash = (int64_t)word_at(address + layout->object_bytes + 8),
	};
	return 0;
}

void python_string__copy(const struct python_string *string, char *ret, size_t size)
{
	size_t nr = 0, nr_put;

	for (size_t i = 0; i < string->length; i++, nr += nr_put) {
		nr_put = put_utf8(character(string->data, string->kind, i), ret + nr,
				  size - 1 - nr);
		if (!nr_put)
			break;
	}
	ret[nr] = '\0';
}

const uint8_t *python_bytes__read(const struct python_reader *reader, uintptr_t address,
				  size_t *ret_nr_bytes)
{
	/* The length, and a hash */
	const size_t head_bytes = reader->layout->object_bytes + 16;
	uint64_t nr_bytes;

	if (!is_object(reader, address, reader->types->bytes, head_bytes))
		return NULL;
	nr_bytes = word_at(address + reader->layout->object_bytes);
	if (nr_bytes > MAX_BYTES ||
	    !readable__check(&reader->readable, address + head_bytes, nr_bytes))
		return NULL;
	*ret_nr_bytes = nr_bytes;
	return (const uint8_t *)(address + head_bytes);
}
