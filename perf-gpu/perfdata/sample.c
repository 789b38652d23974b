// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sample codec. What the kernel writes (perf_output_sample() in
 * kernel/events/core.c), each part only if sample_type has its bit:
 *
 *   SAMPLE                                  other records, sample_id_all
 *   +--------------------------------+      +--------------------------+
 *   | perf_event_header              |      | perf_event_header        |
 *   +--------------------------------+      | the record               |
 *   | u64 IDENTIFIER                 |      +--------------------------+
 *   | u64 IP                         |      | u32 pid, u32 tid    TID  |
 *   | u32 pid, u32 tid          TID  |      | u64 TIME                 |
 *   | u64 TIME                       |      | u64 ID                   |
 *   | u64 ADDR                       |      | u64 STREAM_ID            |
 *   | u64 ID                         |      | u32 cpu, u32 0      CPU  |
 *   | u64 STREAM_ID                  |      | u64 IDENTIFIER           |
 *   | u32 cpu, u32 0            CPU  |      +--------------------------+
 *   | u64 PERIOD                     |
 *   | counter values            READ |  as read_format says
 *   | u64 nr, u64 ips[nr]  CALLCHAIN |
 *   | u32 bytes, data            RAW |  bytes + 4 is a multiple of 8
 *   | u64 nr, [u64 hw_idx],          |
 *   |   {u64 from, to, flags}[nr],   |
 *   |   [u64 counters[nr]]           |  BRANCH_STACK
 *   | u64 abi, u64 regs[]            |  REGS_USER; no regs if abi is 0
 *   | u64 bytes, data, u64 dyn_bytes |  STACK_USER; only bytes if it is 0
 *   | u64 WEIGHT or WEIGHT_STRUCT    |
 *   | u64 DATA_SRC                   |
 *   | u64 TRANSACTION                |
 *   | u64 abi, u64 regs[]            |  REGS_INTR
 *   | u64 PHYS_ADDR                  |
 *   | u64 CGROUP                     |
 *   | u64 DATA_PAGE_SIZE             |
 *   | u64 CODE_PAGE_SIZE             |
 *   | u64 bytes, data            AUX |
 *   +--------------------------------+
 *
 * Stateless; any thread.
 */
#include "perfdata/sample.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "perfdata/cursor.h"

/* The bits before READ, which are a word each */
#define WORDS_BEFORE_READ                                                               \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |  \
	 PERF_SAMPLE_PERIOD)

#define MAX_WORDS_BYTES (9 * sizeof(uint64_t)) /* if a sample has them all */

#define WRITABLE                                                       \
	(WORDS_BEFORE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | \
	 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT)

#define READABLE                                                                      \
	(WRITABLE | PERF_SAMPLE_READ | PERF_SAMPLE_BRANCH_STACK |                     \
	 PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | \
	 PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |         \
	 PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_AUX)

#define BEHIND_WEIGHT                                                                 \
	(PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | \
	 PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |         \
	 PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_AUX)

/* What the sample_id of other records consists of; a word each */
#define ID_WORDS                                                                       \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* Newer than the headers of some distributions: Linux 6.0 and 6.8 */
#define READ_FORMAT_LOST       (1u << 4)
#define BRANCH_SAMPLE_COUNTERS (1u << 19)

#define READ_FORMAT_KNOWN                                                  \
	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | \
	 PERF_FORMAT_ID | PERF_FORMAT_GROUP | READ_FORMAT_LOST)

/* header.size has 16 bits, and a record is a multiple of 8 */
#define MAX_RECORD_BYTES 65528

static size_t nr_words(uint64_t sample_type)
{
	return (size_t)__builtin_popcountll(sample_type);
}

static uint64_t take_word(const unsigned char **at)
{
	uint64_t word;

	memcpy(&word, *at, sizeof(word));
	*at += sizeof(word);
	return word;
}

/* All at once, as this is done for every sample several times */
static void sample__parse_words(struct perfdata_sample *sample, uint64_t type,
				struct perfdata_cursor *body)
{
	const unsigned char *start = body->at, *at = start;
	uint64_t word;

