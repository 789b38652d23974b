// SPDX-License-Identifier: GPL-2.0-or-later
/* Folded stacks: names, sums, units, and which events are added up. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "sink/out_file.h"
#include "sink/sink.h"
#include "unit.h"

enum { PID = 11991 };

static const char *comm = "app";

static void add_comm(struct machine *machine)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[16];
	} record = {{PERF_RECORD_COMM, 0, sizeof(record)}, PID, PID, ""};

	strcpy(record.comm, comm);
	CHECK_EQ(machine__process(machine, &record.header), 0);
}

static int run(const struct folded_options *options, uint32_t events,
	       const struct gpu_sample *samples, size_t nr)
{
	struct sink_input input = {.events = events};
	struct machine *machine = NULL;
	struct sink *sink = NULL;
	int err;

	CHECK_EQ(machine__new(NULL, &machine), 0);
	add_comm(machine);
	input.machine = machine;
	CHECK_EQ(sink_folded__new(options, &sink), 0);
	err = sink->ops->start(sink, &input);
	for (size_t i = 0; i < nr && !err; i++)
		err = sink->ops->sample(sink, &samples[i]);
	if (!err)
		err = sink->ops->finish(sink);
	sink->ops->delete (sink);
	machine__delete(machine);
	return err;
}

/* What is printed on a stdout of ours; for free() */
static char *fold(const struct folded_options *options, uint32_t events,
		  const struct gpu_sample *samples, size_t nr)
{
	int saved = dup(STDOUT_FILENO), file = memfd_create("stdout", MFD_CLOEXEC);
	off_t size;
	char *text;

	fflush(stdout);
	CHECK(file >= 0 && dup2(file, STDOUT_FILENO) >= 0);
	CHECK_EQ(run(options, events, samples, nr), 0);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	size = lseek(file, 0, SEEK_END);
	text = calloc(1, (size_t)size + 1);
	CHECK(text != NULL);
	CHECK_EQ(pread(file, text, (size_t)size, 0), size);
	close(file);
	return text;
}

#define SAMPLE(array, of_event, of_period)                                          \
	{                                                                           \
		.pid = PID, .tid = PID, .event = (of_event), .period = (of_period), \
		.frames = (array), .nr_frames = sizeof(array) / sizeof(*(array))    \
	}

#define KERNEL GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_KERNEL)
#define MEMCPY GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_MEMCPY)
#define ALLOC  GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_ALLOC)

static const struct gpu_frame a[] = {
	{.name = "[GPU_Kernel]k(int)"}, {.name = "cudaLaunchKernel"}, {.name = "f"}};
static const struct gpu_frame b[] = {
	{.name = "[GPU_Kernel]k(float)"}, {.name = "cudaLaunchKernel"}, {.name = "f"}};
static const struct gpu_frame c[] = {{.name = "[GPU_Memcpy]HtoD"}, {.name = "f"}};
static const struct gpu_frame d[] = {{.name = "[GPU_Alloc]device"}, {.name = "f"}};

static const struct gpu_sample samples[] = {
	SAMPLE(b, GPU_LOG_EVENT_KERNEL, 1000), SAMPLE(a, GPU_LOG_EVENT_KERNEL, 2000001),
	SAMPLE(c, GPU_LOG_EVENT_MEMCPY, 50),   SAMPLE(a, GPU_LOG_EVENT_KERNEL, 9),
	SAMPLE(d, GPU_LOG_EVENT_ALLOC, 4096),
};

static void check(struct folded_options options, uint32_t events, const char *expected)
{
	char *text = fold(&options, events, samples, sizeof(samples) / sizeof(*samples));

	CHECK_STR(text, expected);
	free(text);
}

/* Kernels whose names are the same without their parameters are one line. */
TEST(one_event_is_added_up)
{
	check((struct folded_options){.unit = TIME_UNIT_NONE}, KERNEL | MEMCPY | ALLOC,
	      "app;f;cudaLaunchKernel;[GPU_Kernel]k 2001010\n");
	check((struct folded_options){.unit = TIME_UNIT_NS}, MEMCPY,
	      "app;f;[GPU_Memcpy]HtoD 50\n");
	check((struct folded_options){.unit = TIME_UNIT_NONE}, ALLOC,
	      "app;f;[GPU_Alloc]device 4096\n");
}

TEST(units_lose_nothing)
{
	check((struct folded_options){.unit = TIME_UNIT_US}, KERNEL,
	      "app;f;cudaLaunchKernel;[GPU_Kernel]k 2001.01\n");
	check((struct folded_options){.unit = TIME_UNIT_MS, .has_all_events = true},
	      KERNEL | MEMCPY,
	      "app;f;[GPU_Memcpy]HtoD 0.00005\n"
	      "app;f;cudaLaunchKernel;[GPU_Kernel]k 2.00101\n");
}

TEST(bytes_and_times_are_not_added_up)
{
	struct folded_options options = {.has_all_events = true};

	CHECK_EQ(run(&options, KERNEL | ALLOC, samples, 0), -EINVAL);
	CHECK_EQ(run(&options, KERNEL | MEMCPY, samples, 0), 0);
	options.weight = EVENT_WEIGHT_BYTES;
	CHECK_EQ(run(&options, KERNEL | MEMCPY, samples, 0), -EINVAL);
	CHECK_EQ(run(&options, ALLOC | MEMCPY, samples, 0), 0);
	options.unit = TIME_UNIT_US;
	CHECK_EQ(run(&options, ALLOC | MEMCPY, samples, 0), -EINVAL);
}

