// SPDX-License-Identifier: GPL-2.0-or-later
/* Logs that the recorder hands out, from both ends; and pids of several namespaces */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "block_file.h"
#include "log_client.h"
#include "record/log_server.h"
#include "record/pid_namespaces.h"
#include "record/spool.h"
#include "unit.h"
#include "util/log.h"

#define SESSION 7

struct fixture {
	char folder[64], sidecar[80];
	struct spool spool;
	struct log_server server;
	pthread_t thread;
	atomic_bool is_over;
};

static void *serve(void *argument)
{
	struct fixture *f = argument;

	while (!f->is_over) {
		log_server__serve(&f->server);
		usleep(1000);
	}
	return NULL;
}

static void open_fixture(struct fixture *f)
{
	log_verbosity = -1;
	strcpy(f->folder, "/tmp/test-log-server.XXXXXX");
	CHECK(mkdtemp(f->folder) != NULL);
	snprintf(f->sidecar, sizeof(f->sidecar), "%s/perf.data.gpu", f->folder);
	CHECK_EQ(spool__create(f->sidecar, geteuid(), &f->spool), 0);
	log_server__open(SESSION, &f->spool, getpid(), &f->server);
	CHECK(f->server.fd >= 0);
	f->is_over = false;
	CHECK_EQ(pthread_create(&f->thread, NULL, serve, f), 0);
}

static void close_server(struct fixture *f)
{
	f->is_over = true;
	pthread_join(f->thread, NULL);
	log_server__close(&f->server);
}

static void close_fixture(struct fixture *f)
{
	spool__remove(&f->spool);
	rmdir(f->folder);
}

static size_t nr_logs(struct fixture *f, const char *suffix)
{
	struct spool_names names;
	size_t nr;

	CHECK_EQ(spool__list(&f->spool, suffix, &names), 0);
	nr = names.nr_names;
	spool_names__release(&names);
	return nr;
}

TEST(a_log_is_handed_out_once_and_again)
{
	struct stat one, other;
	struct fixture f;
	int fd, again;

	open_fixture(&f);
	log_client__use(f.server.name, SESSION);
	fd = log_client__open(11, false);
	CHECK(fd >= 0);
	again = log_client__open(11, false);
	CHECK(again >= 0);
	CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(fcntl(fd, F_GETFL) & O_ACCMODE, O_WRONLY);
	CHECK(!fstat(fd, &one) && !fstat(again, &other));
	CHECK_EQ(one.st_ino, other.st_ino);
	CHECK_EQ(nr_logs(&f, SPOOL_LOG_SUFFIX), 1);
	CHECK(log_client__open(11, true) >= 0);
	CHECK_EQ(nr_logs(&f, SPOOL_LAUNCH_LOG_SUFFIX), 1);
	close_server(&f);
	close_fixture(&f);
}

TEST(who_does_not_know_the_session_gets_none)
{
	struct fixture f;

	open_fixture(&f);
	log_client__use(f.server.name, SESSION + 1);
	CHECK_EQ(log_client__open(11, false), -ETIMEDOUT);
	CHECK_EQ(nr_logs(&f, SPOOL_LOG_SUFFIX), 0);
	close_server(&f);
	close_fixture(&f);
}

TEST(a_recorder_that_has_gone_is_not_waited_for)
{
	struct fixture f;

	open_fixture(&f);
	log_client__use(f.server.name, SESSION);
	close_server(&f);
	CHECK_EQ(log_client__open(11, false), -ECONNREFUSED);
	log_client__use("", SESSION);
	CHECK_EQ(log_client__open(11, false), -ENOENT);
	close_fixture(&f);
}

/* As one that is stopped: its socket is there, and takes what is asked. */
TEST(a_recorder_that_does_not_answer_is_asked_once)
{
	struct log_request request;
	struct fixture f;

	open_fixture(&f);
	f.is_over = true;
	pthread_join(f.thread, NULL);
	log_client__use(f.server.name, SESSION);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(log_client__open(11, i), -ETIMEDOUT);
	CHECK_EQ(recv(f.server.fd, &request, sizeof(request), 0), sizeof(request));
	CHECK_EQ(recv(f.server.fd, &request, sizeof(request), 0), -1);
	CHECK_EQ(errno, EAGAIN);
	/* Another recorder */
	log_client__use(f.server.name, SESSION);
	CHECK_EQ(log_client__open(11, false), -ETIMEDOUT);
	CHECK_EQ(recv(f.server.fd, &request, sizeof(request), 0), sizeof(request));
	log_server__close(&f.server);
	close_fixture(&f);
}

static void *open_many(void *argument)
{
	atomic_int *nr_opened = argument;

	for (uint64_t i = 0; i < 100; i++) {
		int fd = log_client__open((uint64_t)(uintptr_t)&i + i, false);

		*nr_opened += fd >= 0;
		close(fd);
	}
	return NULL;
}

