// SPDX-License-Identifier: GPL-2.0-or-later
#include "merge/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "merge/input.h"
#include "merge/merge_perfdata.h"
#include "merge/merge_sidecar.h"
#include "merge/plan.h"
#include "util/backup.h"
#include "util/file.h"
#include "util/format.h"
#include "util/log.h"
#include "util/progress.h"
#include "util/session.h"
#include "util/temporary.h"

struct merge {
	const struct merge_options *options;
	struct backup backup; /* of what is in the output's place */
	struct merge_input **inputs;
	size_t nr_inputs;
	char *hosts;
	int nr_hosts;
	uint64_t session;
	struct perfdata_writer *writer;
	struct merge_sidecar *sidecar;
	struct merge_counts counts;
};

/* What is read must be there until all is written. */
static int check_output(const struct merge *merge, const struct merge_input *input)
{
	const char *const outputs[] = {merge->options->output, merge->backup.path[1]};

	for (int i = 0; i < 2; i++) {
		if (!file__is_same(outputs[i], input->path) &&
		    !file__is_same(outputs[i], input->sidecar_path))
			continue;
		pr_err("%s is what is read: write to another file with -o", outputs[i]);
		return -EINVAL;
	}
	return 0;
}

static int open_inputs(struct merge *merge)
{
	int err = 0;

	for (size_t i = 0; i < merge->options->nr_paths && !err; i++) {
		err = merge_input__open(merge->options->paths[i],
					&merge->inputs[merge->nr_inputs]);
		if (err)
			return err;
		err = check_output(merge, merge->inputs[merge->nr_inputs++]);
	}
	return err;
}

static int plan(struct merge *merge)
{
	int err;

	err = merge_plan__make(merge->inputs, merge->nr_inputs,
			       merge->options->has_hosts);
	if (err)
		return err;
	merge->nr_hosts =
		merge_plan__hosts(merge->inputs, merge->nr_inputs, &merge->hosts);
	return merge->nr_hosts < 0 ? merge->nr_hosts : 0;
}

static int write_files(struct merge *merge)
{
	int err;

	err = perfdata_writer__open(merge->options->output, &merge->writer);
	if (!err)
		err = merge_sidecar__open(merge->backup.path[1], merge->session,
					  &merge->sidecar);
	if (!err)
		err = merge_perfdata__write(merge->writer, merge->inputs,
					    merge->nr_inputs, merge->session,
					    merge->options->cmdline, merge->hosts,
					    &merge->counts);
	progress__begin("writing", merge->backup.path[1], merge->nr_inputs);
	for (size_t i = 0; i < merge->nr_inputs && !err; i++) {
		progress__at(i);
		err = merge_sidecar__add(merge->sidecar, merge->inputs[i]);
	}
	if (!err)
		err = merge_sidecar__end(merge->sidecar, merge->inputs, merge->nr_inputs);
	return err;
}

static int commit_files(struct merge *merge)
{
	int err;

	err = backup__move(&merge->backup);
	if (err)
		return err;
	err = merge_sidecar__commit(merge->sidecar);
	if (err)
		goto out;
	err = perfdata_writer__commit(merge->writer);
	if (err)
		unlink(merge->backup.path[1]);
out:
	if (err)
		backup__undo(&merge->backup);
	return err;
}

/* Both get their names, or neither. */
static int commit(struct merge *merge)
{
	sigset_t mask;
	int err;

	temporary__hold(&mask);
	err = commit_files(merge);
	temporary__release(&mask);
	return err;
}

/* A log that goes on in another part of the recording is one. */
static uint64_t count_logs(const struct merge_input *input)
{
	uint64_t nr = input->nr_logs;

	for (size_t i = 0; i < input->nr_logs && input->next_part; i++)
		nr -= merge_input__find_log(input->next_part, input->log_ids[i]) >= 0;
	return nr;
}

static void print_summary(const struct merge *merge)
{
	const struct merge_counts *counts = &merge->counts;
	struct format_buf recordings, files, launches, processes, unknown, data, sidecar;
	uint64_t nr_logs = 0, nr_recordings = 0;
	char in_files[64] = "";

	for (size_t i = 0; i < merge->nr_inputs; i++) {
		nr_logs += count_logs(merge->inputs[i]);
		nr_recordings += !merge->inputs[i]->next_part;
	}
	if (nr_recordings < merge->nr_inputs)
		snprintf(in_files, sizeof(in_files), " (%s files)",
			 format__count(merge->nr_inputs, &files));
	if (counts->nr_unknown)
		pr_warning("%s %s that can't be put beside others",
			   format__count(counts->nr_unknown, &unknown),
			   format__plural(counts->nr_unknown,
					  "record is left out: it is of a kind",
					  "records are left out: they are of kinds"));
	if (counts->nr_broken)
		pr_warning("%s %s left out", format__count(counts->nr_broken, &unknown),
			   format__plural(counts->nr_broken,
					  "record could not be read, and is",
					  "records could not be read, and are"));
	pr_info("%s %s%s of %d %s: %s %s of %s %s in %s (%s), GPU records in %s (%s)",
		format__count(nr_recordings, &recordings),
		format__plural(nr_recordings, "recording", "recordings"), in_files,
		merge->nr_hosts,
		format__plural((uint64_t)merge->nr_hosts, "host", "hosts"),
		format__count(counts->nr_launches, &launches),
		format__plural(counts->nr_launches, "launch", "launches"),
		format__count(nr_logs, &processes),
		format__plural(nr_logs, "process", "processes"), merge->options->output,
		format__file_size(counts->bytes, &data), merge->backup.path[1],
		format__file_size(merge_sidecar__bytes(merge->sidecar), &sidecar));
}

/* What else archives have, a recording of two files has no place for. */
static void tell_archives(const struct merge *merge)
{
	const char *path = NULL;

	for (size_t i = 0; i < merge->nr_inputs && !path; i++)
		if (merge->inputs[i]->files.archive)
			path = merge->inputs[i]->path;
	if (path)
		pr_warning(
			"the files with symbols of %s are not in %s: where they aren't "
			"installed, unpack them with 'tar xf %s symfs', and read it with "
			"--symfs symfs",
			path, merge->options->output, path);
}

static int run(struct merge *merge)
{
	int err;

	err = backup__init(merge->options->output, true, &merge->backup);
	if (!err)
		err = open_inputs(merge);
	if (!err)
		err = plan(merge);
	if (!err)
		err = session__make(&merge->session);
	if (!err)
		err = write_files(merge);
	if (!err)
		err = commit(merge);
	if (!err) {
		print_summary(merge);
		tell_archives(merge);
	}
	return err;
}

int merge__run(const struct merge_options *options)
{
	struct merge merge = {.options = options};
	int err = -ENOMEM;

	merge.inputs = calloc(options->nr_paths, sizeof(struct merge_input *));
	if (merge.inputs)
		err = run(&merge);
	else
		pr_err("no memory to merge");
	progress__end();
	merge_sidecar__close(merge.sidecar);
	perfdata_writer__close(merge.writer);
	for (size_t i = 0; i < merge.nr_inputs; i++)
		merge_input__close(merge.inputs[i]);
	free(merge.hosts);
	free(merge.inputs);
	return err;
}
