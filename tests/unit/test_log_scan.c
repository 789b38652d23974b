// SPDX-License-Identifier: GPL-2.0-or-later
/* What the recorder reads of logs, and how they become the sidecar */
#include <errno.h>
#include <sys/stat.h>

#include "gpu_log_build.h"
#include "record/collection.h"
#include "record/spool.h"
#include "unit.h"
#include "util/log.h"

#define SESSION 7

static void add_message(struct log_build *build, uint32_t severity, const char *text)
{
	const struct gpu_log_message message = {
		.severity = severity,
		.nr_bytes = (uint32_t)strlen(text),
	};

	log_build__add(build, GPU_LOG_MESSAGE, &message,
		       offsetof(struct gpu_log_message, text), text);
}

/* The payload of the only block in @build */
static int scan(struct log_scan *ret, const struct log_build *build)
{
	return log_scan__block(ret, build->data + sizeof(struct gpu_log_block),
			       build->bytes - sizeof(struct gpu_log_block));
}

TEST(losses_and_launches_are_added_up)
{
	struct gpu_log_loss loss = {.kind = GPU_LOG_LOSS_CUPTI_DROPPED, .nr_records = 5};
	struct gpu_log_end end = {.nr_launches = 10, .nr_kernels = 1};
	struct log_build build = {.session = SESSION, .log_id = 1};
	struct log_scan result = {};

	log_build__process(&build, 42, "app");
	log_build__kernel(&build, 1, 1, 2, 3);
	LOG_BUILD_ADD(&build, GPU_LOG_LOSS, loss);
	LOG_BUILD_ADD(&build, GPU_LOG_LOSS, loss);
	LOG_BUILD_ADD(&build, GPU_LOG_END, end);
	end.nr_launches = 12;
	LOG_BUILD_ADD(&build, GPU_LOG_END, end);
	log_build__end_block(&build);

	log_scan__begin_log(&result);
	CHECK_EQ(scan(&result, &build), 0);
	CHECK_EQ(result.nr_kernels, 1);
	CHECK_EQ(account__nr_dropped(&result.account), 10);
	CHECK_EQ(result.account.nr_dropped[ACCOUNT_BY_CUPTI], 10);
	log_scan__end_log(&result, 12); /* as many as the last end has */
	CHECK_EQ(result.nr_missing, 0);
	log_scan__begin_log(&result);
	CHECK_EQ(scan(&result, &build), 0);
	log_scan__end_log(&result, 9);
	CHECK_EQ(result.nr_missing, 3);
	log_scan__begin_log(&result);
	CHECK_EQ(scan(&result, &build), 0);
	log_scan__end_log(&result, 100); /* doesn't make up for another log's */
	CHECK_EQ(result.nr_missing, 3);
	log_build__release(&build);
}

TEST(unfinished_kernels_are_unknown_times_and_not_dropped)
{
	struct gpu_log_loss loss = {.kind = GPU_LOG_LOSS_UNFINISHED, .nr_records = 1};
	struct log_build build = {.session = SESSION, .log_id = 1};
	struct log_scan result = {};

	log_build__kernel(&build, 1, 1, 2, 3);
	log_build__kernel(&build, 1, 2, 2, 0);
	log_build__kernel(&build, 1, 3, 0, 0);
	log_build__kernel(&build, 1, 4, 2, 2);
	LOG_BUILD_ADD(&build, GPU_LOG_LOSS, loss);
	log_build__end_block(&build);

	log_scan__begin_log(&result);
	CHECK_EQ(scan(&result, &build), 0);
	CHECK_EQ(result.nr_kernels, 4);
	CHECK_EQ(result.account.nr_unknown_time, 3);
	CHECK_EQ(result.account.nr_delivered, 1);
	CHECK_EQ(account__nr_dropped(&result.account), 0);
	log_build__release(&build);
}

TEST(processes_that_did_not_end_in_order_are_counted)
{
	const struct gpu_log_end end = {};
	struct log_build killed = {.session = SESSION, .log_id = 1};
	struct log_build ended = {.session = SESSION, .log_id = 2};
	struct log_build refused = {.session = SESSION, .log_id = 3};
	struct log_build *all[] = {&killed, &ended, &refused};
	struct log_scan result = {};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		log_build__process(all[i], 42, "app");
	LOG_BUILD_ADD(&ended, GPU_LOG_END, end);
	LOG_BUILD_ADD(&ended, GPU_LOG_END, end);
	add_message(&refused, GPU_LOG_ERROR, "no libcupti");
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		log_build__end_block(all[i]);
		log_scan__begin_log(&result);
		CHECK_EQ(scan(&result, all[i]), 0);
		log_scan__tally(&result, 3, 0);
		log_scan__end_log(&result, 1);
		log_build__release(all[i]);
	}
	CHECK_EQ(result.nr_unended, 1);
	/* What the killed one had no time to tell of, beside the refused one's */
	CHECK_EQ(result.nr_missing, 4);
	CHECK_EQ(result.nr_missing_unended, 2);
	log_scan__release(&result);
}

