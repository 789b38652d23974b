// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/sum.h"

/* Losses, as those who had them wrote them down. */
static void add_losses(struct source_stats *stats, const struct sidecar *sidecar)
{
	sum__add(&stats->nr_lost_launches, sidecar->recorder.nr_lost_ring);
	sum__add(&stats->nr_cut_launches, sidecar->recorder.nr_cut_launches);
	sum__add(&stats->nr_cut_records, sidecar->recorder.nr_cut_records);
	for (size_t i = 0; i < sidecar->nr_logs; i++) {
		const struct sidecar_log *log = &sidecar->logs[i];

		for (size_t kind = 0; kind < sizeof(log->nr_lost) / sizeof(*log->nr_lost);
		     kind++) {
			/* These have a record, and are counted by their unknown time. */
			if (kind != GPU_LOG_LOSS_UNFINISHED)
				sum__add(&stats->nr_lost_records, log->nr_lost[kind]);
		}
	}
}

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* By what the recorder wrote down, what the file has, and what LOST records say */
static void take_calls(struct account *account, const struct source_stats *stats,
		       const struct sidecar_recorder *recorder)
{
	account->has_calls = true;
	account->has_others = recorder->has_others;
	account->nr_samples = stats->nr_launches;
	account->nr_without_stack = recorder->nr_lost_stack;
	account->nr_lost[ACCOUNT_LOG] = recorder->nr_lost_log;
	account->nr_lost[ACCOUNT_RING] =
		difference(stats->nr_lost_launches, recorder->nr_lost_log);
	account->nr_lost[ACCOUNT_UNREADABLE] = recorder->nr_unreadable;
	account->nr_lost[ACCOUNT_MISSING] = recorder->nr_missing;
	account->nr_lost[ACCOUNT_OVER_LIMIT] = recorder->nr_over_limit;
	account->nr_lost[ACCOUNT_DAMAGED] =
		difference(recorder->nr_launches, stats->nr_launches);
}

static void take_records(struct account *account, const struct sidecar *sidecar)
{
	const struct sidecar_recorder *recorder = &sidecar->recorder;
	const uint64_t nr_there =
		sidecar->nr_activities + sidecar->nr_api_calls + sidecar->nr_nvtx;
	uint64_t nr_unknown = sidecar->nr_activities_without_time;

	for (size_t i = 0; i < sidecar->nr_api_calls; i++)
		nr_unknown += !sidecar->api_calls[i].start_ns;
	for (size_t i = 0; i < sidecar->nr_nvtx; i++)
		nr_unknown += !sidecar->nvtx[i].time_ns;
	account->nr_delivered = nr_there - nr_unknown;
	account->nr_unknown_time = nr_unknown;
	for (size_t i = 0; i < sidecar->nr_logs; i++) {
		const uint64_t *nr_lost = sidecar->logs[i].nr_lost;

		sum__add(&account->nr_dropped[ACCOUNT_BY_CUPTI],
			 nr_lost[GPU_LOG_LOSS_CUPTI_DROPPED]);
		sum__add(&account->nr_dropped[ACCOUNT_BY_WRITE],
			 nr_lost[GPU_LOG_LOSS_WRITE]);
		sum__add(&account->nr_dropped[ACCOUNT_NO_MEMORY],
			 nr_lost[GPU_LOG_LOSS_NO_MEMORY]);
	}
	account->nr_dropped[ACCOUNT_IN_BROKEN_LOGS] = recorder->nr_records_cut;
	account->nr_dropped[ACCOUNT_BEHIND_LIMIT] = recorder->nr_records_over_limit;
	account->nr_dropped[ACCOUNT_IN_DAMAGE] =
		difference(recorder->nr_records, nr_there);
}

/*
 * Logs without an end, but for those of processes that weren't recorded, and said so, and
 * of those that ran on when --max-size stopped the recording. Of a log whose rest can't be
 * read, which is told, nobody knows. 0 or -ENOMEM
 */
static int count_unended(struct source_stats *stats, const struct sidecar *sidecar)
{
	bool *has_error;

	if (sidecar->recorder.stopped_after_ns)
		return 0;
	has_error = calloc(sidecar->nr_logs + 1, sizeof(*has_error));
	if (!has_error)
		return -ENOMEM;
	for (size_t i = 0; i < sidecar->nr_messages; i++) {
		const struct sidecar_message *message = &sidecar->messages[i];

		if (message->severity >= GPU_LOG_ERROR)
			has_error[message->log] = true;
	}
	for (size_t i = 0; i < sidecar->nr_logs; i++)
		stats->nr_unended += sidecar->logs[i].pid && !sidecar->logs[i].is_ended &&
				     !sidecar->logs[i].is_cut && !has_error[i];
	free(has_error);
	return 0;
}

static struct source_gpu_stats gpu_stats_of(const struct devices *devices, size_t index,
					    const struct idle_gpu *gpu, uint64_t end_ns)
{
	const struct sidecar_device *device = devices__description(devices, index);
	struct source_gpu_stats stats = {
		.number = devices__shown_number(devices, index),
		.busy_ns = gpu->busy_ns,
		.idle_ns = gpu->idle_ns,
		.nr_gaps = gpu->nr_gaps,
	};

	snprintf(stats.name, sizeof(stats.name), "%s", device ? device->name : "");
	if (gpu->first_ns > gpu->begin_ns)
		stats.before_ns = gpu->first_ns - gpu->begin_ns;
	if (end_ns > gpu->last_ns)
		stats.after_ns = end_ns - gpu->last_ns;
	return stats;
}

int source_stats__take(struct source_stats *stats, const struct sidecar *sidecar,
		       const struct occurrences *occurrences, uint64_t end_ns)
{
	const struct idle *idle = &occurrences->idle;

	stats->gpus = calloc(idle->nr_gpus + 1, sizeof(*stats->gpus));
	if (!stats->gpus)
		return -ENOMEM;
	for (size_t i = 0; i < idle->nr_gpus; i++)
		if (idle->gpus[i].nr_activities)
			stats->gpus[stats->nr_gpus++] = gpu_stats_of(
				occurrences->devices, i, &idle->gpus[i], end_ns);
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++)
		stats->of[i].total = occurrences->totals[i];
	memcpy(stats->nr_faults, occurrences->nr_faults, sizeof(stats->nr_faults));
	stats->nr_unknown_frees = occurrences->nr_unknown_frees;
	stats->nr_without_call = occurrences->nr_without_call;
	add_losses(stats, sidecar);
	take_calls(&stats->account, stats, &sidecar->recorder);
	take_records(&stats->account, sidecar);
	if (count_unended(stats, sidecar))
		return -ENOMEM;
	stats->stopped_after_ns = sidecar->recorder.stopped_after_ns;
	stats->nr_bytes_cut = sidecar->recorder.nr_bytes_cut;
	stats->nr_lost_sideband = sidecar->recorder.nr_lost_sideband;
	return 0;
}

void source_stats__release(struct source_stats *stats)
{
	free(stats->gpus);
	stats->gpus = NULL;
}
