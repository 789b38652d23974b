// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/launches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "perfdata/format.h"
#include "perfdata/sample.h"
#include "gpu_log.h"
#include "join/by_time.h"
#include "source/probe_events.h"
#include "util/gpu_events.h"
#include "util/log.h"

struct launches {
	struct perfdata_reader *reader;
	const char *path;
	bool *is_launch; /* by the reader's events */
	size_t first;
	bool are_probes; /* perf's own: of no session */
	uint64_t session;
	uint64_t first_hit_ns, last_hit_ns;
	const struct sidecar *sidecar;
	const char *sidecar_path;
	struct by_time *by_time;
};

static bool is_marker(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       attr->config == PERF_COUNT_SW_BPF_OUTPUT && attr->config1;
}

/* Index of the first that is a launch; the number of events if there is none */
static size_t launches__first(const struct launches *launches)
{
	size_t i = 0;

	while (i < perfdata_reader__nr_events(launches->reader) &&
	       !launches->is_launch[i])
		i++;
	return i;
}

static void launches__find_markers(struct launches *launches)
{
	for (size_t i = 0; i < perfdata_reader__nr_events(launches->reader); i++) {
		const struct perf_event_attr *attr =
			&perfdata_reader__event(launches->reader, i)->attr;

		launches->is_launch[i] = is_marker(attr);
		if (launches->is_launch[i])
			launches->session = attr->config1;
	}
}

/* What the GPU did is told in this clock. */
static int launches__check_clock(const struct launches *launches)
{
	const struct perf_event_attr *attr = &launches__event(launches)->attr;

	if (attr->use_clockid && attr->clockid == CLOCK_MONOTONIC)
		return 0;
	pr_err("%s has times of another clock than GPU records: make it with perf record "
	       "-k CLOCK_MONOTONIC",
	       launches->path);
	return -EINVAL;
}

static bool is_made_by_inject(const struct perfdata_event_desc *event)
{
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++)
		if (!strcmp(event->name, gpu_events[i].name))
			return true;
	return false;
}

/* What says which probe is where is written at the end. */
static bool has_nameless_probes(const struct perfdata_reader *reader)
{
	const void *data;
	size_t bytes;

	if (perfdata_reader__feature(reader, HEADER_TRACING_DATA, &data, &bytes))
		return false;
	for (size_t i = 0; i < perfdata_reader__nr_events(reader); i++)
		if (perfdata_reader__event(reader, i)->attr.type == PERF_TYPE_TRACEPOINT)
			return true;
	return false;
}

static int launches__tell_none(const struct launches *launches)
{
	if (has_nameless_probes(launches->reader)) {
		pr_err("%s lacks its end, which tells what its probes are on: perf was "
		       "killed, or the file was cut; record it again",
		       launches->path);
		return -EINVAL;
	}
	for (size_t i = 0; i < perfdata_reader__nr_events(launches->reader); i++) {
		if (!is_made_by_inject(perfdata_reader__event(launches->reader, i)))
			continue;
		pr_err("%s is what inject makes: give it to perf report or perf script, "
		       "and the perf.data it was made of to perf-gpu",
		       launches->path);
		return -EINVAL;
	}
	pr_err("%s has no launches in it: it was not recorded by perf-gpu record, nor "
	       "with "
	       "probes on libcuda's launch functions",
	       launches->path);
	return -EINVAL;
}

static int launches__find(struct launches *launches, const struct symbol_place *place)
{
	size_t nr_events = perfdata_reader__nr_events(launches->reader);

	launches__find_markers(launches);
	launches->first = launches__first(launches);
	if (launches->first < nr_events)
		return 0;
	if (probe_events__find(launches->reader, place, launches->is_launch)) {
		pr_err("no memory to read %s", launches->path);
		return -ENOMEM;
	}
	launches->first = launches__first(launches);
	if (launches->first == nr_events)
		return launches__tell_none(launches);
	launches->are_probes = true;
	return launches__check_clock(launches);
}