	if (body->left_bytes < MAX_WORDS_BYTES &&
	    body->left_bytes < nr_words(type & WORDS_BEFORE_READ) * sizeof(word)) {
		body->failed = true;
		return;
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		sample->id = take_word(&at);
	if (type & PERF_SAMPLE_IP)
		sample->ip = take_word(&at);
	if (type & PERF_SAMPLE_TID) {
		memcpy(&sample->pid, at, sizeof(sample->pid));
		memcpy(&sample->tid, at + sizeof(sample->pid), sizeof(sample->tid));
		at += sizeof(word);
	}
	if (type & PERF_SAMPLE_TIME)
		sample->time_ns = take_word(&at);
	if (type & PERF_SAMPLE_ADDR)
		sample->addr = take_word(&at);
	if (type & PERF_SAMPLE_ID) {
		word = take_word(&at);
		if (!(type & PERF_SAMPLE_IDENTIFIER))
			sample->id = word;
	}
	if (type & PERF_SAMPLE_STREAM_ID)
		sample->stream_id = take_word(&at);
	if (type & PERF_SAMPLE_CPU) {
		memcpy(&sample->cpu, at, sizeof(sample->cpu));
		at += sizeof(word);
	}
	if (type & PERF_SAMPLE_PERIOD)
		sample->period = take_word(&at);
	perfdata_cursor__take(body, (uint64_t)(at - start), 1);
}

/* The values of counters (perf_output_read()), which nobody here wants. */
static void skip_read(struct perfdata_cursor *body, uint64_t read_format)
{
	uint64_t per_value = PERF_FORMAT_ID | READ_FORMAT_LOST;
	uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	size_t value_bytes = sizeof(uint64_t) * (1 + nr_words(read_format & per_value));
	uint64_t nr = 1;

	if (read_format & PERF_FORMAT_GROUP)
		nr = perfdata_cursor__u64(body);
	perfdata_cursor__take(body, nr_words(read_format & times), sizeof(uint64_t));
	perfdata_cursor__take(body, nr, value_bytes);
}

static void skip_branch_stack(struct perfdata_cursor *body, uint64_t branch_type)
{
	uint64_t nr = perfdata_cursor__u64(body);

	if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		perfdata_cursor__u64(body);
	perfdata_cursor__take(body, nr, sizeof(struct perf_branch_entry));
	if (branch_type & BRANCH_SAMPLE_COUNTERS)
		perfdata_cursor__take(body, nr, sizeof(uint64_t));
}

static void skip_regs(struct perfdata_cursor *body, uint64_t regs)
{
	if (perfdata_cursor__u64(body) != PERF_SAMPLE_REGS_ABI_NONE)
		perfdata_cursor__take(body, nr_words(regs), sizeof(uint64_t));
}

static void skip_user_state(struct perfdata_cursor *body,
			    const struct perf_event_attr *attr)
{
	uint64_t stack_bytes;

	if (attr->sample_type & PERF_SAMPLE_REGS_USER)
		skip_regs(body, attr->sample_regs_user);
	if (!(attr->sample_type & PERF_SAMPLE_STACK_USER))
		return;
	stack_bytes = perfdata_cursor__u64(body);
	if (!stack_bytes)
		return;
	perfdata_cursor__take(body, stack_bytes, 1);
	if (perfdata_cursor__u64(body) > stack_bytes)
		body->failed = true;
}

/* Everything behind STACK_USER is only checked for being there. */
static void skip_tail(struct perfdata_cursor *body, const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;
	uint64_t before = PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC |
			  PERF_SAMPLE_TRANSACTION;
	uint64_t behind = PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |
			  PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE;

	perfdata_cursor__take(body, nr_words(type & before), sizeof(uint64_t));
	if (type & PERF_SAMPLE_REGS_INTR)
		skip_regs(body, attr->sample_regs_intr);
	perfdata_cursor__take(body, nr_words(type & behind), sizeof(uint64_t));
	if (type & PERF_SAMPLE_AUX)
		perfdata_cursor__take(body, perfdata_cursor__u64(body), 1);
}

/* What perf-gpu record writes of a launch, but for copied stacks */
#define LAUNCH_TYPE                                                                     \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)

/*
 * The same as below for a sample of that type, of which there are millions. Each member is
 * written by itself, since to clear them all at once takes as long as the rest.
 */
static int parse_launch(const struct perf_event_header *event,
			struct perfdata_sample *ret)
{
	const uint64_t *words = (const uint64_t *)(event + 1), *raw;
	size_t nr_words = event->size / sizeof(*words) - 1;
	uint32_t raw_bytes;

