// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-gpu list: the events that -e of record, and of those that read, takes. */
#include "builtin.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/format.h"
#include "util/gpu_events.h"
#include "util/usage.h"

static const struct usage_option options[] = {
	{'j', "json", NULL, "print an array of objects, for programs"},
	{0},
};

static const struct usage usage = {
	.command = "list",
	.synopsis = "[<options>]",
	.summary = "List the events that -e takes: of record, inject, report, script, "
		   "flamegraph, "
		   "export, tui and hotspot",
	.options = options,
};

/* What is recorded for an event, by enum gpu_log_kind */
static const char *const kind_names[] = {
	[GPU_LOG_KIND_KERNEL] = "kernels",	 [GPU_LOG_KIND_MEMCPY] = "copies",
	[GPU_LOG_KIND_MEMSET] = "memsets",	 [GPU_LOG_KIND_SYNC] = "synchronization",
	[GPU_LOG_KIND_CALL] = "API calls",	 [GPU_LOG_KIND_MEMORY] = "allocations",
	[GPU_LOG_KIND_FAULT] = "unified memory",
};

#define NR_KINDS (sizeof(kind_names) / sizeof(*kind_names))

/* Each kind that an event needs, through @format, with @between two of them */
static void print_needs(unsigned int event, const char *format, const char *between)
{
	uint32_t kinds = gpu_log_kinds_of(GPU_LOG_EVENT_BIT(event));
	bool has_printed = false;

	for (unsigned int kind = 0; kind < NR_KINDS; kind++) {
		if (!(kinds & GPU_LOG_KIND_BIT(kind)))
			continue;
		if (has_printed)
			printf("%s", between);
		printf(format, kind_names[kind]);
		has_printed = true;
	}
}

static bool is_default(unsigned int event)
{
	return GPU_LOG_DEFAULT_EVENTS & GPU_LOG_EVENT_BIT(event);
}

/* As perf list has it: the name, what it is in brackets, and what it means below. */
static void print_text(void)
{
	enum { INDENT = 7 };

	printf("\nList of GPU events (to be used in -e):\n\n");
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++) {
		const struct gpu_event *event = &gpu_events[i];

		printf("  %-50s [%s%s]\n%*s", event->name, event->unit,
		       is_default(i) ? "; by default" : "", INDENT, "");
		format__print_wrapped(INDENT, event->help);
		printf("%*sleaf %s, made of ", INDENT, "", event->leaf);
		print_needs(i, "%s", ", ");
		printf("\n");
	}
	printf("\n");
}

static void print_json(void)
{
	/* None of the texts has a character that JSON would escape. */
	printf("[\n");
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++) {
		const struct gpu_event *event = &gpu_events[i];

		printf("{\n\t\"EventName\": \"%s\",\n\t\"EventType\": \"GPU event\",\n"
		       "\t\"BriefDescription\": \"%s\",\n\t\"Unit\": \"%s\",\n"
		       "\t\"Leaf\": \"%s\",\n\t\"Default\": %s,\n\t\"MadeOf\": [",
		       event->name, event->help, event->unit, event->leaf,
		       is_default(i) ? "true" : "false");
		print_needs(i, "\"%s\"", ", ");
		printf("]\n}%s\n", i + 1 < GPU_LOG_NR_EVENTS ? "," : "");
	}
	printf("]\n");
}

int cmd_list(int argc, const char **argv)
{
	bool is_json = false;
	int key;

	while ((key = usage__next(&usage, argc, argv)) != USAGE_END) {
		switch (key) {
		case 'j':
			is_json = true;
			break;
		case USAGE_HELP:
			return EXIT_SUCCESS;
		default:
			return USAGE_STATUS;
		}
	}
	if (optind < argc)
		return usage__unexpected(&usage, argv[optind]);
	if (is_json)
		print_json();
	else
		print_text();
	return EXIT_SUCCESS;
}