TEST(many_ask_at_once)
{
	atomic_int nr_opened = 0;
	pthread_t threads[16];
	struct fixture f;

	open_fixture(&f);
	log_client__use(f.server.name, SESSION);
	for (int i = 0; i < 16; i++)
		pthread_create(&threads[i], NULL, open_many, &nr_opened);
	for (int i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(nr_opened, 1600);
	CHECK_EQ(nr_logs(&f, SPOOL_LOG_SUFFIX), 1600);
	close_server(&f);
	close_fixture(&f);
}

/* A block with a record, as one in a process */
static void write_block(struct block_file *file, struct block *block, int wanted)
{
	CHECK(block__reserve(block, GPU_LOG_END, sizeof(struct gpu_log_end)) != NULL);
	CHECK_EQ(block_file__write(file, block), wanted);
}

/*
 * The server closes its own once it has given it, by when the file may have been written and
 * closed here. A recorder does both in one thread.
 */
static void wait_for_disuse(const struct fixture *f)
{
	for (int i = 0; i < 100000 && spool__is_in_use(&f->spool); i++)
		usleep(1000);
	CHECK(!spool__is_in_use(&f->spool));
}

TEST(a_file_is_asked_for_where_none_can_be_made)
{
	static struct block block;
	struct block_file *file;
	struct fixture f;

	open_fixture(&f);
	log_client__use(f.server.name, SESSION);
	block__init(&block, SESSION, 12);
	CHECK_EQ(block_file__open("/nonexistent/folder", 12, BLOCK_FILE_LOG, &file), 0);
	write_block(file, &block, 0);
	CHECK(spool__is_in_use(&f.spool));
	/* As daemons do; and it goes on where it was. */
	CHECK_EQ(close_range(100, ~0u, 0), 0);
	wait_for_disuse(&f);
	write_block(file, &block, 0);
	CHECK(spool__is_in_use(&f.spool));
	CHECK(!block_file__is_abandoned(file));
	CHECK_EQ(nr_logs(&f, SPOOL_LOG_SUFFIX), 1);
	block_file__close(file);
	wait_for_disuse(&f);
	close_server(&f);
	close_fixture(&f);
}

TEST(a_file_of_a_recording_that_has_ended_is_abandoned)
{
	static struct block block;
	struct block_file *file;
	struct fixture f;

	open_fixture(&f);
	log_client__use(f.server.name, SESSION);
	block__init(&block, SESSION, 12);
	CHECK_EQ(block_file__open("/nonexistent/folder", 12, BLOCK_FILE_LOG, &file), 0);
	close_server(&f);
	write_block(file, &block, 0);
	close_fixture(&f);
	write_block(file, &block, -ENOENT);
	CHECK(block_file__is_abandoned(file));
	CHECK_EQ(close_range(100, ~0u, 0), 0);
	write_block(file, &block, -ENOENT);
	CHECK(block_file__is_abandoned(file));
	block_file__close(file);
}

TEST(a_file_is_in_use_as_long_as_it_is_open)
{
	struct block_file *file;
	struct fixture f;

	open_fixture(&f);
	log_client__use("", SESSION);
	CHECK(!spool__is_in_use(&f.spool));
	CHECK_EQ(block_file__open(f.spool.path, 12, BLOCK_FILE_LOG, &file), 0);
	CHECK(spool__is_in_use(&f.spool));
	block_file__close(file);
	CHECK(!spool__is_in_use(&f.spool));
	close_server(&f);
	close_fixture(&f);
}

TEST(pids_of_other_namespaces_are_higher)
{
	struct pid_namespaces namespaces;

	log_verbosity = -1;
	pid_namespaces__init(&namespaces);
	CHECK(namespaces.own != 0);
	CHECK_EQ(pid_namespaces__offset(&namespaces, 0), 0u);
	CHECK_EQ(pid_namespaces__offset(&namespaces, namespaces.own), 0u);
	CHECK_EQ(pid_namespaces__offset(&namespaces, 5), 10000000u);
	CHECK_EQ(pid_namespaces__offset(&namespaces, 4), 20000000u);
	CHECK_EQ(pid_namespaces__offset(&namespaces, 5), 10000000u);
	for (uint64_t i = 3; i <= PID_NAMESPACES_MAX; i++)
		CHECK_EQ(pid_namespaces__offset(&namespaces, 1000 + i), i * 10000000u);
	CHECK_EQ(namespaces.nr_too_many, 0u);
	CHECK_EQ(pid_namespaces__offset(&namespaces, 2000), 10000000u);
	CHECK_EQ(namespaces.nr_too_many, 1u);
	pid_namespaces__tell(&namespaces);
}