TEST(losses_do_not_overflow)
{
	const struct gpu_log_loss loss = {.kind = 1, .nr_records = UINT64_MAX};
	struct log_build build = {.session = SESSION, .log_id = 1};
	struct log_scan result = {.account.nr_dropped[ACCOUNT_BY_CUPTI] = 1};

	LOG_BUILD_ADD(&build, GPU_LOG_LOSS, loss);
	log_build__end_block(&build);
	CHECK_EQ(scan(&result, &build), 0);
	CHECK_EQ(account__nr_dropped(&result.account), UINT64_MAX);
	log_build__release(&build);
}

TEST(messages_are_kept_once)
{
	struct log_build build = {.session = SESSION, .log_id = 1};
	struct log_scan result = {};

	log_build__process(&build, 42, "app");
	add_message(&build, GPU_LOG_ERROR, "no libcupti");
	add_message(&build, GPU_LOG_ERROR, "no libcupti");
	add_message(&build, GPU_LOG_WARNING, "no libcupti");
	log_build__end_block(&build);
	CHECK_EQ(scan(&result, &build), 0);
	CHECK_EQ(result.nr_messages, 2);
	CHECK_EQ(result.nr_errors, 2);
	CHECK_STR(result.messages[0].text, "no libcupti");
	CHECK_EQ(result.messages[0].nr_processes, 2);
	CHECK_EQ(result.messages[0].pid, 42);
	CHECK_STR(result.messages[0].comm, "app");
	log_scan__release(&result);
	log_build__release(&build);
}

TEST(too_many_messages_are_counted)
{
	struct log_build build = {.session = SESSION, .log_id = 1};
	struct log_scan result = {};
	char text[16];

	for (int i = 0; i < LOG_SCAN_MAX_MESSAGES + 3; i++) {
		snprintf(text, sizeof(text), "%d", i);
		add_message(&build, GPU_LOG_WARNING, text);
	}
	log_build__end_block(&build);
	CHECK_EQ(scan(&result, &build), 0);
	CHECK_EQ(result.nr_messages, LOG_SCAN_MAX_MESSAGES);
	CHECK_EQ(result.nr_messages_left_out, 3);
	log_scan__release(&result);
	log_build__release(&build);
}

TEST(a_record_longer_than_its_block_is_refused)
{
	const uint16_t sizes[] = {0, 4, 12, 40, 65528};
	struct log_scan result = {};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		uint64_t payload[4] = {};
		struct gpu_log_record *record = (struct gpu_log_record *)payload;

		record->type = 99;
		record->size = sizes[i];
		CHECK_EQ(log_scan__block(&result, payload, sizeof(payload)), -EINVAL);
	}
}

/* The block goes into no sidecar: what its first records tell is not there, either. */
TEST(nothing_of_a_broken_block_is_counted)
{
	const struct gpu_log_message message = {.severity = GPU_LOG_ERROR, .nr_bytes = 5};
	const struct gpu_log_loss loss = {.kind = GPU_LOG_LOSS_WRITE, .nr_records = 7};
	const struct {
		struct gpu_log_record head;
		uint32_t pad;
	} too_short = {};
	struct log_build with_short = {.session = SESSION, .log_id = 1};
	struct log_build with_message = {.session = SESSION, .log_id = 1};
	struct log_build *all[] = {&with_short, &with_message};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		log_build__process(all[i], 42, "app");
		log_build__kernel(all[i], 1, 1, 2, 3);
		LOG_BUILD_ADD(all[i], GPU_LOG_LOSS, loss);
	}
	LOG_BUILD_ADD(&with_short, GPU_LOG_GRAPH_NODE, too_short);
	log_build__add(&with_message, GPU_LOG_MESSAGE, &message,
		       offsetof(struct gpu_log_message, text), "abc");
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct log_scan result = {};

		log_build__end_block(all[i]);
		log_scan__begin_log(&result);
		CHECK_EQ(scan(&result, all[i]), -EINVAL);
		CHECK_EQ(result.nr_kernels, 0);
		CHECK_EQ(result.nr_unended, 0);
		CHECK_EQ(result.account.nr_delivered, 0);
		CHECK_EQ(account__nr_dropped(&result.account), 0);
		CHECK_EQ(result.log.nr_records_read, 0);
		log_build__release(all[i]);
	}
}

