// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/utf8_text.h"

#include <stdlib.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

size_t utf8_text__length(const char *text)
{
	const unsigned char *byte = (const unsigned char *)text;
	/* Where the second byte may be: no overlong forms, surrogates, or too large ones */
	unsigned char min = 0x80, max = 0xbf;
	size_t nr;

	if (!byte[0])
		return 0;
	if (byte[0] < 0x80)
		return 1;
	if (byte[0] < 0xc2 || byte[0] > 0xf4)
		return 0;
	nr = byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
	if (byte[0] == 0xe0)
		min = 0xa0;
	else if (byte[0] == 0xed)
		max = 0x9f;
	else if (byte[0] == 0xf0)
		min = 0x90;
	else if (byte[0] == 0xf4)
		max = 0x8f;
	if (byte[1] < min || byte[1] > max)
		return 0;
	for (size_t i = 2; i < nr; i++)
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
	return nr;
}

char *utf8_text__copy(const char *text)
{
	char *copy = malloc(3 * strlen(text) + 1), *to = copy;

	if (!copy)
		return NULL;
	while (*text) {
		size_t nr = utf8_text__length(text);

		memcpy(to, nr ? text : replacement, nr ? nr : 3);
		to += nr ? nr : 3;
		text += nr ? nr : 1;
	}
	*to = '\0';
	return copy;
}
