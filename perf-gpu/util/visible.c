// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/visible.h"

#include <string.h>

size_t visible__length(const char *at)
{
	static const unsigned int smallest[] = {0, 0, 0xa0, 0x800, 0x10000};
	const unsigned char *text = (const unsigned char *)at;
	unsigned int code = text[0];
	size_t nr_bytes;

	if (code < 0x80)
		return code >= 0x20 && code != 0x7f;
	if (code >= 0xc0 && code < 0xe0)
		nr_bytes = 2;
	else if (code >= 0xe0 && code < 0xf0)
		nr_bytes = 3;
	else if (code >= 0xf0 && code < 0xf8)
		nr_bytes = 4;
	else
		return 0;
	code &= 0x7fu >> nr_bytes;
	for (size_t i = 1; i < nr_bytes; i++) {
		/* The NUL at the end is no such byte: never reads beyond it. */
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < smallest[nr_bytes] || code > 0x10ffff)
		return 0;
	return code >= 0xd800 && code < 0xe000 ? 0 : nr_bytes;
}

void visible__copy(char *to, const char *from, size_t bytes)
{
	size_t nr;

	for (size_t i = 0; i < bytes; i += nr) {
		nr = visible__length(from + i);
		/* A character that is cut isn't one. */
		if (nr && nr <= bytes - i) {
			memmove(to + i, from + i, nr);
		} else {
			nr = 1;
			to[i] = '?';
		}
	}
}

void visible__clean(char *text)
{
	visible__copy(text, text, strlen(text));
}
