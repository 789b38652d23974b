// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What merge rewrites, of any bytes: the records of a perf.data, or else the records of a
 * GPU log. What says when and who must be other afterwards, and nothing get longer than
 * there is room for.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "gpu_log.h"
#include "merge/log_records.h"
#include "merge/records.h"
#include "perfdata/reader.h"
#include "perfdata/sample.h"
#include "util/gpu_log_cursor.h"
#include "util/log.h"

#define MAX_EVENTS 64

static const struct shift shift = {.time_ns = 1000000, .pid = 10000};

static void check_record(const struct perfdata_reader *reader,
			 const struct perf_event_header *record)
{
	static uint64_t copy[MERGE_RECORD_MAX_BYTES / sizeof(uint64_t)];
	static uint64_t ids[MAX_EVENTS];
	const struct record_change change = {
		.shift = shift, .event_ids = ids, .comm_host = "host"};
	uint64_t time_ns = 0, new_time_ns = 0;
	uint32_t pid = 0, tid = 0, new_pid, new_tid;
	int event = perfdata_reader__find_event(reader, record);

	/* Ids stay, so that the copy can be read by the same reader. */
	for (size_t i = 0; i < perfdata_reader__nr_events(reader); i++)
		ids[i] = perfdata_reader__event(reader, i)->nr_ids
				 ? perfdata_reader__event(reader, i)->ids[0]
				 : 0;
	merge_record__task(reader, record, &pid, &tid);
	if (merge_record__time(reader, record, &time_ns) <= 0 ||
	    merge_record__rewrite(reader, &change, record, copy))
		return;
	record = (const void *)copy;
	REQUIRE(record->size <= MERGE_RECORD_MAX_BYTES && record->size % 8 == 0);
	/* Its event has no id to be found by, or shares it with one before. */
	if (perfdata_reader__find_event(reader, record) != event ||
	    merge_record__time(reader, record, &new_time_ns) <= 0)
		return;
	REQUIRE(new_time_ns == shift__time(&shift, time_ns));
	if (merge_record__task(reader, record, &new_pid, &new_tid))
		return;
	REQUIRE(new_pid == shift__pid(&shift, pid));
	REQUIRE(new_tid == shift__pid(&shift, tid));
}

static bool can_be_merged(const struct perfdata_reader *reader)
{
	const size_t nr_events = perfdata_reader__nr_events(reader);

	for (size_t i = 0; i < nr_events; i++) {
		const struct perf_event_attr *attr =
			&perfdata_reader__event(reader, i)->attr;

		if (!(attr->sample_type & PERF_SAMPLE_IDENTIFIER) || !attr->sample_id_all)
			return false;
	}
	return nr_events && nr_events <= MAX_EVENTS;
}

static void check_perfdata(struct perfdata_reader *reader)
{
	const struct perf_event_header *record;
	uint64_t cursor = 0;

	if (!can_be_merged(reader))
		return;
	while (perfdata_reader__next(reader, &cursor, &record) == 1)
		check_record(reader, record);
}

static void check_log(const uint8_t *data, size_t size)
{
	static uint64_t payload[GPU_LOG_MAX_PAYLOAD / sizeof(uint64_t)];
	static uint64_t copy[UINT16_MAX / sizeof(uint64_t) + 1];
	const struct gpu_log_record *record, *rewritten = (const void *)copy;
	struct pid_set pids_before = {}, pids_after = {};
	struct gpu_log_cursor cursor;

	if (size > sizeof(payload))
		return;
	memcpy(payload, data, size);
	cursor = gpu_log_cursor__new(payload, size);
	while (gpu_log_cursor__next(&cursor, &record) > 0) {
		if (log_record__rewrite(record, &shift, copy))
			continue;
		REQUIRE(rewritten->type == record->type && rewritten->size % 8 == 0);
		REQUIRE(!log_record__note_pids(record, &pids_before));
		REQUIRE(!log_record__note_pids(rewritten, &pids_after));
	}
	REQUIRE(!pids_before.highest == !pids_after.highest ||
		pids_before.highest > INT32_MAX - shift.pid);
	pid_set__release(&pids_before);
	pid_set__release(&pids_after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_reader *reader;
	struct fuzz_path path;
	int fd = fuzz_file__open(data, size, &path);

	log_verbosity = -1;
	if (!perfdata_reader__open(path.text, &reader)) {
		check_perfdata(reader);
		perfdata_reader__close(reader);
	} else {
		check_log(data, size);
	}
	close(fd);
	return 0;
}
