// SPDX-License-Identifier: GPL-2.0-or-later
/* The sample codec: what is written is read, and what is short is refused. */
#include "unit.h"

#include <errno.h>
#include <stdint.h>

#include "perfdata/buffer.h"
#include "perfdata/sample.h"

#define WORDS                                                                           \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |  \
	 PERF_SAMPLE_PERIOD)
#define WRITABLE                                                                   \
	(WORDS | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER | \
	 PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT)
#define READABLE ((uint64_t)PERF_SAMPLE_MAX - 1)

#define NR_REGS	    3
#define READ_GROUP  0x1f /* all bits of read_format */
#define STACK_BYTES 16

union record {
	struct perf_event_header header;
	uint64_t words[64];
};

static const uint64_t ips[] = {PERF_CONTEXT_USER, 0x401000, 0x402000};
static const unsigned char raw[12] = "raw payload";

static const struct perf_event_attr attr_of_all = {
	.sample_type = WRITABLE,
	.sample_regs_user = 0x15, /* NR_REGS bits */
	.sample_id_all = 1,
};

/* A sample with something in each member that @type has a bit for. */
static struct perfdata_sample make_sample(uint64_t type, uint64_t *state)
{
	struct perfdata_sample sample = {.misc = PERF_RECORD_MISC_USER};
	size_t nr = 0;

	if (type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID))
		sample.id = 77;
	if (type & PERF_SAMPLE_IP)
		sample.ip = 0x401000;
	if (type & PERF_SAMPLE_TID) {
		sample.pid = 10;
		sample.tid = 11;
	}
	if (type & PERF_SAMPLE_TIME)
		sample.time_ns = 1ull << 40;
	if (type & PERF_SAMPLE_ADDR)
		sample.addr = 0xadd;
	if (type & PERF_SAMPLE_STREAM_ID)
		sample.stream_id = 88;
	if (type & PERF_SAMPLE_CPU)
		sample.cpu = 3;
	if (type & PERF_SAMPLE_PERIOD)
		sample.period = 1234567;
	if (type & PERF_SAMPLE_CALLCHAIN) {
		sample.ips = ips;
		sample.nr_ips = 3;
	}
	if (type & PERF_SAMPLE_RAW) {
		sample.raw = raw;
		sample.raw_bytes = sizeof(raw);
	}
	if (type & PERF_SAMPLE_REGS_USER) {
		state[nr++] = PERF_SAMPLE_REGS_ABI_64;
		for (int i = 0; i < NR_REGS; i++)
			state[nr++] = 0x100 + (uint64_t)i;
	}
	if (type & PERF_SAMPLE_STACK_USER) {
		state[nr++] = STACK_BYTES;
		state[nr++] = 0x5ac;
		state[nr++] = 0x5ad;
		state[nr++] = STACK_BYTES; /* the dynamic size */
	}
	if (type & PERF_SAMPLE_WEIGHT)
		sample.weight = 1ull << 33;
	if (nr) {
		sample.user_state = state;
		sample.user_state_bytes = nr * sizeof(*state);
	}
	return sample;
}

static void check_same(const struct perfdata_sample *a, const struct perfdata_sample *b)
{
	CHECK_EQ(a->id, b->id);
	CHECK_EQ(a->ip, b->ip);
	CHECK_EQ(a->pid, b->pid);
	CHECK_EQ(a->tid, b->tid);
	CHECK_EQ(a->time_ns, b->time_ns);
	CHECK_EQ(a->addr, b->addr);
	CHECK_EQ(a->stream_id, b->stream_id);
	CHECK_EQ(a->cpu, b->cpu);
	CHECK_EQ(a->period, b->period);
	CHECK_EQ(a->misc, b->misc);
	CHECK_EQ(a->nr_ips, b->nr_ips);
	CHECK_MEM(a->ips, b->ips, a->nr_ips * sizeof(uint64_t));
	CHECK_EQ(a->raw_bytes, b->raw_bytes);
	CHECK_MEM(a->raw, b->raw, a->raw_bytes);
	CHECK_EQ(a->weight, b->weight);
	CHECK_EQ(a->user_state_bytes, b->user_state_bytes);
	CHECK_MEM(a->user_state, b->user_state, a->user_state_bytes);
}

