// SPDX-License-Identifier: GPL-2.0-or-later
/* How a program ends. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "fault_gpu.h"
#include "fault_log.h"
#include "faults.h"

#define NR_SLOW 10

static int end_by_exit(void)
{
	gpu__launch(NR_LAUNCHES);
	exit(0);
}

static int end_by__exit(void)
{
	gpu__launch(NR_LAUNCHES);
	_exit(3);
}

static int end_by_signal(int signal)
{
	gpu__launch(NR_LAUNCHES);
	kill(getpid(), signal);
	pause();
	return 1;
}

static int end_by_abort(void)
{
	gpu__launch(NR_LAUNCHES);
	abort();
}

static int end_by_segv(void)
{
	gpu__launch(NR_LAUNCHES);
	*(volatile int *)NULL = 1;
	return 1;
}

static int end_by_kill(void)
{
	return end_by_signal(SIGKILL);
}

static int end_by_kill_later(void)
{
	gpu__launch(NR_LAUNCHES);
	fault_log__wait(NR_LAUNCHES);
	kill(getpid(), SIGKILL);
	return 1;
}

static int end_by_term(void)
{
	return end_by_signal(SIGTERM);
}

/* As Ctrl-C at a terminal: the recorder gets it, too. */
static int end_by_int_to_group(void)
{
	gpu__launch(NR_LAUNCHES);
	kill(0, SIGINT);
	pause();
	return 1;
}

static void exit_at_signal(int signal)
{
	(void)signal;
	exit(4);
}

/* A program that ends in order when it is told to, in the middle of whatever it does */
static int end_by_handler(void)
{
	gpu__launch(NR_LAUNCHES);
	signal(SIGTERM, exit_at_signal);
	kill(getpid(), SIGTERM);
	pause();
	return 1;
}

static void *exit_in_thread(void *unused)
{
	(void)unused;
	gpu__launch(NR_LAUNCHES);
	exit(5);
}

static int end_by_thread(void)
{
	pthread_t thread;

	gpu__launch(NR_LAUNCHES);
	if (pthread_create(&thread, NULL, exit_in_thread, NULL))
		return 1;
	for (;;)
		pause();
}

static pthread_t main_thread;

static void *launch_when_alone(void *unused)
{
	(void)unused;
	pthread_join(main_thread, NULL);
	gpu__launch(NR_LAUNCHES);
	exit(5);
}

/* The process goes on without its first thread. */
static int end_of_main_thread(void)
{
	pthread_t thread;

	gpu__launch(NR_LAUNCHES);
	main_thread = pthread_self();
	if (pthread_create(&thread, NULL, launch_when_alone, NULL))
		return 1;
	pthread_exit(NULL);
}

static int end_while_running(void)
{
	gpu__launch(NR_LAUNCHES);
	gpu__launch_slow(NR_SLOW);
	exit(0);
}

static int end_by_kill_while_running(void)
{
	gpu__launch(NR_LAUNCHES);
	fault_log__wait(NR_LAUNCHES);
	gpu__launch_slow(NR_SLOW);
	kill(getpid(), SIGKILL);
	return 1;
}

static void launch_at_exit(void)
{
	gpu__launch(NR_LAUNCHES);
}

/* Registered before CUDA is there, so called behind whatever came with it */
static int end_by_late_handler(void)
{
	atexit(launch_at_exit);
	gpu__launch(NR_LAUNCHES);
	return 0;
}

static int end_by_early_handler(void)
{
	gpu__launch(NR_LAUNCHES);
	atexit(launch_at_exit);
	return 0;
}

static int launches_in_destructor;

__attribute__((destructor)) static void launch_in_destructor(void)
{
	if (launches_in_destructor)
		gpu__launch(NR_LAUNCHES);
}

static int end_by_destructor(void)
{
	gpu__launch(NR_LAUNCHES);
	launches_in_destructor = 1;
	return 0;
}

const struct fault faults_of_ends[] = {
	{"exit", end_by_exit},
	{"_exit", end_by__exit},
	{"abort", end_by_abort},
	{"segv", end_by_segv},
	{"kill", end_by_kill},
	{"kill-later", end_by_kill_later},
	{"term", end_by_term},
	{"term-handled", end_by_handler},
	{"int-group", end_by_int_to_group},
	{"exit-thread", end_by_thread},
	{"main-thread-ends", end_of_main_thread},
	{"exit-running", end_while_running},
	{"kill-running", end_by_kill_while_running},
	{"atexit-late", end_by_late_handler},
	{"atexit-early", end_by_early_handler},
	{"destructor", end_by_destructor},
	{},
};
