// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/summary.h"

#include <stdio.h>
#include <string.h>

#include "util/format.h"
#include "util/log.h"

static void print_unlogged(const struct output_counts *output)
{
	const char *comm = output->unlogged_comm;
	struct format_buf count;

	pr_err("%s %s not recorded (%s, pid %u%s): a log can't be made beside the "
	       "output: %s; nor can the recorder be asked for one: is it in a container "
	       "of its own? then record in there",
	       format__count(output->nr_unlogged, &count),
	       format__plural(output->nr_unlogged, "process is", "processes are"),
	       *comm ? comm : "which has ended", output->unlogged_pid,
	       output->nr_unlogged == 1 ? "" : " and others",
	       strerror(output->unlogged_errno));
}

/* They have logged no sums. The recorder had those of killed ones, if it was not killed, too. */
static void print_unended(const struct summary *summary)
{
	const uint64_t nr = summary->scan->nr_unended;
	struct format_buf count;

	pr_warning(
		"%s %s did not end in order (killed, crashed, exec'd, _exit or still "
		"running): what the GPU did for %s in the last second may be missing%s",
		format__count(nr, &count), format__plural(nr, "process", "processes"),
		format__plural(nr, "it", "them"),
		summary->is_recovered && summary->has_perfdata
			? ", and launches, of which nobody has the number any more"
			: "");
}

static const char *plural_calls(const struct account *account, uint64_t nr)
{
	return account->has_others ? format__plural(nr, "call", "calls")
				   : format__plural(nr, "launch", "launches");
}

/* Whole texts for one and for several, so that they are found as they are printed */
static void warn_of_count(uint64_t nr, const char *one, const char *many)
{
	struct format_buf count;

	if (nr)
		pr_warning("%s %s", format__count(nr, &count),
			   format__plural(nr, one, many));
}

static void warn_of_calls(const struct summary *summary, uint64_t nr, const char *one,
			  const char *many)
{
	struct format_buf count;

	if (nr)
		pr_warning("%s %s %s", format__count(nr, &count),
			   plural_calls(&summary->account, nr),
			   format__plural(nr, one, many));
}

static void print_losses(const struct summary *summary)
{
	const uint64_t nr_missing = summary->account.nr_lost[ACCOUNT_MISSING];
	struct format_buf count;

	if (nr_missing)
		pr_warning("%s %s of the command %s missing: %s",
			   format__count(nr_missing, &count),
			   plural_calls(&summary->account, nr_missing),
			   format__plural(nr_missing, "is", "are"),
			   summary->missing_unended &&
					   nr_missing <= summary->scan->nr_missing_unended
				   ? summary->missing_unended
				   : summary->missing);
	warn_of_calls(summary, summary->losses.nr_log,
		      "was lost: its process could not write it; is there room beside "
		      "the output?",
		      "were lost: their process could not write them; is there room "
		      "beside the output?");
	warn_of_calls(summary, summary->losses.nr_ring,
		      "was lost for lack of room: use a larger -m",
		      "were lost for lack of room: use a larger -m");
	if (summary->losses.nr_nodes)
		pr_warning("stacks of %s %s of CUDA graphs were lost for lack of room: "
			   "use a larger -m",
			   format__count(summary->losses.nr_nodes, &count),
			   format__plural(summary->losses.nr_nodes, "node", "nodes"));
	if (summary->logs.nr_bytes_cut)
		pr_warning("%s of GPU records are left out: there were more than "
			   "--max-size has room for",
			   format__file_size(summary->logs.nr_bytes_cut, &count));
	/* After a stop at --max-size, they run on. */
	if (summary->scan->nr_unended && !summary->is_stopped)
		print_unended(summary);
	warn_of_count(summary->account.nr_unknown_time,
		      "kernel has no time, CUPTI didn't know it: it is left out",
		      "kernels have no time, CUPTI didn't know it: they are left out");
	warn_of_calls(summary, summary->losses.nr_stack,
		      "has no stack: its memory could not be read",
		      "have no stack: their memory could not be read");
	warn_of_count(summary->losses.nr_sideband,
		      "record of mappings and processes was lost: some frames will have "
		      "no name",
		      "records of mappings and processes were lost: some frames will "
		      "have no name");
	warn_of_count(summary->output.nr_sideband_over_limit,
		      "record of mappings and processes has no room within --max-size: "
		      "some frames will have no name",
		      "records of mappings and processes have no room within --max-size: "
		      "some frames will have no name");
	warn_of_count(summary->nr_without_stack,
		      "GPU record is of a launch so long before its file that it has no "
		      "stack there",
		      "GPU records are of launches so long before their file that they "
		      "have no stack there");
	warn_of_count(summary->nr_forgotten,
		      "record of mappings, names and graphs was too many to be kept for "
		      "later files: some frames will have no name there",
		      "records of mappings, names and graphs were too many to be kept "
		      "for later files: some frames will have no name there");
	warn_of_count(summary->output.nr_broken, "record of the kernel could not be read",
		      "records of the kernel could not be read");
}

