// SPDX-License-Identifier: GPL-2.0-or-later
/* What a program does while something happens to its recorder (tests/faults/recorder.md). */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
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

/* It says so by the file "reached", and goes on when there is a file "go". */
static int go_on(void)
{
	make_file("reached");
	while (access("go", F_OK))
		usleep(10000);
	gpu__launch(NR_LAUNCHES);
	return 7;
}

static int between(void)
{
	const struct sigaction action = {.sa_handler = note_signal,
					 .sa_flags = SA_RESTART};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	gpu__launch(NR_LAUNCHES);
	return go_on();
}

/* As a user who doesn't get to what the recorder has */
static int between_as_nobody(void)
{
	gpu__launch(NR_LAUNCHES);
	if (chmod(".", 0777))
		fault__complain("chmod");
	fault__become_nobody();
	return go_on();
}

const struct fault faults_of_recorder[] = {
	{"between", between},
	{"between-as-nobody", between_as_nobody},
	{},
};
