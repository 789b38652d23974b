// SPDX-License-Identifier: GPL-2.0-or-later
#include "merge/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge/log_records.h"
#include "merge/records.h"
#include "perfdata/cursor.h"
#include "perfdata/format.h"
#include "sidecar/table.h"
#include "util/gpu_log_cursor.h"
#include "util/log.h"
#include "util/progress.h"

/* A clock that was set by more than this, while it was recorded by, is told of. */
#define MAX_STEP_NS 1000000

static int no_memory(const struct merge_input *input)
{
	pr_err("no memory to read %s", input->path);
	return -ENOMEM;
}

bool merge_input__is_launch(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       attr->config == PERF_COUNT_SW_BPF_OUTPUT && attr->config1;
}

/* Why there is no event of launches in it. */
static int tell_none(const struct merge_input *input)
{
	for (size_t i = 0; i < perfdata_reader__nr_events(input->reader); i++) {
		const char *name = perfdata_reader__event(input->reader, i)->name;

		if (strcmp(name, "gpu-kernel"))
			continue;
		pr_err("%s is what inject makes: merge the recordings that such files "
		       "were made of, and give the merged one to inject",
		       input->path);
		return -EINVAL;
	}
	pr_err("%s was not recorded by perf-gpu record: what perf itself has recorded "
	       "(also beside perf-gpu record --probe none) can't be merged",
	       input->path);
	return -EINVAL;
}

/* Records of all events are rewritten by their attrs, and find them by their id. */
static int check_events(struct merge_input *input)
{
	for (size_t i = 0; i < perfdata_reader__nr_events(input->reader); i++) {
		const struct perf_event_attr *attr =
			&perfdata_reader__event(input->reader, i)->attr;

		if (merge_input__is_launch(attr))
			input->session = attr->config1;
		if ((attr->sample_type & PERF_SAMPLE_IDENTIFIER) && attr->sample_id_all)
			continue;
		return tell_none(input);
	}
	return input->session ? 0 : tell_none(input);
}

static int note_record(struct merge_input *input, const struct perf_event_header *record)
{
	uint32_t pid, tid;

	if (merge_record__task(input->reader, record, &pid, &tid))
		return 0; /* merge_records counts them */
	/* What is higher is the kernel's -1. */
	if (pid <= INT32_MAX && pid_set__add(&input->pids, pid))
		return -ENOMEM;
	if (tid <= INT32_MAX && pid_set__add(&input->pids, tid))
		return -ENOMEM;
	return 0;
}

static int read_perfdata(struct merge_input *input)
{
	const struct perf_event_header *record;
	uint64_t cursor = 0;
	int ret;

	progress__begin("reading", input->path,
			perfdata_reader__data_bytes(input->reader));
	while ((ret = perfdata_reader__next(input->reader, &cursor, &record)) > 0) {
		progress__at(cursor);
		if (note_record(input, record))
			return no_memory(input);
	}
	/* -ENODATA: told; the recording was cut off */
	return ret == -ENODATA ? 0 : ret;
}

static int check_block(const struct merge_input *input, const struct gpu_log_block *block)
{
	if (block->version > GPU_LOG_VERSION) {
		pr_err("%s is in version %u of the format, this perf-gpu reads version "
		       "%u: a later perf-gpu is needed",
		       input->sidecar_path, block->version, GPU_LOG_VERSION);
		return -ENOTSUP;
	}
	if (block->session != input->session) {
		pr_err("%s is of another recording than %s (session %016llx, not "
		       "%016llx)",
		       input->sidecar_path, input->path,
		       (unsigned long long)block->session,
		       (unsigned long long)input->session);
		return -EINVAL;
	}
	return 0;
}

static void add_recorder(struct merge_input *input, const struct gpu_log_record *record)
{
	struct gpu_log_recorder recorder = {};

	if (record->type != GPU_LOG_RECORDER || record->size < GPU_LOG_RECORDER_MIN_BYTES)
		return;
	memcpy(&recorder, record,
	       record->size < sizeof(recorder) ? record->size : sizeof(recorder));
	log_record__add_recorder(&recorder, &input->recorder);
	input->recorder = recorder;
}

/* A log mostly has all its blocks in a row; sort_logs() does the rest. */
static int note_log(struct merge_input *input, uint64_t log_id)
{
	uint64_t *place;

	if (input->nr_logs && input->log_ids[input->nr_logs - 1] == log_id)
		return 0;
	place = TABLE_APPEND(input->log_ids, input->nr_logs);
	if (!place)
		return -ENOMEM;
	*place = log_id;
	return 0;
}

static int note_block(struct merge_input *input, const struct gpu_log_block *block)
{
	struct gpu_log_cursor cursor =
		gpu_log_cursor__new(block + 1, block->payload_bytes);
	const struct gpu_log_record *record;
	int err = 0;

	if (block->log_id)
		err = note_log(input, block->log_id);
	while (!err && gpu_log_cursor__next(&cursor, &record) > 0) {
		if (!block->log_id)
			add_recorder(input, record);
		else if (record->type == GPU_LOG_ORIGIN)
			input->has_origins = true;
		else
			err = log_record__note_pids(record, &input->pids);
	}
	return err;
}

