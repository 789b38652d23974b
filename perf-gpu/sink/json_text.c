// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/json_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sink/text_put.h"
#include "sink/utf8_text.h"
#include "util/visible.h"

/* A character that isn't itself in JSON: '"', '\\', or by its number one below U+0100 */
static char *put_escape(char *at, char c)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char byte = (unsigned char)c;

	*at++ = '\\';
	if (c == '"' || c == '\\') {
		*at++ = c;
		return at;
	}
	at = text_put__text(at, "u00");
	*at++ = digits[byte >> 4];
	*at++ = digits[byte & 15];
	return at;
}

/* Most of all names are made of these alone: they are passed over at once. */
static bool is_plain(char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

/* Up to @end or the text's end, whichever comes first; *TEXT is moved there. */
static char *put_some(char *at, const char **text, const char *end)
{
	const char *from = *text;

	while (*from && from < end) {
		size_t nr = is_plain(*from) ? 1 : utf8_text__length(from);

		if (is_plain(*from) || (nr > 1 && visible__length(from))) {
			at = (char *)mempcpy(at, from, nr);
		} else if (nr > 1) {
			at = put_escape(at, from[1]); /* C1: U+0080 is c2 80 */
		} else if (nr) {
			at = put_escape(at, *from);
		} else {
			at = text_put__text(at, "\\ufffd");
			nr = 1;
		}
		from += nr;
	}
	*text = from;
	return at;
}

char *json_text__put(char *at, const char *text)
{
	*at++ = '"';
	at = put_some(at, &text, (const char *)UINTPTR_MAX);
	*at++ = '"';
	return at;
}

void json_text__write(struct out_file *file, const char *text)
{
	const size_t piece_bytes = OUT_FILE_MAX_ROOM / JSON_TEXT_BYTES(1) / 2;

	out_file__char(file, '"');
	while (*text) {
		const char *end = text + strnlen(text, piece_bytes);
		/* A character that begins in the piece may end behind it. */
		char *at =
			out_file__room(file, JSON_TEXT_BYTES((size_t)(end - text) + 4));

		out_file__take(file, put_some(at, &text, end));
	}
	out_file__char(file, '"');
}
