// SPDX-License-Identifier: GPL-2.0-or-later
/* Formats of tracepoints, as perf puts them into a file, whole and cut off. */
#include <errno.h>
#include <stdint.h>

#include "perfdata/tracepoint_format.h"
#include "perfdata/tracepoints.h"
#include "unit.h"

#define COMMON_FIELDS                                                          \
	"format:\n"                                                            \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define PROBE_FORMAT                                                           \
	"name: cuLaunchKernel\nID: 2326\n" COMMON_FIELDS                       \
	"\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n\n" \
	"print fmt: \"(%lx)\", REC->__probe_ip\n"

#define OTHER_FORMAT                                                \
	"name: sched_switch\nID: 300\n" COMMON_FIELDS               \
	"\tfield:int prev_prio;\toffset:8;\tsize:4;\tsigned:1;\n\n" \
	"print fmt: \"%d\", REC->prev_prio\n"

struct data {
	unsigned char bytes[4096];
	size_t nr;
};

static void add(struct data *data, const void *bytes, size_t nr)
{
	memcpy(data->bytes + data->nr, bytes, nr);
	data->nr += nr;
}

static void add_u32(struct data *data, uint32_t value)
{
	add(data, &value, sizeof(value));
}

static void add_text(struct data *data, const char *text)
{
	uint64_t nr = strlen(text);

	add(data, &nr, sizeof(nr));
	add(data, text, nr);
}

static void build(struct data *data)
{
	data->nr = 0;
	add(data, "\027\b\104tracing0.6\0\0\b", 16);
	add_u32(data, 4096);
	add(data, "header_page", 12);
	add_text(data, "anything");
	add(data, "header_event", 13);
	add_text(data, "");
	add_u32(data, 1);
	add_text(data, "an event of ftrace's own");
	add_u32(data, 2);
	add(data, "sched", 6);
	add_u32(data, 2);
	add_text(data, OTHER_FORMAT);
	add_text(data, "not a format\n");
	add(data, "probe_libcuda", 14);
	add_u32(data, 1);
	add_text(data, PROBE_FORMAT);
	add_u32(data, 0); /* kallsyms */
}

TEST(formats_are_found_by_their_id)
{
	struct tracepoints *tracepoints;
	const struct tracepoint *probe;
	struct data data;

	build(&data);
	CHECK_EQ(tracepoints__new(data.bytes, data.nr, &tracepoints), 0);
	probe = tracepoints__find(tracepoints, 2326);
	CHECK(probe);
	CHECK_STR(tracepoint__system(probe), "probe_libcuda");
	CHECK_STR(tracepoint__name(probe), "cuLaunchKernel");
	CHECK_STR(tracepoint__system(tracepoints__find(tracepoints, 300)), "sched");
	CHECK(!tracepoints__find(tracepoints, 301));
	CHECK(!tracepoints__find(tracepoints, UINT64_MAX));
	CHECK(!tracepoints__find(tracepoints, (1ull << 32) + 2326));
	tracepoints__delete(tracepoints);
}

TEST(field_is_read_within_the_sample)
{
	const uint64_t raw[2] = {0, 0x7f0012345678};
	struct tracepoints *tracepoints;
	const struct tracepoint *probe;
	struct data data;
	uint64_t value = 1;

	build(&data);
	CHECK_EQ(tracepoints__new(data.bytes, data.nr, &tracepoints), 0);
	probe = tracepoints__find(tracepoints, 2326);
	CHECK_EQ(tracepoint__number(probe, "__probe_ip", raw, 15, &value), -EINVAL);
	CHECK_EQ(tracepoint__number(probe, "__probe_ret_ip", raw, 16, &value), -ENOENT);
	CHECK_EQ(tracepoint__number(probe, "__probe_ip", NULL, 0, &value), 0);
	CHECK_EQ(value, 1);
	CHECK_EQ(tracepoint__number(probe, "__probe_ip", raw, 16, &value), 0);
	CHECK_EQ(value, 0x7f0012345678);
	tracepoints__delete(tracepoints);
}

TEST(cut_off_data_have_what_precedes)
{
	struct tracepoints *tracepoints;
	bool had_first = false;
	struct data data;

	build(&data);
	for (size_t nr = 0; nr < data.nr - 4; nr++) {
		unsigned char *copy = malloc(nr + 1);
		bool has_first;

		memcpy(copy, data.bytes, nr);
		CHECK_EQ(tracepoints__new(copy, nr, &tracepoints), 0);
		CHECK(!tracepoints__find(tracepoints, 2326));
		has_first = tracepoints__find(tracepoints, 300);
		CHECK(has_first || !had_first);
		had_first = has_first;
		tracepoints__delete(tracepoints);
		free(copy);
	}
	CHECK(had_first);
	CHECK_EQ(tracepoints__new(NULL, 0, &tracepoints), 0);
	CHECK(!tracepoints__find(tracepoints, 300));
	tracepoints__delete(tracepoints);
	/* Another file that is as long. */
	data.bytes[1]++;
	CHECK_EQ(tracepoints__new(data.bytes, data.nr, &tracepoints), 0);
	CHECK(!tracepoints__find(tracepoints, 300));
	tracepoints__delete(tracepoints);
	tracepoints__delete(NULL);
}

TEST(parser_gets_only_what_the_kernel_writes)
{
	static const char text[] =
		"name: a\nID: 7\nformat:\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\n"
		"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
		"\tfield:const char * p;\toffset:24;\tsize:8;\n"
		"\tfield:__data_loc char[] s;\toffset:32;\tsize:4;\tsigned:0;\n"
		"\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\n"
		"\tfield:int VIF_PR_FMT;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\tfield:int;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\tfield:int *;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\tfield:int x;\toffset:0x4;\tsize:4;\tsigned:1;\n"
		"\tfield:int x;\toffset:4;\tsize:1234567890;\tsigned:1;\n"
		"\tfield:int x(y;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\tfield:int x[y];\toffset:4;\tsize:4;\tsigned:1;\n"
		"\tfi:int x;\toffset:4;\tsize:4;\tsigned:1;\n"
		"print fmt: \"%d\", ((((REC->common_pid\n";
	char *format;

	CHECK_EQ(tracepoint_format__copy(text, strlen(text), &format), 0);
	CHECK_STR(format, "name: a\nID: 7\nformat:\n"
			  "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			  "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\n"
			  "print fmt: \"\"\n");
	free(format);
	CHECK_EQ(tracepoint_format__copy("name: 7\nID: 7\nformat:\n", 23, &format), 0);
	CHECK(!format);
	CHECK_EQ(tracepoint_format__copy("name: a\nID: x\nformat:\n", 23, &format), 0);
	CHECK(!format);
	CHECK_EQ(tracepoint_format__copy(NULL, 0, &format), 0);
	CHECK(!format);
}
