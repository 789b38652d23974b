/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches kernels, from as many short threads as asked for, and then ends in the
 * way asked for: in order, or as a crash would. Stand-in for CUDA only.
 *
 * Prints "launches PID NUMBER" before it ends. With -l it then waits until the injected
 * library has written all of that to its log.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "fault_log.h"
#include "plain_cuda.h"

/* So many of the threads run at a time. */
#define NR_TOGETHER 8

static void *launch_in_thread(void *argument)
{
	plain_kernel__launch(*(unsigned long *)argument);
	return NULL;
}

static void *exit_in_thread(void *argument)
{
	(void)argument;
	exit(0);
}

static int run_threads(unsigned long nr_threads, unsigned long nr_launches)
{
	pthread_t threads[NR_TOGETHER];
	unsigned long started;

	for (unsigned long done = 0; done < nr_threads; done += started) {
		for (started = 0; started < NR_TOGETHER && done + started < nr_threads;
		     started++)
			if (pthread_create(&threads[started], NULL, launch_in_thread,
					   &nr_launches))
				return -1;
		for (unsigned long i = 0; i < started; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}

/* Returns only for a word it doesn't know. */
static void end(const char *how)
{
	pthread_t thread;

	if (!strcmp(how, "exit"))
		exit(0);
	if (!strcmp(how, "_exit"))
		_exit(0);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		*(volatile int *)NULL = 1;
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "thread") &&
	    !pthread_create(&thread, NULL, exit_in_thread, NULL))
		pause();
}

int main(int argc, char **argv)
{
	unsigned long nr_launches = 100, nr_threads = 0, wait_ms = 0;
	const char *how = "exit";
	bool is_logged = false;
	int option;

	while ((option = getopt(argc, argv, "n:t:w:le:")) != -1) {
		if (option == 'n')
			nr_launches = strtoul(optarg, NULL, 10);
		else if (option == 't')
			nr_threads = strtoul(optarg, NULL, 10);
		else if (option == 'w')
			wait_ms = strtoul(optarg, NULL, 10);
		else if (option == 'l')
			is_logged = true;
		else if (option == 'e')
			how = optarg;
		else
			goto usage;
	}
	if (!nr_threads)
		plain_kernel__launch(nr_launches);
	else if (run_threads(nr_threads, nr_launches))
		return 1;
	printf("launches %d %lu\n", getpid(),
	       nr_launches * (nr_threads ? nr_threads : 1));
	fflush(stdout);
	usleep(wait_ms * 1000);
	if (is_logged)
		fault_log__wait(nr_launches * (nr_threads ? nr_threads : 1));
	end(how);
usage:
	fprintf(stderr, "usage: launches [-n LAUNCHES] [-t THREADS] [-w MS] "
			"[-l] [-e exit|thread|_exit|abort|segv|kill]\n");
	return 2;
}
