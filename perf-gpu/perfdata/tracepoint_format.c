// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfdata/tracepoint_format.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Nothing of a tracepoint is larger, and no int overflows with so many digits. */
#define MAX_DIGITS 9

/* With the underscore; locales have no say in it. */
static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
static const char digits[] = "0123456789";

/* A line, without its end */
struct line {
	const char *at, *end;
};

static size_t line__span(const struct line *line, const char *set)
{
	const char *at = line->at;

	while (at < line->end && *at && strchr(set, *at))
		at++;
	return (size_t)(at - line->at);
}

static bool line__skip(struct line *line, const char *word)
{
	const size_t bytes = strlen(word);

	if ((size_t)(line->end - line->at) < bytes || memcmp(line->at, word, bytes))
		return false;
	line->at += bytes;
	return true;
}

static bool line__skip_number(struct line *line)
{
	const size_t nr_digits = line__span(line, digits);

	line->at += nr_digits;
	return nr_digits && nr_digits <= MAX_DIGITS;
}

/* Sets *RET_BYTES to its length. */
static bool line__skip_identifier(struct line *line, size_t *ret_bytes)
{
	/* What libtraceevent takes for texts (LOCAL_PR_FMT and others) */
	static const char reserved[] = "_PR_FMT";
	const size_t reserved_bytes = sizeof(reserved) - 1;
	const char *start = line->at;
	size_t bytes;

	if (!line__span(line, letters))
		return false;
	while ((bytes = line__span(line, letters) + line__span(line, digits)))
		line->at += bytes;
	bytes = (size_t)(line->at - start);
	*ret_bytes = bytes;
	return bytes < reserved_bytes ||
	       memcmp(line->at - reserved_bytes, reserved, reserved_bytes);
}

static bool is_integer(const char *word, size_t bytes)
{
	static const char *const words[] = {"unsigned", "signed", "char", "short", "int",
					    "long",	"u8",	  "u16",  "u32",   "u64",
					    "s8",	"s16",	  "s32",  "s64"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i]) == bytes && !memcmp(word, words[i], bytes))
			return true;
	return false;
}

/* "unsigned long __probe_ip" */
static bool line__skip_integer(struct line *line)
{
	size_t nr_types = 0, bytes;

	while (line__skip_identifier(line, &bytes)) {
		if (!is_integer(line->at - bytes, bytes))
			return nr_types;
		nr_types++;
		if (!line__skip(line, " "))
			return false;
	}
	return false;
}

static bool line__is_field(struct line line)
{
	if (!line__skip(&line, "\tfield:") || !line__skip_integer(&line) ||
	    !line__skip(&line, ";\toffset:") || !line__skip_number(&line) ||
	    !line__skip(&line, ";\tsize:") || !line__skip_number(&line) ||
	    !line__skip(&line, ";"))
		return false;
	/* Kernels before 2.6.32 don't say it. */
	if (line__skip(&line, "\tsigned:") &&
	    (!line__skip_number(&line) || !line__skip(&line, ";")))
		return false;
	return line.at == line.end;
}

/* The next line of the text, which must have its end. */
static bool text__next(const char **text, const char *text_end, struct line *ret)
{
	const char *end = memchr(*text, '\n', (size_t)(text_end - *text));

	if (!end)
		return false;
	*ret = (struct line){.at = *text, .end = end};
	*text = end + 1;
	return true;
}

/* The three lines above the fields; @text is behind them then. */
static bool text__skip_head(const char **text, const char *text_end)
{
	struct line line;
	size_t bytes;

	return text__next(text, text_end, &line) && line__skip(&line, "name: ") &&
	       line__skip_identifier(&line, &bytes) && line.at == line.end &&
	       text__next(text, text_end, &line) && line__skip(&line, "ID: ") &&
	       line__skip_number(&line) && line.at == line.end &&
	       text__next(text, text_end, &line) && line__skip(&line, "format:") &&
	       line.at == line.end;
}

int tracepoint_format__copy(const char *text, size_t bytes, char **ret)
{
	static const char print[] = "print fmt: \"\"\n";
	const char *at = text, *end = text + bytes;
	struct line line;
	char *copy, *to;

	if (!bytes || !text__skip_head(&at, end)) {
		*ret = NULL;
		return 0;
	}
	copy = malloc(bytes + sizeof(print));
	if (!copy)
		return -ENOMEM;
	to = mempcpy(copy, text, (size_t)(at - text));
	while (text__next(&at, end, &line)) {
		/* Empty ones are between the parts: of all events, of this one, printing */
		if (line.at == line.end || line__is_field(line))
			to = mempcpy(to, line.at, (size_t)(line.end - line.at) + 1);
	}
	memcpy(to, print, sizeof(print));
	*ret = copy;
	return 0;
}
