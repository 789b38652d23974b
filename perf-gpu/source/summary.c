// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The closing lines of those that read a recording: how much of each event there is,
 * how much of that has a stack, and everything that is missing.
 */
#include <stdio.h>

#include "source/stats.h"
#include "symbol/symbol_files.h"
#include "util/format.h"
#include "util/gpu_events.h"
#include "util/log.h"

/* What occurrences of an event are called: one, and several */
static const char *const nouns[GPU_LOG_NR_EVENTS][2] = {
	[GPU_LOG_EVENT_KERNEL] = {"kernel", "kernels"},
	[GPU_LOG_EVENT_MEMCPY] = {"copy", "copies"},
	[GPU_LOG_EVENT_MEMSET] = {"memset", "memsets"},
	[GPU_LOG_EVENT_SYNC] = {"wait for the GPU", "waits for the GPU"},
	[GPU_LOG_EVENT_LAUNCH] = {"API call", "API calls"},
	[GPU_LOG_EVENT_QUEUE] = {"kernel that waited", "kernels that waited"},
	[GPU_LOG_EVENT_IDLE] = {"gap without work", "gaps without work"},
	[GPU_LOG_EVENT_ALLOC] = {"allocation", "allocations"},
	[GPU_LOG_EVENT_FAULT] = {"migration", "migrations"},
};

static const char *noun_of(unsigned int event, uint64_t nr)
{
	return format__plural(nr, nouns[event][0], nouns[event][1]);
}

/* Are the periods of an event bytes? Else they are nanoseconds. */
static bool is_in_bytes(const struct source_stats *stats, unsigned int event)
{
	bool is_own = *gpu_events[event].unit == 'b';

	switch (event) {
	case GPU_LOG_EVENT_MEMCPY:
	case GPU_LOG_EVENT_MEMSET:
	case GPU_LOG_EVENT_FAULT:
		return stats->weight == EVENT_WEIGHT_DEFAULT
			       ? is_own
			       : stats->weight == EVENT_WEIGHT_BYTES;
	default:
		return is_own;
	}
}

struct amount_buf {
	char text[64];
};

/* "1,024 bytes" or "1.024 ms" */
static const char *format_period(const struct source_stats *stats, unsigned int event,
				 uint64_t period, struct amount_buf *buf)
{
	struct format_buf part;

	if (is_in_bytes(stats, event))
		snprintf(buf->text, sizeof(buf->text), "%s bytes",
			 format__count(period, &part));
	else
		snprintf(buf->text, sizeof(buf->text), "%s", format__ms(period, &part));
	return buf->text;
}

/* All that an event comes to, in both units where it has both */
static const char *format_total(const struct source_stats *stats, unsigned int event,
				struct amount_buf *buf)
{
	const struct event_total *total = &stats->of[event].total;
	struct format_buf bytes, ms;

	if (!total->ns && !total->bytes)
		return format_period(stats, event, total->period, buf);
	snprintf(buf->text, sizeof(buf->text), "%s bytes, %s",
		 format__count(total->bytes, &bytes), format__ms(total->ns, &ms));
	return buf->text;
}

static void print_unattributed(const struct source_stats *stats, unsigned int event)
{
	const struct source_event_stats *of = &stats->of[event];
	const uint64_t nr = of->total.nr - of->nr_attributed;
	struct format_buf count;
	struct amount_buf amount;

	pr_info("%s %s without a stack, %s, %s under [unattributed]",
		format__count(nr, &count), noun_of(event, nr),
		format_period(stats, event, of->total.period - of->attributed, &amount),
		format__plural(nr, "is", "are"));
}

static void print_event(const struct source_stats *stats, unsigned int event)
{
	const struct source_event_stats *of = &stats->of[event];
	const struct event_total *total = &of->total;
	struct format_buf count, percent;
	struct amount_buf amount;

	if (!total->nr)
		return;
	/* There is no share of nothing. */
	if (!total->period) {
		pr_info("%s %s%s without %s", format__count(total->nr, &count),
			event == GPU_LOG_EVENT_KERNEL ? "GPU " : "",
			noun_of(event, total->nr),
			is_in_bytes(stats, event) ? "bytes" : "a time");
		return;
	}
	if (event == GPU_LOG_EVENT_KERNEL)
		pr_info("%s GPU %s, %s; %s of GPU time has a stack",
			format__count(total->nr, &count), noun_of(event, total->nr),
			format_total(stats, event, &amount),
			format__percent(of->attributed, total->period, &percent));
	else if (event == GPU_LOG_EVENT_ALLOC && stats->are_leaks)
		pr_info("%s %s never freed, %s; %s of the bytes have a stack",
			format__count(total->nr, &count), noun_of(event, total->nr),
			format_total(stats, event, &amount),
			format__percent(of->attributed, total->period, &percent));
	else
		pr_info("%s %s, %s; %s of %s a stack", format__count(total->nr, &count),
			noun_of(event, total->nr), format_total(stats, event, &amount),
			format__percent(of->attributed, total->period, &percent),
			is_in_bytes(stats, event) ? "the bytes have" : "the time has");
	if (total->nr > of->nr_attributed)
		print_unattributed(stats, event);
}

