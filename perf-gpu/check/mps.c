// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CUDA's Multi-Process Service: processes that share a GPU through its server. Its daemon
 * has a folder with a pipe named control and a file with its pid; where that folder is,
 * an environment variable says to daemon and clients.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check/check.h"
#include "util/proc.h"

#define PIPE_VARIABLE  "CUDA_MPS_PIPE_DIRECTORY"
#define PIPE_DIRECTORY "/tmp/nvidia-mps" /* where it isn't set */
#define PID_FILE       "nvidia-cuda-mps-control.pid"

/* The daemon's pid; 0 if there is a daemon that doesn't say, -1 if there is none */
static int find_daemon(const char *folder)
{
	char path[PATH_MAX], text[32];
	int pid;

	if (snprintf(path, sizeof(path), "%s/control", folder) >= (int)sizeof(path) ||
	    access(path, F_OK))
		return -1;
	snprintf(path, sizeof(path), "%s/" PID_FILE, folder);
	if (proc__read_line(path, text, sizeof(text)))
		return 0;
	pid = (pid_t)strtol(text, NULL, 10);
	/* What a daemon that was killed has left. */
	if (pid <= 0 || (kill(pid, 0) && errno == ESRCH))
		return -1;
	return pid;
}

void check__mps(struct report *report)
{
	const char *wanted = getenv(PIPE_VARIABLE);
	const char *folder = wanted && *wanted ? wanted : PIPE_DIRECTORY;
	int pid = find_daemon(folder);

	if (pid < 0) {
		if (wanted && *wanted)
			report__line(report, VERDICT_NOTE, "MPS",
				     PIPE_VARIABLE
				     " is %s, where no daemon runs: programs "
				     "have the GPU without MPS",
				     wanted);
		return;
	}
	report__line(report, VERDICT_NOTE, "MPS",
		     "its daemon runs, in %s: processes share GPUs, and each is recorded "
		     "for itself; kernels take longer by what others do on the GPU at "
		     "the same time",
		     folder);
	if (pid)
		report__detail(report, "nvidia-cuda-mps-control, process %d", pid);
	if (!geteuid())
		report__mend(report, "record programs as the user that the others run as "
				     "(--run-as): the server is one user's at a time, "
				     "and root's program would wait for it");
}