/* "31,030 launches, 12 waits": what there is of each, and of launches anyhow */
static const char *format_calls(const struct call_sums *calls, char *text, size_t size)
{
	static const char *const words[CALL_NR_CLASSES][2] = {
		[CALL_LAUNCH] = {"launch", "launches"},
		[CALL_WAIT] = {"wait", "waits"},
		[CALL_MEMORY] = {"allocation or free", "allocations and frees"},
		[CALL_UNKNOWN] = {"other call", "other calls"},
	};
	uint64_t nr_all = 0;
	size_t nr_bytes = 0;

	for (size_t i = 0; i < CALL_NR_CLASSES; i++)
		nr_all += calls->nr[i];
	for (size_t i = 0; i < CALL_NR_CLASSES; i++) {
		struct format_buf count;

		if (!calls->nr[i] && (i != CALL_LAUNCH || nr_all))
			continue;
		nr_bytes += (size_t)snprintf(
			text + nr_bytes, size - nr_bytes, "%s%s %s", nr_bytes ? ", " : "",
			format__count(calls->nr[i], &count),
			format__plural(calls->nr[i], words[i][0], words[i][1]));
	}
	return text;
}

/* ", the newest 30 kept", where --overwrite has left out some */
static void format_kept(const struct summary *summary, char *text, size_t size)
{
	struct format_buf count;

	*text = '\0';
	if (!summary->is_cut)
		return;
	snprintf(text, size, ", the newest %s kept%s",
		 format__count(summary->nr_kept_launches, &count),
		 summary->nr_files > 1 ? " in the last file" : "");
}

/* What was to be recorded, and is not there; what is left out was not to be. */
static uint64_t nr_lost_of(const struct summary *summary)
{
	return account__nr_lost(&summary->account) -
	       summary->account.nr_lost[ACCOUNT_OVER_LIMIT];
}

static uint64_t nr_dropped_of(const struct summary *summary)
{
	return account__nr_dropped(&summary->account) -
	       summary->account.nr_dropped[ACCOUNT_BEHIND_LIMIT];
}

/* Where nobody has launched, there may still be some who were recorded. */
static uint64_t nr_processes_of(const struct summary *summary)
{
	const struct output_counts *output = &summary->output;

	if (output->nr_processes || summary->scan->nr_errors)
		return output->nr_processes;
	return summary->logs.nr_logs;
}

static void print_files(const struct summary *summary)
{
	const uint64_t nr_processes = nr_processes_of(summary);
	const uint64_t nr_lost = nr_lost_of(summary);
	const uint64_t nr_dropped = nr_dropped_of(summary);
	const struct output_counts *output = &summary->output;
	struct format_buf lost, processes, data, sidecar, files;
	char calls[256], kept[96];

	format_kept(summary, kept, sizeof(kept));
	if (summary->nr_files)
		pr_info("%s of %s %s%s; %s %s: %s.TIMESTAMP (%s), GPU records in .gpu "
			"(%s)",
			format_calls(&summary->calls, calls, sizeof(calls)),
			format__count(nr_processes, &processes),
			format__plural(nr_processes, "process", "processes"), kept,
			format__count(summary->nr_files, &files),
			format__plural(summary->nr_files, "file", "files"), summary->path,
			format__file_size(output->bytes, &data),
			format__file_size(summary->logs.bytes, &sidecar));
	else
		pr_info("%s of %s %s%s in %s (%s), GPU records in %s.gpu (%s)",
			format_calls(&summary->calls, calls, sizeof(calls)),
			format__count(nr_processes, &processes),
			format__plural(nr_processes, "process", "processes"), kept,
			summary->path, format__file_size(output->bytes, &data),
			summary->path, format__file_size(summary->logs.bytes, &sidecar));
	if (summary->nr_removed_files)
		pr_info("%s older %s removed (--switch-max-files %u), with %s %s",
			format__count(summary->nr_removed_files, &files),
			format__plural(summary->nr_removed_files, "file", "files"),
			summary->max_files,
			format__count(summary->nr_removed_launches, &data),
			plural_calls(&summary->account, summary->nr_removed_launches));
	pr_info("%s %s lost, %s GPU %s dropped", format__count(nr_lost, &lost),
		plural_calls(&summary->account, nr_lost),
		format__count(nr_dropped, &processes),
		format__plural(nr_dropped, "record", "records"));
}

