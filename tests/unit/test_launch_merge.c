// SPDX-License-Identifier: GPL-2.0-or-later
/* What perf.data is made of launch logs: one stream, by time, of all processes */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "gpu_log_build.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "perfdata/sample.h"
#include "record/launch_merge.h"
#include "unit.h"
#include "util/log.h"

#define SESSION 7
#define API	0x2000001

static const char *const cmdline[] = {"perf-gpu", "record", NULL};
static const uint64_t frames[] = {0x400100, 0x400200};

struct fixture {
	char dir[32];
	char path[64];
	struct spool spool;
	struct output *output;
	struct launch_reader_counts counts;
	struct perfdata_reader *reader;
	uint64_t cursor;
};

static void open_fixture(struct fixture *fixture)
{
	struct output_config config = {.argv = cmdline, .session = SESSION};

	log_verbosity = -1;
	*fixture = (struct fixture){.dir = P_tmpdir "/perf-gpu-unit.XXXXXX"};
	CHECK(mkdtemp(fixture->dir));
	snprintf(fixture->path, sizeof(fixture->path), "%s/perf.data", fixture->dir);
	config.path = fixture->path;
	CHECK_EQ(spool__create(fixture->path, geteuid(), &fixture->spool), 0);
	CHECK_EQ(output__open(&config, &fixture->output), 0);
}

static void close_fixture(struct fixture *fixture)
{
	perfdata_reader__close(fixture->reader);
	output__close(fixture->output);
	spool__remove(&fixture->spool);
	unlink(fixture->path);
	CHECK_EQ(rmdir(fixture->dir), 0);
}

/* What is in @build is given up. */
static void save_log(struct fixture *fixture, struct log_build *build, const char *name)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", fixture->spool.path, name);
	log_build__end_block(build);
	CHECK_EQ(log_build__save(build, path), 0);
	log_build__release(build);
}

static void merge(struct fixture *fixture)
{
	CHECK_EQ(launch_merge__run(&fixture->spool, SESSION, fixture->output,
				   &fixture->counts),
		 0);
	CHECK_EQ(output__finish_round(fixture->output), 0);
	CHECK_EQ(output__commit(fixture->output), 0);
	CHECK_EQ(perfdata_reader__open(fixture->path, &fixture->reader), 0);
}

/* The next record but the marks of rounds: it must be as said. */
static const void *next(struct fixture *fixture, uint32_t type, uint32_t pid,
			uint32_t tid, uint64_t time_ns)
{
	const struct perf_event_header *event;
	const struct perf_event_attr *attr;
	struct perfdata_sample sample;

	do
		CHECK(perfdata_reader__next(fixture->reader, &fixture->cursor, &event) >
		      0);
	while (event->type == PERFDATA_RECORD_FINISHED_ROUND);
	CHECK_EQ(event->type, type);
	attr = &perfdata_reader__event(fixture->reader,
				       type == PERF_RECORD_SAMPLE ? 0 : 1)
			->attr;
	if (type == PERF_RECORD_SAMPLE)
		CHECK_EQ(perfdata_sample__parse(attr, event, &sample), 0);
	else
		CHECK_EQ(perfdata_sample__parse_id(attr, event, &sample), 0);
	CHECK_EQ(sample.time_ns, time_ns);
	CHECK_EQ(sample.pid, pid);
	CHECK_EQ(sample.tid, tid);
	return event + 1;
}

static void check_end(struct fixture *fixture)
{
	const struct perf_event_header *event;

	while (perfdata_reader__next(fixture->reader, &fixture->cursor, &event) > 0)
		CHECK_EQ(event->type, PERFDATA_RECORD_FINISHED_ROUND);
}

/* Started at 1000 */
static struct log_build new_log(uint64_t log_id, uint32_t pid)
{
	struct log_build build = {.session = SESSION, .log_id = log_id};

	log_build__process(&build, pid, "app");
	return build;
}

