/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches kernels in processes that aren't simple children:
 *
 *   vfork              in this program executed anew behind a vfork
 *   daemon FILE        in a daemon: forked twice, in a session of its own, with all
 *                      descriptors closed. This program ends when that has launched;
 *                      it launches as many again once there is FILE, which it removes
 *   short NR           in NR children, executed anew, eight at a time
 *   user UID           here, having become that user before the first call of CUDA
 *   later UID          here, having become that user after the first launches, and again
 *   undumpable         here, where /proc/PID belongs to root
 *
 * as often as FAMILIES_LAUNCHES says (10). Each prints "launches PID NUMBER NAME"; the
 * exit status is 0 if all went well. Stand-in for CUDA only.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plain_cuda.h"

#define NR_AT_ONCE 8

static char *program;

static unsigned long nr_launches(void)
{
	const char *text = getenv("FAMILIES_LAUNCHES");

	return text ? strtoul(text, NULL, 10) : 10;
}

static void launch(void)
{
	char name[16] = "";

	plain_kernel__launch(nr_launches());
	prctl(PR_GET_NAME, name);
	dprintf(STDOUT_FILENO, "launches %d %lu %s\n", getpid(), nr_launches(), name);
}

static int ended_well(pid_t child)
{
	int status;

	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

static void execute_once(void)
{
	execl("/proc/self/exe", program, "once", (char *)NULL);
	_exit(127);
}

static int run_vfork(void)
{
	pid_t child;

	launch();
	child = vfork();
	if (child == 0)
		execute_once();
	return !ended_well(child);
}

static int run_short(unsigned long nr_children)
{
	unsigned long nr_begun = 0, nr_ended = 0;
	int failed = 0, status;

	while (nr_ended < nr_children) {
		while (nr_begun < nr_children && nr_begun < nr_ended + NR_AT_ONCE) {
			pid_t child = fork();

			if (child == 0)
				execute_once();
			failed |= child < 0;
			nr_begun++;
		}
		if (wait(&status) < 0)
			return 1;
		failed |= status != 0;
		nr_ended++;
	}
	return failed;
}

/* In the daemon: all is closed, so what it says goes nowhere. */
static void be_daemon(int ready_fd, const char *file)
{
	plain_kernel__launch(nr_launches());
	dprintf(ready_fd, "launches %d %lu daemon\n", getpid(), nr_launches());
	close(ready_fd);
	for (int i = 0; i < 30000 && access(file, F_OK); i++)
		usleep(10000);
	plain_kernel__launch(nr_launches());
	unlink(file);
	exit(0);
}

static int run_daemon(const char *file)
{
	char text[128];
	int ready[2], status;
	ssize_t nr;
	pid_t child;

	if (pipe(ready))
		return 1;
	child = fork();
	if (child == 0) {
		setsid();
		if (fork())
			_exit(0);
		dup2(ready[1], 3);
		close_range(4, ~0u, 0);
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		open("/dev/null", O_RDWR);
		dup2(0, 1);
		dup2(0, 2);
		prctl(PR_SET_NAME, "daemon");
		be_daemon(3, file);
	}
	close(ready[1]);
	waitpid(child, &status, 0);
	while ((nr = read(ready[0], text, sizeof(text))) > 0)
		if (write(STDOUT_FILENO, text, (size_t)nr) != nr)
			return 1;
	return 0;
}

static int become(const char *uid_text)
{
	uid_t uid = (uid_t)strtoul(uid_text, NULL, 10);

	return setgid(uid) || setuid(uid);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	program = argv[0];
	if (!strcmp(what, "once")) {
		launch();
		return 0;
	}
	if (!strcmp(what, "vfork"))
		return run_vfork();
	if (!strcmp(what, "undumpable")) {
		if (prctl(PR_SET_DUMPABLE, 0))
			return 1;
		launch();
		return 0;
	}
	if (argc < 3)
		goto usage;
	if (!strcmp(what, "short"))
		return run_short(strtoul(argv[2], NULL, 10));
	if (!strcmp(what, "daemon"))
		return run_daemon(argv[2]);
	if (!strcmp(what, "user")) {
		if (become(argv[2]))
			return 1;
		launch();
		return 0;
	}
	if (!strcmp(what, "later")) {
		launch();
		if (become(argv[2]))
			return 1;
		launch();
		return 0;
	}
usage:
	fprintf(stderr, "usage: families once|vfork|undumpable|daemon FILE|short NR|user "
			"UID|later UID\n");
	return 2;
}
