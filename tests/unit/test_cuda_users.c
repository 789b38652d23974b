// SPDX-License-Identifier: GPL-2.0-or-later
/* Which processes have libcuda without our library, and why */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/cuda_users.h"
#include "unit.h"

struct mapping {
	struct perfdata_mmap2 mmap2;
	char path[128];
};

static void note(struct cuda_users *users, uint32_t pid, uint64_t address,
		 const char *path)
{
	struct mapping mapping = {.mmap2 = {.pid = pid, .addr = address}};

	snprintf(mapping.mmap2.path, sizeof(mapping.path), "%s", path);
	cuda_users__note(users, &mapping.mmap2);
}

#define ADDRESS 0x7f0000000000

/* No process has such a pid: nothing is known of it but its mappings. */
#define PID 0x7ffffff0

TEST(who_has_both_misses_nothing)
{
	struct cuda_users users = {};

	note(&users, PID, ADDRESS, "/usr/lib/libcudart.so.13");
	note(&users, PID, ADDRESS, "/usr/lib/libcuda.so.580.1");
	CHECK_EQ(cuda_users__missing(&users).nr_processes, 1);
	note(&users, PID, ADDRESS, "/a/libperf-gpu-inject.so");
	CHECK_EQ(cuda_users__missing(&users).nr_processes, 0);
	note(&users, PID + 1, ADDRESS, "/usr/lib/libcuda.so.1");
	cuda_users__note_launch(&users, PID + 1);
	CHECK_EQ(cuda_users__missing(&users).nr_processes, 0);
	cuda_users__release(&users);
}

TEST(one_that_something_is_known_of_is_told_first)
{
	struct cuda_users users = {};
	struct cuda_users_missing missing;

	note(&users, PID, ADDRESS, "/usr/lib/libcuda.so.1");
	missing = cuda_users__missing(&users);
	CHECK_EQ(missing.pid, PID);
	CHECK_EQ(missing.why, UNINJECTED_UNKNOWN);
	note(&users, PID + 2, 0xf7c00000, "/usr/lib/i386-linux-gnu/libcuda.so.1");
	note(&users, PID + 3, ADDRESS, "/usr/lib/libcuda.so.1");
	missing = cuda_users__missing(&users);
	CHECK_EQ(missing.nr_processes, 3);
	CHECK_EQ(missing.pid, PID + 2);
	CHECK_EQ(missing.why, UNINJECTED_32_BIT);
	CHECK(!missing.is_unseen);
	cuda_users__release(&users);
}

/* This one has neither, and an environment that nobody has set. */
TEST(a_process_that_runs_is_looked_at)
{
	struct cuda_users users = {};
	struct cuda_users_missing missing;

	cuda_users__look(&users, getpid());
	CHECK_EQ(cuda_users__missing(&users).nr_processes, 0);
	note(&users, (uint32_t)getpid(), ADDRESS, "/usr/lib/libcuda.so.1");
	missing = cuda_users__missing(&users);
	CHECK_EQ(missing.nr_processes, 1);
	CHECK_EQ(missing.why, UNINJECTED_CLEARED);
	CHECK(*missing.comm != 0);
	cuda_users__release(&users);
}
