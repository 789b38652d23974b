/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches kernels from more than one process, or program:
 *
 *   once   here only
 *   fork   here, in a forked child and its own child, in a child made by a raw
 *          clone(2) (which no pthread_atfork handler hears of), and here again
 *   busy   here in threads, while forked children and raw clones are made, which do so
 *          too
 *   spawn  here, and in three children that run this program anew
 *   exec   here, then in this program executed anew in the same process
 *
 * Each prints "launches PID NUMBER NAME", with the process's name; the exit status is 0 if all went well in all of
 * them. Stand-in for CUDA only, for fork with FAKE_CUDA_ALLOW_FORK=1: the real CUDA
 * doesn't work in a forked child.
 */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plain_cuda.h"

#define NR_SPAWNED 3
#define NR_THREADS 3
#define NR_FORKED  40

extern char **environ;

static const char *launches_text = "100";

static void print_launches(unsigned long nr_launches)
{
	char name[16] = "";

	prctl(PR_GET_NAME, name);
	/* No buffer that a fork would double. */
	dprintf(STDOUT_FILENO, "launches %d %lu %s\n", getpid(), nr_launches, name);
}

static void launch(void)
{
	unsigned long nr_launches = strtoul(launches_text, NULL, 10);

	plain_kernel__launch(nr_launches);
	print_launches(nr_launches);
}

static void launch_as(const char *name)
{
	prctl(PR_SET_NAME, name);
	launch();
}

static pid_t raw_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

/* Returns 0 if @child ended well; says so if it didn't. */
static int wait_for(pid_t child, const char *what)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child) {
		perror(what);
		return 1;
	}
	if (WIFSIGNALED(status))
		fprintf(stderr, "%s: killed by signal %d\n", what, WTERMSIG(status));
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

static int run_fork(void)
{
	int failed = 0;
	pid_t child;

	launch();
	child = fork();
	if (child == 0) {
		pid_t grandchild;

		launch_as("child");
		grandchild = fork();
		if (grandchild == 0) {
			launch_as("grandchild");
			exit(0);
		}
		exit(wait_for(grandchild, "grandchild"));
	}
	failed |= wait_for(child, "child");
	child = raw_clone();
	if (child == 0) {
		launch_as("raw-clone");
		exit(0);
	}
	failed |= wait_for(child, "raw clone");
	launch();
	return failed;
}

struct busy_thread {
	pthread_t thread;
	atomic_bool *is_over;
	unsigned long nr_launches;
};

static void *launch_until_over(void *argument)
{
	struct busy_thread *busy = argument;

	for (; !*busy->is_over; busy->nr_launches += 10)
		plain_kernel__launch(10);
	return NULL;
}

/* Any lock may be held by a thread that the child doesn't have. */
static int run_busy(void)
{
	struct busy_thread threads[NR_THREADS];
	unsigned long nr_launches = 0;
	atomic_bool is_over = false;
	int failed = 0;

	launch();
	for (int i = 0; i < NR_THREADS; i++) {
		threads[i] = (struct busy_thread){.is_over = &is_over};
		if (pthread_create(&threads[i].thread, NULL, launch_until_over,
				   &threads[i]))
			return 1;
	}
	for (int i = 0; i < NR_FORKED; i++) {
		pid_t child = i % 2 ? raw_clone() : fork();

		if (child == 0) {
			launch_as("child");
			_exit(0);
		}
		failed |= wait_for(child, "child");
	}
	is_over = true;
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i].thread, NULL);
		nr_launches += threads[i].nr_launches;
	}
	print_launches(nr_launches);
	return failed;
}

static int run_spawn(char *program)
{
	char *arguments[] = {program, "once", (char *)launches_text, NULL};
	pid_t children[NR_SPAWNED];
	int failed = 0;

	launch();
	for (int i = 0; i < NR_SPAWNED; i++)
		if (posix_spawn(&children[i], "/proc/self/exe", NULL, NULL, arguments,
				environ))
			children[i] = -1;
	for (int i = 0; i < NR_SPAWNED; i++)
		failed |= wait_for(children[i], "spawned child");
	return failed;
}

static int run_exec(char *program)
{
	char *arguments[] = {program, "once", (char *)launches_text, NULL};

	launch();
	execv("/proc/self/exe", arguments);
	perror("exec");
	return 1;
}

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 3)
		goto usage;
	if (argc > 2)
		launches_text = argv[2];
	if (!strcmp(argv[1], "fork"))
		return run_fork();
	if (!strcmp(argv[1], "busy"))
		return run_busy();
	if (!strcmp(argv[1], "spawn"))
		return run_spawn(argv[0]);
	if (!strcmp(argv[1], "exec"))
		return run_exec(argv[0]);
	if (!strcmp(argv[1], "once")) {
		launch();
		return 0;
	}
usage:
	fprintf(stderr, "usage: processes once|fork|busy|spawn|exec [LAUNCHES]\n");
	return 2;
}