	if (nr_words < 7 || words[5] > nr_words - 7)
		return -EINVAL;
	raw = words + 6 + words[5];
	memcpy(&raw_bytes, raw, sizeof(raw_bytes));
	if (raw_bytes >
	    (size_t)(words + nr_words - raw) * sizeof(*words) - sizeof(raw_bytes))
		return -EINVAL;
	ret->id = words[0];
	ret->ip = words[1];
	memcpy(&ret->pid, &words[2], sizeof(ret->pid));
	memcpy(&ret->tid, (const char *)&words[2] + sizeof(ret->pid), sizeof(ret->tid));
	ret->time_ns = words[3];
	ret->addr = 0;
	ret->stream_id = 0;
	memcpy(&ret->cpu, &words[4], sizeof(ret->cpu));
	ret->period = 0;
	ret->ips = words + 6;
	ret->nr_ips = words[5];
	ret->raw = (const char *)raw + sizeof(raw_bytes);
	ret->raw_bytes = raw_bytes;
	ret->user_state = NULL;
	ret->user_state_bytes = 0;
	ret->weight = 0;
	ret->misc = event->misc;
	return 0;
}

int perfdata_sample__parse(const struct perf_event_attr *attr,
			   const struct perf_event_header *event,
			   struct perfdata_sample *ret)
{
	struct perfdata_sample sample;
	uint64_t type = attr->sample_type;
	struct perfdata_cursor body;

	if (type & ~(uint64_t)READABLE)
		return -ENOTSUP;
	if ((type & PERF_SAMPLE_READ) &&
	    (attr->read_format & ~(uint64_t)READ_FORMAT_KNOWN))
		return -ENOTSUP;
	if (event->size < sizeof(*event))
		return -EINVAL;
	if (type == LAUNCH_TYPE && event->size % sizeof(uint64_t) == 0 &&
	    (uintptr_t)event % sizeof(uint64_t) == 0)
		return parse_launch(event, ret);
	sample = (struct perfdata_sample){.misc = event->misc};
	body = perfdata_cursor__new(event + 1, event->size - sizeof(*event));

	sample__parse_words(&sample, type, &body);
	if (type & PERF_SAMPLE_READ)
		skip_read(&body, attr->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		sample.nr_ips = perfdata_cursor__u64(&body);
		sample.ips =
			perfdata_cursor__take(&body, sample.nr_ips, sizeof(*sample.ips));
	}
	if (type & PERF_SAMPLE_RAW) {
		sample.raw_bytes = perfdata_cursor__u32(&body);
		sample.raw = perfdata_cursor__take(&body, sample.raw_bytes, 1);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branch_stack(&body, attr->branch_sample_type);
	if (type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)) {
		sample.user_state = body.at;
		skip_user_state(&body, attr);
		sample.user_state_bytes =
			(size_t)(body.at - (const unsigned char *)sample.user_state);
	}
	if (type & PERF_SAMPLE_WEIGHT)
		sample.weight = perfdata_cursor__u64(&body);
	if (type & BEHIND_WEIGHT)
		skip_tail(&body, attr);
	if (perfdata_cursor__failed(&body))
		return -EINVAL;
	*ret = sample;
	return 0;
}

int perfdata_sample__parse_id(const struct perf_event_attr *attr,
			      const struct perf_event_header *event,
			      struct perfdata_sample *ret)
{
	struct perfdata_sample id = {0};
	uint64_t type = attr->sample_type & ID_WORDS;
	size_t id_bytes = sizeof(uint64_t) * nr_words(type);
	struct perfdata_cursor tail;

