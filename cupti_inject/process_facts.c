// SPDX-License-Identifier: GPL-2.0-or-later
#include "process_facts.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The process's name, which is its main thread's; else this one's, if /proc doesn't say. */
static void read_comm(char comm[16])
{
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	const size_t size = 16;
	ssize_t len;

	if (fd < 0) {
		prctl(PR_GET_NAME, comm);
		return;
	}
	len = read(fd, comm, size - 1);
	comm[len > 0 ? len : 0] = 0;
	comm[strcspn(comm, "\n")] = 0;
	close(fd);
}

struct gpu_log_process process_facts__process(bool is_forked)
{
	struct gpu_log_process process = {
		.pid = (uint32_t)getpid(),
		.ppid = (uint32_t)getppid(),
		.is_forked = is_forked,
	};
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	process.start_ns = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
	read_comm(process.comm);
	return process;
}

struct gpu_log_namespace process_facts__namespace(void)
{
	struct stat st;

	return (struct gpu_log_namespace){
		.pid_namespace = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino,
	};
}
