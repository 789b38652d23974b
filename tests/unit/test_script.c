// SPDX-License-Identifier: GPL-2.0-or-later
/* The text of script, compared with what perf 6.1 prints, and -F. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sink/sink.h"
#include "unit.h"

enum { PID = 11991, TID = 11992 };

static void add_comm(struct machine *machine, const char *comm)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[16];
	} record = {{PERF_RECORD_COMM, 0, sizeof(record)}, PID, TID, ""};

	strcpy(record.comm, comm);
	CHECK_EQ(machine__process(machine, &record.header), 0);
}

static void add_map(struct machine *machine, uint64_t start, uint64_t pgoff,
		    const char *path)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		uint8_t inode[24];
		uint32_t prot, flags;
		char path[64];
	} record = {
		.header = {PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, sizeof(record)},
		.pid = PID,
		.tid = PID,
		.addr = start,
		.len = 0x10000,
		.pgoff = pgoff,
		.prot = PROT_READ | PROT_EXEC,
	};

	strcpy(record.path, path);
	CHECK_EQ(machine__process(machine, &record.header), 0);
}

static const struct gpu_frame frames[] = {
	{.name = "[GPU_Kernel]void sgemm<4>(float*, int)"},
	{.name = "cudaLaunchKernel"},
	{.ip = 0x401149},
	{.ip = 0x7f0000001010},
	{.ip = 0xdead0000},
};

static struct gpu_sample new_sample(void)
{
	return (struct gpu_sample){
		.time_ns = 2119885556789,
		.pid = PID,
		.tid = TID,
		.cpu = 3,
		.period = 20000000,
		.frames = frames,
		.nr_frames = sizeof(frames) / sizeof(*frames),
	};
}

/* What samples look like, printed to a file in stdout's place; for free(). */
static char *print_events(uint32_t events, unsigned int fields, const char *comm,
			  const struct gpu_sample *samples, size_t nr_samples)
{
	int saved = dup(STDOUT_FILENO), file = memfd_create("stdout", MFD_CLOEXEC);
	struct machine *machine = NULL;
	struct sink *sink = NULL;
	struct sink_input input = {.events = events};
	off_t size;
	char *text;

	fflush(stdout);
	CHECK(file >= 0 && dup2(file, STDOUT_FILENO) >= 0);
	CHECK_EQ(machine__new(NULL, &machine), 0);
	if (comm)
		add_comm(machine, comm);
	add_map(machine, 0x400000, 0x1000, "/opt/no such/app");
	add_map(machine, 0x7f0000000000, 0, "//anon");
	input.machine = machine;
	CHECK_EQ(sink_script__new(fields, &sink), 0);
	CHECK_EQ(sink->ops->start(sink, &input), 0);
	for (size_t i = 0; i < nr_samples; i++)
		CHECK_EQ(sink->ops->sample(sink, &samples[i]), 0);
	CHECK_EQ(sink->ops->finish(sink), 0);
	sink->ops->delete (sink);
	machine__delete(machine);
	dup2(saved, STDOUT_FILENO);
	close(saved);

	size = lseek(file, 0, SEEK_END);
	text = calloc(1, (size_t)size + 1);
	CHECK(text != NULL);
	CHECK_EQ(pread(file, text, (size_t)size, 0), size);
	close(file);
	return text;
}

static char *print(unsigned int fields, const char *comm,
		   const struct gpu_sample *samples, size_t nr_samples)
{
	return print_events(1 << GPU_LOG_EVENT_KERNEL, fields, comm, samples, nr_samples);
}

static void check_text(unsigned int fields, const char *expected)
{
	struct gpu_sample sample = new_sample();
	char *text = print(fields, "worker", &sample, 1);

	CHECK_STR(text, expected);
	free(text);
}

TEST(default_is_perf_s)
{
	check_text(SCRIPT_DEFAULT_FIELDS,
		   "worker 11992 [003]  2119.885556:   20000000 gpu-kernel: \n"
		   "\t 100000000001020 [GPU_Kernel]void sgemm<4>(float*, int) "
		   "([GPU_Kernel])\n"
		   "\t 100000000001060 cudaLaunchKernel ([GPU_Kernel])\n"
		   "\t            2149 [unknown] (/opt/no such/app)\n"
		   "\t    7f0000001010 [unknown] (/tmp/perf-11991.map)\n"
		   "\t        dead0000 [unknown] ([unknown])\n"
		   "\n");
}

