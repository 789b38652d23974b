/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does what a profiler doesn't expect of a program, and checks that it isn't harmed:
 *
 *   descriptors  closes all of them but the standard ones, opens files of its own, and
 *                launches from threads, whose stacks are new to who walks them
 *   small        its first call of CUDA is from a thread with the smallest stack
 *   atexit       3 launches, and 2 by a handler from before CUDA was initialized, which
 *                finds errno as the program had it when it ended
 *   outlive      ends at once, but for a child that prints its pid and launches for five minutes
 *   cancel       20,000 launches from a cancelled thread, which comes to no point where
 *                that ends it before the last one; then 10 more
 *
 * The exit status is 0 if all went well. Stand-in for CUDA only.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "plain_cuda.h"

#define NR_FILES   20
#define NR_THREADS 4

static void *launch_in_thread(void *argument)
{
	(void)argument;
	plain_kernel__launch(10);
	return NULL;
}

/* Returns 0 if a thread with that stack could launch. */
static int run_thread(size_t stack_bytes)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	err = pthread_attr_setstacksize(&attr, stack_bytes);
	if (!err)
		err = pthread_create(&thread, &attr, launch_in_thread, NULL);
	if (!err)
		err = pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

static int use_descriptors(void)
{
	int fds[NR_FILES];
	char text[8];
	int failed = 0;

	plain_kernel__launch(10);
	if (close_range(3, ~0u, 0))
		return 1;
	for (int i = 0; i < NR_FILES; i++) {
		fds[i] = open(".", O_TMPFILE | O_RDWR, 0600);
		failed |= fds[i] < 0 || write(fds[i], "mine", 4) != 4;
	}
	for (int i = 0; i < NR_THREADS; i++)
		failed |= run_thread(1 << 20);
	plain_kernel__launch(10);
	/* Longer than the time between two flushes of the log */
	sleep(2);
	for (int i = 0; i < NR_FILES; i++)
		failed |= pread(fds[i], text, sizeof(text), 0) != 4 ||
			  memcmp(text, "mine", 4);
	return failed;
}

static int outlive(void)
{
	if (fork())
		_exit(0);
	printf("%d\n", getpid());
	fflush(stdout);
	for (int i = 0; i < 30000; i++) {
		plain_kernel__launch(10);
		usleep(10000);
	}
	return 0;
}

static void *launch_cancelled(void *argument)
{
	bool *has_launched = argument;
	dim3 one = {1, 1, 1};

	pthread_cancel(pthread_self());
	for (int i = 0; i < 20000; i++) {
		if (cudaLaunchKernel((const void *)plain_kernel, one, one, NULL, 0, NULL))
			return NULL;
	}
	*has_launched = true;
	pthread_testcancel();
	return NULL;
}

static int cancel(void)
{
	bool has_launched = false;
	pthread_t thread;
	void *result;

	/* A lock that is left behind is to end the test. */
	alarm(600);
	plain_kernel__launch(0);
	if (pthread_create(&thread, NULL, launch_cancelled, &has_launched) ||
	    pthread_join(thread, &result))
		return 1;
	plain_kernel__launch(10);
	return !has_launched || result != PTHREAD_CANCELED;
}

static void launch_at_exit(void)
{
	if (errno != EXDEV) {
		perror("a handler finds another errno");
		_exit(1);
	}
	plain_kernel__launch(2);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		goto usage;
	if (!strcmp(argv[1], "descriptors"))
		return use_descriptors();
	if (!strcmp(argv[1], "small"))
		return run_thread(PTHREAD_STACK_MIN);
	if (!strcmp(argv[1], "atexit")) {
		atexit(launch_at_exit);
		plain_kernel__launch(3);
		errno = EXDEV;
		return 0;
	}
	if (!strcmp(argv[1], "outlive"))
		return outlive();
	if (!strcmp(argv[1], "cancel"))
		return cancel();
usage:
	fprintf(stderr, "usage: hostile descriptors|small|atexit|outlive|cancel\n");
	return 2;
}