TEST(a_message_longer_than_its_record_is_refused)
{
	const struct gpu_log_message message = {.nr_bytes = 5};
	struct log_build build = {.session = SESSION, .log_id = 1};
	struct log_scan result = {};

	/* Three letters and the NUL: room for four bytes */
	log_build__add(&build, GPU_LOG_MESSAGE, &message,
		       offsetof(struct gpu_log_message, text), "abc");
	log_build__end_block(&build);
	CHECK_EQ(scan(&result, &build), -EINVAL);
	CHECK_EQ(result.nr_messages, 0);
	log_build__release(&build);
}

/* --- collection --- */

struct fixture {
	char dir[32];
	char sidecar[64];
	struct spool spool;
	struct launch_counts launches;
	struct collection *collection;
};

static void open_fixture(struct fixture *fixture)
{
	log_verbosity = -1;
	strcpy(fixture->dir, P_tmpdir "/perf-gpu-unit.XXXXXX");
	CHECK(mkdtemp(fixture->dir));
	fixture->launches = (struct launch_counts){};
	snprintf(fixture->sidecar, sizeof(fixture->sidecar), "%s/perf.data.gpu",
		 fixture->dir);
	CHECK_EQ(spool__create(fixture->sidecar, geteuid(), &fixture->spool), 0);
	CHECK_EQ(collection__open(fixture->sidecar, SESSION, &fixture->collection), 0);
}

static void save_log(struct fixture *fixture, const struct log_build *build,
		     const char *name)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", fixture->spool.path, name);
	CHECK_EQ(log_build__save(build, path), 0);
}

static void close_fixture(struct fixture *fixture)
{
	collection__close(fixture->collection);
	launch_counts__release(&fixture->launches);
	spool__remove(&fixture->spool);
	unlink(fixture->sidecar);
	CHECK_EQ(rmdir(fixture->dir), 0);
}

static void make_log(struct log_build *build)
{
	log_build__process(build, 42, "app");
	log_build__end_block(build);
	log_build__kernel(build, 1, 1, 2, 3);
	log_build__end_block(build);
}

TEST(whole_blocks_are_copied)
{
	struct log_build build = {.session = SESSION, .log_id = 1}, empty = {};
	struct gpu_log_recorder recorder = {.nr_launches = 3};
	struct fixture f;
	struct stat st;

	open_fixture(&f);
	make_log(&build);
	save_log(&f, &build, "1-a.gpulog");
	save_log(&f, &build, "2-b.gpulog");
	save_log(&f, &build, "notes.txt");
	save_log(&f, &empty, "3-c.gpulog");
	CHECK_EQ(collection__add_spool(f.collection, &f.spool, &f.launches), 0);
	CHECK_EQ(collection__add_recorder(f.collection, &recorder), 0);
	CHECK_EQ(collection__counts(f.collection).nr_logs, 2);
	CHECK_EQ(collection__counts(f.collection).nr_empty_logs, 1);
	CHECK_EQ(collection__counts(f.collection).nr_cut_logs, 0);
	CHECK_EQ(collection__scan(f.collection)->nr_kernels, 2);
	CHECK_EQ(collection__commit(f.collection), 0);
	CHECK_EQ(stat(f.sidecar, &st), 0);
	CHECK_EQ(st.st_size,
		 2 * build.bytes + sizeof(struct gpu_log_block) + sizeof(recorder));
	CHECK_EQ(collection__counts(f.collection).bytes, st.st_size);
	close_fixture(&f);
	log_build__release(&build);
}

TEST(a_log_that_is_cut_keeps_its_whole_blocks)
{
	struct log_build build = {.session = SESSION, .log_id = 1};
	struct fixture f;

	open_fixture(&f);
	make_log(&build);
	build.bytes -= 8;
	save_log(&f, &build, "1-a.gpulog");
	CHECK_EQ(collection__add_spool(f.collection, &f.spool, &f.launches), 0);
	CHECK_EQ(collection__counts(f.collection).nr_logs, 1);
	CHECK_EQ(collection__counts(f.collection).nr_cut_logs, 1);
	CHECK_EQ(collection__scan(f.collection)->nr_kernels, 0);
	close_fixture(&f);
	log_build__release(&build);
}

