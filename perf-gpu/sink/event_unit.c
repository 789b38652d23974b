// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/event_unit.h"

#include <string.h>

#include "gpu_log.h"
#include "util/gpu_events.h"
#include "util/log.h"

static bool has_both(uint32_t event)
{
	return event == GPU_LOG_EVENT_MEMCPY || event == GPU_LOG_EVENT_MEMSET ||
	       event == GPU_LOG_EVENT_FAULT;
}

bool event_unit__is_bytes(uint32_t event, enum event_weight weight)
{
	if (weight != EVENT_WEIGHT_DEFAULT && has_both(event))
		return weight == EVENT_WEIGHT_BYTES;
	return !strcmp(gpu_events[event].unit, "bytes");
}

bool event_unit__is_common(uint32_t events, enum event_weight weight)
{
	const char *in_bytes = NULL, *in_ns = NULL;

	for (uint32_t i = 0; i < GPU_LOG_NR_EVENTS; i++) {
		if (!(events & GPU_LOG_EVENT_BIT(i)))
			continue;
		if (event_unit__is_bytes(i, weight))
			in_bytes = gpu_events[i].name;
		else
			in_ns = gpu_events[i].name;
	}
	if (!in_bytes || !in_ns)
		return true;
	pr_err("%s is in bytes, and %s in ns, which can't be added up: choose events of "
	       "one unit with -e",
	       in_bytes, in_ns);
	return false;
}

uint32_t event_unit__first(uint32_t events)
{
	return (uint32_t)__builtin_ctz(events);
}
