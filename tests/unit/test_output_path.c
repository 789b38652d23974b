// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of outputs: patterns, ranks, and one recorder for each */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "record/output_lock.h"
#include "record/output_path.h"
#include "unit.h"
#include "util/log.h"

static void forget_ranks(void)
{
	unsetenv("RANK");
	unsetenv("OMPI_COMM_WORLD_RANK");
	unsetenv("PMI_RANK");
	unsetenv("PMIX_RANK");
	unsetenv("SLURM_PROCID");
	log_verbosity = -1;
}

static void check_path(const char *pattern, const char *wanted)
{
	char path[PATH_MAX] = "";

	CHECK_EQ(output_path__expand(pattern, path), 0);
	CHECK_STR(path, wanted);
}

TEST(path_without_patterns_is_itself)
{
	forget_ranks();
	check_path("perf.data", "perf.data");
	check_path("/a/b c/perf.data", "/a/b c/perf.data");
	check_path("100%%", "100%");
	check_path("%%h", "%h");
}

TEST(path_has_host_and_process)
{
	struct utsname uts;
	char wanted[256];

	forget_ranks();
	uname(&uts);
	snprintf(wanted, sizeof(wanted), "perf.%s.%d.data", uts.nodename, (int)getpid());
	check_path("perf.%h.%p.data", wanted);
}

TEST(path_has_the_rank_of_each_launcher)
{
	static const char *const variables[] = {"SLURM_PROCID", "PMIX_RANK", "PMI_RANK",
						"OMPI_COMM_WORLD_RANK", "RANK"};
	char value[8], wanted[16];

	forget_ranks();
	/* The one that is set later here goes before those that are set already. */
	for (int i = 0; i < 5; i++) {
		snprintf(value, sizeof(value), "%d", 10 + i);
		setenv(variables[i], value, 1);
		snprintf(wanted, sizeof(wanted), "r%d", 10 + i);
		check_path("r%r", wanted);
	}
	setenv("RANK", "", 1);
	check_path("r%r", "r13");
}

TEST(path_without_a_rank_is_refused)
{
	char path[PATH_MAX] = "as it was";

	forget_ranks();
	CHECK_EQ(output_path__expand("perf.%r.data", path), -ENOENT);
	setenv("RANK", "../3", 1);
	CHECK_EQ(output_path__expand("perf.%r.data", path), -ENOENT);
	setenv("RANK", "-1", 1);
	CHECK_EQ(output_path__expand("perf.%r.data", path), -ENOENT);
	CHECK_STR(path, "as it was");
}

TEST(path_with_unknown_letters_is_refused)
{
	char path[PATH_MAX] = "as it was";

	forget_ranks();
	CHECK_EQ(output_path__expand("perf.%x.data", path), -EINVAL);
	CHECK_EQ(output_path__expand("perf.data%", path), -EINVAL);
	CHECK_STR(path, "as it was");
}

TEST(path_that_is_too_long_is_refused)
{
	char pattern[PATH_MAX + 8], path[PATH_MAX];

	forget_ranks();
	memset(pattern, 'a', sizeof(pattern));
	pattern[PATH_MAX] = '\0';
	CHECK_EQ(output_path__expand(pattern, path), -ENAMETOOLONG);
	pattern[PATH_MAX - 1] = '\0';
	CHECK_EQ(output_path__expand(pattern, path), 0);
	memcpy(pattern + PATH_MAX - 3, "%p", 3);
	setenv("RANK", "1234567", 1);
	pattern[PATH_MAX - 2] = 'r';
	CHECK_EQ(output_path__expand(pattern, path), -ENAMETOOLONG);
}

TEST(lock_is_of_one_recorder)
{
	char path[] = "/tmp/test-lock.XXXXXX", sidecar[64];
	struct output_lock one, other = {.fd = -1};
	int fd = mkstemp(path), status;
	pid_t child;

	log_verbosity = -1;
	CHECK(fd >= 0);
	snprintf(sidecar, sizeof(sidecar), "%s.gpu", path);
	CHECK_EQ(output_lock__take(sidecar, path, "wait", &one), 0);
	CHECK_EQ(access(one.path, F_OK), 0);
	CHECK_EQ(output_lock__take(sidecar, path, "wait", &other), -EBUSY);
	/* What another process closes is not the lock. */
	child = fork();
	if (!child) {
		output_lock__release(&other);
		_exit(output_lock__take(sidecar, path, "wait", &other) == -EBUSY ? 0 : 1);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	CHECK_EQ(output_lock__take(sidecar, path, "wait", &other), -EBUSY);
	output_lock__release(&one);
	CHECK_EQ(access(one.path, F_OK), -1);
	CHECK_EQ(output_lock__take(sidecar, path, "wait", &other), 0);
	output_lock__release(&other);
	output_lock__release(&other);
	unlink(path);
}

TEST(lock_of_a_recorder_that_was_killed_is_none)
{
	char path[] = "/tmp/test-lock.XXXXXX", sidecar[64];
	struct output_lock lock = {.fd = -1};
	int fd = mkstemp(path), status;
	pid_t child;

	log_verbosity = -1;
	CHECK(fd >= 0);
	snprintf(sidecar, sizeof(sidecar), "%s.gpu", path);
	child = fork();
	if (!child)
		_exit(output_lock__take(sidecar, path, "wait", &lock) ? 1 : 0);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	CHECK_EQ(output_lock__take(sidecar, path, "wait", &lock), 0);
	output_lock__release(&lock);
	unlink(path);
}
