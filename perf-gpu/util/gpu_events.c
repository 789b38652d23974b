// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/gpu_events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/log.h"

#define MAX_NAME_BYTES 32
#define MAX_ERRORS     2 /* of typing: one more, and cycles would be an event */

const struct gpu_event gpu_events[GPU_LOG_NR_EVENTS] = {
	[GPU_LOG_EVENT_KERNEL] = {"gpu-kernel", "[GPU_Kernel]", "ns",
				  "time that a kernel ran on the GPU"},
	[GPU_LOG_EVENT_MEMCPY] =
		{"gpu-memcpy", "[GPU_Memcpy]", "ns",
		 "time that a copy took on the GPU, by direction and memory"},
	[GPU_LOG_EVENT_MEMSET] = {"gpu-memset", "[GPU_Memset]", "ns",
				  "time that a memset took on the GPU"},
	[GPU_LOG_EVENT_SYNC] = {"gpu-sync", "[GPU_Sync]", "ns",
				"time that a thread waited for the GPU"},
	[GPU_LOG_EVENT_LAUNCH] = {"gpu-launch", "[GPU_Launch]", "ns",
				  "time that the call took which put work on the GPU"},
	[GPU_LOG_EVENT_QUEUE] = {"gpu-queue", "[GPU_Queue]", "ns",
				 "time from the end of that call to the kernel's start"},
	[GPU_LOG_EVENT_IDLE] = {"gpu-idle", "[GPU_Idle]", "ns",
				"time without work, under the call that ended it"},
	[GPU_LOG_EVENT_ALLOC] = {"gpu-alloc", "[GPU_Alloc]", "bytes",
				 "memory that was allocated, by kind"},
	[GPU_LOG_EVENT_FAULT] = {"gpu-fault", "[GPU_Fault]", "bytes",
				 "unified memory that moved, under the kernel that ran"},
};

/* GPU_LOG_EVENT_BIT()s of a name, or 0 */
static uint32_t find_events(const char *name, size_t nr_bytes)
{
	if (nr_bytes == strlen("all") && !strncmp(name, "all", nr_bytes))
		return GPU_LOG_EVENT_BIT(GPU_LOG_NR_EVENTS) - 1;
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++)
		if (nr_bytes == strlen(gpu_events[i].name) &&
		    !strncmp(name, gpu_events[i].name, nr_bytes))
			return GPU_LOG_EVENT_BIT(i);
	return 0;
}

/*
 * Levenshtein's distance of what was given and a name, which is of fewer than
 * MAX_NAME_BYTES
 */
static size_t find_distance(const char *given, size_t nr_given, const char *name)
{
	const size_t nr_name = strlen(name);
	size_t row[MAX_NAME_BYTES];

	for (size_t i = 0; i <= nr_name; i++)
		row[i] = i;
	for (size_t i = 0; i < nr_given; i++) {
		size_t diagonal = row[0]++;

		for (size_t j = 0; j < nr_name; j++) {
			size_t best = diagonal + (given[i] != name[j]);

			diagonal = row[j + 1];
			if (best > diagonal + 1)
				best = diagonal + 1;
			if (best > row[j] + 1)
				best = row[j] + 1;
			row[j + 1] = best;
		}
	}
	return row[nr_name];
}

/* The event that a typing error has made; NULL: none is as near as that. */
static const char *find_similar(const char *given, size_t nr_given)
{
	size_t best = MAX_ERRORS + 1;
	const char *similar = NULL;

	if (nr_given >= MAX_NAME_BYTES)
		return NULL;
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++) {
		size_t distance = find_distance(given, nr_given, gpu_events[i].name);

		if (distance >= best)
			continue;
		best = distance;
		similar = gpu_events[i].name;
	}
	return similar;
}

static int refuse(const char *name, size_t nr_bytes)
{
	const char *similar = find_similar(name, nr_bytes);
	char names[256] = "";

	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", gpu_events[i].name);
	pr_err("unknown event '%.*s': %s%s%s are %s, and all (perf-gpu list)",
	       (int)nr_bytes, name, similar ? "did you mean " : "",
	       similar ? similar : "", similar ? "? There" : "there", names);
	return -EINVAL;
}

int gpu_events__parse(const char *text, uint32_t *ret)
{
	uint32_t events = *text == '+' || *text == '-' ? *ret : 0;

	for (const char *at = text;; at++) {
		char sign = *at == '+' || *at == '-' ? *at++ : 0;
		size_t nr_bytes = strcspn(at, ",");
		uint32_t found = find_events(at, nr_bytes);

		if (!found)
			return refuse(at, nr_bytes);
		if (sign == '-')
			events &= ~found;
		else
			events |= found;
		at += nr_bytes;
		if (!*at)
			break;
	}
	if (!events) {
		pr_err("-e %s leaves no event", text);
		return -EINVAL;
	}
	*ret = events;
	return 0;
}