/* Parse the first @size bytes, which end where an allocation does. */
static int parse_cut(const struct perf_event_attr *attr, const void *record, size_t size)
{
	struct perf_event_header *copy = malloc(size > 8 ? size : 8);
	struct perfdata_sample sample;
	int err;

	CHECK(copy);
	memcpy(copy, record, size > 8 ? size : 8);
	copy->size = (uint16_t)size;
	err = perfdata_sample__parse(attr, copy, &sample);
	free(copy);
	return err;
}

TEST(every_combination_comes_back)
{
	struct perf_event_attr attr = attr_of_all;
	uint64_t state[16];
	union record buf;
	unsigned int nr = 0;

	/* all subsets of WRITABLE, the empty one last */
	for (uint64_t type = WRITABLE;; type = (type - 1) & WRITABLE) {
		struct perfdata_sample sample = make_sample(type, state), again;
		int size;

		attr.sample_type = type;
		size = perfdata_sample__write(&attr, &sample, &buf, sizeof(buf));
		CHECK(size >= 8);
		CHECK_EQ(size % 8, 0);
		CHECK_EQ(buf.header.size, size);
		CHECK_EQ(buf.header.type, PERF_RECORD_SAMPLE);
		CHECK_EQ(perfdata_sample__parse(&attr, &buf.header, &again), 0);
		check_same(&sample, &again);
		nr++;
		if (!type)
			break;
	}
	CHECK_EQ(nr, 1 << 14);
}

TEST(every_cut_is_refused)
{
	uint64_t state[16];
	union record buf;
	struct perfdata_sample sample = make_sample(WRITABLE, state);
	int size = perfdata_sample__write(&attr_of_all, &sample, &buf, sizeof(buf));

	CHECK_EQ(parse_cut(&attr_of_all, &buf, (size_t)size), 0);
	for (size_t cut = 0; cut < (size_t)size; cut++)
		CHECK_EQ(parse_cut(&attr_of_all, &buf, cut), -EINVAL);
}

TEST(no_room_to_write_is_told)
{
	uint64_t state[16];
	union record buf;
	struct perfdata_sample sample = make_sample(WRITABLE, state);
	int size = perfdata_sample__write(&attr_of_all, &sample, &buf, sizeof(buf));

	for (size_t room = 0; room < (size_t)size; room++) {
		void *small = malloc(room ? room : 1);

		CHECK_EQ(perfdata_sample__write(&attr_of_all, &sample, small, room),
			 -ENOSPC);
		free(small);
	}
	CHECK_EQ(perfdata_sample__write(&attr_of_all, &sample, &buf, (size_t)size), size);
}

TEST(no_record_is_larger_than_its_size_can_say)
{
	static uint64_t many[8200], buf[9000];
	struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_CALLCHAIN};
	struct perfdata_sample sample = {.ips = many}, again;

	sample.nr_ips = 65528 / 8 - 2; /* the header and nr take one word each */
	CHECK_EQ(perfdata_sample__write(&attr, &sample, buf, sizeof(buf)), 65528);
	CHECK_EQ(perfdata_sample__parse(&attr, (void *)buf, &again), 0);
	CHECK_EQ(again.nr_ips, sample.nr_ips);
	sample.nr_ips++;
	CHECK_EQ(perfdata_sample__write(&attr, &sample, buf, sizeof(buf)), -ENOSPC);
	sample.nr_ips = UINT64_MAX / 8 + 2;
	CHECK_EQ(perfdata_sample__write(&attr, &sample, buf, sizeof(buf)), -ENOSPC);
}

