// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/usage.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/format.h"
#include "util/log.h"

/* More than any command has */
#define MAX_OPTIONS 64

#define HELP_COLUMN 28

static const struct usage_option help_option = {'h', "help", NULL,
						"print this help, and exit"};

/* What getopt_long() wants, made of the table */
struct getopt_tables {
	char letters[2 + 2 * MAX_OPTIONS + 1];
	struct option options[MAX_OPTIONS + 1];
};

static void add_option(struct getopt_tables *tables, const struct usage_option *option,
		       size_t index)
{
	char *letters = tables->letters + strlen(tables->letters);

	if (option->key < USAGE_LONG_ONLY) {
		*letters++ = (char)option->key;
		if (option->arg)
			*letters++ = ':';
		*letters = '\0';
	}
	tables->options[index].name = option->name;
	tables->options[index].has_arg = !option->arg	       ? no_argument
					 : *option->arg == '=' ? optional_argument
							       : required_argument;
	tables->options[index].val = option->key;
}

static void fill_tables(const struct usage *usage, struct getopt_tables *tables)
{
	size_t nr = 0;

	memset(tables, 0, sizeof(*tables));
	/* The colon makes a missing argument tell itself from a wrong option. */
	snprintf(tables->letters, sizeof(tables->letters), "%s",
		 usage->stops_at_operand ? "+:" : ":");
	add_option(tables, &help_option, nr++);
	for (const struct usage_option *option = usage->options; option->key; option++) {
		assert(nr < MAX_OPTIONS);
		add_option(tables, option, nr++);
	}
}

void usage__restart(void)
{
	optind = 0; /* glibc: also forget the place within grouped letters */
}

static const char *find_hint(const struct usage *usage, int key)
{
	for (const struct usage_hint *hint = usage->hints; hint && hint->key; hint++)
		if (hint->key == key)
			return hint->text;
	return NULL;
}

static void tell_unknown_letter(const struct usage *usage, int letter)
{
	const char *hint = find_hint(usage, letter);

	if (hint)
		usage__error(usage, "unknown option -%c: %s", letter, hint);
	else
		usage__error(usage, "unknown option -%c", letter);
}

int usage__next(const struct usage *usage, int argc, const char **argv)
{
	struct getopt_tables tables;
	int key;

	fill_tables(usage, &tables);
	opterr = 0;
	key = getopt_long(argc, (char *const *)argv, tables.letters, tables.options,
			  NULL);
	switch (key) {
	case -1:
		return USAGE_END;
	case 'h':
		usage__print(usage);
		return USAGE_HELP;
	case ':':
		usage__error(usage, "%s needs an argument", argv[optind - 1]);
		return USAGE_ERROR;
	case '?':
		/* A wrong letter is in optopt, which a wrong long name leaves 0. */
		if (optopt && optopt < USAGE_LONG_ONLY &&
		    strncmp(argv[optind - 1], "--", 2) != 0)
			tell_unknown_letter(usage, optopt);
		else if (optopt)
			usage__error(usage, "%s takes no argument", argv[optind - 1]);
		else
			usage__error(usage, "unknown or ambiguous option %s",
				     argv[optind - 1]);
		return USAGE_ERROR;
	default:
		return key;
	}
}

static void print_option(const struct usage_option *option)
{
	int column = 0;

	if (option->key < USAGE_LONG_ONLY)
		column += printf("    -%c, --%s", option->key, option->name);
	else
		column += printf("        --%s", option->name);
	if (option->arg && *option->arg == '=')
		column += printf("[=<%s>]", option->arg + 1);
	else if (option->arg)
		column += printf(" <%s>", option->arg);
	if (column + 1 > HELP_COLUMN) {
		putchar('\n');
		column = 0;
	}
	printf("%*s", HELP_COLUMN - column, "");
	format__print_wrapped(HELP_COLUMN, option->help);
}

void usage__print(const struct usage *usage)
{
	const char *form = usage->synopsis;
	const char *intro = "Usage:";
	char summary[256];

	while (form) {
		size_t length = strcspn(form, "\n");

		printf(" %s perf-gpu%s%s %.*s\n", intro, usage->command ? " " : "",
		       usage->command ? usage->command : "", (int)length, form);
		form = form[length] ? form + length + 1 : NULL;
		intro = "   or:";
	}
	snprintf(summary, sizeof(summary), "%s.", usage->summary);
	printf("\n ");
	format__print_wrapped(1, summary);
	putchar('\n');
	for (const struct usage_option *option = usage->options; option->key; option++)
		print_option(option);
	print_option(&help_option);
	if (usage->notes)
		printf("\n%s", usage->notes);
}

int usage__error(const struct usage *usage, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	pr_err("%s; see 'perf-gpu%s%s --help'", text ? text : fmt,
	       usage->command ? " " : "", usage->command ? usage->command : "");
	free(text);
	return USAGE_STATUS;
}

static bool has_option(const struct usage *usage, int key)
{
	for (const struct usage_option *option = usage->options; option->key; option++)
		if (option->key == key)
			return true;
	return false;
}

int usage__unexpected(const struct usage *usage, const char *arg)
{
	if (has_option(usage, 'i') && !access(arg, F_OK))
		return usage__error(usage,
				    "unexpected argument %s: a recording is named by "
				    "-i %s",
				    arg, arg);
	return usage__error(usage, "unexpected argument %s", arg);
}
