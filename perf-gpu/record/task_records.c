// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/task_records.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "perfdata/format.h"
#include "perfdata/sample.h"

/* Of perfdata_sample__write_id() */
#define MAX_ID_BYTES 48

#define COMM_BYTES 16 /* the kernel's TASK_COMM_LEN */

/* The kernel's name for executable memory without a file */
#define ANONYMOUS "//anon"

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[COMM_BYTES];
	unsigned char id[MAX_ID_BYTES];
};

/* FORK and EXIT */
struct task_record {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
	unsigned char id[MAX_ID_BYTES];
};

struct map_record {
	struct perfdata_mmap2 mmap2;
	char path_and_id[PATH_MAX + MAX_ID_BYTES];
} __attribute__((aligned(8)));

/* @bytes: of the record so far, a multiple of 8; there is room for its sample_id. */
static int write_record(struct output *output, struct perf_event_header *header,
			size_t bytes, struct task task, uint64_t time_ns)
{
	const struct perfdata_sample id = {
		.pid = task.pid,
		.tid = task.tid,
		.time_ns = time_ns,
		.id = SIDEBAND_EVENT_ID,
	};

	bytes += perfdata_sample__write_id(output__sideband_attr(output), &id,
					   (char *)header + bytes);
	header->size = (uint16_t)bytes;
	return output__sideband(output, header);
}

int task_records__comm(struct output *output, struct task task, const char *comm,
		       bool is_exec, uint64_t time_ns)
{
	struct comm_record record = {
		.header = {.type = PERF_RECORD_COMM,
			   .misc = is_exec ? PERF_RECORD_MISC_COMM_EXEC : 0},
		.pid = task.pid,
		.tid = task.tid,
	};
	size_t nr_bytes = strnlen(comm, COMM_BYTES - 1) + 1;

	memcpy(record.comm, comm, nr_bytes - 1);
	return write_record(output, &record.header,
			    offsetof(struct comm_record, comm) + (nr_bytes + 7) / 8 * 8,
			    task, time_ns);
}

static int write_task(struct output *output, uint32_t type, struct task task,
		      struct task parent, uint64_t time_ns)
{
	struct task_record record = {
		.header = {.type = type},
		.pid = task.pid,
		.ppid = parent.pid,
		.tid = task.tid,
		.ptid = parent.tid,
		.time_ns = time_ns,
	};

	return write_record(output, &record.header, offsetof(struct task_record, id),
			    type == PERF_RECORD_FORK ? parent : task, time_ns);
}

int task_records__fork(struct output *output, struct task task, struct task parent,
		       uint64_t time_ns)
{
	return write_task(output, PERF_RECORD_FORK, task, parent, time_ns);
}

int task_records__exit(struct output *output, struct task task, struct task parent,
		       uint64_t time_ns)
{
	return write_task(output, PERF_RECORD_EXIT, task, parent, time_ns);
}

int task_records__map(struct output *output, uint32_t pid, const struct gpu_log_map *map,
		      uint64_t time_ns)
{
	const struct task task = {.pid = pid, .tid = pid};
	const char *path = map->nr_bytes ? map->path : ANONYMOUS;
	size_t nr_bytes = strnlen(path, PATH_MAX - 1);
	struct map_record record = {
		.mmap2 = {.header = {.type = PERF_RECORD_MMAP2,
				     .misc = PERF_RECORD_MISC_USER},
			  .pid = pid,
			  .tid = pid,
			  .addr = map->start,
			  .bytes = map->bytes,
			  .pgoff = map->offset,
			  .major = map->major,
			  .minor = map->minor,
			  .inode = map->inode,
			  .prot = map->prot,
			  .flags = map->is_shared ? MAP_SHARED : MAP_PRIVATE},
	};

	memcpy(record.path_and_id, path, nr_bytes);
	return write_record(output, &record.mmap2.header,
			    sizeof(record.mmap2) + (nr_bytes + 8) / 8 * 8, task, time_ns);
}
