// SPDX-License-Identifier: GPL-2.0-or-later
/* What a program does with processes: others, and itself. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault_gpu.h"
#include "fault_log.h"
#include "faults.h"

static void wait_for(pid_t child, int wanted)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child)
		fault__complain("a child");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != wanted) {
		fprintf(stderr, "a child's status: %x\n", (unsigned int)status);
		_exit(8);
	}
}

/* Is a process stopped? */
static int is_stopped(pid_t pid)
{
	char path[64], text[512] = "";
	const char *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	end = strrchr(text, ')');
	return end && !strncmp(end, ") T", 3);
}

/* For longer than the library leaves between two looks at what there is to write. */
static int stop_and_go_on(void)
{
	pid_t parent = getpid(), child = fork();

	if (child == 0) {
		while (!is_stopped(parent))
			usleep(10000);
		usleep(1500000);
		kill(parent, SIGCONT);
		_exit(0);
	}
	gpu__launch(NR_LAUNCHES);
	raise(SIGSTOP);
	gpu__launch(NR_LAUNCHES);
	wait_for(child, 0);
	return 0;
}

static int execute_other(void)
{
	gpu__launch(NR_LAUNCHES);
	fault_log__wait(NR_LAUNCHES);
	execlp("echo", "echo", "another program", (char *)NULL);
	return 1;
}

static int execute_itself(void)
{
	gpu__launch(NR_LAUNCHES);
	fault_log__wait(NR_LAUNCHES);
	execl("/proc/self/exe", "faults", "exit", (char *)NULL);
	return 1;
}

/* Children that don't use CUDA, and end in order or not */
static int fork_only(void)
{
	pid_t child;

	gpu__launch(NR_LAUNCHES);
	for (int i = 0; i < 4; i++) {
		child = fork();
		if (child == 0 && i % 2)
			_exit(i);
		if (child == 0)
			exit(i);
		wait_for(child, i);
	}
	gpu__launch(NR_LAUNCHES);
	return 0;
}

static int vfork_only(void)
{
	pid_t child;

	gpu__launch(NR_LAUNCHES);
	child = vfork();
	if (child == 0)
		_exit(7);
	wait_for(child, 7);
	child = vfork();
	if (child == 0) {
		execlp("true", "true", (char *)NULL);
		_exit(127);
	}
	wait_for(child, 0);
	gpu__launch(NR_LAUNCHES);
	return 0;
}

static int change_user(void)
{
	gpu__launch(NR_LAUNCHES);
	fault__become_nobody();
	gpu__launch(NR_LAUNCHES);
	return 0;
}

/* Where there is neither /proc nor what else is found by path */
static void go_into_root(void)
{
	if (mkdir("root", 0700) || chroot("root") || chdir("/"))
		fault__complain("chroot");
}

static int change_root(void)
{
	gpu__launch(NR_LAUNCHES);
	go_into_root();
	gpu__launch(NR_LAUNCHES);
	return 0;
}

/* As a daemon does that gives up its rights: its log is closed, and out of its reach. */
static int change_user_and_close(void)
{
	gpu__launch(NR_LAUNCHES);
	fault__become_nobody();
	closefrom(3);
	gpu__launch(NR_LAUNCHES);
	return 0;
}

static int change_root_and_close(void)
{
	gpu__launch(NR_LAUNCHES);
	go_into_root();
	closefrom(3);
	gpu__launch(NR_LAUNCHES);
	return 0;
}

const struct fault faults_of_processes[] = {
	{"stop", stop_and_go_on},
	{"exec", execute_other},
	{"exec-itself", execute_itself},
	{"fork", fork_only},
	{"vfork", vfork_only},
	{"setuid", change_user},
	{"chroot", change_root},
	{"setuid-closefrom", change_user_and_close},
	{"chroot-closefrom", change_root_and_close},
	{},
};
