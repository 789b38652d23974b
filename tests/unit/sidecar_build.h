/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sidecars of GPU logs that a test has made (gpu_log_build.h) */
#ifndef PERF_GPU_TESTS_SIDECAR_BUILD_H
#define PERF_GPU_TESTS_SIDECAR_BUILD_H

#include <sys/mman.h>

#include "gpu_log_build.h"
#include "sidecar/activities.h"
#include "sidecar/sidecar.h"
#include "unit.h"
#include "util/log.h"

enum { SESSION = 77, LOG_A = 100, LOG_B = 50 };

/* What sidecar__open() makes of the bytes, which are released. */
__attribute__((unused)) static int read_build(struct log_build *build,
					      struct sidecar **ret)
{
	int fd = memfd_create("log", MFD_CLOEXEC), err;
	char path[64];

	CHECK(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK_EQ(log_build__save(build, path), 0);
	log_verbosity = -1;
	err = sidecar__open(path, ret);
	if (!err)
		CHECK_EQ(sidecar__list_activities(*ret), 0);
	close(fd);
	log_build__release(build);
	return err;
}

__attribute__((unused)) static struct sidecar *read_whole(struct log_build *build)
{
	struct sidecar *sidecar = NULL;

	CHECK_EQ(read_build(build, &sidecar), 0);
	CHECK(sidecar != NULL);
	return sidecar;
}

/* One log with a block of a process, one of a kernel */
__attribute__((unused)) static struct log_build small_log(void)
{
	struct log_build build = {.session = SESSION, .log_id = LOG_A};

	log_build__process(&build, 4711, "app");
	log_build__shape(&build, 1, "k1");
	log_build__end_block(&build);
	log_build__kernel(&build, 1, 9, 5000, 6000);
	log_build__end_block(&build);
	return build;
}

#endif