	if (!attr->sample_id_all) {
		*ret = id;
		return 0;
	}
	if (event->size < sizeof(*event) + id_bytes)
		return -EINVAL;
	tail = perfdata_cursor__new((const unsigned char *)event + event->size - id_bytes,
				    id_bytes);
	/* In the order of a sample's words, but that IDENTIFIER is the last. */
	sample__parse_words(&id, type & ~(uint64_t)PERF_SAMPLE_IDENTIFIER, &tail);
	if (type & PERF_SAMPLE_IDENTIFIER)
		id.id = perfdata_cursor__u64(&tail);
	*ret = id;
	return 0;
}

int perfdata_sample__id_word(const struct perf_event_attr *attr)
{
	if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (!(attr->sample_type & PERF_SAMPLE_ID))
		return -ENOENT;
	return (int)nr_words(attr->sample_type & (PERF_SAMPLE_IP | PERF_SAMPLE_TID |
						  PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR));
}

int perfdata_sample__time_word(const struct perf_event_attr *attr)
{
	if (!(attr->sample_type & PERF_SAMPLE_TIME))
		return -ENOENT;
	return (int)nr_words(attr->sample_type &
			     (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID));
}

int perfdata_sample__id_word_from_end(const struct perf_event_attr *attr)
{
	if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	if (!(attr->sample_type & PERF_SAMPLE_ID))
		return -ENOENT;
	return 1 + (int)nr_words(attr->sample_type &
				 (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU));
}

/* Where a record is written to; once full, it stays so. */
struct sample_out {
	unsigned char *at;
	size_t left_bytes;
	bool is_full;
};

static void out__put(struct sample_out *out, const void *data, uint64_t nr,
		     size_t element_bytes)
{
	if (out->is_full || nr > out->left_bytes / element_bytes) {
		out->is_full = true;
		return;
	}
	if (!nr)
		return;
	memcpy(out->at, data, nr * element_bytes);
	out->at += nr * element_bytes;
	out->left_bytes -= nr * element_bytes;
}

static void out__put_u64(struct sample_out *out, uint64_t value)
{
	out__put(out, &value, 1, sizeof(value));
}

static void out__put_u32(struct sample_out *out, uint32_t value)
{
	out__put(out, &value, 1, sizeof(value));
}

static void out__put_words(struct sample_out *out, uint64_t type,
			   const struct perfdata_sample *sample)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		out__put_u64(out, sample->id);
	if (type & PERF_SAMPLE_IP)
		out__put_u64(out, sample->ip);
	if (type & PERF_SAMPLE_TID) {
		out__put_u32(out, sample->pid);
		out__put_u32(out, sample->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		out__put_u64(out, sample->time_ns);
	if (type & PERF_SAMPLE_ADDR)
		out__put_u64(out, sample->addr);
	if (type & PERF_SAMPLE_ID)
		out__put_u64(out, sample->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		out__put_u64(out, sample->stream_id);
	if (type & PERF_SAMPLE_CPU) {
		out__put_u32(out, sample->cpu);
		out__put_u32(out, 0);
	}
	if (type & PERF_SAMPLE_PERIOD)
		out__put_u64(out, sample->period);
}

/* Whether the attr would read back as much as there is. */
static bool user_state_is_whole(const struct perf_event_attr *attr,
				const struct perfdata_sample *sample)
{
	struct perfdata_cursor state =
		perfdata_cursor__new(sample->user_state, sample->user_state_bytes);

	if (sample->user_state_bytes % sizeof(uint64_t))
		return false;
	skip_user_state(&state, attr);
	return !perfdata_cursor__failed(&state) && !state.left_bytes;
}

static void out__put_user_state(struct sample_out *out, uint64_t type,
				const struct perfdata_sample *sample)
{
	if (sample->user_state) {
		out__put(out, sample->user_state, sample->user_state_bytes, 1);
		return;
	}
	if (type & PERF_SAMPLE_REGS_USER)
		out__put_u64(out, PERF_SAMPLE_REGS_ABI_NONE);
	if (type & PERF_SAMPLE_STACK_USER)
		out__put_u64(out, 0);
}

int perfdata_sample__write(const struct perf_event_attr *attr,
			   const struct perfdata_sample *sample, void *buf, size_t size)
{
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE,
					   .misc = sample->misc};
	struct sample_out out = {.at = buf, .left_bytes = size};
	uint64_t type = attr->sample_type;

	if (type & ~(uint64_t)WRITABLE)
		return -ENOTSUP;
	if ((type & PERF_SAMPLE_RAW) && sample->raw_bytes % 8 != 4)
		return -EINVAL;
	if (sample->user_state && !user_state_is_whole(attr, sample))
		return -EINVAL;
	if (out.left_bytes > MAX_RECORD_BYTES)
		out.left_bytes = MAX_RECORD_BYTES;

	out__put(&out, &header, 1, sizeof(header)); /* its size is known below */
	out__put_words(&out, type, sample);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		out__put_u64(&out, sample->nr_ips);
		out__put(&out, sample->ips, sample->nr_ips, sizeof(*sample->ips));
	}
	if (type & PERF_SAMPLE_RAW) {
		out__put_u32(&out, sample->raw_bytes);
		out__put(&out, sample->raw, sample->raw_bytes, 1);
	}
	out__put_user_state(&out, type, sample);
	if (type & PERF_SAMPLE_WEIGHT)
		out__put_u64(&out, sample->weight);
	if (out.is_full)
		return -ENOSPC;
	header.size = (uint16_t)(out.at - (unsigned char *)buf);
	memcpy(buf, &header, sizeof(header));
	return header.size;
}

size_t perfdata_sample__write_id(const struct perf_event_attr *attr,
				 const struct perfdata_sample *id, void *buf)
{
	uint64_t type = attr->sample_type & ID_WORDS;
	size_t id_bytes = sizeof(uint64_t) * nr_words(type);
	struct sample_out out = {.at = buf, .left_bytes = id_bytes};

	if (!attr->sample_id_all)
		return 0;
	out__put_words(&out, type & ~(uint64_t)PERF_SAMPLE_IDENTIFIER, id);
	if (type & PERF_SAMPLE_IDENTIFIER)
		out__put_u64(&out, id->id);
	return id_bytes;
}