TEST(fields_are_left_out)
{
	check_text(SCRIPT_COMM | SCRIPT_PID | SCRIPT_TID | SCRIPT_TIME | SCRIPT_EVENT,
		   "          worker 11991/11992  2119.885556: gpu-kernel: \n");
	check_text(SCRIPT_PID, "11991 \n");
	check_text(SCRIPT_CPU | SCRIPT_PERIOD, "[003]   20000000 \n");
	check_text(SCRIPT_IP | SCRIPT_DSO, "\n"
					   "\t 100000000001020 ([GPU_Kernel])\n"
					   "\t 100000000001060 ([GPU_Kernel])\n"
					   "\t            2149 (/opt/no such/app)\n"
					   "\t    7f0000001010 (/tmp/perf-11991.map)\n"
					   "\t        dead0000 ([unknown])\n"
					   "\n");
	check_text(SCRIPT_COMM | SCRIPT_IP | SCRIPT_SYM,
		   "worker \n"
		   "\t 100000000001020 [GPU_Kernel]void sgemm<4>(float*, int)\n"
		   "\t 100000000001060 cudaLaunchKernel\n"
		   "\t            2149 [unknown]\n"
		   "\t    7f0000001010 [unknown]\n"
		   "\t        dead0000 [unknown]\n"
		   "\n");
}

TEST(labels_are_between_thread_and_time)
{
	const struct gpu_labels labels = {
		.device = 0,
		.stream = 7,
		.context = 1,
		.graph = -1,
		.rank = 12,
		.bytes = 1ll << 40,
		.nvtx = "mine:a \"b\"\n;c",
	};
	const struct gpu_labels none = {-1, -1, -1, -1, -1, -1, NULL, NULL, 0};
	struct gpu_sample samples[2] = {new_sample(), new_sample()};
	char *text;

	samples[0].labels = &labels;
	samples[1].labels = &none;
	text = print(SCRIPT_TID | SCRIPT_TIME | SCRIPT_LABEL_FIELDS, "app", samples, 2);
	CHECK_STR(text, "11992 rank=12 device=0 context=1 stream=7 graph=- "
			"bytes=1099511627776 nvtx=\"mine:a 'b'?;c\"  2119.885556: \n"
			"11992 rank=- device=- context=- stream=- graph=- bytes=- "
			"nvtx=\"\"  2119.885556: \n");
	free(text);
}

TEST(large_and_small_numbers_keep_their_columns)
{
	struct gpu_sample sample = {.time_ns = 999,
				    .pid = PID,
				    .tid = TID,
				    .period = 12345678901234,
				    .cpu = 1023};
	char *text = print(SCRIPT_DEFAULT_FIELDS & ~SCRIPT_IP, "a", &sample, 1);

	CHECK_STR(text, "               a 11992 [1023]     0.000000: 12345678901234 "
			"gpu-kernel: \n");
	free(text);
}

/* perf puts the names of events in a column that is as wide as the widest. */
TEST(events_have_their_names)
{
	struct gpu_sample samples[] = {{.tid = TID, .event = GPU_LOG_EVENT_SYNC},
				       {.tid = TID, .event = GPU_LOG_EVENT_MEMCPY}};
	uint32_t events = 1 << GPU_LOG_EVENT_SYNC;
	char *text;

	text = print_events(events, SCRIPT_TID | SCRIPT_EVENT, "a", samples, 1);
	CHECK_STR(text, "11992 gpu-sync: \n");
	free(text);
	events |= 1 << GPU_LOG_EVENT_MEMCPY;
	text = print_events(events, SCRIPT_TID | SCRIPT_EVENT, "a", samples, 2);
	CHECK_STR(text, "11992   gpu-sync: \n11992 gpu-memcpy: \n");
	free(text);
}

TEST(unknown_thread_is_named_by_its_number)
{
	struct gpu_sample sample = new_sample();
	char *text = print(SCRIPT_COMM, NULL, &sample, 1);

	CHECK_STR(text, "          :11992 \n");
	free(text);
}

TEST(control_characters_are_made_harmless)
{
	static const struct gpu_frame evil = {.name = "a\nb\t\x1b[31m\x7f \xc3\xa9"};
	struct gpu_sample sample = {
		.pid = PID, .tid = TID, .frames = &evil, .nr_frames = 1};
	char *text = print(SCRIPT_COMM | SCRIPT_IP | SCRIPT_SYM, "x\ny\x1b", &sample, 1);

	CHECK_STR(text, "x?y? \n\t 100000000001020 a?b??[31m? \xc3\xa9\n\n");
	free(text);
}

/* The same name, wherever its bytes are, has one address. */
TEST(address_of_a_name_is_stable)
{
	char copy[] = "k1";
	const struct gpu_frame kernels[] = {
		{.name = "k1"}, {.name = "k2"}, {.name = copy}};
	struct gpu_sample samples[3];
	char *text;

	for (int i = 0; i < 3; i++)
		samples[i] = (struct gpu_sample){.frames = &kernels[i], .nr_frames = 1};
	text = print(SCRIPT_IP, "x", samples, 3);
	CHECK_STR(text, "\n\t 100000000001020\n\n\n\t 100000000001060\n\n"
			"\n\t 100000000001020\n\n");
	free(text);
}

TEST(long_output_is_whole)
{
	enum { NR = 5000 };
	struct gpu_sample *samples = calloc(NR, sizeof(*samples));
	size_t nr_lines = 0;
	char *text;

	CHECK(samples != NULL);
	for (int i = 0; i < NR; i++)
		samples[i] = new_sample();
	text = print(SCRIPT_DEFAULT_FIELDS, "worker", samples, NR);
	for (const char *c = text; *c; c++)
		nr_lines += *c == '\n';
	CHECK_EQ(nr_lines, NR * 7);
	free(text);
	free(samples);
}

