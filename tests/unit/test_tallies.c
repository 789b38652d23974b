// SPDX-License-Identifier: GPL-2.0-or-later
/* What processes count in memory that the recorder has, too */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log_client.h"
#include "record/log_server.h"
#include "record/tallies.h"
#include "tally.h"
#include "unit.h"

#define SESSION 7
#define LOG_ID	11

/* The process that counts; tally__open() gives its memory to @server. */
static pid_t count(const struct log_server *server, uint64_t nr_launches,
		   uint64_t nr_records)
{
	static struct tally tally;
	pid_t pid = fork();

	if (pid)
		return pid;
	log_client__use(server->name, SESSION);
	tally__open(&tally, LOG_ID);
	for (uint64_t i = 0; i < nr_launches; i++)
		tally__add_launch(&tally);
	tally__add_records(&tally, nr_records);
	raise(SIGSTOP);
	_exit(tally__launches(&tally) != nr_launches);
}

static void wait_until_stopped(pid_t pid)
{
	int status;

	CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
	CHECK(WIFSTOPPED(status));
}

TEST(what_a_killed_process_has_counted_is_there)
{
	struct tally_counts counts;
	struct log_server server;
	pid_t pid;

	log_server__open(SESSION, NULL, 0, &server);
	pid = count(&server, 100, 30);
	wait_until_stopped(pid);
	log_server__serve(&server);
	CHECK_EQ(tallies__find(&server.tallies, LOG_ID, &counts), -EBUSY);
	CHECK_EQ(tallies__find(&server.tallies, LOG_ID + 1, &counts), -ENOENT);
	kill(pid, SIGKILL);
	/* Ended, though nobody has waited for it yet */
	CHECK_EQ(waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT), 0);
	CHECK_EQ(tallies__find(&server.tallies, LOG_ID, &counts), 0);
	CHECK_EQ(counts.nr_launches, 100);
	CHECK_EQ(counts.nr_records, 30);
	waitpid(pid, NULL, 0);
	CHECK_EQ(tallies__find(&server.tallies, LOG_ID, &counts), 0);
	log_server__close(&server);
	CHECK_EQ(server.tallies.nr, 0);
}

/* It counts for itself, and the limit is not its end. */
TEST(a_process_may_have_no_file_and_no_recorder)
{
	struct rlimit nothing = {.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
	struct tally tally = {};

	log_client__use("", SESSION);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &nothing), 0);
	errno = 0;
	tally__open(&tally, LOG_ID);
	CHECK(!tally.memory);
	tally__add_launch(&tally);
	CHECK_EQ(tally__launches(&tally), 1);
	tally__open(&tally, LOG_ID);
	CHECK_EQ(tally__launches(&tally), 0);
}

TEST(another_log_is_counted_from_0_in_the_same_place)
{
	struct tally tally = {};
	struct tally_page *page;

	log_client__use("", SESSION);
	tally__open(&tally, LOG_ID);
	CHECK(tally.memory);
	page = tally.page;
	tally__add_launch(&tally);
	tally__open(&tally, LOG_ID + 1);
	CHECK(tally.page == page);
	CHECK_EQ(tally__launches(&tally), 0);
}

static int make_memfd(off_t bytes, int seals)
{
	int fd = memfd_create("test", MFD_ALLOW_SEALING);

	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, bytes), 0);
	CHECK_EQ(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

TEST(what_could_shrink_is_not_taken)
{
	const struct tally_owner owner = {.log_id = LOG_ID, .own_pid = 1, .pid = 1};
	struct tallies tallies = {};
	int fd;

	fd = make_memfd(sizeof(struct log_memory), F_SEAL_GROW);
	tallies__add(&tallies, &owner, fd);
	close(fd);
	fd = make_memfd(0, LOG_MEMORY_SEALS);
	tallies__add(&tallies, &owner, fd);
	close(fd);
	fd = open("/dev/null", O_RDWR);
	tallies__add(&tallies, &owner, fd);
	close(fd);
	tallies__add(&tallies, &owner, -1);
	CHECK_EQ(tallies.nr, 0);
	for (int i = 0; i < 100; i++) {
		fd = make_memfd(sizeof(struct log_memory), LOG_MEMORY_SEALS);
		tallies__add(&tallies, &owner, fd);
		close(fd);
	}
	CHECK_EQ(tallies.nr, 100);
	tallies__release(&tallies);
}

/* It may not give a file any size, and asks the recorder for one that has it. */
TEST(a_process_without_files_counts_too)
{
	const struct rlimit none = {0, 0};
	struct tally_counts counts;
	struct log_server server;
	pid_t pid;
	int status;

	log_server__open(SESSION, NULL, 0, &server);
	pid = fork();
	if (!pid) {
		static struct tally tally;

		setrlimit(RLIMIT_FSIZE, &none);
		log_client__use(server.name, SESSION);
		tally__open(&tally, LOG_ID);
		for (int i = 0; i < 100; i++)
			tally__add_launch(&tally);
		_exit(0);
	}
	while (!waitpid(pid, &status, WNOHANG)) {
		log_server__serve(&server);
		usleep(1000);
	}
	CHECK_EQ(status, 0);
	CHECK_EQ(tallies__find(&server.tallies, LOG_ID, &counts), 0);
	CHECK_EQ(counts.nr_launches, 100);
	log_server__close(&server);
}
