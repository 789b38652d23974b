// SPDX-License-Identifier: GPL-2.0-or-later
/* What the injected library writes (cupti_inject/log.c), read by the sidecar's reader */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "../../cupti_inject/config.h"
#include "../../cupti_inject/intern.h"
#include "../../cupti_inject/log.h"
#include "sidecar/activities.h"
#include "sidecar/sidecar.h"
#include "util/gpu_log_cursor.h"
#include "util/log.h"

#define SESSION 0x1234

/*
 * Nobody frees a log: it lives as long as its process. So fixtures are static, for
 * the leak sanitizer to see that it isn't forgotten.
 */
struct fixture {
	char spool[64];
	char path[PATH_MAX]; /* of the only log in it */
	struct log *log;
	struct sidecar *sidecar;
};

/* The path of the only log in the spool */
static void find_log(struct fixture *fixture)
{
	char pattern[128];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/*.gpulog", fixture->spool);
	CHECK_EQ(glob(pattern, 0, NULL, &found), 0);
	CHECK_EQ(found.gl_pathc, 1);
	strcpy(fixture->path, found.gl_pathv[0]);
	globfree(&found);
}

static void open_fixture(struct fixture *fixture)
{
	log_verbosity = -1;
	memset(fixture, 0, sizeof(*fixture));
	strcpy(fixture->spool, P_tmpdir "/perf-gpu-unit.XXXXXX");
	CHECK(mkdtemp(fixture->spool));
	CHECK_EQ(log__open(fixture->spool, SESSION, false, &fixture->log), 0);
	find_log(fixture);
}

static void read_log(struct fixture *fixture)
{
	sidecar__close(fixture->sidecar);
	CHECK_EQ(sidecar__open(fixture->path, &fixture->sidecar), 0);
	CHECK_EQ(sidecar__list_activities(fixture->sidecar), 0);
	CHECK_EQ(fixture->sidecar->nr_logs, 1);
	CHECK(!fixture->sidecar->logs[0].is_cut);
}

static void close_fixture(struct fixture *fixture)
{
	sidecar__close(fixture->sidecar);
	unlink(fixture->path);
	CHECK_EQ(rmdir(fixture->spool), 0);
}

static void add_kernel(struct log *log, uint32_t i)
{
	struct gpu_log_shape shape = {
		.device = 1, .stream = i % 5, .grid = {i % 7, 1, 1}};
	char name[32];

	snprintf(name, sizeof(name), "_Z6kernel%u", i % 3);
	log__kernel(log, name, &shape, i, 1000 + i, 2000 + 2 * i);
}

TEST(a_process_is_known_as_soon_as_its_log_is)
{
	static struct fixture f;
	char comm[16];

	CHECK_EQ(prctl(PR_GET_NAME, comm), 0); /* an emulator's, in one */
	open_fixture(&f);
	read_log(&f);
	CHECK_EQ(f.sidecar->session, SESSION);
	CHECK_EQ(f.sidecar->logs[0].pid, (uint32_t)getpid());
	CHECK_EQ(f.sidecar->logs[0].log_id, log__id(f.log));
	CHECK_STR(f.sidecar->logs[0].comm, comm);
	CHECK(!f.sidecar->logs[0].is_ended);
	close_fixture(&f);
}

TEST(kernels_come_back_as_they_were)
{
	static struct fixture f;

	open_fixture(&f);
	for (uint32_t i = 0; i < 1000; i++)
		add_kernel(f.log, i);
	log__end(f.log, 1000);
	read_log(&f);
	CHECK_EQ(f.sidecar->nr_activities, 1000);
	CHECK_EQ(f.sidecar->nr_shapes, 3 * 5 * 7);
	for (uint32_t i = 0; i < 1000; i++) {
		const struct sidecar_activity *kernel = &f.sidecar->activities[i];
		const struct sidecar_shape *shape = &f.sidecar->shapes[kernel->shape];
		char name[32];

		snprintf(name, sizeof(name), "_Z6kernel%u", i % 3);
		CHECK_STR(shape->name, name);
		CHECK_EQ(shape->stream, i % 5);
		CHECK_EQ(shape->grid[0], i % 7);
		CHECK_EQ(kernel->correlation_id, i);
		CHECK_EQ(kernel->start_ns, 1000 + i);
		CHECK_EQ(kernel->end_ns, 2000 + 2 * i);
	}
	CHECK(f.sidecar->logs[0].is_ended);
	CHECK_EQ(f.sidecar->logs[0].nr_launches, 1000);
	close_fixture(&f);
}

