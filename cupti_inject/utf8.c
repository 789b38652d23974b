// SPDX-License-Identifier: GPL-2.0-or-later
#include "utf8.h"

#include <stdint.h>
#include <string.h>

#define REPLACEMENT 0xfffdu

/* Bytes of one character, up to 4 */
static size_t encode(uint32_t c, char bytes[4])
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = REPLACEMENT;
	if (c < 0x80) {
		bytes[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		bytes[0] = (char)(0xc0 | c >> 6);
		bytes[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		bytes[0] = (char)(0xe0 | c >> 12);
		bytes[1] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	bytes[0] = (char)(0xf0 | c >> 18);
	bytes[1] = (char)(0x80 | (c >> 12 & 0x3f));
	bytes[2] = (char)(0x80 | (c >> 6 & 0x3f));
	bytes[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

size_t utf8__from_wide(const wchar_t *text, char *ret, size_t size)
{
	size_t used = 0;

	for (; *text; text++) {
		char bytes[4];
		size_t nr = encode((uint32_t)*text, bytes);

		if (used + nr >= size)
			break;
		memcpy(ret + used, bytes, nr);
		used += nr;
	}
	ret[used] = '\0';
	return used;
}

size_t utf8__cut(const char *text, size_t max)
{
	size_t nr = strnlen(text, max);

	/* Full, and perhaps within a character: not before a byte that continues one. */
	if (nr == max && ((unsigned char)text[nr - 1] & 0x80)) {
		size_t start = nr - 1;
		size_t wanted;
		unsigned char first;

		while (start && ((unsigned char)text[start] & 0xc0) == 0x80 &&
		       nr - start < 4)
			start--;
		first = (unsigned char)text[start];
		wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
		if (nr - start < wanted)
			nr = start;
	}
	return nr;
}
