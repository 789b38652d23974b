// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes header features, and reads what is needed of them. */
#include "perfdata/feature.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "perfdata/format.h"

#define CLOCK_DATA_VERSION 1
#define NS_PER_S	   1000000000ull

/* Give the feature to the writer, and the buffer's memory back. */
static int set_and_release(struct perfdata_writer *writer, unsigned int feature,
			   struct perfdata_buffer *buffer)
{
	int err = -ENOMEM;

	if (!buffer->no_memory)
		err = perfdata_writer__set_feature(writer, feature, buffer->data,
						   buffer->nr_bytes);
	perfdata_buffer__release(buffer);
	return err;
}

int perfdata_feature__set_nr_cpus(struct perfdata_writer *writer, uint32_t nr_configured,
				  uint32_t nr_online)
{
	struct perfdata_buffer buffer = {0};

	perfdata_buffer__add_u32(&buffer, nr_configured);
	perfdata_buffer__add_u32(&buffer, nr_online);
	return set_and_release(writer, HEADER_NRCPUS, &buffer);
}

int perfdata_feature__set_total_memory(struct perfdata_writer *writer, uint64_t kib)
{
	return perfdata_writer__set_feature(writer, HEADER_TOTAL_MEM, &kib, sizeof(kib));
}

int perfdata_feature__set_cmdline(struct perfdata_writer *writer, const char *const *argv)
{
	struct perfdata_buffer buffer = {0};
	uint32_t nr = 0;

	while (argv[nr])
		nr++;
	perfdata_buffer__add_u32(&buffer, nr);
	for (; *argv; argv++)
		perfdata_buffer__add_string(&buffer, *argv);
	return set_and_release(writer, HEADER_CMDLINE, &buffer);
}

int perfdata_feature__set_sample_time(struct perfdata_writer *writer, uint64_t first_ns,
				      uint64_t last_ns)
{
	struct perfdata_buffer buffer = {0};

	perfdata_buffer__add_u64(&buffer, first_ns);
	perfdata_buffer__add_u64(&buffer, last_ns);
	return set_and_release(writer, HEADER_SAMPLE_TIME, &buffer);
}

int perfdata_feature__set_clock(struct perfdata_writer *writer, uint32_t clockid,
				uint64_t wall_ns, uint64_t clock_ns)
{
	struct perfdata_buffer buffer = {0};
	struct timespec resolution = {.tv_nsec = 1};
	int err;

	/* A clock that can't be asked: 1 ns, what all of Linux's perf clocks have */
	clock_getres((clockid_t)clockid, &resolution);
	perfdata_buffer__add_u64(&buffer, (uint64_t)resolution.tv_sec * NS_PER_S +
						  (uint64_t)resolution.tv_nsec);
	err = set_and_release(writer, HEADER_CLOCKID, &buffer);
	if (err)
		return err;
	perfdata_buffer__add_u32(&buffer, CLOCK_DATA_VERSION);
	perfdata_buffer__add_u32(&buffer, clockid);
	perfdata_buffer__add_u64(&buffer, wall_ns);
	perfdata_buffer__add_u64(&buffer, clock_ns);
	return set_and_release(writer, HEADER_CLOCK_DATA, &buffer);
}

void perfdata_feature__add_build_id(struct perfdata_buffer *table, uint16_t misc,
				    const void *id, size_t id_bytes, const char *path)
{
	size_t path_bytes = strlen(path) + 1;
	size_t pad_bytes = -path_bytes % PERFDATA_STRING_ALIGN;
	size_t record_bytes = sizeof(struct perfdata_build_id) + path_bytes + pad_bytes;
	struct perfdata_build_id entry = {
		.header = {.type = PERFDATA_RECORD_HEADER_BUILD_ID,
			   .misc = misc | PERFDATA_MISC_BUILD_ID_SIZE,
			   .size = (uint16_t)record_bytes},
		.pid = -1,
	};

	if (record_bytes > UINT16_MAX)
		return;
	if (id_bytes > sizeof(entry.id))
		id_bytes = sizeof(entry.id);
	memcpy(entry.id, id, id_bytes);
	entry.id_bytes = (uint8_t)id_bytes;
	perfdata_buffer__add(table, &entry, sizeof(entry));
	perfdata_buffer__add(table, path, path_bytes);
	perfdata_buffer__add_zeros(table, pad_bytes);
}

int perfdata_feature__next_build_id(struct perfdata_cursor *cursor,
				    struct perfdata_file_id *ret)
{
	const size_t id_offset = offsetof(struct perfdata_build_id, id);
	struct perfdata_build_id entry;
	const uint8_t *at = cursor->at;
	const char *path;
	size_t path_bytes;

	if (!cursor->left_bytes)
		return 0;
	if (!perfdata_cursor__take(cursor, 1, sizeof(entry)))
		return -EINVAL;
	memcpy(&entry, at, sizeof(entry));
	if (entry.header.size < sizeof(entry))
		return -EINVAL;
	path_bytes = entry.header.size - sizeof(entry);
	path = perfdata_cursor__take(cursor, path_bytes, 1);
	if (!path || !memchr(path, '\0', path_bytes))
		return -EINVAL;
	if (!(entry.header.misc & PERFDATA_MISC_BUILD_ID_SIZE))
		entry.id_bytes = sizeof(entry.id);
	if (entry.id_bytes > sizeof(entry.id))
		return -EINVAL;
	*ret = (struct perfdata_file_id){
		.mode = entry.header.misc & PERF_RECORD_MISC_CPUMODE_MASK,
		.id = at + id_offset,
		.id_bytes = entry.id_bytes,
		.path = path,
	};
	return 1;
}
