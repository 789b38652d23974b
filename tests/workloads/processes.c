/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches kernels from more than one process, or program:
 *
 *   once   here only
 *   fork   here, in a forked child and its own child, in a child made by a raw
 *          clone(2) (which no pthread_atfork handler hears of), and here again
 *   spawn  here, and in three children that run this program anew
 *   exec   here, then in this program executed anew in the same process
 *
 * Each prints "launches PID NUMBER"; the exit status is 0 if all went well in all of
 * them. Stand-in for CUDA only, for fork with FAKE_CUDA_ALLOW_FORK=1: the real CUDA
 * doesn't work in a forked child.
 */
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plain_cuda.h"

#define NR_SPAWNED 3

extern char **environ;

static const char *launches_text = "100";

static void launch(void)
{
	unsigned long nr_launches = strtoul(launches_text, NULL, 10);

	plain_kernel__launch(nr_launches);
	/* No buffer that a fork would double. */
	dprintf(STDOUT_FILENO, "launches %d %lu\n", getpid(), nr_launches);
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

		launch();
		grandchild = fork();
		if (grandchild == 0) {
			launch();
			exit(0);
		}
		exit(wait_for(grandchild, "grandchild"));
	}
	failed |= wait_for(child, "child");
	child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0) {
		launch();
		exit(0);
	}
	failed |= wait_for(child, "raw clone");
	launch();
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
	if (!strcmp(argv[1], "spawn"))
		return run_spawn(argv[0]);
	if (!strcmp(argv[1], "exec"))
		return run_exec(argv[0]);
	if (!strcmp(argv[1], "once")) {
		launch();
		return 0;
	}
usage:
	fprintf(stderr, "usage: processes once|fork|spawn|exec [LAUNCHES]\n");
	return 2;
}
