// SPDX-License-Identifier: GPL-2.0-or-later
#include "flamegraph/text.h"

#include <stdbool.h>
#include <stdio.h>

#define REPLACEMENT 0xfffdu

static bool is_text(uint32_t code)
{
	if (code < 0x20 || (code >= 0x7f && code < 0xa0))
		return false; /* controls; a tab too would break a label */
	if (code >= 0xd800 && code < 0xe000)
		return false; /* surrogates */
	return code <= 0x10ffff && (code & 0xfffe) != 0xfffe;
}

uint32_t text__next(const char **at)
{
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
	const unsigned char *bytes = (const unsigned char *)*at;
	unsigned int nr; /* of bytes that follow */
	uint32_t code;

	++*at;
	if (bytes[0] < 0x80)
		return is_text(bytes[0]) ? bytes[0] : REPLACEMENT;
	if (bytes[0] < 0xc0 || bytes[0] >= 0xf8)
		return REPLACEMENT;
	nr = bytes[0] < 0xe0 ? 1 : bytes[0] < 0xf0 ? 2 : 3;
	code = bytes[0] & (0x3fu >> nr);
	for (unsigned int i = 1; i <= nr; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return REPLACEMENT;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if (code < least[nr])
		return REPLACEMENT;
	*at += nr;
	return is_text(code) ? code : REPLACEMENT;
}

size_t text__length(const char *text)
{
	size_t nr = 0;

	for (; *text; nr++)
		text__next(&text);
	return nr;
}

static void write_utf8(struct out_file *file, uint32_t code)
{
	if (code < 0x80) {
		out_file__char(file, (char)code);
		return;
	}
	if (code < 0x800) {
		out_file__char(file, (char)(0xc0 | code >> 6));
	} else if (code < 0x10000) {
		out_file__char(file, (char)(0xe0 | code >> 12));
		out_file__char(file, (char)(0x80 | (code >> 6 & 0x3f)));
	} else {
		out_file__char(file, (char)(0xf0 | code >> 18));
		out_file__char(file, (char)(0x80 | (code >> 12 & 0x3f)));
		out_file__char(file, (char)(0x80 | (code >> 6 & 0x3f)));
	}
	out_file__char(file, (char)(0x80 | (code & 0x3f)));
}

void text__write_xml(struct out_file *file, const char *text, size_t nr)
{
	for (; *text && nr; nr--) {
		uint32_t code = text__next(&text);

		switch (code) {
		case '&':
			out_file__text(file, "&amp;");
			break;
		case '<':
			out_file__text(file, "&lt;");
			break;
		case '>':
			out_file__text(file, "&gt;");
			break;
		case '"':
			out_file__text(file, "&quot;");
			break;
		case '\'':
			out_file__text(file, "&#39;");
			break;
		default:
			write_utf8(file, code);
		}
	}
}

static void write_unit(struct out_file *file, uint32_t utf16)
{
	char text[8];

	snprintf(text, sizeof(text), "\\u%04x", utf16 & 0xffff);
	out_file__text(file, text);
}

void text__write_json(struct out_file *file, const char *text)
{
	out_file__char(file, '"');
	while (*text) {
		uint32_t code = text__next(&text);

		if (code >= 0x10000) {
			write_unit(file, 0xd7c0 + (code >> 10));
			write_unit(file, 0xdc00 | (code & 0x3ff));
		} else if (code >= 0x80 || code == '<' || code == '>' || code == '&' ||
			   code == '\'' || code == '"' || code == '\\') {
			write_unit(file, code);
		} else {
			out_file__char(file, (char)code);
		}
	}
	out_file__char(file, '"');
}