TEST(what_cannot_be_written_is_refused)
{
	uint64_t state[16];
	union record buf;
	struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_RAW};
	struct perfdata_sample sample = {.raw = raw, .raw_bytes = 8};

	CHECK_EQ(perfdata_sample__write(&attr, &sample, &buf, sizeof(buf)), -EINVAL);
	attr.sample_type = PERF_SAMPLE_READ;
	CHECK_EQ(perfdata_sample__write(&attr, &sample, &buf, sizeof(buf)), -ENOTSUP);

	/* a state of registers and stack, for an attr that has none or one of them */
	sample = make_sample(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, state);
	attr = attr_of_all;
	attr.sample_type = PERF_SAMPLE_REGS_USER;
	CHECK_EQ(perfdata_sample__write(&attr, &sample, &buf, sizeof(buf)), -EINVAL);
	attr.sample_type = 0;
	CHECK_EQ(perfdata_sample__write(&attr, &sample, &buf, sizeof(buf)), -EINVAL);
}

TEST(no_user_state_is_written_as_none)
{
	struct perf_event_attr attr = attr_of_all;
	struct perfdata_sample sample = {0}, again;
	union record buf;

	attr.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	CHECK_EQ(perfdata_sample__write(&attr, &sample, &buf, sizeof(buf)), 24);
	CHECK_EQ(perfdata_sample__parse(&attr, &buf.header, &again), 0);
	CHECK_EQ(again.user_state_bytes, 16);
	CHECK_EQ(buf.words[1], PERF_SAMPLE_REGS_ABI_NONE);
	CHECK_EQ(buf.words[2], 0);
}

static void add_words(struct perfdata_buffer *record, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		perfdata_buffer__add_u64(record, 1000 + i);
}

/* As the kernel makes it with every bit there is. */
static struct perf_event_header *make_full_record(struct perf_event_attr *attr)
{
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE};
	struct perfdata_buffer record = {0};

	*attr = attr_of_all;
	attr->sample_type = READABLE;
	attr->read_format = READ_GROUP;
	attr->branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | 1u << 19;
	attr->sample_regs_intr = 0x3;

	perfdata_buffer__add(&record, &header, sizeof(header));
	add_words(&record, 9);
	perfdata_buffer__add_u64(&record, 2); /* READ: nr, enabled, running, ... */
	add_words(&record, 2 + 2 * 3);
	perfdata_buffer__add_u64(&record, 3); /* CALLCHAIN */
	perfdata_buffer__add(&record, ips, sizeof(ips));
	perfdata_buffer__add_u32(&record, sizeof(raw));
	perfdata_buffer__add(&record, raw, sizeof(raw));
	perfdata_buffer__add_u64(&record, 2); /* BRANCH_STACK: nr, hw_idx, ... */
	add_words(&record, 1 + 2 * 3 + 2);
	perfdata_buffer__add_u64(&record, PERF_SAMPLE_REGS_ABI_64);
	add_words(&record, NR_REGS);
	perfdata_buffer__add_u64(&record, STACK_BYTES);
	add_words(&record, STACK_BYTES / 8);
	perfdata_buffer__add_u64(&record, STACK_BYTES - 8);
	perfdata_buffer__add_u64(&record, 77); /* WEIGHT */
	add_words(&record, 3); /* WEIGHT_STRUCT, DATA_SRC, TRANSACTION */
	perfdata_buffer__add_u64(&record, PERF_SAMPLE_REGS_ABI_64);
	add_words(&record, 2); /* REGS_INTR */
	add_words(&record, 4); /* PHYS_ADDR, CGROUP and the page sizes */
	perfdata_buffer__add_u64(&record, 8); /* AUX */
	add_words(&record, 1);
	CHECK(!record.no_memory);
	((struct perf_event_header *)record.data)->size = (uint16_t)record.nr_bytes;
	return (struct perf_event_header *)record.data;
}

TEST(a_sample_with_every_part)
{
	struct perf_event_attr attr;
	struct perf_event_header *record = make_full_record(&attr);
	struct perfdata_sample sample;

	CHECK_EQ(perfdata_sample__parse(&attr, record, &sample), 0);
	CHECK_EQ(sample.id, 1000); /* of IDENTIFIER, not of ID */
	CHECK_EQ(sample.ip, 1001);
	CHECK_EQ(sample.period, 1008);
	CHECK_EQ(sample.nr_ips, 3);
	CHECK_MEM(sample.ips, ips, sizeof(ips));
	CHECK_EQ(sample.raw_bytes, sizeof(raw));
	CHECK_MEM(sample.raw, raw, sizeof(raw));
	CHECK_EQ(sample.user_state_bytes, 8 * (1 + NR_REGS + 1 + STACK_BYTES / 8 + 1));
	CHECK_EQ(*(const uint64_t *)sample.user_state, PERF_SAMPLE_REGS_ABI_64);
	CHECK_EQ(sample.weight, 77);
	for (size_t cut = 0; cut < record->size; cut++)
		CHECK_EQ(parse_cut(&attr, record, cut), -EINVAL);
	free(record);
}