TEST(a_kernel_takes_at_most_40_bytes)
{
	const uint32_t nr_kernels = 20000;
	static struct fixture f;
	struct stat stat_;

	open_fixture(&f);
	for (uint32_t i = 0; i < nr_kernels; i++)
		add_kernel(f.log, i);
	log__end(f.log, nr_kernels);
	CHECK_EQ(stat(f.path, &stat_), 0);
	CHECK((uint64_t)stat_.st_size <= 40 * nr_kernels);
	close_fixture(&f);
}

TEST(a_full_disk_loses_kernels_and_counts_them)
{
	const struct rlimit none = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
	const struct rlimit all = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
	static struct fixture f;

	open_fixture(&f);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
	/* Not ignored: the library must see to it that the signal doesn't come. */
	signal(SIGXFSZ, SIG_DFL);
	for (uint32_t i = 0; i < 20000; i++)
		add_kernel(f.log, i);
	log__flush(f.log);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &all), 0);
	log__end(f.log, 20000);
	read_log(&f);
	CHECK(f.sidecar->nr_activities > 0);
	CHECK(f.sidecar->nr_activities < 20000);
	CHECK_EQ(f.sidecar->nr_activities +
			 f.sidecar->logs[0].nr_lost[GPU_LOG_LOSS_WRITE],
		 20000);
	close_fixture(&f);
}

TEST(a_file_that_took_over_the_descriptor_is_left_alone)
{
	static struct fixture f;
	struct stat stat_;
	int fd;

	open_fixture(&f);
	/* As a daemon does */
	for (fd = 3; fd < 256; fd++)
		close(fd);
	do {
		fd = memfd_create("other", 0);
		CHECK(fd >= 0);
	} while (fd < 255);
	add_kernel(f.log, 1);
	log__end(f.log, 1);
	for (; fd >= 3; fd--) {
		if (!fstat(fd, &stat_) && !stat_.st_nlink)
			CHECK_EQ(stat_.st_size, 0);
	}
	read_log(&f);
	CHECK_EQ(f.sidecar->nr_activities, 1);
	CHECK(f.sidecar->logs[0].is_ended);
	close_fixture(&f);
}

TEST(the_log_keeps_off_the_standard_descriptors)
{
	static struct fixture f;

	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	open_fixture(&f);
	CHECK_EQ(write(STDOUT_FILENO, "hello", 5), -1);
	add_kernel(f.log, 1);
	log__end(f.log, 1);
	read_log(&f);
	CHECK_EQ(f.sidecar->nr_activities, 1);
	close_fixture(&f);
}

TEST(a_removed_log_is_abandoned)
{
	static struct fixture f;

	open_fixture(&f);
	add_kernel(f.log, 1);
	log__flush(f.log);
	CHECK(!log__is_abandoned(f.log));
	CHECK_EQ(unlink(f.path), 0);
	add_kernel(f.log, 2);
	log__flush(f.log);
	CHECK(log__is_abandoned(f.log));
	close_fixture(&f);
}