static void check_name(const char *name, const char *expected)
{
	const struct gpu_frame frames[] = {{.name = "[GPU_Kernel]k"}, {.name = name}};
	struct gpu_sample sample = SAMPLE(frames, GPU_LOG_EVENT_KERNEL, 7);
	struct folded_options options = {.unit = TIME_UNIT_NONE};
	char *text = fold(&options, KERNEL, &sample, 1), *wanted;

	CHECK(asprintf(&wanted, "%s;[GPU_Kernel]k 7\n", expected) > 0);
	CHECK_STR(text, wanted);
	free(wanted);
	free(text);
}

/* As stackcollapse-perf.pl, but for a name that begins with (anonymous namespace) */
TEST(names_are_safe)
{
	check_name("a b;c\"d'+0x1f", "app;a b:cd");
	check_name("at::(anonymous namespace)::f<float>(int)",
		   "app;at::(anonymous namespace)::f<float>");
	check_name("(anonymous namespace)::f(int)", "app;(anonymous namespace)::f");
	check_name("net/http.(*Client).Do", "app;net/http.(*Client).Do");
	check_name("x->y", "app;x;y");
	check_name("p::operator->", "app;p::operator");
	check_name("a\nb\x1b", "app;a?b?");
	check_name("(what)", "app");
	comm = "my app; 2";
	check_name("f", "my_app:_2;f");
}

/* --- many stacks -------------------------------------------------------------------------- */

static const struct {
	const char *name, *shown; /* with ; behind each part */
} many_names[] = {
	{"f", "f;"},	  {"f(int)", "f;"},  {"f(float)", "f;"}, {"f b", "f b;"},
	{"x->y", "x;y;"}, {"(nothing)", ""}, {"y", "y;"},	 {"y;z", "y:z;"},
	{"x", "x;"},	  {"x->", "x;"},
};

enum { NR_NAMES = sizeof(many_names) / sizeof(*many_names), NR_SAMPLES = 3000 };

struct expected_line {
	char text[128];
	uint64_t period;
};

/* Name by name: what separates them is less than any byte of theirs. */
static int compare_lines(const void *first, const void *second)
{
	const char *x = ((const struct expected_line *)first)->text;
	const char *y = ((const struct expected_line *)second)->text;

	for (; *x && *x == *y; x++)
		y++;
	return (*x == ';' ? 1 : (unsigned char)*x) - (*y == ';' ? 1 : (unsigned char)*y);
}

/* Of all samples, in order, those that are the same once */
static char *expected_text(struct expected_line *lines, size_t nr)
{
	char *text = NULL;
	size_t bytes, same;
	FILE *file = open_memstream(&text, &bytes);

	CHECK(file != NULL);
	qsort(lines, nr, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < nr; i = same) {
		uint64_t period = 0;

		for (same = i; same < nr && !strcmp(lines[i].text, lines[same].text);)
			period += lines[same++].period;
		fprintf(file, "%s %llu\n", lines[i].text, (unsigned long long)period);
	}
	fclose(file);
	return text;
}

/*
 * Stacks that are the beginning of others, end in what others go on with, or are the same
 * once their names are cleaned; with numbers and without.
 */
TEST(many_stacks_are_what_each_sample_says)
{
	static struct gpu_frame frames[NR_SAMPLES][6];
	static struct gpu_sample many[NR_SAMPLES];
	static struct expected_line lines[NR_SAMPLES];
	const struct folded_options options = {.unit = TIME_UNIT_NONE};
	uint64_t random = 3;
	char *text, *expected;

	comm = "app";
	for (size_t i = 0; i < NR_SAMPLES; i++) {
		size_t nr = 1 + i % 6;

		many[i] =
			(struct gpu_sample)SAMPLE(frames[i], GPU_LOG_EVENT_KERNEL, 1 + i);
		many[i].nr_frames = nr;
		many[i].stack_id = i % 3 ? i : 0;
		strcpy(lines[i].text, "app;");
		lines[i].period = 1 + i;
		for (size_t k = nr; k-- > 0;) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			frames[i][k].name = many_names[(random >> 33) % NR_NAMES].name;
			strcat(lines[i].text,
			       many_names[(random >> 33) % NR_NAMES].shown);
		}
		lines[i].text[strlen(lines[i].text) - 1] = '\0';
	}
	text = fold(&options, KERNEL, many, NR_SAMPLES);
	expected = expected_text(lines, NR_SAMPLES);
	CHECK_STR(text, expected);
	free(text);
	free(expected);
}

TEST(a_file_has_its_name_once_it_is_whole)
{
	struct out_file *file;
	char text[64] = "";
	int fd;

	CHECK_EQ(chdir(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp"), 0);
	CHECK_EQ(out_file__open("unit.out_file", &file), 0);
	out_file__decimal(file, 12345, 3);
	out_file__char(file, ' ');
	out_file__decimal(file, 7, 3);
	out_file__char(file, ' ');
	out_file__decimal(file, UINT64_MAX, 0);
	CHECK_EQ(access("unit.out_file", F_OK), -1);
	CHECK_EQ(out_file__nr_bytes(file), 6 + 1 + 5 + 1 + 20);
	CHECK_EQ(out_file__finish(file), 0);
	out_file__close(file);
	fd = open("unit.out_file", O_RDONLY | O_CLOEXEC);
	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	unlink("unit.out_file");
	CHECK_STR(text, "12.345 0.007 18446744073709551615");

	CHECK_EQ(out_file__open("unit.out_file", &file), 0);
	out_file__text(file, "half");
	out_file__close(file);
	CHECK_EQ(access("unit.out_file", F_OK), -1);
	CHECK_EQ(out_file__open("/", &file), -EISDIR);
	CHECK_EQ(out_file__open("/no such folder/x", &file), -ENOENT);
}