/* Status of a sink whose stdout is @fd. */
static int finish_on(int fd)
{
	struct gpu_sample sample = new_sample();
	int saved = dup(STDOUT_FILENO), err;
	struct sink_input input = {.events = 1 << GPU_LOG_EVENT_KERNEL};
	struct machine *machine = NULL;
	struct sink *sink = NULL;

	CHECK_EQ(machine__new(NULL, &machine), 0);
	input.machine = machine;
	CHECK_EQ(sink_script__new(SCRIPT_DEFAULT_FIELDS, &sink), 0);
	CHECK_EQ(sink->ops->start(sink, &input), 0);
	CHECK_EQ(sink->ops->sample(sink, &sample), 0);
	fflush(stdout);
	CHECK(dup2(fd, STDOUT_FILENO) >= 0);
	err = sink->ops->finish(sink);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	sink->ops->delete (sink);
	machine__delete(machine);
	return err;
}

TEST(write_errors_are_returned)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC), pipe_fds[2];

	if (full < 0)
		SKIP("no /dev/full");
	CHECK_EQ(finish_on(full), -ENOSPC);
	close(full);

	signal(SIGPIPE, SIG_IGN);
	CHECK_EQ(pipe(pipe_fds), 0);
	close(pipe_fds[0]);
	CHECK_EQ(finish_on(pipe_fds[1]), -EPIPE);
	close(pipe_fds[1]);
}

TEST(lines_of_python_functions_are_behind_their_frames)
{
	static const struct gpu_frame python[] = {
		{.name = "k"},
		{.name = "py::f:/src/a.py", .file = "/src/a.py", .line = 12},
		{.name = "py::g:<string>", .file = "<string>", .line = 1},
		{.name = "py::h:/src/a.py", .file = "/src/a.py"},
	};
	struct gpu_sample sample = new_sample();
	char *text;

	sample.frames = python;
	sample.nr_frames = sizeof(python) / sizeof(*python);
	text = print(SCRIPT_IP | SCRIPT_SYM | SCRIPT_SRCLINE, "worker", &sample, 1);
	CHECK_STR(text, "\n"
			"\t 100000000001020 k\n"
			"\t 100000000001060 py::f:/src/a.py\n"
			"  a.py:12\n"
			"\t 1000000000010a0 py::g:<string>\n"
			"  <string>:1\n"
			"\t 1000000000010e0 py::h:/src/a.py\n"
			"\n");
	free(text);
}

static void check_fields(const char *text, int expected_err, unsigned int expected)
{
	unsigned int fields = SCRIPT_COMM | SCRIPT_IP | SCRIPT_SYM;

	CHECK_EQ(script_field__parse(text, &fields), expected_err);
	CHECK_EQ(fields, expected_err ? SCRIPT_COMM | SCRIPT_IP | SCRIPT_SYM : expected);
}

TEST(list_of_fields_replaces_the_default)
{
	check_fields("pid", 0, SCRIPT_PID);
	check_fields("comm,tid,pid,time,cpu,event,ip,sym,dso,symoff,period", 0,
		     SCRIPT_DEFAULT_FIELDS | SCRIPT_PID);
	check_fields("pid,,time,", 0, SCRIPT_PID | SCRIPT_TIME);
}

TEST(signs_change_the_default)
{
	check_fields("+pid", 0, SCRIPT_COMM | SCRIPT_IP | SCRIPT_SYM | SCRIPT_PID);
	check_fields("-comm", 0, SCRIPT_IP | SCRIPT_SYM);
	check_fields("+cpu,-comm,+time", 0,
		     SCRIPT_IP | SCRIPT_SYM | SCRIPT_CPU | SCRIPT_TIME);
	check_fields("+cpu,time,-comm", 0,
		     SCRIPT_IP | SCRIPT_SYM | SCRIPT_CPU | SCRIPT_TIME);
	check_fields("-ip", 0, SCRIPT_COMM | SCRIPT_SYM);
	check_fields("+srcline", 0,
		     SCRIPT_COMM | SCRIPT_IP | SCRIPT_SYM | SCRIPT_SRCLINE);
}

TEST(wrong_fields_are_refused)
{
	check_fields("", -EINVAL, 0);
	check_fields(",", -EINVAL, 0);
	check_fields("foo", -EINVAL, 0);
	check_fields("+foo", -EINVAL, 0);
	check_fields("comm,brstack", -EINVAL, 0);
	check_fields("Comm", -EINVAL, 0);
	check_fields("comm,+pid", -EINVAL, 0);
	check_fields("-pid,comm", -EINVAL, 0);
	check_fields("+", -EINVAL, 0);
	check_fields("ip,symoff", -EINVAL, 0);
	check_fields("comm,sym", -EINVAL, 0);
	check_fields("comm,srcline", -EINVAL, 0);
}
