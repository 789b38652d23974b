// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples become the rows of tables (report/report.h); who made the sink prints them. */
#include <errno.h>
#include <stdlib.h>

#include "join/nvtx_ranges.h"
#include "report/report.h"
#include "sink/sink.h"
#include "util/log.h"

struct report_sink {
	struct sink sink; /* first: what source__run() is given */
	struct report *report;
};

static int told(int err)
{
	if (err)
		pr_err("no memory for the report");
	return err;
}

static int report_sink__start(struct sink *sink, const struct sink_input *input)
{
	struct report *report = ((struct report_sink *)sink)->report;

	if (report->by & REPORT_BY_NVTX && !nvtx_ranges__are_in(input->sidecar)) {
		pr_err("the recording has no NVTX ranges: record a program that has any "
		       "with 'perf-gpu record --nvtx'");
		return -ENODATA;
	}
	return told(report__start(report, input));
}

static int report_sink__sample(struct sink *sink, const struct gpu_sample *sample)
{
	return told(report__add(((struct report_sink *)sink)->report, sample));
}

static int report_sink__finish(struct sink *sink)
{
	return told(report__finish(((struct report_sink *)sink)->report));
}

static void report_sink__stop(struct sink *sink)
{
	report__stop(((struct report_sink *)sink)->report);
}

static void report_sink__delete(struct sink *sink)
{
	free(sink);
}

int sink_report__new(struct report *report, struct sink **ret)
{
	static const struct sink_ops ops = {
		.start = report_sink__start,
		.sample = report_sink__sample,
		.finish = report_sink__finish,
		.stop = report_sink__stop,
		.delete = report_sink__delete,
	};
	struct report_sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		return told(-ENOMEM);
	sink->sink.ops = &ops;
	sink->report = report;
	*ret = &sink->sink;
	return 0;
}