TEST(a_closed_log_takes_nothing_and_opens_anew)
{
	static struct fixture f;
	uint64_t first_id;

	open_fixture(&f);
	first_id = log__id(f.log);
	add_kernel(f.log, 1);
	log__count_lost(f.log, GPU_LOG_LOSS_UNFINISHED, 1);
	log__end(f.log, 1);
	log__close(f.log);
	/* As threads do that are late; more than a block has room for */
	for (uint32_t i = 0; i < 20000; i++)
		add_kernel(f.log, i);
	log__flush(f.log);
	log__end(f.log, 20000);
	CHECK(!log__is_abandoned(f.log));
	read_log(&f);
	CHECK_EQ(f.sidecar->nr_activities, 1);
	CHECK_EQ(unlink(f.path), 0);

	CHECK_EQ(log__reopen(f.log, f.spool, SESSION + 1), 0);
	CHECK(log__id(f.log) != first_id);
	find_log(&f);
	for (uint32_t i = 0; i < 3; i++)
		add_kernel(f.log, i);
	log__end(f.log, 3);
	read_log(&f);
	CHECK_EQ(f.sidecar->session, SESSION + 1);
	CHECK_EQ(f.sidecar->nr_activities, 3);
	CHECK_EQ(f.sidecar->nr_shapes, 3);
	CHECK_EQ(f.sidecar->logs[0].nr_lost[GPU_LOG_LOSS_UNFINISHED], 0);
	CHECK_EQ(f.sidecar->logs[0].nr_lost[GPU_LOG_LOSS_WRITE], 0);
	close_fixture(&f);
}

TEST(messages_and_losses_are_written)
{
	static struct fixture f;

	open_fixture(&f);
	log__count_lost(f.log, GPU_LOG_LOSS_CUPTI_DROPPED, 3);
	log__count_lost(f.log, GPU_LOG_LOSS_CUPTI_DROPPED, 4);
	log__message(f.log, GPU_LOG_WARNING, "no %s", "luck");
	log__count_lost(f.log, GPU_LOG_LOSS_UNFINISHED, 1);
	log__end(f.log, 0);
	read_log(&f);
	CHECK_EQ(f.sidecar->nr_messages, 1);
	CHECK_STR(f.sidecar->messages[0].text, "no luck");
	CHECK_EQ(f.sidecar->logs[0].nr_lost[GPU_LOG_LOSS_CUPTI_DROPPED], 7);
	CHECK_EQ(f.sidecar->logs[0].nr_lost[GPU_LOG_LOSS_UNFINISHED], 1);
	close_fixture(&f);
}

TEST(the_longest_name_is_cut_not_lost)
{
	char *name = malloc(100001);
	struct gpu_log_shape shape = {};
	static struct fixture f;

	CHECK(name);
	memset(name, 'x', 100000);
	name[100000] = '\0';
	open_fixture(&f);
	log__kernel(f.log, name, &shape, 1, 2, 3);
	log__end(f.log, 1);
	read_log(&f);
	CHECK_EQ(f.sidecar->nr_activities, 1);
	CHECK_EQ(strlen(f.sidecar->shapes[0].name), GPU_LOG_MAX_STRING);
	free(name);
	close_fixture(&f);
}

TEST(ids_count_from_one_and_are_found_again)
{
	static struct intern intern;
	char key[16];

	for (uint32_t i = 1; i <= 5000; i++) {
		int len = snprintf(key, sizeof(key), "%u", i);

		CHECK_EQ(intern__find(&intern, key, (size_t)len), 0);
		CHECK_EQ(intern__next_id(&intern), i);
		CHECK_EQ(intern__add(&intern, key, (size_t)len), i);
	}
	CHECK_EQ(intern__find(&intern, "1234", 4), 1234);
	CHECK_EQ(intern__find(&intern, "1234", 3), 123);
	CHECK_EQ(intern__find(&intern, "", 0), 0);
}

/* Records of a type in the log */
static unsigned int count_records(const struct fixture *f, enum gpu_log_type type)
{
	static unsigned char payload[GPU_LOG_MAX_PAYLOAD] __attribute__((aligned(8)));
	FILE *file = fopen(f->path, "r");
	const struct gpu_log_record *record;
	struct gpu_log_cursor cursor;
	struct gpu_log_block block;
	unsigned int nr = 0;

	CHECK(file);
	while (fread(&block, sizeof(block), 1, file) == 1) {
		CHECK(block.payload_bytes <= sizeof(payload));
		CHECK_EQ(fread(payload, block.payload_bytes, 1, file), 1);
		cursor = gpu_log_cursor__new(payload, block.payload_bytes);
		while (gpu_log_cursor__next(&cursor, &record) > 0)
			nr += record->type == type;
	}
	fclose(file);
	return nr;
}