int launches__new(struct perfdata_reader *reader, const char *path,
		  const struct symbol_place *place, struct launches **ret)
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
	err = launches__find(launches, place);
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
	launches->sidecar_path = path;
	if (!launches->are_probes && sidecar->session != launches->session) {
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

/* Who reads a copied stack goes by the attr of the first event. */
static bool launches__has_state_of_first(const struct launches *launches, size_t event)
{
	const struct perf_event_attr *first = &launches__event(launches)->attr;
	const struct perf_event_attr *attr =
		&perfdata_reader__event(launches->reader, event)->attr;
	const uint64_t state = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	return (attr->sample_type & state) == (first->sample_type & state) &&
	       attr->sample_regs_user == first->sample_regs_user;
}

int launches__look(const struct launches *launches,
		   const struct perf_event_header *record, size_t event,
		   struct launch *ret)
{
	struct perfdata_sample sample;
	int err;

	err = perfdata_sample__parse(
		&perfdata_reader__event(launches->reader, event)->attr, record, &sample);
	if (err)
		return err;
	if (launches->are_probes)
		ret->event = (struct launch_event){0};
	else if (sample.raw_bytes < sizeof(ret->event))
		return -EINVAL;
	else
		memcpy(&ret->event, sample.raw, sizeof(ret->event));
	ret->is_earlier = ret->event.api & GPU_LOG_API_EARLIER;
	ret->event.api &= ~GPU_LOG_API_EARLIER;
	ret->is_hit = !ret->event.log_id;
	ret->chain = 0;
	ret->sample = (struct launch_sample){
		.time_ns = sample.time_ns,
		.pid = sample.pid,
		.tid = sample.tid,
		.cpu = sample.cpu,
		.ips = sample.ips,
		.nr_ips = sample.nr_ips,
		.user_state = sample.user_state,
		.user_state_bytes = sample.user_state_bytes,
	};
	if (event != launches->first && !launches__has_state_of_first(launches, event)) {
		ret->sample.user_state = NULL;
		ret->sample.user_state_bytes = 0;
	}
	return 0;
}

static struct probe_hit hit_of(const struct launch_sample *sample)
{
	return (struct probe_hit){
		.pid = sample->pid, .tid = sample->tid, .time_ns = sample->time_ns};
}

static void launches__note_hit(struct launches *launches, const struct probe_hit *hit)
{
	by_time__tell(launches->by_time, hit);
	if (!launches->first_hit_ns || hit->time_ns < launches->first_hit_ns)
		launches->first_hit_ns = hit->time_ns;
	if (hit->time_ns > launches->last_hit_ns)
		launches->last_hit_ns = hit->time_ns;
}

int launches__time(const struct launches *launches,
		   const struct perf_event_header *record, size_t event,
		   uint64_t *ret_time_ns)
{
	struct launch launch;
	int err = launches__look(launches, record, event, &launch);

	if (!err)
		*ret_time_ns = launch.sample.time_ns;
	return err;
}

int launches__note(struct launches *launches, const struct launch *launch,
		   struct join *join)
{
	struct probe_hit hit;

	if (launch->is_hit) {
		hit = hit_of(&launch->sample);
		launches__note_hit(launches, &hit);
		return 0;
	}
	if (launch->event.api & GPU_LOG_API_GRAPH_NODE)
		return 0;
	return join__announce(join, launch->event.log_id, launch->event.correlation_id);
}

static uint64_t log_id_of(const struct launches *launches,
			  const struct sidecar_api_call *call)
{
	return launches->sidecar->logs[call->log].log_id;
}

/* Did something happen in the sidecar while there were hits? */
static bool launches__is_same_time(const struct launches *launches)
{
	for (size_t i = 0; i < launches->sidecar->nr_api_calls; i++) {
		const struct sidecar_api_call *call = &launches->sidecar->api_calls[i];

		if (call->end_ns >= launches->first_hit_ns &&
		    call->start_ns <= launches->last_hit_ns)
			return true;
	}
	return false;
}

/* No session tells whether the two files belong together. */
static int launches__check_pair(const struct launches *launches)
{
	if (!launches->are_probes || !launches->sidecar->nr_activities ||
	    !launches->last_hit_ns || launches__is_same_time(launches))
		return 0;
	if (launches->sidecar->nr_api_calls)
		pr_err("%s is of another time than %s: give the right one with -g",
		       launches->sidecar_path, launches->path);
	else
		pr_err("%s has no records of API calls, which hits of probes could be "
		       "joined with: make it with perf-gpu record --probe none",
		       launches->sidecar_path);
	return -EINVAL;
}

int launches__settle(const struct launches *launches, struct join *join)
{
	const struct sidecar_api_call *call;
	size_t cursor = 0;
	int err;

	err = launches__check_pair(launches);
	if (err)
		return err;
	while (!err && (call = by_time__next(launches->by_time, &cursor)))
		err = join__announce(join, log_id_of(launches, call),
				     call->correlation_id);
	if (err)
		pr_err("no memory to read %s", launches->path);
	return err;
}

void launches__resolve(const struct launches *launches, struct launch *launch)
{
	const struct sidecar_api_call *call;
	struct probe_hit hit;

	if (!launch->is_hit)
		return;
	hit = hit_of(&launch->sample);
	call = by_time__call(launches->by_time, &hit);
	launch->event = (struct launch_event){0};
	if (call)
		launch->event = (struct launch_event){
			.log_id = log_id_of(launches, call),
			.correlation_id = call->correlation_id,
			.api = call->api,
		};
}

int launches__read(const struct launches *launches,
		   const struct perf_event_header *record, size_t event,
		   struct launch *ret)
{
	int err = launches__look(launches, record, event, ret);

	if (!err)
		launches__resolve(launches, ret);
	return err;
}
