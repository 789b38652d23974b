// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * The child's end is looked for this often, not waited for at its end of the pipe:
 * that may be inherited by a process of the driver's, which goes on.
 */
#define LOOK_INTERVAL_MS 10

static __attribute__((noreturn)) void run_child(int (*run)(void *result), void *result,
						int output_fd)
{
	const struct rlimit no_core = {};
	int null = open("/dev/null", O_RDWR);
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &no_core);
	dup2(null, STDIN_FILENO);
	dup2(output_fd, STDOUT_FILENO);
	dup2(output_fd, STDERR_FILENO);
	status = run(result) ? EXIT_FAILURE : EXIT_SUCCESS;
	fflush(stdout);
	/* No destructors: those of a CUDA that didn't start can hang. */
	_exit(status);
}

/* What doesn't fit is read and forgotten, lest the child block. */
static void take_output(int fd, struct trial *trial)
{
	size_t nr = strlen(trial->output);
	size_t room = sizeof(trial->output) - 1 - nr;
	char rest[512];
	ssize_t got;

	got = room ? read(fd, trial->output + nr, room) : read(fd, rest, sizeof(rest));
	if (room && got > 0)
		trial->output[nr + (size_t)got] = '\0';
}

static void take_status(int status, struct trial *trial)
{
	trial->is_done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	if (WIFSIGNALED(status))
		snprintf(trial->death, sizeof(trial->death), "died of signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (!trial->is_done)
		snprintf(trial->death, sizeof(trial->death), "exited with status %d",
			 WEXITSTATUS(status));
}

static bool is_past(const struct timespec *deadline)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > deadline->tv_sec ||
	       (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec);
}

static void watch_child(pid_t pid, int fd, struct trial *trial)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	struct timespec deadline;
	int status;

	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += TRIAL_LIMIT_S;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (is_past(&deadline)) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			snprintf(trial->death, sizeof(trial->death),
				 "gave no answer within %d s", TRIAL_LIMIT_S);
			return;
		}
		poll(&poll_fd, 1, LOOK_INTERVAL_MS);
		if (poll_fd.revents & POLLIN)
			take_output(fd, trial);
		else if (poll_fd.revents)
			poll_fd.fd = -1; /* closed by all: only the wait is left */
	}
	take_status(status, trial);
	while (poll_fd.fd >= 0 && poll(&poll_fd, 1, 0) > 0 && poll_fd.revents & POLLIN)
		take_output(fd, trial);
}

bool trial__run(int (*run)(void *result), void *result, size_t bytes, struct trial *ret)
{
	int pipe_fds[2] = {-1, -1};
	void *shared;
	pid_t pid;
	int err = 0;

	*ret = (struct trial){};
	shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED || pipe2(pipe_fds, O_CLOEXEC)) {
		err = -errno;
		goto out;
	}
	memcpy(shared, result, bytes);
	fflush(stdout); /* or both would write what is buffered */
	pid = fork();
	if (pid < 0) {
		err = -errno;
		goto out;
	}
	if (!pid)
		run_child(run, shared, pipe_fds[1]);
	ret->is_tried = true;
	watch_child(pid, pipe_fds[0], ret);
	memcpy(result, shared, bytes);
out:
	if (err)
		snprintf(ret->death, sizeof(ret->death), "could not be tried: %s",
			 strerror(-err));
	for (int i = 0; i < 2; i++)
		if (pipe_fds[i] >= 0)
			close(pipe_fds[i]);
	if (shared != MAP_FAILED)
		munmap(shared, bytes);
	return ret->is_done;
}

const char *trial__error(struct trial *trial)
{
	static const char prefix[] = "perf-gpu";
	const char *text = trial->output;
	const char *colon = strstr(text, ": ");

	if (!*text)
		return trial->death;
	trial->output[strcspn(trial->output, "\n")] = '\0';
	return !strncmp(text, prefix, strlen(prefix)) && colon ? colon + 2 : text;
}
