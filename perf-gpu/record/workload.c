// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two pipes, both closed by a successful exec:
 *
 *   go      recorder → child: a byte lets it execute; end of file (the recorder
 *           gave up or died) ends it
 *   failed  child → recorder: a struct exec_failure; end of file means success
 */
#include "record/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/interpreter.h"
#include "util/environment.h"
#include "util/log.h"
#include "util/rights.h"

struct exec_failure {
	int error; /* an errno */
	int is_identity; /* the child could not become the user it is to be */
};

struct workload {
	const char *const *argv;
	const struct identity *identity;
	pid_t pid;
	int pidfd;
	int go_fd;
	int failed_fd;
	bool is_waited_for;
	bool is_asked_to_end;
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static ssize_t read_whole(int fd, void *buf, size_t size)
{
	ssize_t nr;

	do
		nr = read(fd, buf, size);
	while (nr < 0 && errno == EINTR);
	return nr;
}

static __attribute__((noreturn)) void run_child(const struct workload *workload,
						char *const *environment,
						const sigset_t *mask, int go_fd,
						int failed_fd)
{
	struct exec_failure failure = {};
	char go;

	if (read_whole(go_fd, &go, 1) != 1)
		_exit(WORKLOAD_STATUS_NOT_EXECUTABLE);
	if (workload->identity)
		failure.error = -identity__assume(workload->identity);
	if (failure.error) {
		failure.is_identity = 1;
		goto out;
	}
	failure.error = -rights__withhold();
	if (!failure.error)
		failure.error = -environment__restore();
	if (failure.error)
		goto out;
	/* With a part of it, the library would do something else than it should. */
	for (; *environment; environment++) {
		if (putenv(*environment)) {
			failure.error = errno;
			goto out;
		}
	}
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(workload->argv[0], (char *const *)workload->argv);
	failure.error = errno;
out:
	while (write(failed_fd, &failure, sizeof(failure)) < 0 && errno == EINTR)
		;
	_exit(WORKLOAD_STATUS_NOT_FOUND);
}

int workload__fork(const char *const *argv, char *const *environment,
		   const sigset_t *mask, const struct identity *identity,
		   struct workload **ret)
{
	int go[2] = {-1, -1}, failed[2] = {-1, -1};
	struct workload *workload;
	int err;

	workload = calloc(1, sizeof(*workload));
	if (!workload) {
		pr_err("no memory to run %s", argv[0]);
		return -ENOMEM;
	}
	workload->argv = argv;
	workload->identity = identity;
	workload->pidfd = -1;
	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
		goto out_errno;

	workload->pid = fork();
	if (workload->pid < 0)
		goto out_errno;
	if (!workload->pid) {
		close(go[1]);
		close(failed[0]);
		run_child(workload, environment, mask, go[0], failed[1]);
	}
	workload->go_fd = go[1];
	workload->failed_fd = failed[0];
	close_fd(&go[0]);
	close_fd(&failed[1]);
	workload->pidfd = (int)syscall(SYS_pidfd_open, workload->pid, 0);
	if (workload->pidfd < 0) {
		err = -errno;
		pr_err("can't watch the command's process: pidfd_open: %s (it needs "
		       "Linux 5.3)",
		       strerror(-err));
		workload__close(workload);
		return err;
	}
	*ret = workload;
	return 0;

out_errno:
	err = -errno;
	pr_err("can't make a process for %s: %s", argv[0], strerror(-err));
	close_fd(&go[0]);
	close_fd(&go[1]);
	close_fd(&failed[0]);
	close_fd(&failed[1]);
	free(workload);
	return err;
}

pid_t workload__pid(const struct workload *workload)
{
	return workload->pid;
}

int workload__pidfd(const struct workload *workload)
{
	return workload->pidfd;
}

static void reap(struct workload *workload)
{
	while (waitpid(workload->pid, NULL, 0) < 0 && errno == EINTR)
		;
	workload->is_waited_for = true;
}

static void print_failure(const struct workload *workload,
			  const struct exec_failure *failure)
{
	const char *why = strerror(failure->error);
	char needed[PATH_MAX];

	if (failure->is_identity)
		pr_err("can't become the user %s: %s", workload->identity->name, why);
	else if (failure->error == ENOENT &&
		 interpreter__is_missing(workload->argv[0], needed))
		pr_err("can't run %s: it is there, but what it is to be run by isn't: "
		       "%s",
		       workload->argv[0], needed);
	else if (workload->identity)
		pr_err("can't run %s as %s: %s", workload->argv[0],
		       workload->identity->name, why);
	else
		pr_err("can't run %s: %s", workload->argv[0], why);
}

int workload__start(struct workload *workload, int *ret_status)
{
	struct exec_failure failure;
	ssize_t nr;

	/* A child that a signal has ended meanwhile is found by workload__wait(). */
	if (write(workload->go_fd, "", 1) != 1 && errno != EPIPE) {
		int err = -errno;

		pr_err("can't start %s: %s", workload->argv[0], strerror(-err));
		return err;
	}
	nr = read_whole(workload->failed_fd, &failure, sizeof(failure));
	close_fd(&workload->go_fd);
	close_fd(&workload->failed_fd);
	if (nr != sizeof(failure))
		return 0;

	reap(workload);
	print_failure(workload, &failure);
	*ret_status = failure.error == ENOENT && !failure.is_identity
			      ? WORKLOAD_STATUS_NOT_FOUND
			      : WORKLOAD_STATUS_NOT_EXECUTABLE;
	return -failure.error;
}

void workload__signal(const struct workload *workload, int signal)
{
	if (!workload->is_waited_for)
		kill(workload->pid, signal);
}

void workload__end(struct workload *workload)
{
	workload->is_asked_to_end = true;
	workload__signal(workload, SIGTERM);
}

int workload__wait(struct workload *workload, int *ret_status)
{
	int status, err;

	while (waitpid(workload->pid, &status, 0) < 0) {
		if (errno == EINTR)
			continue;
		err = -errno;
		pr_err("can't wait for %s: %s", workload->argv[0], strerror(-err));
		return err;
	}
	workload->is_waited_for = true;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM &&
	    workload->is_asked_to_end) {
		*ret_status = 0;
	} else if (WIFSIGNALED(status)) {
		pr_warning("%s was ended by signal %d (%s)%s", workload->argv[0],
			   WTERMSIG(status), strsignal(WTERMSIG(status)),
			   WCOREDUMP(status) ? ", core dumped" : "");
		*ret_status = 128 + WTERMSIG(status);
	} else {
		*ret_status = WEXITSTATUS(status);
	}
	return 0;
}

void workload__close(struct workload *workload)
{
	if (!workload)
		return;
	if (workload->go_fd >= 0 && !workload->is_waited_for) {
		/* End of file on the pipe ends it. */
		close_fd(&workload->go_fd);
		reap(workload);
	}
	close_fd(&workload->go_fd);
	close_fd(&workload->failed_fd);
	close_fd(&workload->pidfd);
	free(workload);
}
