// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/chosen_events.h"

#include <errno.h>
#include <stdbool.h>

#include "gpu_log.h"
#include "util/gpu_events.h"
#include "util/log.h"

/* What there is in any of the logs; processes of one recording have the same. */
struct recorded {
	uint32_t events; /* that were asked for */
	uint32_t kinds;
};

static struct recorded find_recorded(const struct sidecar *sidecar)
{
	struct recorded recorded = {0};

	for (size_t i = 0; i < sidecar->nr_logs; i++) {
		recorded.events |= sidecar->logs[i].events;
		recorded.kinds |= sidecar->logs[i].kinds;
	}
	/* Of record --probe api, too */
	if (sidecar->nr_api_calls)
		recorded.kinds |= GPU_LOG_KIND_BIT(GPU_LOG_KIND_CALL);
	return recorded;
}

static bool can_be_had(const struct recorded *recorded, unsigned int event)
{
	return !(gpu_log_kinds_of(GPU_LOG_EVENT_BIT(event)) & ~recorded->kinds);
}

static uint32_t default_of(const struct recorded *recorded)
{
	uint32_t events = 0;

	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++)
		if (recorded->events & GPU_LOG_EVENT_BIT(i) && can_be_had(recorded, i))
			events |= GPU_LOG_EVENT_BIT(i);
	return events ? events : GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_KERNEL);
}

static int refuse(const struct recorded *recorded, unsigned int event, const char *path)
{
	const char *name = gpu_events[event].name;

	if (recorded->events & GPU_LOG_EVENT_BIT(event))
		pr_err("%s has no %s: it was asked for, but CUPTI couldn't record it, "
		       "as record has said",
		       path, name);
	else
		pr_err("%s has no %s: make it with perf-gpu record -e +%s", path, name,
		       name);
	return -EINVAL;
}

int chosen_events__find(const struct sidecar *sidecar, const char *text, const char *path,
			uint32_t *ret)
{
	const struct recorded recorded = find_recorded(sidecar);
	uint32_t events = default_of(&recorded);

	if (!text) {
		*ret = events;
		return 0;
	}
	if (gpu_events__parse(text, &events))
		return -EINVAL;
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++)
		if (events & GPU_LOG_EVENT_BIT(i) && !can_be_had(&recorded, i))
			return refuse(&recorded, i, path);
	*ret = events;
	return 0;
}
