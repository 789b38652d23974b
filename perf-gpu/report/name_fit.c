// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/name_fit.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/cells.h"
#include "symbol/short_name.h"

#define ELLIPSIS "..."
/* At least, of a name that is shown around where it differs from another */
#define MIN_PART_COLUMNS 8

/* What goes from a name that has neither parameters nor a return type any more */
enum part {
	PART_ARGUMENTS_NAMESPACES = 1 << 0,
	PART_NESTED_ARGUMENTS = 1 << 1,
	PART_OWN_NAMESPACES = 1 << 2,
};

static size_t columns_of(const char *text)
{
	size_t bytes = 4 * strlen(text) + 4;
	char *shown = malloc(bytes);
	size_t columns = shown ? cell__name(text, bytes, shown, bytes) : bytes;

	free(shown);
	return columns;
}

/* In that many columns at most, without what a terminal would act on; NULL: no memory */
static char *cut(const char *text, size_t columns)
{
	size_t bytes = 4 * columns + 4;
	char *shown = malloc(bytes);

	if (shown)
		cell__name(text, columns, shown, bytes);
	return shown;
}

/* --- shorter names ------------------------------------------------------------------------ */

struct scan {
	const char *at;
	char *out; /* as large as the text, and an ellipsis for each bracket */
	size_t depth; /* of template arguments */
	unsigned int parts;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Behind "at::native::(anonymous namespace)::", if a name follows that */
static const char *skip_namespaces(const char *text)
{
	static const char anonymous[] = "(anonymous namespace)::";

	for (;;) {
		const char *end = text;

		if (starts_with(text, anonymous)) {
			text += strlen(anonymous);
			continue;
		}
		while (is_word(*end))
			end++;
		if (end == text || !starts_with(end, "::") ||
		    !(is_word(end[2]) || starts_with(end + 2, anonymous)))
			return text;
		text = end + 2;
	}
}

/* Behind the bracket that closes the one at @text, or NULL */
static const char *skip_brackets(const char *text)
{
	size_t depth = 0;

	for (; *text; text++) {
		if (strchr("<({[", *text)) {
			depth++;
		} else if (starts_with(text, "->")) {
			text++;
		} else if (strchr(">)}]", *text)) {
			if (!--depth)
				return text + 1;
		}
	}
	return NULL;
}

static void scan__put(struct scan *scan, const char *text)
{
	scan->out = mempcpy(scan->out, text, strlen(text));
}

/* A bracket, with all that is in it if that goes. False: nothing closes it. */
static bool scan__bracket(struct scan *scan, bool is_start)
{
	const char *behind = skip_brackets(scan->at);
	bool is_angle = *scan->at == '<', is_empty;

	if (!behind)
		return false;
	is_empty = behind == scan->at + 2;
	/* A cast stays: "(at::native::ADAM_MODE)1". */
	if (scan->parts & PART_NESTED_ARGUMENTS && scan->depth && !is_empty &&
	    (is_angle || (*scan->at == '(' && !is_start))) {
		scan__put(scan, is_angle ? "<" ELLIPSIS ">" : "(" ELLIPSIS ")");
		scan->at = behind;
		return true;
	}
	*scan->out++ = *scan->at++;
	scan->depth++;
	return true;
}

/* @out: room for 4 * its length + 4. False: it isn't built like a name of C++'s. */
static bool shorten(const char *text, unsigned int parts, char *out)
{
	struct scan scan = {.at = text, .out = out, .parts = parts};

	while (*scan.at) {
		char before = scan.at == text ? ' ' : scan.at[-1];
		bool is_start = !is_word(before) && before != ':' && before != '~';

		if (is_start && parts & (scan.depth ? PART_ARGUMENTS_NAMESPACES
						    : PART_OWN_NAMESPACES))
			scan.at = skip_namespaces(scan.at);
		if (!*scan.at)
			break;
		is_start = is_start && (before == ' ' || before == '<');
		if (starts_with(scan.at, "->")) {
			*scan.out++ = *scan.at++;
			*scan.out++ = *scan.at++;
		} else if (strchr("<({[", *scan.at)) {
			if (!scan__bracket(&scan, is_start))
				return false;
		} else if (starts_with(scan.at, " >") && scan.out > out &&
			   scan.out[-1] == '>') {
			scan.at++; /* "> >" of C++98 */
		} else {
			if (strchr(">)}]", *scan.at) && !scan.depth--)
				return false;
			*scan.out++ = *scan.at++;
		}
	}
	*scan.out = '\0';
	return !scan.depth;
}

/* A name without parameters, return type and parts; for free(), NULL without memory */
static char *make_short(const char *name, unsigned int parts)
{
	char *signature = short_name__with_arguments(name);
	char *shorter = signature ? malloc(4 * strlen(signature) + 4) : NULL;

	if (!shorter || shorten(signature, parts, shorter)) {
		free(signature);
		return shorter;
	}
	free(shorter);
	return signature;
}

/* What fits of a name by itself; NULL without memory */
static char *fit_one(const char *name, size_t columns)
{
	static const unsigned int tries[] = {
		0,
		PART_ARGUMENTS_NAMESPACES,
		PART_ARGUMENTS_NAMESPACES | PART_NESTED_ARGUMENTS,
		PART_ARGUMENTS_NAMESPACES | PART_NESTED_ARGUMENTS | PART_OWN_NAMESPACES,
	};
	char *shorter = NULL, *ret;

	if (columns_of(name) <= columns)
		return cut(name, columns);
	for (size_t i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		free(shorter);
		shorter = make_short(name, tries[i]);
		if (!shorter)
			return NULL;
		if (columns_of(shorter) <= columns)
			break;
	}
	ret = cut(shorter, columns);
	free(shorter);
	return ret;
}

/* --- where names differ ------------------------------------------------------------------- */

static size_t common_prefix(const char *a, const char *b)
{
	size_t nr = 0;

	while (a[nr] && a[nr] == b[nr])
		nr++;
	return nr;
}

/* The start of the word, or of the character, that @at is in, and not far before it */
static size_t word_start(const char *text, size_t at)
{
	size_t start = at;

	while (start && at - start < MIN_PART_COLUMNS &&
	       isalnum((unsigned char)text[start - 1]))
		start--;
	while (start && (text[start] & 0xc0) == 0x80)
		start--;
	return start;
}

/* The next character's, if that is within one */
static const char *next_start(const char *text)
{
	while ((*text & 0xc0) == 0x80)
		text++;
	return text;
}

/* How many bytes of a text are whole characters */
static int part_length(const char *text, size_t bytes)
{
	size_t nr = strnlen(text, bytes);

	while (nr && (text[nr] & 0xc0) == 0x80)
		nr--;
	return (int)nr;
}

/*
 * "head...where it differs...tail"; a byte takes no more than a column, so this fits.
 * NULL without memory.
 */
static char *show_at(const char *text, size_t differs, size_t columns)
{
	size_t bytes = strlen(text), start = word_start(text, differs);
	size_t room = columns - 2 * strlen(ELLIPSIS), head = room / 4, window = room / 2;
	size_t tail = room - head - window;
	char *ret, *shown = NULL;

	if (bytes <= columns || columns < 4 * MIN_PART_COLUMNS)
		return cut(text, columns);
	if (start <= head + strlen(ELLIPSIS)) {
		/* The head goes on as far as the window. */
		window = 0;
		start = 0;
		head = columns - strlen(ELLIPSIS) - tail;
	} else if (start + window + tail >= bytes) {
		/* The window goes on to the end, and the head up to it. */
		window = bytes - start;
		tail = 0;
		head = columns - strlen(ELLIPSIS) - window;
	}
	if (asprintf(&ret, "%.*s%s%.*s%s%s", part_length(text, head), text, ELLIPSIS,
		     window ? part_length(text + start, window) : 0, text + start,
		     window && tail ? ELLIPSIS : "",
		     tail ? next_start(text + bytes - tail) : "") < 0)
		return NULL;
	shown = cut(ret, columns);
	free(ret);
	return shown;
}

/* Sorted by what is shown, then by the name */
static int compare(const void *a, const void *b)
{
	const struct fitted_name *x = *(struct fitted_name *const *)a;
	const struct fitted_name *y = *(struct fitted_name *const *)b;
	int order = strcmp(x->ret, y->ret);

	return order ? order : strcmp(x->name, y->name);
}

/* Behind the last of those that look like the first */
static size_t end_of_equals(struct fitted_name *const *sorted, size_t first, size_t nr)
{
	size_t end = first + 1;

	while (end < nr && !strcmp(sorted[end]->ret, sorted[first]->ret))
		end++;
	return end;
}

static int replace(struct fitted_name *item, char *shown)
{
	if (!shown)
		return -ENOMEM;
	free(item->ret);
	item->ret = shown;
	return 0;
}

/*
 * The first byte that differs from both neighbours' texts; the text's length, if one of
 * them is the same. NULL: there is no neighbour.
 */
static size_t find_difference(const char *text, const char *before, const char *behind)
{
	size_t nr = before ? common_prefix(text, before) : 0;
	size_t nr_behind = behind ? common_prefix(text, behind) : 0;

	if ((before && !strcmp(text, before)) || (behind && !strcmp(text, behind)))
		return strlen(text);
	return nr > nr_behind ? nr : nr_behind;
}

/* Where it differs from its neighbours, if namespaces and parameters aren't what does */
static int show_difference(struct fitted_name *item, const char *before,
			   const char *behind)
{
	const unsigned int parts = PART_ARGUMENTS_NAMESPACES | PART_OWN_NAMESPACES;
	char *texts[3] = {
		make_short(item->name, parts),
		before ? make_short(before, parts) : NULL,
		behind ? make_short(behind, parts) : NULL,
	};
	char *shown = NULL;
	size_t at;

	if (texts[0] && (texts[1] || !before) && (texts[2] || !behind)) {
		at = find_difference(texts[0], texts[1], texts[2]);
		shown = texts[0][at]
				? show_at(texts[0], at, item->columns)
				: show_at(item->name,
					  find_difference(item->name, before, behind),
					  item->columns);
	}
	for (size_t i = 0; i < 3; i++)
		free(texts[i]);
	return replace(item, shown);
}

/* Of names that look alike, sorted */
static int show_differences(struct fitted_name **equals, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = show_difference(equals[i], i ? equals[i - 1]->name : NULL,
				      i + 1 < nr ? equals[i + 1]->name : NULL);
	return err;
}

/* The second of those that look alike has the number 2. */
static int number(struct fitted_name **equals, size_t nr)
{
	size_t last = 1;
	int err = 0;

	for (size_t i = 1; i < nr && !err; i++) {
		size_t columns = equals[i]->columns;
		char mark[32], *shown, *numbered = NULL;
		size_t mark_columns;

		if (strcmp(equals[i]->name, equals[i - 1]->name) != 0)
			last++;
		if (last == 1)
			continue;
		mark_columns = (size_t)snprintf(mark, sizeof(mark), " #%zu", last);
		shown = cut(equals[i]->ret,
			    columns > mark_columns ? columns - mark_columns : 0);
		if (!shown || asprintf(&numbered, "%s%s", shown, mark) < 0)
			numbered = NULL;
		free(shown);
		err = replace(equals[i], numbered);
	}
	return err;
}

static int tell_apart(struct fitted_name **sorted, size_t nr,
		      int (*change)(struct fitted_name **equals, size_t nr))
{
	int err = 0;

	qsort(sorted, nr, sizeof(*sorted), compare);
	for (size_t first = 0, end; first < nr && !err; first = end) {
		end = end_of_equals(sorted, first, nr);
		if (strcmp(sorted[first]->name, sorted[end - 1]->name) != 0)
			err = change(&sorted[first], end - first);
	}
	return err;
}

int names__fit(struct fitted_name *items, size_t nr)
{
	struct fitted_name **sorted = calloc(nr + 1, sizeof(struct fitted_name *));
	int err = sorted ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !err; i++) {
		sorted[i] = &items[i];
		err = replace(&items[i], fit_one(items[i].name, items[i].columns));
	}
	if (!err)
		err = tell_apart(sorted, nr, show_differences);
	if (!err)
		err = tell_apart(sorted, nr, number);
	free(sorted);
	return err;
}

void names__release(struct fitted_name *items, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(items[i].ret);
		items[i].ret = NULL;
	}
}
