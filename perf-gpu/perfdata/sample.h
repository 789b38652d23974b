/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sample codec: PERF_RECORD_SAMPLE and the sample_id that trails every
 * other record, as their perf_event_attr says (linux/perf_event.h).
 */
#ifndef PERF_GPU_PERFDATA_SAMPLE_H
#define PERF_GPU_PERFDATA_SAMPLE_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The parts of a sample that we know. A part that the attr lacks is 0 or NULL.
 * Pointers point into the record that was parsed, and need not be aligned for
 * more than a byte except @ips, which is 8-byte aligned if the record is.
 */
struct perfdata_sample {
	uint64_t id; /* IDENTIFIER, else ID */
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint64_t addr;
	uint64_t stream_id;
	uint32_t cpu;
	uint64_t period;
	const uint64_t *ips; /* callchain, with PERF_CONTEXT_* markers */
	uint64_t nr_ips;
	const void *raw;
	uint32_t raw_bytes;
	/* REGS_USER and STACK_USER as in the record, copied through as one */
	const void *user_state;
	size_t user_state_bytes;
	uint64_t weight; /* WEIGHT */
	uint16_t misc; /* of the record's header */
};

/**
 * perfdata_sample__parse - read a PERF_RECORD_SAMPLE
 * @attr:  what the sample was taken with. Known sample_type bits: IDENTIFIER
 *         IP TID TIME ADDR ID STREAM_ID CPU PERIOD READ CALLCHAIN RAW REGS_USER
 *         BRANCH_STACK STACK_USER WEIGHT WEIGHT_STRUCT DATA_SRC TRANSACTION
 *         REGS_INTR PHYS_ADDR CGROUP DATA_PAGE_SIZE CODE_PAGE_SIZE AUX; those
 *         that have no member above are checked and skipped.
 * @event: the record; event->size bytes are readable
 * @ret:   written on success only
 *
 * Return: 0, -EINVAL if the record is shorter than its contents say, -ENOTSUP
 * for a sample_type bit that isn't known. Prints nothing.
 */
int perfdata_sample__parse(const struct perf_event_attr *attr,
			   const struct perf_event_header *event,
			   struct perfdata_sample *ret);

/**
 * perfdata_sample__write - make a PERF_RECORD_SAMPLE
 * @attr:   as above; READ, BRANCH_STACK and what is behind WEIGHT can't be
 *          written
 * @sample: what to write; sample->misc becomes the header's misc
 * @buf:    8-byte aligned, receives the record
 * @size:   bytes of @buf
 *
 * Return: the record's size in bytes, -ENOSPC if it is larger than @size or
 * than a record can be (65,535), -ENOTSUP for a sample_type bit that can't be
 * written, -EINVAL for raw data whose size + 4 is not a multiple of 8 or a
 * user_state that the attr doesn't fit. A user_state of NULL is written as no
 * registers and no stack.
 */
int perfdata_sample__write(const struct perf_event_attr *attr,
			   const struct perfdata_sample *sample, void *buf, size_t size);

/**
 * perfdata_sample__parse_id - read the sample_id that trails a kernel record
 * @attr:  with sample_id_all set, else every member is 0
 * @event: any record of the kernel but PERF_RECORD_SAMPLE
 * @ret:   pid, tid, time_ns, id, stream_id, cpu; written on success only
 *
 * Return: 0 or -EINVAL if the record has no room for it.
 */
int perfdata_sample__parse_id(const struct perf_event_attr *attr,
			      const struct perf_event_header *event,
			      struct perfdata_sample *ret);

/**
 * perfdata_sample__write_id - the bytes of a trailing sample_id
 * @attr, @id: as above
 * @buf:  receives at most 48 bytes
 *
 * Return: how many bytes were written, a multiple of 8.
 */
size_t perfdata_sample__write_id(const struct perf_event_attr *attr,
				 const struct perfdata_sample *id, void *buf);

/*
 * Where a record says whose it is, in words of 8 bytes: in a sample from behind
 * its header (0 is the first), in the others from the end of the record (1 is
 * the last). -ENOENT if the attr has no id in it.
 */
int perfdata_sample__id_word(const struct perf_event_attr *attr);
int perfdata_sample__id_word_from_end(const struct perf_event_attr *attr);
/* The same of a sample's time, if it has one */
int perfdata_sample__time_word(const struct perf_event_attr *attr);

#endif
