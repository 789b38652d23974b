// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hits the launch marker without any CUDA: for tests of what is between the marker
 * and perf.data.
 *
 *	marker_calls [-c CHILDREN] [-s SECONDS] LAUNCHES [COMMAND...]
 *
 * Makes LAUNCHES launches below main → outer → inner, with correlation ids from 1
 * and its pid as the log's id, and CHILDREN forked children that do the same;
 * sleeps SECONDS; then executes COMMAND. Without a recorder it only does the rest.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void marker_fn(uint64_t session, uint64_t log_id, uint64_t correlation_id,
		       uint32_t api, const void *const *frames, uint64_t nr_frames);

static marker_fn *marker, *marker_forked;
static uint64_t session;

void outer(marker_fn *fn, uint64_t nr_launches);
void inner(marker_fn *fn, uint64_t correlation_id, const void *outer_frame);

static void find_marker(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	const char *session_text = getenv("PERF_GPU_SESSION");
	void *library;

	if (!path || !session_text)
		return;
	library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	marker = (marker_fn *)dlsym(library, "perf_gpu_launch");
	marker_forked = (marker_fn *)dlsym(library, "perf_gpu_launch_forked");
	session = strtoull(session_text, NULL, 16);
}

__attribute__((noinline)) void inner(marker_fn *fn, uint64_t correlation_id,
				     const void *outer_frame)
{
	const void *frames[] = {__builtin_return_address(0), outer_frame};

	if (fn)
		fn(session, (uint64_t)getpid(), correlation_id, 1, frames, 2);
}

__attribute__((noinline)) void outer(marker_fn *fn, uint64_t nr_launches)
{
	for (uint64_t i = 1; i <= nr_launches; i++)
		inner(fn, i, __builtin_return_address(0));
	__asm__ volatile("" ::: "memory"); /* no tail call: outer stays a frame */
}

int main(int argc, char **argv)
{
	int opt, nr_children = 0, nr_seconds = 0;
	uint64_t nr_launches;

	while ((opt = getopt(argc, argv, "+c:s:")) != -1) {
		if (opt == 'c')
			nr_children = atoi(optarg);
		else if (opt == 's')
			nr_seconds = atoi(optarg);
		else
			return 2;
	}
	if (optind == argc)
		return 2;
	nr_launches = strtoull(argv[optind], NULL, 10);
	find_marker();
	outer(marker, nr_launches);
	for (int i = 0; i < nr_children; i++) {
		if (fork())
			continue;
		outer(marker_forked, nr_launches);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	sleep((unsigned int)nr_seconds);
	if (optind + 1 < argc) {
		execvp(argv[optind + 1], argv + optind + 1);
		return 127;
	}
	return 0;
}