static void print_gpus(const struct source_stats *stats)
{
	for (size_t i = 0; i < stats->nr_gpus; i++) {
		const struct source_gpu_stats *gpu = &stats->gpus[i];
		struct format_buf busy, idle, nr_gaps, before, after;

		pr_info("GPU %u%s%s%s: busy %s, idle %s in %s %s; %s before its first "
			"work, %s after its last",
			gpu->number, *gpu->name ? " (" : "", gpu->name,
			*gpu->name ? ")" : "", format__ms(gpu->busy_ns, &busy),
			format__ms(gpu->idle_ns, &idle),
			format__count(gpu->nr_gaps, &nr_gaps),
			format__plural(gpu->nr_gaps, "gap", "gaps"),
			format__ms(gpu->before_ns, &before),
			format__ms(gpu->after_ns, &after));
	}
}

/* What unified memory did beside moving */
static void print_faults(const struct source_stats *stats)
{
	const uint64_t *nr = stats->nr_faults;
	struct format_buf cpu, gpu, thrashing, throttling, remote;

	if (!nr[GPU_LOG_FAULT_CPU_PAGE] && !nr[GPU_LOG_FAULT_GPU_PAGE] &&
	    !nr[GPU_LOG_FAULT_THRASHING] && !nr[GPU_LOG_FAULT_THROTTLING] &&
	    !nr[GPU_LOG_FAULT_REMOTE_MAP])
		return;
	pr_info("unified memory: %s page %s of the CPU, %s of GPUs; %s %s, %s %s, "
		"%s remote %s",
		format__count(nr[GPU_LOG_FAULT_CPU_PAGE], &cpu),
		format__plural(nr[GPU_LOG_FAULT_CPU_PAGE], "fault", "faults"),
		format__count(nr[GPU_LOG_FAULT_GPU_PAGE], &gpu),
		format__count(nr[GPU_LOG_FAULT_THRASHING], &thrashing),
		format__plural(nr[GPU_LOG_FAULT_THRASHING], "thrashing", "thrashings"),
		format__count(nr[GPU_LOG_FAULT_THROTTLING], &throttling),
		format__plural(nr[GPU_LOG_FAULT_THROTTLING], "throttling", "throttlings"),
		format__count(nr[GPU_LOG_FAULT_REMOTE_MAP], &remote),
		format__plural(nr[GPU_LOG_FAULT_REMOTE_MAP], "mapping", "mappings"));
}

static void print_none(const struct source_stats *stats)
{
	struct format_buf count;

	if (stats->nr_hits)
		pr_info("the stacks of %s %s were recorded, but no GPU records: "
			"there is nothing to weigh them by; perf report shows "
			"them in the input",
			format__count(stats->nr_hits, &count),
			format__plural(stats->nr_hits, "launch", "launches"));
	else if (stats->events & GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_KERNEL))
		pr_info("no GPU kernels: none ran, or none was recorded");
	else
		pr_info("no samples: nothing of the events that were chosen happened, or "
			"none was recorded");
}

static bool has_samples(const struct source_stats *stats)
{
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++) {
		if (stats->of[i].total.nr)
			return true;
	}
	return false;
}

void source_stats__print_summary(const struct source_stats *stats)
{
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++)
		print_event(stats, i);
	print_gpus(stats);
	print_faults(stats);
	source_stats__print_losses(stats);
}

static void print_empty(const struct source_stats *stats, unsigned int event)
{
	const uint64_t nr = stats->of[event].total.nr_empty;
	struct format_buf count;

	if (!nr)
		return;
	format__count(nr, &count);
	if (is_in_bytes(stats, event))
		pr_info("%s %s of no bytes %s left out", count.text, noun_of(event, nr),
			format__plural(nr, "is", "are"));
	else
		pr_info("%s %s %s no time, CUPTI didn't know it: %s left out", count.text,
			noun_of(event, nr), format__plural(nr, "has", "have"),
			format__plural(nr, "it is", "they are"));
}

