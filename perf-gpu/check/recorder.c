// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What record asks of the kernel, asked as record does: probe, rings, side-band. Where
 * that fails, record has another way, so it is no failure.
 */
#include <stdio.h>
#include <unistd.h>

#include "check/check.h"
#include "check/trial.h"
#include "marker_code.h"
#include "record/events.h"
#include "record/frame_ring.h"
#include "record/sideband.h"

/* Any one but 0 */
#define TRIAL_SESSION 1

static const struct stack_config stack = {.call_graph = CALL_GRAPH_UNWIND};

struct probe_result {
	char library[2 * PATH_MAX]; /* "": the self-test only */
	bool has_probe, has_rings;
	struct probe_facts facts;
	struct failure failure;
};

static int ignore_frames(void *ctx, const void *data, size_t bytes)
{
	(void)ctx;
	(void)data;
	(void)bytes;
	return 0;
}

static int ignore_event(void *ctx, const struct perf_event_header *event)
{
	(void)ctx;
	(void)event;
	return 0;
}

static int try_probe(void *shared)
{
	struct probe_result *result = shared;
	const struct probe_config config = {
		.library = *result->library ? result->library : NULL,
		.session = TRIAL_SESSION,
		.reads_frames = true,
	};
	struct probe *probe;
	struct frame_ring *ring;
	int err;

	err = probe__open(&config, &probe, &result->failure);
	if (err)
		return err;
	result->facts = *probe__facts(probe);
	result->has_probe = true;
	err = frame_ring__open(probe__frame_rings_fd(probe), frame_ring__bytes(0),
			       ignore_frames, NULL, &ring, &result->failure);
	if (err) {
		failure__print(&result->failure);
	} else {
		result->has_rings = true;
		frame_ring__close(ring);
	}
	probe__close(probe);
	return err;
}

static int try_sideband(void *unused)
{
	struct perf_event_attr attr;
	struct sideband *sideband;
	struct failure failure;
	int err;

	(void)unused;
	sideband_event__init(&stack, &attr);
	err = sideband__open(getpid(), &attr, ignore_event, NULL, &sideband, &failure);
	if (err)
		failure__print(&failure);
	else
		sideband__close(sideband);
	return err;
}

static void report_probe(struct report *report, const struct probe_result *result,
			 struct trial *trial)
{
	if (result->has_probe) {
		report__line(
			report, VERDICT_OK, "uprobes",
			"a probe was hit and BPF saw it; attached through %s; the "
			"marker is a %s",
			result->facts.is_uprobe_multi ? "uprobe_multi" : "perf events",
			result->facts.is_quick_nop5 ? MARKER_NAME_CALL : MARKER_NAME);
	} else {
		report__line(report, VERDICT_WARN, "uprobes", "%s",
			     *result->failure.why ? result->failure.why
						  : trial__error(trial));
		if (*result->failure.advice)
			report__mend(report, "%s", result->failure.advice);
	}
}

static void report_rings(struct report *report, const struct probe_result *result,
			 struct trial *trial)
{
	if (result->has_rings)
		report__line(report, VERDICT_OK, "rings", "one for each CPU");
	else if (result->has_probe)
		report__line(report, VERDICT_WARN, "rings", "%s", trial__error(trial));
	else
		report__line(report, VERDICT_NOTE, "rings",
			     "not tried: they need a probe");
}

/* Which of the ways would record take, left to itself? */
static void report_stacks(struct report *report, const struct check_facts *facts)
{
	if (facts->has_probe && facts->has_rings && facts->has_sideband) {
		report__line(report, VERDICT_OK, "stacks",
			     "record takes them through uprobes; within the process "
			     "(--stacks process) always works");
		return;
	}
	report__line(report, VERDICT_OK, "stacks",
		     "record takes them within the process (--stacks process), which "
		     "always works; --call-graph fp and dwarf, and --probe api, need "
		     "uprobes");
}

void check__recorder(struct report *report, struct check_facts *facts)
{
	struct probe_result result = {};
	struct trial trial;
	char unused;

	if (*facts->libdir)
		snprintf(result.library, sizeof(result.library),
			 "%s/libperf-gpu-inject.so", facts->libdir);
	trial__run(try_probe, &result, sizeof(result), &trial);
	facts->probe = result.facts;
	facts->has_probe = result.has_probe;
	facts->has_rings = result.has_rings;
	report_probe(report, &result, &trial);
	report_rings(report, &result, &trial);

	facts->has_sideband = trial__run(try_sideband, &unused, sizeof(unused), &trial);
	if (facts->has_sideband)
		report__line(report, VERDICT_OK, "side-band",
			     "mappings, forks and names of processes can be recorded");
	else
		report__line(report, VERDICT_WARN, "side-band", "%s",
			     trial__error(&trial));
	report_stacks(report, facts);
}
