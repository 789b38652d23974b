// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/event_names.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/operation_name.h"
#include "util/gpu_events.h"

#define UNKNOWN "[unknown]"

struct event_name {
	uint32_t event; /* first, with the next: key */
	char *text; /* a kernel's name as CUPTI has it; of others as it is shown */
	char *shown;
};

static int compare_names(const void *a, const void *b)
{
	const struct event_name *left = a, *right = b;

	if (left->event != right->event)
		return left->event < right->event ? -1 : 1;
	return strcmp(left->text, right->text);
}

static void free_name(void *data)
{
	struct event_name *name = data;

	free(name->shown);
	free(name->text);
	free(name);
}

static bool is_of_kernel(uint32_t event)
{
	return event == GPU_LOG_EVENT_KERNEL || event == GPU_LOG_EVENT_QUEUE;
}

/* NULL without memory */
static struct event_name *make_name(const struct event_name *key,
				    enum demangle_style style)
{
	struct event_name *name = calloc(1, sizeof(*name));
	const char *text = *key->text ? key->text : UNKNOWN;
	char *demangled = NULL;

	if (!name)
		return NULL;
	name->event = key->event;
	name->text = strdup(key->text);
	if (is_of_kernel(key->event))
		text = demangled = demangle(text, style);
	else if (key->event == GPU_LOG_EVENT_IDLE)
		text = "";
	if (name->text && text &&
	    asprintf(&name->shown, "%s%s", gpu_events[key->event].leaf, text) < 0)
		name->shown = NULL;
	free(demangled);
	if (name->shown)
		return name;
	free_name(name);
	return NULL;
}

static const char *find_or_make(struct event_names *names, const struct event_name *key,
				enum demangle_style style)
{
	struct event_name *name, **found;

	found = tfind(key, &names->tree, compare_names);
	if (found)
		return (*found)->shown;
	name = make_name(key, style);
	if (!name)
		return NULL;
	if (!tsearch(name, &names->tree, compare_names)) {
		free_name(name);
		return NULL;
	}
	return name->shown;
}

static const char *find_name(struct event_names *names, const struct sidecar *sidecar,
			     const struct occurrence *occurrence,
			     enum demangle_style style)
{
	const struct sidecar_shape *shape = occurrence__shape(occurrence, sidecar);
	struct event_name key = {.event = occurrence->event};
	char description[256] = "";
	const char *text = description;

	if (is_of_kernel(occurrence->event))
		text = shape->name;
	else if (!shape)
		text = sidecar__api_name(sidecar, occurrence->log, occurrence->call->api);
	else if (occurrence->event != GPU_LOG_EVENT_IDLE)
		operation_name__write(shape, description, sizeof(description));
	key.text = (char *)(text ? text : "");
	return find_or_make(names, &key, style);
}

/* Where the name of a shape is kept; NULL without memory. */
static const char **place_of(struct event_names *names, const struct sidecar *sidecar,
			     uint32_t event, uint32_t shape)
{
	if (!names->of_shapes[event])
		names->of_shapes[event] =
			calloc(sidecar->nr_shapes, sizeof(**names->of_shapes));
	return names->of_shapes[event] ? &names->of_shapes[event][shape] : NULL;
}

const char *event_names__get(struct event_names *names, const struct sidecar *sidecar,
			     const struct occurrence *occurrence,
			     enum demangle_style style)
{
	const char **place;

	if (occurrence->event == GPU_LOG_EVENT_LAUNCH)
		return find_name(names, sidecar, occurrence, style);
	place = place_of(names, sidecar, occurrence->event, occurrence->activity->shape);
	if (place && !*place)
		*place = find_name(names, sidecar, occurrence, style);
	return place ? *place : NULL;
}

void event_names__release(struct event_names *names)
{
	tdestroy(names->tree, free_name);
	names->tree = NULL;
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++) {
		free(names->of_shapes[i]);
		names->of_shapes[i] = NULL;
	}
}
