// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/format.h"
#include "util/visible.h"

#define TEXT_COLUMN 23

/* Lines of others' are one here; what a terminal would obey is no text. */
static void make_visible(char *text)
{
	for (char *at = text; *at; at++)
		if (*at == '\n' || *at == '\t')
			*at = ' ';
	visible__clean(text);
}

static void print_text(int column, const char *fmt, va_list args)
{
	char *text;

	if (vasprintf(&text, fmt, args) < 0) {
		/* Without memory the text before its arguments is better than nothing. */
		puts(fmt);
		return;
	}
	make_visible(text);
	format__print_wrapped(column, text);
	free(text);
}

void report__section(struct report *report, const char *title)
{
	(void)report;
	puts(title);
}

void report__line(struct report *report, enum verdict verdict, const char *name,
		  const char *fmt, ...)
{
	static const char *const words[] = {
		[VERDICT_OK] = "ok",
		[VERDICT_NOTE] = "-",
		[VERDICT_WARN] = "warn",
		[VERDICT_FAIL] = "FAIL",
	};
	va_list args;

	report->nr_failed += verdict == VERDICT_FAIL;
	report->nr_warnings += verdict == VERDICT_WARN;
	printf("  %-4s  %-14s ", words[verdict], name);
	va_start(args, fmt);
	print_text(TEXT_COLUMN, fmt, args);
	va_end(args);
}

void report__mend(struct report *report, const char *fmt, ...)
{
	va_list args;

	(void)report;
	printf("%*s-> ", TEXT_COLUMN, "");
	va_start(args, fmt);
	print_text(TEXT_COLUMN + 3, fmt, args);
	va_end(args);
}

void report__detail(struct report *report, const char *fmt, ...)
{
	va_list args;

	if (!report->is_verbose)
		return;
	printf("%*s", TEXT_COLUMN, "");
	va_start(args, fmt);
	print_text(TEXT_COLUMN, fmt, args);
	va_end(args);
}