TEST(read_formats)
{
	struct perf_event_attr attr = {.sample_type =
					       PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN};
	struct perfdata_sample sample;

	for (uint64_t format = 0; format <= READ_GROUP; format++) {
		size_t per_value = 1 + !!(format & PERF_FORMAT_ID) + !!(format & 16);
		size_t nr_values = format & PERF_FORMAT_GROUP ? 5 : 1;
		size_t nr = nr_values * per_value + !!(format & 1) + !!(format & 2);
		struct perf_event_header header = {.type = PERF_RECORD_SAMPLE};
		struct perfdata_buffer record = {0};

		perfdata_buffer__add(&record, &header, sizeof(header));
		if (format & PERF_FORMAT_GROUP)
			perfdata_buffer__add_u64(&record, nr_values);
		add_words(&record, nr);
		perfdata_buffer__add_u64(&record, 1);
		perfdata_buffer__add_u64(&record, 0xca11);
		((struct perf_event_header *)record.data)->size =
			(uint16_t)record.nr_bytes;
		attr.read_format = format;
		CHECK_EQ(perfdata_sample__parse(&attr, (void *)record.data, &sample), 0);
		CHECK_EQ(sample.nr_ips, 1);
		CHECK_EQ(sample.ips[0], 0xca11);
		perfdata_buffer__release(&record);
	}
	attr.read_format = READ_GROUP + 1;
	CHECK_EQ(perfdata_sample__parse(&attr, &(struct perf_event_header){.size = 8},
					&sample),
		 -ENOTSUP);
}

/* One count in front of 4 words that can't be as many as it says. */
static int parse_count(uint64_t type, uint64_t read_format, uint64_t count)
{
	struct perf_event_attr attr = {.sample_type = type,
				       .read_format = read_format,
				       .sample_regs_user = UINT64_MAX};
	struct {
		struct perf_event_header header;
		uint64_t words[5];
	} record = {.header.size = sizeof(record), .words = {count}};
	struct perfdata_sample sample;

	return perfdata_sample__parse(&attr, &record.header, &sample);
}

TEST(counts_that_lie_are_refused)
{
	static const uint64_t counts[] = {5,
					  0xffffffff,
					  UINT64_MAX,
					  UINT64_MAX / 8 + 1,
					  UINT64_MAX / 8 + 2,
					  UINT64_MAX / 24 + 1,
					  1ull << 63};

	CHECK_EQ(parse_count(PERF_SAMPLE_CALLCHAIN, 0, 4), 0);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		CHECK_EQ(parse_count(PERF_SAMPLE_CALLCHAIN, 0, counts[i]), -EINVAL);
		CHECK_EQ(parse_count(PERF_SAMPLE_BRANCH_STACK, 0, counts[i]), -EINVAL);
		CHECK_EQ(parse_count(PERF_SAMPLE_READ, PERF_FORMAT_GROUP, counts[i]),
			 -EINVAL);
		CHECK_EQ(parse_count(PERF_SAMPLE_AUX, 0, counts[i] | 64), -EINVAL);
		CHECK_EQ(parse_count(PERF_SAMPLE_STACK_USER, 0, counts[i] | 64), -EINVAL);
	}
	CHECK_EQ(parse_count(PERF_SAMPLE_RAW, 0, 37), -EINVAL);
	CHECK_EQ(parse_count(PERF_SAMPLE_RAW, 0, UINT64_MAX), -EINVAL);
	CHECK_EQ(parse_count(PERF_SAMPLE_REGS_USER, 0, PERF_SAMPLE_REGS_ABI_64), -EINVAL);
	CHECK_EQ(parse_count(PERF_SAMPLE_REGS_USER, 0, PERF_SAMPLE_REGS_ABI_NONE), 0);
}

