// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/summary.h"

#include <string.h>

#include "util/format.h"
#include "util/log.h"

#define MB(bytes) ((double)(bytes) / (1 << 20))

static const char *plural(uint64_t nr, const char *one, const char *many)
{
	return nr == 1 ? one : many;
}

/* Nothing came from the injected library: why may that be? */
static void print_absence(const struct summary *summary)
{
	pr_warning(
		"no process initialized CUDA with our library in it: either cuInit() is "
		"never called, or fails, or the program is set-uid, or has cleared "
		"CUDA_INJECTION64_PATH, or runs in a container without %s",
		summary->library);
}

static void print_unlogged(const struct output_counts *output)
{
	struct format_buf count;

	pr_err("%s %s not recorded (pid %u%s): a log can't be made beside the output: "
	       "%s; does it run as another user, or in another root folder?",
	       format__count(output->nr_unlogged, &count),
	       plural(output->nr_unlogged, "process is", "processes are"),
	       output->unlogged_pid, output->nr_unlogged == 1 ? "" : " and others",
	       strerror(output->unlogged_errno));
}

static void print_losses(const struct summary *summary)
{
	const uint64_t nr_explained =
		carrier_losses__launches(&summary->losses) + summary->output.nr_broken;
	struct format_buf count;

	if (summary->scan->nr_missing > nr_explained)
		pr_warning("%s launches of the command are missing: %s",
			   format__count(summary->scan->nr_missing - nr_explained,
					 &count),
			   summary->missing);
	if (summary->losses.nr_log)
		pr_warning("%s launches were lost: their process could not write them; "
			   "is there room beside the output?",
			   format__count(summary->losses.nr_log, &count));
	if (summary->losses.nr_ring)
		pr_warning("%s launches were lost for lack of room: use a larger -m",
			   format__count(summary->losses.nr_ring, &count));
	if (summary->losses.nr_nodes)
		pr_warning("stacks of %s nodes of CUDA graphs were lost for lack of "
			   "room: use a larger -m",
			   format__count(summary->losses.nr_nodes, &count));
	if (summary->scan->nr_unended)
		pr_warning(
			"%s %s did not end in order (killed, crashed, exec'd, _exit or "
			"still running): what the GPU did for %s in the last second "
			"may be missing",
			format__count(summary->scan->nr_unended, &count),
			plural(summary->scan->nr_unended, "process", "processes"),
			plural(summary->scan->nr_unended, "it", "them"));
	if (summary->scan->nr_unknown_time)
		pr_warning("%s kernels have no time, CUPTI didn't know it: they are left "
			   "out",
			   format__count(summary->scan->nr_unknown_time, &count));
	if (summary->losses.nr_stack)
		pr_warning("%s launches have no stack: their memory could not be read",
			   format__count(summary->losses.nr_stack, &count));
	if (summary->losses.nr_sideband)
		pr_warning("%s records of mappings and processes were lost: some frames "
			   "will have no name",
			   format__count(summary->losses.nr_sideband, &count));
	if (summary->output.nr_broken)
		pr_warning("%s records of the kernel could not be read",
			   format__count(summary->output.nr_broken, &count));
}

static void print_files(const struct summary *summary)
{
	const struct output_counts *output = &summary->output;
	struct format_buf launches, processes;

	pr_info("%s %s of %s %s in %s (%.1f MB), GPU records in %s.gpu (%.1f MB)",
		format__count(output->nr_launches, &launches),
		plural(output->nr_launches, "launch", "launches"),
		format__count(output->nr_processes, &processes),
		plural(output->nr_processes, "process", "processes"), summary->path,
		MB(output->bytes), summary->path, MB(summary->logs.bytes));
	pr_info("%s %s lost, %s GPU %s dropped",
		format__count(carrier_losses__launches(&summary->losses), &launches),
		plural(carrier_losses__launches(&summary->losses), "launch", "launches"),
		format__count(summary->scan->nr_dropped, &processes),
		plural(summary->scan->nr_dropped, "record", "records"));
}

void summary__print(const struct summary *summary)
{
	const struct output_counts *output = &summary->output;
	struct format_buf processes, dropped;

	log_scan__print(summary->scan);
	if (output->nr_unlogged)
		print_unlogged(output);
	if (summary->logs.nr_empty_logs)
		pr_warning("%s %s ended before GPU records were written: a crash loses "
			   "those of its last second",
			   format__count(summary->logs.nr_empty_logs, &processes),
			   plural(summary->logs.nr_empty_logs, "process", "processes"));
	else if (summary->library && !summary->logs.nr_logs && !output->nr_unlogged)
		print_absence(summary);
	print_losses(summary);

	if (summary->has_perfdata)
		print_files(summary);
	else
		pr_info("GPU records of %s %s in %s.gpu (%.1f MB), %s dropped",
			format__count(summary->logs.nr_logs, &processes),
			plural(summary->logs.nr_logs, "process", "processes"),
			summary->path, MB(summary->logs.bytes),
			format__count(summary->scan->nr_dropped, &dropped));
}