void summary__take_account(struct summary *summary)
{
	const uint64_t nr_explained = carrier_losses__launches(&summary->losses) +
				      summary->output.nr_broken +
				      summary->output.nr_over_limit;
	const struct log_scan *scan = summary->scan;
	struct account account = scan->account;
	/* Behind --max-size nobody takes what processes launch, but they count it. */
	const enum account_loss others =
		summary->is_stopped ? ACCOUNT_OVER_LIMIT : ACCOUNT_MISSING;

	account.has_calls = summary->has_perfdata;
	account.has_others =
		summary->calls.nr[CALL_LAUNCH] != summary->output.nr_launches;
	account.nr_samples = summary->output.nr_launches;
	account.nr_without_stack = summary->losses.nr_stack;
	account.nr_lost[ACCOUNT_RING] = summary->losses.nr_ring;
	account.nr_lost[ACCOUNT_LOG] = summary->losses.nr_log;
	account.nr_lost[ACCOUNT_UNREADABLE] = summary->output.nr_broken;
	account.nr_lost[ACCOUNT_OVER_LIMIT] = summary->output.nr_over_limit;
	if (scan->nr_missing > nr_explained)
		account.nr_lost[others] += scan->nr_missing - nr_explained;
	summary->account = account;
}

static void print_absence(const struct summary *summary)
{
	const struct output_counts *output = &summary->output;
	const struct absence absence = {
		.library = summary->library,
		.sight = summary->sight,
		.status = summary->status,
		.uninjected = output->uninjected,
	};

	if (!summary->logs.nr_logs && !output->nr_unlogged && !output->nr_launches)
		absence__print(&absence);
	else if (summary->sight != ABSENCE_LOOKED && output->uninjected.nr_processes &&
		 !output->uninjected.is_unseen)
		absence__print_uninjected(&absence);
	else if (summary->has_capture_range && !output->nr_launches)
		pr_warning(
			"nothing was launched between cudaProfilerStart() and "
			"cudaProfilerStop(), which is all that --capture-range records: "
			"is the first called, and before the launches?");
}

void summary__print(const struct summary *summary)
{
	const struct output_counts *output = &summary->output;
	const uint64_t nr_dropped = nr_dropped_of(summary);
	struct format_buf processes, dropped, size;

	log_scan__print(summary->scan);
	gpu_table__tell(&summary->scan->gpus);
	if (output->nr_unlogged)
		print_unlogged(output);
	if (summary->logs.nr_empty_logs)
		pr_warning("%s %s ended before GPU records were written: a crash loses "
			   "those of its last second",
			   format__count(summary->logs.nr_empty_logs, &processes),
			   format__plural(summary->logs.nr_empty_logs, "process",
					  "processes"));
	else if (summary->library)
		print_absence(summary);
	print_losses(summary);
	account__print(&summary->account);

	if (summary->has_perfdata)
		print_files(summary);
	else
		pr_info("GPU records of %s %s in %s.gpu (%s), %s dropped",
			format__count(summary->logs.nr_logs, &processes),
			format__plural(summary->logs.nr_logs, "process", "processes"),
			summary->path, format__file_size(summary->logs.bytes, &size),
			format__count(nr_dropped, &dropped));
}
