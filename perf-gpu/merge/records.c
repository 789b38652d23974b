// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parts of a record that say who, when and of which event are changed in a copy:
 *
 *   SAMPLE   words behind the header, as its sample_type has them
 *   others   pid, tid (and parents') behind the header, by the kind of record;
 *            the trailing sample_id
 */
#include "merge/records.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "perfdata/format.h"
#include "perfdata/sample.h"

/* pid, tid: the first words of MMAP, MMAP2, COMM and NAMESPACES */
struct task_record {
	struct perf_event_header header;
	uint32_t pid, tid;
};

/* FORK and EXIT */
struct family_record {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
};

_Static_assert(sizeof(struct task_record) == 16, "linux/perf_event.h");
_Static_assert(sizeof(struct family_record) == 32, "linux/perf_event.h");

enum kind {
	KIND_UNKNOWN,
	KIND_NEEDLESS, /* of the file as it was: of its rings, of its pids */
	KIND_SAMPLE,
	KIND_TASK,
	KIND_FAMILY,
	KIND_LOST,
	KIND_OTHER, /* nothing but the sample_id is to be changed */
};

static enum kind kind_of(const struct perf_event_header *record)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return KIND_SAMPLE;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_NAMESPACES:
		return KIND_TASK;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return KIND_FAMILY;
	case PERF_RECORD_LOST:
		return KIND_LOST;
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_BPF_EVENT:
	case PERF_RECORD_CGROUP:
		return KIND_OTHER;
	case PERFDATA_RECORD_FINISHED_ROUND:
	case PERFDATA_RECORD_FINISHED_INIT:
	case PERFDATA_RECORD_ID_INDEX:
	case PERFDATA_RECORD_EVENT_UPDATE:
	case PERFDATA_RECORD_THREAD_MAP:
	case PERFDATA_RECORD_CPU_MAP:
	case PERFDATA_RECORD_TIME_CONV:
		return KIND_NEEDLESS;
	default:
		return KIND_UNKNOWN;
	}
}

static size_t fixed_bytes(enum kind kind)
{
	switch (kind) {
	case KIND_TASK:
		return sizeof(struct task_record);
	case KIND_FAMILY:
		return sizeof(struct family_record);
	case KIND_LOST:
		return sizeof(struct perfdata_lost);
	default:
		return sizeof(struct perf_event_header);
	}
}

/* Index of the record's event; the first one's if its id is none, as perf takes it */
static size_t event_of(const struct perfdata_reader *reader,
		       const struct perf_event_header *record)
{
	int event = perfdata_reader__find_event(reader, record);

	return event < 0 ? 0 : (size_t)event;
}

static const struct perf_event_attr *attr_of(const struct perfdata_reader *reader,
					     const struct perf_event_header *record)
{
	return &perfdata_reader__event(reader, event_of(reader, record))->attr;
}

/* Of a record of the kernel's that isn't a sample */
static int parse_id(const struct perfdata_reader *reader,
		    const struct perf_event_header *record, struct perfdata_sample *ret)
{
	const struct perf_event_attr *attr = attr_of(reader, record);
	uint64_t room[8];
	size_t id_bytes;

	if (perfdata_sample__parse_id(attr, record, ret))
		return -EINVAL;
	id_bytes = perfdata_sample__write_id(attr, ret, room);
	return record->size < fixed_bytes(kind_of(record)) + id_bytes ? -EINVAL : 0;
}

int merge_record__time(const struct perfdata_reader *reader,
		       const struct perf_event_header *record, uint64_t *ret_ns)
{
	struct perfdata_sample sample;
	int err;

	switch (kind_of(record)) {
	case KIND_UNKNOWN:
		return -ENOTSUP;
	case KIND_NEEDLESS:
		return 0;
	case KIND_SAMPLE:
		/* Unlike other records, a sample is nothing without its event. */
		if (perfdata_reader__find_event(reader, record) < 0)
			return -EINVAL;
		err = perfdata_sample__parse(attr_of(reader, record), record, &sample);
		break;
	default:
		err = parse_id(reader, record, &sample);
		break;
	}
	if (err)
		return err;
	*ret_ns = sample.time_ns;
	return 1;
}

int merge_record__task(const struct perfdata_reader *reader,
		       const struct perf_event_header *record, uint32_t *ret_pid,
		       uint32_t *ret_tid)
{
	const struct family_record *family = (const void *)record;
	const struct task_record *task = (const void *)record;
	enum kind kind = kind_of(record);
	struct perfdata_sample sample;

	if (record->size < fixed_bytes(kind))
		return -EINVAL;
	switch (kind) {
	case KIND_SAMPLE:
		if (perfdata_sample__parse(attr_of(reader, record), record, &sample))
			return -EINVAL;
		*ret_pid = sample.pid;
		*ret_tid = sample.tid;
		return 0;
	case KIND_TASK:
		*ret_pid = task->pid;
		*ret_tid = task->tid;
		return 0;
	case KIND_FAMILY:
		*ret_pid = family->pid;
		*ret_tid = family->tid;
		return 0;
	default:
		return -ENOENT;
	}
}