/* Of its five, one is in a whole block, one in the broken one, and three behind it. */
TEST(records_of_a_broken_block_are_counted_as_lost)
{
	const struct gpu_log_end end = {.nr_kernels = 5, .nr_records = 5};
	const struct {
		struct gpu_log_record head;
		uint32_t pad;
	} too_short = {};
	struct log_build build = {.session = SESSION, .log_id = 1};
	const struct account *account;
	struct fixture f;

	open_fixture(&f);
	make_log(&build);
	log_build__kernel(&build, 1, 2, 3, 4);
	LOG_BUILD_ADD(&build, GPU_LOG_GRAPH_NODE, too_short);
	log_build__end_block(&build);
	for (uint64_t i = 3; i < 6; i++)
		log_build__kernel(&build, 1, i, 4, 5);
	LOG_BUILD_ADD(&build, GPU_LOG_END, end);
	log_build__end_block(&build);
	save_log(&f, &build, "1-a.gpulog");
	CHECK_EQ(collection__add_spool(f.collection, &f.spool, &f.launches), 0);
	CHECK_EQ(collection__counts(f.collection).nr_cut_logs, 1);
	account = &collection__scan(f.collection)->account;
	CHECK_EQ(account->nr_delivered, 1);
	CHECK_EQ(account->nr_dropped[ACCOUNT_IN_BROKEN_LOGS], 4);
	close_fixture(&f);
	log_build__release(&build);
}

TEST(blocks_that_are_not_ours_are_refused)
{
	struct log_build other = {.session = SESSION + 1, .log_id = 1};
	struct log_build nobody = {.session = SESSION, .log_id = 0};
	struct log_build damaged = {.session = SESSION, .log_id = 1};
	struct log_build later = {.session = SESSION, .log_id = 1};
	struct fixture f;

	open_fixture(&f);
	make_log(&other);
	save_log(&f, &other, "1.gpulog");
	make_log(&nobody);
	save_log(&f, &nobody, "2.gpulog");
	make_log(&damaged);
	damaged.data[sizeof(struct gpu_log_block) + 20] ^= 1;
	save_log(&f, &damaged, "3.gpulog");
	log_build__process(&later, 42, "app");
	log_build__end_block_of(&later, GPU_LOG_VERSION + 1);
	save_log(&f, &later, "4.gpulog");
	CHECK_EQ(collection__add_spool(f.collection, &f.spool, &f.launches), 0);
	CHECK_EQ(collection__counts(f.collection).nr_logs, 0);
	CHECK_EQ(collection__counts(f.collection).nr_cut_logs, 4);
	CHECK_EQ(collection__counts(f.collection).bytes, 0);
	close_fixture(&f);
	log_build__release(&other);
	log_build__release(&nobody);
	log_build__release(&damaged);
	log_build__release(&later);
}

/* The killed process has launched more than it could say: that is no loss. */
TEST(launches_are_missed_in_each_log_by_itself)
{
	struct log_build killed = {.session = SESSION, .log_id = 1};
	struct log_build ended = {.session = SESSION, .log_id = 2};
	struct gpu_log_end end = {.nr_launches = 10};
	struct fixture f;

	open_fixture(&f);
	make_log(&killed);
	save_log(&f, &killed, "1-a.gpulog");
	make_log(&ended);
	LOG_BUILD_ADD(&ended, GPU_LOG_END, end);
	log_build__end_block(&ended);
	save_log(&f, &ended, "2-b.gpulog");
	for (int i = 0; i < 20; i++)
		launch_counts__add(&f.launches, 1, i + 1);
	for (int i = 0; i < 7; i++)
		launch_counts__add(&f.launches, 2, i + 1);
	CHECK_EQ(collection__add_spool(f.collection, &f.spool, &f.launches), 0);
	CHECK_EQ(collection__scan(f.collection)->nr_missing, 3);
	close_fixture(&f);
	log_build__release(&killed);
	log_build__release(&ended);
}

TEST(links_and_pipes_are_left_out)
{
	struct log_build build = {.session = SESSION, .log_id = 1};
	char path[PATH_MAX + 32], target[PATH_MAX + 32];
	struct fixture f;

	open_fixture(&f);
	make_log(&build);
	save_log(&f, &build, "real");
	snprintf(target, sizeof(target), "%s/real", f.spool.path);
	snprintf(path, sizeof(path), "%s/1.gpulog", f.spool.path);
	CHECK_EQ(symlink(target, path), 0);
	snprintf(path, sizeof(path), "%s/2.gpulog", f.spool.path);
	CHECK_EQ(mkfifo(path, 0600), 0);
	CHECK_EQ(collection__add_spool(f.collection, &f.spool, &f.launches), 0);
	CHECK_EQ(collection__counts(f.collection).nr_logs, 0);
	close_fixture(&f);
	log_build__release(&build);
}

TEST(without_commit_nothing_is_left)
{
	struct gpu_log_recorder recorder = {};
	struct fixture f;

	open_fixture(&f);
	CHECK_EQ(collection__add_recorder(f.collection, &recorder), 0);
	CHECK_EQ(access(f.sidecar, F_OK), -1);
	close_fixture(&f); /* removes the folder, which must be empty */
}
