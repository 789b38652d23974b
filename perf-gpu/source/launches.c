// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/launches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_log.h"
#include "join/by_time.h"
#include "util/log.h"

struct launches {
	const struct perfdata_reader *reader;
	const char *path;
	bool *is_launch; /* by the reader's events */
	size_t first;
	uint64_t session;
	const struct sidecar *sidecar;
	struct by_time *by_time;
};

static bool is_marker(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       attr->config == PERF_COUNT_SW_BPF_OUTPUT && attr->config1;
}

static int launches__find(struct launches *launches)
{
	size_t nr_events = perfdata_reader__nr_events(launches->reader);
	bool is_injected = false;

	launches->first = nr_events;
	for (size_t i = nr_events; i-- > 0;) {
		const struct perfdata_event_desc *event =
			perfdata_reader__event(launches->reader, i);

		is_injected |= !strcmp(event->name, "gpu-kernel");
		if (!is_marker(&event->attr))
			continue;
		launches->is_launch[i] = true;
		launches->first = i;
		launches->session = event->attr.config1;
	}
	if (launches->first < nr_events)
		return 0;
	if (is_injected)
		pr_err("%s is what inject makes: give it to perf report or perf script, "
		       "and the perf.data it was made of to perf-gpu",
		       launches->path);
	else
		pr_err("%s has no launches in it: it was not recorded by perf-gpu record",
		       launches->path);
	return -EINVAL;
}

int launches__new(const struct perfdata_reader *reader, const char *path,
		  struct launches **ret)
{
	struct launches *launches = calloc(1, sizeof(*launches));
	int err = -ENOMEM;

	if (!launches)
		goto no_memory;
	launches->reader = reader;
	launches->path = path;
	launches->is_launch = calloc(perfdata_reader__nr_events(reader) + 1,
				     sizeof(*launches->is_launch));
	if (!launches->is_launch)
		goto no_memory;
	err = launches__find(launches);
	if (err) {
		launches__delete(launches);
		return err;
	}
	*ret = launches;
	return 0;
no_memory:
	launches__delete(launches);
	pr_err("no memory to read %s", path);
	return err;
}

void launches__delete(struct launches *launches)
{
	if (!launches)
		return;
	by_time__delete(launches->by_time);
	free(launches->is_launch);
	free(launches);
}

int launches__set_sidecar(struct launches *launches, const struct sidecar *sidecar,
			  const char *path)
{
	if (sidecar->session != launches->session) {
		pr_err("%s is of another recording than %s (session %016llx, not "
		       "%016llx): give the right one with -g",
		       path, launches->path, (unsigned long long)sidecar->session,
		       (unsigned long long)launches->session);
		return -EINVAL;
	}
	launches->sidecar = sidecar;
	return by_time__new(sidecar, &launches->by_time);
}

const bool *launches__events(const struct launches *launches)
{
	return launches->is_launch;
}

const struct perfdata_event_desc *launches__event(const struct launches *launches)
{
	return perfdata_reader__event(launches->reader, launches->first);
}

static int launches__parse(const struct launches *launches,
			   const struct perf_event_header *record, size_t event,
			   struct launch *ret)
{
	struct launch launch = {.is_hit = false};
	int err;

	err = perfdata_sample__parse(
		&perfdata_reader__event(launches->reader, event)->attr, record,
		&launch.sample);
	if (err)
		return err;
	if (launch.sample.raw_bytes < sizeof(launch.event))
		return -EINVAL;
	memcpy(&launch.event, launch.sample.raw, sizeof(launch.event));
	launch.is_hit = !launch.event.log_id;
	*ret = launch;
	return 0;
}

static struct probe_hit hit_of(const struct perfdata_sample *sample)
{
	return (struct probe_hit){
		.pid = sample->pid, .tid = sample->tid, .time_ns = sample->time_ns};
}

int launches__note(struct launches *launches, const struct perf_event_header *record,
		   size_t event, struct join *join, uint64_t *ret_time_ns)
{
	struct probe_hit hit;
	struct launch launch;
	int err;

	err = launches__parse(launches, record, event, &launch);
	if (err)
		return err;
	hit = hit_of(&launch.sample);
	if (launch.is_hit)
		by_time__tell(launches->by_time, &hit);
	else if (!(launch.event.api & GPU_LOG_API_GRAPH_NODE))
		join__announce(join, launch.event.log_id, launch.event.correlation_id);
	*ret_time_ns = launch.sample.time_ns;
	return 0;
}

static uint64_t log_id_of(const struct launches *launches,
			  const struct sidecar_api_call *call)
{
	return launches->sidecar->logs[call->log].log_id;
}

void launches__settle(const struct launches *launches, struct join *join)
{
	const struct sidecar_api_call *call;
	size_t cursor = 0;

	while ((call = by_time__next(launches->by_time, &cursor)))
		join__announce(join, log_id_of(launches, call), call->correlation_id);
}

int launches__read(const struct launches *launches,
		   const struct perf_event_header *record, size_t event,
		   struct launch *ret)
{
	const struct sidecar_api_call *call;
	struct probe_hit hit;
	int err;

	err = launches__parse(launches, record, event, ret);
	if (err || !ret->is_hit)
		return err;
	hit = hit_of(&ret->sample);
	call = by_time__call(launches->by_time, &hit);
	ret->event = (struct launch_event){0};
	if (call)
		ret->event = (struct launch_event){
			.log_id = log_id_of(launches, call),
			.correlation_id = call->correlation_id,
			.api = call->api,
		};
	return 0;
}