static int compare_ids(const void *a, const void *b)
{
	const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

/* A log's blocks need not follow each other, behind damage or after a merge. */
static void sort_logs(struct merge_input *input)
{
	size_t nr = 0;

	if (!input->nr_logs)
		return;
	qsort(input->log_ids, input->nr_logs, sizeof(*input->log_ids), compare_ids);
	for (size_t i = 0; i < input->nr_logs; i++)
		if (!i || input->log_ids[i] != input->log_ids[i - 1])
			input->log_ids[nr++] = input->log_ids[i];
	input->nr_logs = nr;
}

ptrdiff_t merge_input__find_log(const struct merge_input *input, uint64_t log_id)
{
	const uint64_t *found = input->nr_logs
					? bsearch(&log_id, input->log_ids, input->nr_logs,
						  sizeof(*found), compare_ids)
					: NULL;

	return found ? found - input->log_ids : -ENOENT;
}

static int read_sidecar(struct merge_input *input)
{
	const struct gpu_log_block *block;
	struct block_cursor cursor = {0};
	uint64_t nr_blocks = 0;
	int err;

	while ((block = sidecar_file__next_block(input->sidecar, &cursor))) {
		err = check_block(input, block);
		if (err)
			return err;
		if (note_block(input, block))
			return no_memory(input);
		nr_blocks++;
	}
	if (!nr_blocks) {
		pr_err("%s has no GPU records in it: it is something else, or damaged "
		       "from the beginning",
		       input->sidecar_path);
		return -EINVAL;
	}
	if (cursor.nr_bytes_skipped)
		pr_warning("%s is damaged: %llu bytes at and behind byte %zu can't be "
			   "read, and are left out",
			   input->sidecar_path,
			   (unsigned long long)cursor.nr_bytes_skipped,
			   cursor.skipped_offset);
	sort_logs(input);
	return 0;
}

/* What perf.data's header has of the clock; false if it hasn't. */
static bool read_header_clock(const struct merge_input *input, int64_t *ret)
{
	struct perfdata_cursor cursor;
	uint64_t wall_ns, clock_ns;
	const void *data;
	size_t bytes;

	if (!perfdata_reader__feature(input->reader, HEADER_CLOCK_DATA, &data, &bytes))
		return false;
	cursor = perfdata_cursor__new(data, bytes);
	perfdata_cursor__u32(&cursor); /* version */
	perfdata_cursor__u32(&cursor); /* clock: launches have no other */
	wall_ns = perfdata_cursor__u64(&cursor);
	clock_ns = perfdata_cursor__u64(&cursor);
	*ret = (int64_t)(wall_ns - clock_ns);
	return !perfdata_cursor__failed(&cursor) && wall_ns;
}

static uint64_t distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static int find_clock(struct merge_input *input)
{
	const struct gpu_log_recorder *recorder = &input->recorder;
	int64_t begin_ns = (int64_t)(recorder->realtime_ns - recorder->monotonic_ns);

	if (recorder->realtime_ns) {
		input->boot_ns = begin_ns;
	} else if (!read_header_clock(input, &input->boot_ns)) {
		pr_err("%s doesn't say what its clock was, since its end is missing: it "
		       "can't be put beside others",
		       input->sidecar_path);
		return -ENODATA;
	}
	if (!recorder->end_realtime_ns)
		return 0;
	/* The later one: a clock is set to be right from then on. */
	input->boot_ns =
		(int64_t)(recorder->end_realtime_ns - recorder->end_monotonic_ns);
	if (distance(input->boot_ns, begin_ns) > MAX_STEP_NS)
		pr_warning("%s: the machine's clock was set by %.3f ms while it was "
			   "recorded: it goes by what it was set to",
			   input->path,
			   ((double)input->boot_ns - (double)begin_ns) / 1000000);
	return 0;
}

static int read_files(struct merge_input *input)
{
	const char *text;
	int err;

	err = recording__open(input->path, NULL, &input->files);
	if (err)
		return err;
	input->sidecar_path = input->files.sidecar_name;
	err = recording__open_perfdata(&input->files, &input->reader);
	if (!err)
		err = check_events(input);
	if (!err)
		err = recording__open_sidecar_file(&input->files, &input->sidecar);
	if (!err)
		err = read_perfdata(input);
	if (!err)
		err = read_sidecar(input);
	if (!err)
		err = find_clock(input);
	if (err)
		return err;
	text = perfdata_reader__feature_string(input->reader, HEADER_HOSTNAME);
	input->host = text ? text : "";
	text = perfdata_reader__feature_string(input->reader, HEADER_ARCH);
	input->arch = text ? text : "";
	return 0;
}

int merge_input__open(const char *path, struct merge_input **ret)
{
	struct merge_input *input = calloc(1, sizeof(*input));
	int err;

	if (!input) {
		pr_err("no memory to read %s", path);
		return -ENOMEM;
	}
	input->path = path;
	err = read_files(input);
	if (err) {
		merge_input__close(input);
		return err;
	}
	*ret = input;
	return 0;
}

void merge_input__close(struct merge_input *input)
{
	if (!input)
		return;
	pid_set__release(&input->pids);
	free(input->comm_host);
	free(input->log_ids);
	free(input->earlier_launches);
	sidecar_file__close(input->sidecar);
	perfdata_reader__close(input->reader);
	recording__close(&input->files);
	free(input);
}

uint64_t merge_input__lost_sideband(const struct merge_input *input)
{
	uint64_t nr = 0;

	if (input->whole != input)
		return 0;
	for (; input; input = input->next_part) {
		if (input->recorder.nr_lost_sideband > nr)
			nr = input->recorder.nr_lost_sideband;
	}
	return nr;
}
