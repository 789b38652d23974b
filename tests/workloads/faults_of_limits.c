// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that are closed, and what a program may not have more of. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault_gpu.h"
#include "fault_log.h"
#include "faults.h"

#define NR_FILES   64
#define FILE_BYTES (1 << 20)
#define NR_MANY	   100000

static void report_elsewhere(void)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 50);

	if (fd < 0)
		fault__complain("a descriptor for what is printed");
	gpu__report_to(fd);
}

/* Files of its own: the next ones' numbers are the lowest, and nobody else uses them. */
static void open_files(int *fds, int nr_files)
{
	for (int i = 0; i < nr_files; i++) {
		fds[i] = open(".", O_TMPFILE | O_RDWR, 0600);
		if (fds[i] < 0 || write(fds[i], &i, sizeof(i)) != sizeof(i))
			fault__complain("a file of its own");
	}
}

static void check_files(const int *fds, int nr_files)
{
	for (int i = 0; i < nr_files; i++) {
		struct stat st;
		int got;

		if (fstat(fds[i], &st) || st.st_size != sizeof(i) ||
		    pread(fds[i], &got, sizeof(got), 0) != sizeof(got) || got != i)
			fault__complain("a file of its own is another's");
	}
}

static int close_stdio(void)
{
	int fds[3];

	report_elsewhere();
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	gpu__launch(NR_LAUNCHES);
	open_files(fds, 3);
	if (fds[0] != 0 || fds[1] != 1 || fds[2] != 2)
		fault__complain("a standard descriptor is another's");
	gpu__launch(NR_LAUNCHES);
	check_files(fds, 3);
	return 0;
}

/* As daemons do, and what starts others */
static int close_all(void)
{
	static int fds[NR_FILES];

	gpu__launch(NR_LAUNCHES);
	closefrom(3);
	open_files(fds, NR_FILES);
	gpu__launch(NR_LAUNCHES);
	fault_log__wait(2 * NR_LAUNCHES);
	check_files(fds, NR_FILES);
	return 0;
}

static void set_limit(int resource, rlim_t value)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		fault__complain("getrlimit");
	limit.rlim_cur = value;
	if (setrlimit(resource, &limit))
		fault__complain("setrlimit");
}

/* Its log is closed, and can't be opened again. */
static int close_all_at_limit(void)
{
	static int fds[NR_FILES];

	gpu__launch(NR_LAUNCHES);
	fault_log__wait(NR_LAUNCHES);
	closefrom(3);
	open_files(fds, NR_FILES);
	set_limit(RLIMIT_NOFILE, (rlim_t)fds[NR_FILES - 1] + 1);
	gpu__launch(NR_LAUNCHES);
	check_files(fds, NR_FILES);
	return 0;
}

static int limit_files(void)
{
	static int fds[NR_FILES];

	gpu__launch(NR_LAUNCHES);
	open_files(fds, NR_FILES);
	set_limit(RLIMIT_NOFILE, (rlim_t)fds[NR_FILES - 1] + 1);
	gpu__launch(NR_LAUNCHES);
	check_files(fds, NR_FILES);
	return 0;
}

/* So many can be opened when CUDA is. */
static int leave_files(int nr_left)
{
	static int fds[NR_FILES];

	open_files(fds, NR_FILES);
	set_limit(RLIMIT_NOFILE, (rlim_t)fds[NR_FILES - 1] + 1 + (rlim_t)nr_left);
	gpu__launch(NR_LAUNCHES);
	check_files(fds, NR_FILES);
	return 0;
}

#define LEAVE(n)                       \
	static int leave_##n(void)     \
	{                              \
		return leave_files(n); \
	}
LEAVE(1)
LEAVE(2)
LEAVE(3)

static rlim_t address_space_bytes(void)
{
	unsigned long nr_pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file || fscanf(file, "%lu", &nr_pages) != 1)
		fault__complain("/proc/self/statm");
	fclose(file);
	return (rlim_t)nr_pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static int limit_memory(void)
{
	gpu__launch(NR_LAUNCHES);
	set_limit(RLIMIT_AS, address_space_bytes());
	for (int i = 0; i < 100; i++)
		gpu__launch(NR_LAUNCHES);
	return 0;
}

static int limit_memory_first(void)
{
	set_limit(RLIMIT_AS, address_space_bytes() + (1 << 20));
	gpu__launch(NR_LAUNCHES);
	return 0;
}

/* SIGXFSZ would end it. */
static int limit_file_size(void)
{
	gpu__launch(NR_LAUNCHES);
	set_limit(RLIMIT_FSIZE, FILE_BYTES);
	gpu__launch(NR_MANY);
	return 0;
}

static int limit_file_size_first(void)
{
	set_limit(RLIMIT_FSIZE, 4096);
	gpu__launch(10 * NR_LAUNCHES);
	return 0;
}

static int forbid_files(void)
{
	set_limit(RLIMIT_FSIZE, 0);
	gpu__launch(NR_LAUNCHES);
	return 0;
}

/* A file that takes all room beside the log; its path is kept in @path. */
static void fill_disk(const char *spool, char *path, size_t size)
{
	static const char bytes[4096];
	int fd;

	snprintf(path, size, "%s/../filler", spool);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		fault__complain(path);
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	close(fd);
}

/* For longer than the library leaves between two tries to write */
static int fill_for_a_while(void)
{
	const char *spool = getenv("PERF_GPU_SPOOL");
	char path[4096];

	gpu__launch(NR_LAUNCHES);
	fault_log__wait(NR_LAUNCHES);
	if (spool)
		fill_disk(spool, path, sizeof(path));
	gpu__launch(NR_LAUNCHES);
	sleep(2);
	if (spool)
		unlink(path);
	gpu__launch(NR_LAUNCHES);
	return 0;
}

static void remove_folder(const char *path)
{
	char command[4096];

	snprintf(command, sizeof(command), "rm -r '%s'", path);
	if (system(command))
		fault__complain("rm");
}

/* With everything in it */
static int remove_output(void)
{
	const char *spool = getenv("PERF_GPU_SPOOL");
	char path[4096];

	gpu__launch(NR_LAUNCHES);
	if (spool) {
		snprintf(path, sizeof(path), "%s/..", spool);
		if (!realpath(path, path + 2048))
			fault__complain(path);
		remove_folder(path + 2048);
	}
	gpu__launch(NR_LAUNCHES);
	return 0;
}

const struct fault faults_of_limits[] = {
	{"stdio", close_stdio},
	{"closefrom", close_all},
	{"closefrom-nofile", close_all_at_limit},
	{"nofile", limit_files},
	{"nofile-1", leave_1},
	{"nofile-2", leave_2},
	{"nofile-3", leave_3},
	{"as", limit_memory},
	{"as-first", limit_memory_first},
	{"fsize", limit_file_size},
	{"fsize-first", limit_file_size_first},
	{"fsize-none", forbid_files},
	{"disk-while", fill_for_a_while},
	{"vanished", remove_output},
	{},
};