/* Whole texts for one and for several, so that they are found as they are printed */
static void tell_count(uint64_t nr, const char *one, const char *many)
{
	struct format_buf count;

	if (nr)
		pr_info("%s %s", format__count(nr, &count),
			format__plural(nr, one, many));
}

static void tell_cut(const struct source_stats *stats)
{
	struct format_buf launches, records;

	if (!stats->nr_cut_launches && !stats->nr_cut_records)
		return;
	pr_info("record --overwrite has kept the newest: %s %s and %s GPU %s of before "
		"are not in the recording",
		format__count(stats->nr_cut_launches, &launches),
		format__plural(stats->nr_cut_launches, "launch", "launches"),
		format__count(stats->nr_cut_records, &records),
		format__plural(stats->nr_cut_records, "record", "records"));
}

static void tell_hits(const struct source_stats *stats, bool is_empty)
{
	struct format_buf count;

	tell_count(stats->nr_joined_hits,
		   "launch was joined with its GPU records by time",
		   "launches were joined with their GPU records by time");
	if (stats->nr_hits > stats->nr_joined_hits && !is_empty)
		tell_count(stats->nr_hits - stats->nr_joined_hits,
			   "hit of a probe is of no API call in the GPU records",
			   "hits of probes are of no API call in the GPU records");
	if (stats->nr_truncated)
		pr_info("the stacks of %s %s end early, in [truncated]",
			format__count(stats->nr_truncated, &count),
			format__plural(stats->nr_truncated, "launch", "launches"));
	tell_count(stats->nr_unknown_threads,
		   "sample lacks the NVTX ranges of its thread, which is in another pid "
		   "namespace",
		   "samples lack the NVTX ranges of their threads, which are in another "
		   "pid namespace");
}

/* What makes a reader doubt the rest: files that are others, or damaged */
static void warn_of_files(const struct source_stats *stats)
{
	struct format_buf count;
	uint64_t nr;

	if (stats->nr_stale_files > SYMBOL_FILES_MAX_WARNINGS) {
		nr = stats->nr_stale_files - SYMBOL_FILES_MAX_WARNINGS;
		pr_warning("%s more %s recorded", format__count(nr, &count),
			   format__plural(nr, "file is not the one that was",
					  "files are not the ones that were"));
	}
	nr = stats->nr_broken_records;
	if (nr)
		pr_warning("%s %s could not be read: the file is damaged",
			   format__count(nr, &count),
			   format__plural(nr, "record", "records"));
}

void source_stats__print_losses(const struct source_stats *stats)
{
	bool is_empty = !has_samples(stats);
	struct format_buf time;

	/* Whoever sees an empty output would look for the reason elsewhere. */
	if (is_empty)
		print_none(stats);
	tell_count(stats->nr_lost_launches,
		   "launch was lost while recording: its kernels have no stack",
		   "launches were lost while recording: their kernels have no stack");
	tell_cut(stats);
	tell_hits(stats, is_empty);
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++)
		print_empty(stats, i);
	tell_count(stats->nr_unknown_frees,
		   "free is of memory that was allocated before recording",
		   "frees are of memory that was allocated before recording");
	tell_count(stats->nr_without_call,
		   "kernel is not in gpu-queue: the call that launched it, or its time, "
		   "is not known",
		   "kernels are not in gpu-queue: the call that launched them, or their "
		   "time, is not known");
	tell_count(stats->nr_lost_records,
		   "GPU record was lost while recording: its time is missing",
		   "GPU records were lost while recording: their time is missing");
	tell_count(
		stats->nr_unended,
		"process did not end in order (killed, crashed, exec'd, _exit or still "
		"running): what the GPU did for it in the last second may be missing",
		"processes did not end in order (killed, crashed, exec'd, _exit or still "
		"running): what the GPU did for them in the last second may be missing");
	if (stats->stopped_after_ns)
		pr_info("recording stopped at its --max-size, after %s: what came later "
			"is not there",
			format__ms(stats->stopped_after_ns, &time));
	if (stats->nr_bytes_cut)
		pr_info("%s of GPU records are left out: there were more than --max-size "
			"has room for",
			format__file_size(stats->nr_bytes_cut, &time));
	tell_count(stats->nr_lost_sideband,
		   "record of mappings and processes was lost while recording: some "
		   "frames will have no name",
		   "records of mappings and processes were lost while recording: some "
		   "frames will have no name");
	account__print(&stats->account);
	warn_of_files(stats);
}
