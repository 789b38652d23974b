// SPDX-License-Identifier: GPL-2.0-or-later
/* What a program does while something happens to its recorder (tests/faults/recorder.md). */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "fault_gpu.h"
#include "faults.h"

static void make_file(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		fault__complain(name);
	close(fd);
}

/* Signals that the recorder passes on are dealt with, as a server does. */
static void note_signal(int signal)
{
	(void)signal;
	make_file("signalled");
}

/* Launches, says so by the file "reached", goes on when there is a file "go". */
static int between(void)
{
	const struct sigaction action = {.sa_handler = note_signal,
					 .sa_flags = SA_RESTART};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	gpu__launch(NR_LAUNCHES);
	make_file("reached");
	while (access("go", F_OK))
		usleep(10000);
	gpu__launch(NR_LAUNCHES);
	return 7;
}

const struct fault faults_of_recorder[] = {
	{"between", between},
	{},
};