TEST(a_process_is_told_as_the_kernel_tells_it)
{
	const struct perfdata_mmap2 *mmap2;
	struct fixture f;
	struct log_build build = new_log(1, 42);
	const uint32_t *ids;

	open_fixture(&f);
	log_build__map(&build, 2000, 0x400000, "/bin/app");
	log_build__map(&build, 2000, 0x500000, "");
	log_build__thread(&build, 2000, 42, "main");
	log_build__stack(&build, 1, 42, API, frames, 2);
	log_build__launch(&build, 1, 1, 1000);
	log_build__thread(&build, 3000, 43, "worker");
	log_build__thread(&build, 3500, 43, "renamed");
	save_log(&f, &build, "42-1.gpulaunch");
	merge(&f);

	CHECK_STR((const char *)next(&f, PERF_RECORD_COMM, 42, 42, 1000) + 8, "app");
	mmap2 = next(&f, PERF_RECORD_MMAP2, 42, 42, 2000) -
		sizeof(struct perf_event_header);
	CHECK_EQ(mmap2->pid, 42);
	CHECK_EQ(mmap2->addr, 0x400000);
	CHECK_EQ(mmap2->bytes, 0x1000);
	CHECK_EQ(mmap2->header.misc, PERF_RECORD_MISC_USER);
	CHECK_STR(mmap2->path, "/bin/app");
	mmap2 = next(&f, PERF_RECORD_MMAP2, 42, 42, 2000) -
		sizeof(struct perf_event_header);
	CHECK_STR(mmap2->path, "//anon");
	CHECK_STR((const char *)next(&f, PERF_RECORD_COMM, 42, 42, 2000) + 8, "main");
	next(&f, PERF_RECORD_SAMPLE, 42, 42, 2000);
	ids = next(&f, PERF_RECORD_FORK, 42, 42, 3000);
	CHECK_EQ(ids[0], 42); /* pid, ppid, tid, ptid */
	CHECK_EQ(ids[1], 42);
	CHECK_EQ(ids[2], 43);
	CHECK_EQ(ids[3], 42);
	CHECK_STR((const char *)next(&f, PERF_RECORD_COMM, 42, 43, 3000) + 8, "worker");
	CHECK_STR((const char *)next(&f, PERF_RECORD_COMM, 42, 43, 3500) + 8, "renamed");
	next(&f, PERF_RECORD_EXIT, 42, 42, 3500);
	check_end(&f);
	close_fixture(&f);
}

static void add_namespace(struct log_build *build, uint64_t inode)
{
	struct gpu_log_namespace namespace = {.pid_namespace = inode};

	LOG_BUILD_ADD(build, GPU_LOG_NAMESPACE, namespace);
}

TEST(one_pid_in_two_namespaces_is_two_processes)
{
	struct log_build own = new_log(1, 42), other = new_log(2, 42);
	struct fixture f;
	const uint32_t *ids;

	open_fixture(&f);
	add_namespace(&other, 1);
	for (int i = 0; i < 2; i++) {
		struct log_build *build = i ? &other : &own;

		log_build__map(build, 2000 + i, 0x400000, "/bin/app");
		log_build__stack(build, 1, 43, API, frames, 2);
		log_build__launch(build, 1, 1, 1000 + 10 * i);
		log_build__thread(build, 3000 + 100 * i, 44, "worker");
	}
	save_log(&f, &own, "42-1.gpulaunch");
	save_log(&f, &other, "42-2.gpulaunch");
	merge(&f);

	next(&f, PERF_RECORD_COMM, 42, 42, 1000);
	next(&f, PERF_RECORD_COMM, 10000042, 10000042, 1000);
	next(&f, PERF_RECORD_MMAP2, 42, 42, 2000);
	next(&f, PERF_RECORD_SAMPLE, 42, 43, 2000);
	next(&f, PERF_RECORD_MMAP2, 10000042, 10000042, 2001);
	next(&f, PERF_RECORD_SAMPLE, 10000042, 10000043, 2010);
	next(&f, PERF_RECORD_FORK, 42, 42, 3000);
	next(&f, PERF_RECORD_COMM, 42, 44, 3000);
	next(&f, PERF_RECORD_EXIT, 42, 42, 3000);
	ids = next(&f, PERF_RECORD_FORK, 10000042, 10000042, 3100);
	CHECK_EQ(ids[2], 10000044);
	next(&f, PERF_RECORD_COMM, 10000042, 10000044, 3100);
	next(&f, PERF_RECORD_EXIT, 10000042, 10000042, 3100);
	check_end(&f);
	close_fixture(&f);
}

TEST(processes_are_merged_by_time)
{
	struct log_build one = new_log(1, 42), other = new_log(2, 43);
	uint64_t last_ns = 0, nr_samples = 0;
	const struct perf_event_header *event;
	struct perfdata_sample sample;
	struct fixture f;

	open_fixture(&f);
	for (int32_t i = 0; i < 20000; i++) {
		log_build__launch(&one, 1, 0, 100 * i);
		log_build__launch(&other, 1, 0, i < 10000 ? i : 250 * i);
		if (i % 1000 == 999) {
			log_build__end_block(&one);
			log_build__end_block(&other);
		}
	}
	save_log(&f, &one, "42-1.gpulaunch");
	save_log(&f, &other, "43-2.gpulaunch");
	merge(&f);
	while (perfdata_reader__next(f.reader, &f.cursor, &event) > 0) {
		if (event->type != PERF_RECORD_SAMPLE)
			continue;
		CHECK_EQ(
			perfdata_sample__parse(&perfdata_reader__event(f.reader, 0)->attr,
					       event, &sample),
			0);
		CHECK(sample.time_ns >= last_ns);
		last_ns = sample.time_ns;
		nr_samples++;
	}
	CHECK_EQ(nr_samples, 40000);
	CHECK_EQ(f.counts.nr_lost_stacks, 40000);
	CHECK_EQ(launch_counts__of(output__launch_counts(f.output), 1), 20000);
	CHECK_EQ(launch_counts__of(output__launch_counts(f.output), 2), 20000);
	close_fixture(&f);
}