/* The words of a sample up to its time, in their order (perfdata/sample.c) */
static void rewrite_sample(const struct perf_event_attr *attr, const struct shift *shift,
			   uint64_t id, uint64_t *word)
{
	uint64_t type = attr->sample_type;

	*word++ = id; /* IDENTIFIER, which all events have */
	if (type & PERF_SAMPLE_IP)
		word++;
	if (type & PERF_SAMPLE_TID) {
		uint32_t task[2];

		memcpy(task, word, sizeof(task));
		task[0] = shift__pid(shift, task[0]);
		task[1] = shift__pid(shift, task[1]);
		memcpy(word++, task, sizeof(task));
	}
	if (type & PERF_SAMPLE_TIME) {
		*word = shift__time(shift, *word);
		word++;
	}
	if (type & PERF_SAMPLE_ADDR)
		word++;
	if (type & PERF_SAMPLE_ID)
		*word = id;
}

static void rewrite_id(const struct perf_event_attr *attr, const struct shift *shift,
		       uint64_t event_id, struct perf_event_header *record)
{
	struct perfdata_sample id;
	uint64_t words[8];
	size_t bytes;

	if (perfdata_sample__parse_id(attr, record, &id))
		return;
	id.pid = shift__pid(shift, id.pid);
	id.tid = shift__pid(shift, id.tid);
	id.time_ns = shift__time(shift, id.time_ns);
	id.id = event_id;
	bytes = perfdata_sample__write_id(attr, &id, words);
	memcpy((char *)record + record->size - bytes, words, bytes);
}

static void rewrite_family(const struct shift *shift, struct family_record *family)
{
	family->pid = shift__pid(shift, family->pid);
	family->ppid = shift__pid(shift, family->ppid);
	family->tid = shift__pid(shift, family->tid);
	family->ptid = shift__pid(shift, family->ptid);
	family->time_ns = shift__time(shift, family->time_ns);
}

/* NAME becomes NAME@HOST, with the sample_id, of @id_bytes, behind it again. */
static int add_host(struct perf_event_header *record, size_t id_bytes, const char *host)
{
	char *name = (char *)record + sizeof(struct task_record);
	size_t room = record->size - sizeof(struct task_record) - id_bytes;
	size_t name_bytes = strnlen(name, room), text_bytes, padded;
	uint64_t id[8];

	text_bytes = name_bytes + 1 + strlen(host);
	padded = (text_bytes + 8) & ~(size_t)7;
	if (sizeof(struct task_record) + padded + id_bytes > MERGE_RECORD_MAX_BYTES)
		return -EINVAL;
	memcpy(id, (char *)record + record->size - id_bytes, id_bytes);
	memset(name + name_bytes, 0, padded - name_bytes);
	name[name_bytes] = '@';
	memcpy(name + name_bytes + 1, host, strlen(host));
	memcpy(name + padded, id, id_bytes);
	record->size = (uint16_t)(sizeof(struct task_record) + padded + id_bytes);
	return 0;
}

int merge_record__rewrite(const struct perfdata_reader *reader,
			  const struct record_change *change,
			  const struct perf_event_header *record, void *ret)
{
	const size_t event = event_of(reader, record);
	const struct perf_event_attr *attr = &perfdata_reader__event(reader, event)->attr;
	const uint64_t id = change->event_ids[event];
	enum kind kind = kind_of(record);
	struct task_record *task = ret;
	struct perf_event_header *copy = ret;
	struct perfdata_sample unused = {};
	uint64_t words[8];

	if (record->size > MERGE_RECORD_MAX_BYTES)
		return -EINVAL;
	memcpy(ret, record, record->size);
	if (kind == KIND_SAMPLE) {
		rewrite_sample(attr, &change->shift, id, (uint64_t *)ret + 1);
		return 0;
	}
	rewrite_id(attr, &change->shift, id, copy);
	if (kind == KIND_LOST)
		((struct perfdata_lost *)ret)->id = id;
	if (kind == KIND_FAMILY)
		rewrite_family(&change->shift, ret);
	if (kind != KIND_TASK)
		return 0;
	task->pid = shift__pid(&change->shift, task->pid);
	task->tid = shift__pid(&change->shift, task->tid);
	if (record->type != PERF_RECORD_COMM || !change->comm_host)
		return 0;
	return add_host(copy, perfdata_sample__write_id(attr, &unused, words),
			change->comm_host);
}