/* Nodes of graphs that are made again and again are other shapes each time. */
TEST(what_has_no_end_is_forgotten_and_read_all_the_same)
{
	enum { NR_KERNELS = 400000 };
	static struct fixture f;

	open_fixture(&f);
	for (uint32_t i = 0; i < NR_KERNELS; i++) {
		struct gpu_log_shape shape = {.device = 1, .graph_node = i + 1};

		log__kernel(f.log, i % 2 ? "odd" : "even", &shape, i, 1000, 2000);
	}
	log__end(f.log, 0);
	CHECK(count_records(&f, GPU_LOG_FORGET) > 0);
	read_log(&f);
	CHECK_EQ(f.sidecar->nr_activities, NR_KERNELS);
	for (uint32_t i = 0; i < NR_KERNELS; i += 997) {
		const struct sidecar_shape *shape =
			&f.sidecar->shapes[f.sidecar->activities[i].shape];

		CHECK_EQ(shape->graph_node, i + 1);
		CHECK_STR(shape->name, i % 2 ? "odd" : "even");
	}
	close_fixture(&f);
}

TEST(correlation_ids_are_widened_to_the_nearest)
{
	CHECK_EQ(gpu_log_widen(5, 0), 5);
	CHECK_EQ(gpu_log_widen(0xffffffff, 0), 0xffffffff);
	CHECK_EQ(gpu_log_widen(2, 0xfffffff0), 0x100000002);
	CHECK_EQ(gpu_log_widen(0xfffffff0, 0x100000002), 0xfffffff0);
	CHECK_EQ(gpu_log_widen(0, 0x1ffffffff), 0x200000000);
}

TEST(settings_are_checked)
{
	struct config config;

	unsetenv("PERF_GPU_SESSION");
	unsetenv("PERF_GPU_CUPTI");
	CHECK_EQ(config__read(&config), -ENOENT);
	setenv("PERF_GPU_SESSION", "00000000000000ff", 1);
	CHECK_EQ(config__read(&config), -ENOENT);
	setenv("PERF_GPU_SPOOL", "relative", 1);
	CHECK_EQ(config__read(&config), -EINVAL);
	setenv("PERF_GPU_SPOOL", "/spool", 1);
	CHECK_EQ(config__read(&config), 0);
	CHECK_EQ(config.session, 0xff);
	CHECK_STR(config.spool, "/spool");
	CHECK(config.unwind);
	CHECK(!config.has_quick_nop5);
	setenv("PERF_GPU_SESSION", "0", 1);
	CHECK_EQ(config__read(&config), -EINVAL);
	setenv("PERF_GPU_SESSION", "00000000000000fg", 1);
	CHECK_EQ(config__read(&config), -EINVAL);
	setenv("PERF_GPU_SESSION", "0000000000000000", 1);
	CHECK_EQ(config__read(&config), -EINVAL);
}

TEST(a_recorder_that_attaches_says_settings_too)
{
	static const char text[] = "PERF_GPU_SESSION=00000000000000ff\0"
				   "PERF_GPU_SPOOLS=/no\0"
				   "PERF_GPU_SPOOL=/spool\0"
				   "PERF_GPU_CALL_GRAPH=fp\0"
				   "PERF_GPU_CUPTI=/its/own";
	struct config config;

	setenv("PERF_GPU_SESSION", "00000000000000ee", 1);
	setenv("PERF_GPU_CUPTI", "/mine", 1);
	CHECK_EQ(config__parse(text, sizeof(text), &config), 0);
	CHECK_EQ(config.session, 0xff);
	CHECK_STR(config.spool, "/spool");
	CHECK_STR(config.cupti, "/mine");
	CHECK(!config.unwind);
	CHECK_EQ(config__parse(text, strlen(text) + 1, &config), -ENOENT);
	CHECK_EQ(config__parse("", 1, &config), -ENOENT);
}