/* Which it has to be there for, with its mappings */
TEST(a_parent_leaves_behind_its_forked_child)
{
	const struct gpu_log_process child = {
		.pid = 50, .ppid = 42, .is_forked = 1, .start_ns = 9000, .comm = "child"};
	struct log_build build = new_log(1, 42);
	struct log_build forked = {.session = SESSION, .log_id = 2};
	struct log_build unrelated = new_log(3, 44);
	const uint32_t *ids;
	struct fixture f;

	open_fixture(&f);
	log_build__map(&build, 2000, 0x400000, "/bin/app");
	save_log(&f, &build, "42-1.gpulaunch");
	LOG_BUILD_ADD(&forked, GPU_LOG_PROCESS, child);
	log_build__launch(&forked, 1, 0, 100);
	save_log(&f, &forked, "50-2.gpulaunch");
	save_log(&f, &unrelated, "44-3.gpulaunch");
	merge(&f);
	next(&f, PERF_RECORD_COMM, 42, 42, 1000);
	next(&f, PERF_RECORD_COMM, 44, 44, 1000);
	next(&f, PERF_RECORD_EXIT, 44, 44, 1000);
	next(&f, PERF_RECORD_MMAP2, 42, 42, 2000);
	ids = next(&f, PERF_RECORD_FORK, 42, 42, 9000);
	CHECK_EQ(ids[0], 50);
	CHECK_EQ(ids[1], 42);
	CHECK_STR((const char *)next(&f, PERF_RECORD_COMM, 50, 50, 9000) + 8, "child");
	next(&f, PERF_RECORD_EXIT, 42, 42, 9000);
	next(&f, PERF_RECORD_SAMPLE, 50, 50, 9100);
	next(&f, PERF_RECORD_EXIT, 50, 50, 9100);
	check_end(&f);
	close_fixture(&f);
}

TEST(logs_of_others_and_broken_ones_do_not_stop_the_rest)
{
	struct log_build good = new_log(1, 42), cut = new_log(2, 43);
	struct log_build other = new_log(3, 44), empty = {};
	char path[PATH_MAX + 32];
	struct fixture f;

	open_fixture(&f);
	other.session++;
	save_log(&f, &other, "44-3.gpulaunch");
	log_build__launch(&good, 1, 0, 100);
	save_log(&f, &good, "42-1.gpulaunch");
	log_build__launch(&cut, 1, 0, 200);
	log_build__end_block(&cut);
	log_build__launch(&cut, 1, 0, 300);
	log_build__end_block(&cut);
	cut.bytes -= 8;
	snprintf(path, sizeof(path), "%s/43-2.gpulaunch", f.spool.path);
	CHECK_EQ(log_build__save(&cut, path), 0);
	log_build__release(&cut);
	snprintf(path, sizeof(path), "%s/45-4.gpulaunch", f.spool.path);
	CHECK_EQ(log_build__save(&empty, path), 0);
	snprintf(path, sizeof(path), "%s/46-5.gpulaunch", f.spool.path);
	CHECK_EQ(symlink("42-1.gpulaunch", path), 0);
	snprintf(path, sizeof(path), "%s/47-6.gpulaunch", f.spool.path);
	CHECK_EQ(mkfifo(path, 0600), 0);
	merge(&f);
	next(&f, PERF_RECORD_COMM, 42, 42, 1000);
	next(&f, PERF_RECORD_COMM, 43, 43, 1000);
	next(&f, PERF_RECORD_SAMPLE, 42, 42, 1100);
	next(&f, PERF_RECORD_EXIT, 42, 42, 1100);
	next(&f, PERF_RECORD_SAMPLE, 43, 43, 1200);
	next(&f, PERF_RECORD_EXIT, 43, 43, 1200);
	check_end(&f);
	close_fixture(&f);
}

TEST(as_many_processes_as_files_may_be_open)
{
	const struct rlimit few = {.rlim_cur = 32, .rlim_max = 512};
	struct fixture f;

	open_fixture(&f);
	for (uint32_t pid = 1; pid <= 300; pid++) {
		struct log_build build = new_log(pid, pid);
		char name[32];

		log_build__launch(&build, 1, 0, 1000);
		snprintf(name, sizeof(name), "%u-1.gpulaunch", pid);
		save_log(&f, &build, name);
	}
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	merge(&f);
	CHECK_EQ(output__counts(f.output).nr_launches, 300);
	close_fixture(&f);
}

TEST(no_logs_are_no_error)
{
	struct fixture f;

	open_fixture(&f);
	merge(&f);
	check_end(&f);
	close_fixture(&f);
}