TEST(a_stack_with_more_in_it_than_its_room)
{
	struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_STACK_USER};
	struct {
		struct perf_event_header header;
		uint64_t room_bytes, room, dyn_bytes;
	} record = {.header.size = sizeof(record), .room_bytes = 8, .dyn_bytes = 9};
	struct perfdata_sample sample;

	CHECK_EQ(perfdata_sample__parse(&attr, &record.header, &sample), -EINVAL);
	record.dyn_bytes = 8;
	CHECK_EQ(perfdata_sample__parse(&attr, &record.header, &sample), 0);
}

TEST(unknown_bits_are_refused_and_leave_the_result_alone)
{
	struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_MAX};
	struct perf_event_header record = {.size = 8};
	struct perfdata_sample sample = {.id = 4711};

	CHECK_EQ(perfdata_sample__parse(&attr, &record, &sample), -ENOTSUP);
	attr.sample_type = 1ull << 63;
	CHECK_EQ(perfdata_sample__parse(&attr, &record, &sample), -ENOTSUP);
	attr.sample_type = PERF_SAMPLE_IP;
	CHECK_EQ(perfdata_sample__parse(&attr, &record, &sample), -EINVAL);
	CHECK_EQ(sample.id, 4711);
}

TEST(sample_id_of_other_records)
{
	static const uint64_t bits[] = {PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
					PERF_SAMPLE_ID,	 PERF_SAMPLE_STREAM_ID,
					PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};
	struct perf_event_attr attr = {.sample_id_all = 1};
	uint64_t state[16];

	for (unsigned int set = 0; set < 1u << 6; set++) {
		union record record = {.words = {0}};
		struct perfdata_sample id, again;
		size_t nr_bytes;

		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
		for (int i = 0; i < 6; i++)
			attr.sample_type |= set & 1u << i ? bits[i] : 0;
		id = make_sample(attr.sample_type & ~(uint64_t)(PERF_SAMPLE_IP |
								PERF_SAMPLE_CALLCHAIN),
				 state);
		id.misc = 0;
		nr_bytes = perfdata_sample__write_id(&attr, &id, record.words + 3);
		CHECK_EQ(nr_bytes, 8 * (size_t)__builtin_popcount(set));
		record.header.size = (uint16_t)(24 + nr_bytes);
		CHECK_EQ(perfdata_sample__parse_id(&attr, &record.header, &again), 0);
		check_same(&id, &again);
		if (nr_bytes) {
			record.header.size = (uint16_t)nr_bytes; /* 8 too few */
			CHECK_EQ(perfdata_sample__parse_id(&attr, &record.header, &again),
				 -EINVAL);
		}
	}
}

TEST(no_sample_id_without_sample_id_all)
{
	struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_TID};
	struct perf_event_header record = {.size = 8};
	struct perfdata_sample id = {.pid = 10};
	uint64_t buf[6];

	CHECK_EQ(perfdata_sample__write_id(&attr, &id, buf), 0);
	CHECK_EQ(perfdata_sample__parse_id(&attr, &record, &id), 0);
	CHECK_EQ(id.pid, 0);
}

TEST(where_the_id_is)
{
	struct perf_event_attr attr = {0};

	CHECK_EQ(perfdata_sample__id_word(&attr), -ENOENT);
	CHECK_EQ(perfdata_sample__id_word_from_end(&attr), -ENOENT);
	attr.sample_type = WORDS;
	CHECK_EQ(perfdata_sample__id_word(&attr), 0);
	CHECK_EQ(perfdata_sample__id_word_from_end(&attr), 1);
	attr.sample_type = WORDS & ~(uint64_t)PERF_SAMPLE_IDENTIFIER;
	CHECK_EQ(perfdata_sample__id_word(&attr), 4);
	CHECK_EQ(perfdata_sample__id_word_from_end(&attr), 3);
	attr.sample_type = PERF_SAMPLE_ID;
	CHECK_EQ(perfdata_sample__id_word(&attr), 0);
	CHECK_EQ(perfdata_sample__id_word_from_end(&attr), 1);
}
