// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/attach.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control_page.h"
#include "record/proc_maps.h"
#include "util/log.h"
#include "util/proc.h"

#define LIBRARY_NAME "libperf-gpu-inject.so"

/* What the process's mappings tell. */
struct found {
	char library[PATH_MAX]; /* as the process names it; "": not loaded */
	struct gpu_log_map page; /* bytes 0: none */
};

static int open_pidfd(pid_t pid, int *ret)
{
	int fd, err;

	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd >= 0) {
		*ret = fd;
		return 0;
	}
	err = -errno;
	if (err == -ESRCH)
		pr_err("there is no process %d", (int)pid);
	else if (err == -EINVAL || err == -ENOENT)
		pr_err("%d is a thread: -p takes the id of its process", (int)pid);
	else
		pr_err("can't watch process %d: pidfd_open: %s (it needs Linux 5.3)",
		       (int)pid, strerror(-err));
	return err;
}

static int look_at_map(void *ctx, const struct gpu_log_map *map)
{
	const char *name = strrchr(map->path, '/');
	struct found *found = ctx;

	if (!strcmp(map->path, CONTROL_MEMFD_PATH) && map->is_shared)
		found->page = *map;
	else if (name && !strncmp(name + 1, LIBRARY_NAME, strlen(LIBRARY_NAME)))
		snprintf(found->library, sizeof(found->library), "%s", map->path);
	return 0;
}

static int print_no_access(pid_t pid, const char *what, int err)
{
	if (err == -ESRCH || err == -ENOENT)
		pr_err("process %d has ended", (int)pid);
	else if ((err == -EACCES || err == -EPERM) && !geteuid())
		pr_err("can't open %s of process %d: %s, though this is root: a "
		       "container "
		       "or a security module forbids it, or CAP_SYS_PTRACE is missing",
		       what, (int)pid, strerror(-err));
	else if (err == -EACCES || err == -EPERM)
		pr_err("process %d is another user's, or has more rights than this one: "
		       "can't open its %s; run it with sudo",
		       (int)pid, what);
	else
		pr_err("can't open %s of process %d: %s", what, (int)pid, strerror(-err));
	return err == -EACCES ? -EPERM : err;
}

/*
 * Do the probes go into the same file? Mount namespaces may name it in two ways. 0, or
 * -ENOENT if not; -EACCES if it may not be looked at.
 */
static int compare_library(pid_t pid, const char *path, const char *library)
{
	char seen[PATH_MAX + 64];
	struct stat ours, theirs;

	snprintf(seen, sizeof(seen), "/proc/%d/root%s", (int)pid, path);
	if (stat(seen, &theirs))
		return errno == EACCES || errno == EPERM ? -EACCES : -ENOENT;
	return !stat(library, &ours) && ours.st_dev == theirs.st_dev &&
			       ours.st_ino == theirs.st_ino
		       ? 0
		       : -ENOENT;
}

static int check_library(pid_t pid, const struct found *found, const char *library)
{
	const int err =
		found->library[0] ? compare_library(pid, found->library, library) : 0;

	if (err == -EACCES)
		return print_no_access(pid, "root folder", err);
	if (!found->library[0])
		pr_err("process %d has not loaded our library: start it with perf-gpu "
		       "wait, and initialize CUDA in it",
		       (int)pid);
	else if (err)
		pr_err("process %d has another copy of the library: %s, not %s; use the "
		       "perf-gpu that belongs to it, or start it anew",
		       (int)pid, found->library, library);
	else if (!found->page.bytes)
		pr_err("process %d is not waiting for a recorder: either perf-gpu record "
		       "has started it, or it hasn't got PERF_GPU_WAIT=1",
		       (int)pid);
	else
		return 0;
	return -ENODEV;
}

/* Of a memfd that nobody can cut any more; other files have no seals at all. */
static bool has_fixed_size(int fd)
{
	const int wanted = F_SEAL_SHRINK | F_SEAL_GROW, seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & wanted) == wanted;
}

/*
 * The file at a path of /proc, if it is a page: looked at before it is opened, since
 * to open a device may do something.
 */
static int open_page(const char *path, uid_t uid, const struct gpu_log_map *map)
{
	char again[64];
	struct stat st;
	int low, fd;

	low = open(path, O_PATH | O_CLOEXEC);
	if (low < 0)
		return -errno;
	if (fstat(low, &st) || !S_ISREG(st.st_mode) || st.st_uid != uid ||
	    st.st_ino != map->inode || st.st_size != sizeof(struct control_page)) {
		close(low);
		return -ENOENT;
	}
	snprintf(again, sizeof(again), "/proc/self/fd/%d", low);
	fd = open(again, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		int err = -errno;

		close(low);
		return err;
	}
	close(low);
	if (has_fixed_size(fd))
		return fd;
	close(fd);
	return -ENOENT;
}

/* Does a link in a /proc/PID/fd, by its name there, lead to a page? */
static bool is_page_link(int dir_fd, const char *name)
{
	char link[sizeof(CONTROL_MEMFD_PATH) + 1];
	ssize_t nr = readlinkat(dir_fd, name, link, sizeof(link));

	return nr == strlen(CONTROL_MEMFD_PATH) &&
	       !memcmp(link, CONTROL_MEMFD_PATH, (size_t)nr);
}

/* Among the process's descriptors. A descriptor, -ENOENT or another errno. */
static int find_among_fds(struct attached *attached, const struct gpu_log_map *map)
{
	struct dirent *entry;
	int fd = -ENOENT;
	char path[512];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)attached->pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (fd == -ENOENT && (entry = readdir(dir))) {
		if (!is_page_link(dirfd(dir), entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)attached->pid,
			 entry->d_name);
		fd = open_page(path, attached->uid, map);
		attached->number = (int)strtol(entry->d_name, NULL, 10);
	}
	closedir(dir);
	return fd;
}

/* Through the mapping itself, which takes root; the program may close descriptors. */
static int find_in_map_files(struct attached *attached, const struct gpu_log_map *map)
{
	char path[128];

	attached->number = -1;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)attached->pid,
		 (unsigned long long)map->start,
		 (unsigned long long)(map->start + map->bytes));
	return open_page(path, attached->uid, map);
}

static int find_page(struct attached *attached, const struct gpu_log_map *map)
{
	int fd;

	fd = find_among_fds(attached, map);
	if (fd == -ENOENT) {
		fd = find_in_map_files(attached, map);
		if (fd == -EPERM && !geteuid())
			pr_err("process %d has closed the library's descriptor: to find "
			       "it without takes CAP_CHECKPOINT_RESTORE, which this "
			       "root, of a container, hasn't got",
			       (int)attached->pid);
		else if (fd == -EPERM)
			pr_err("process %d has closed the library's descriptor: only "
			       "root finds it without; run it with sudo",
			       (int)attached->pid);
		else if (fd == -ENOENT)
			pr_err("process %d has no control page that can be trusted",
			       (int)attached->pid);
		else if (fd < 0)
			print_no_access(attached->pid, "mappings", fd);
	} else if (fd < 0) {
		print_no_access(attached->pid, "descriptors", fd);
	}
	if (fd < 0)
		return fd;
	attached->page_fd = fd;
	return 0;
}

static int lock_page(const struct attached *attached)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	uint32_t header[2];
	int err;

	if (fcntl(attached->page_fd, F_OFD_SETLK, &lock)) {
		err = errno == EACCES || errno == EAGAIN ? -EBUSY : -errno;
		if (err == -EBUSY)
			pr_err("another perf-gpu record is recording process %d",
			       (int)attached->pid);
		else
			pr_err("can't lock the control page of process %d: %s",
			       (int)attached->pid, strerror(-err));
		return err;
	}
	if (pread(attached->page_fd, header, sizeof(header), 0) != sizeof(header) ||
	    header[0] != CONTROL_PAGE_MAGIC || header[1] != CONTROL_PAGE_VERSION) {
		pr_err("the library in process %d is of another version of perf-gpu: "
		       "start the process anew",
		       (int)attached->pid);
		return -ENODEV;
	}
	return 0;
}

/* The user that the process makes files as */
static int find_uid(pid_t pid, uid_t *ret)
{
	unsigned int real, effective, saved, files;
	char path[64], value[128];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	err = proc__read_value(path, "Uid", value, sizeof(value));
	if (!err && sscanf(value, "%u %u %u %u", &real, &effective, &saved, &files) != 4)
		err = -EINVAL;
	if (err)
		return print_no_access(pid, "status", err);
	*ret = files;
	return 0;
}

int attached__open(pid_t pid, const char *library, struct attached *ret)
{
	struct attached attached = {.pid = pid, .pidfd = -1, .page_fd = -1};
	struct found *found = calloc(1, sizeof(*found));
	int err = -ENOMEM;

	if (!found) {
		pr_err("no memory to attach to process %d", (int)pid);
		return err;
	}
	err = open_pidfd(pid, &attached.pidfd);
	if (!err)
		err = find_uid(pid, &attached.uid);
	if (!err) {
		err = proc_maps__read(pid, look_at_map, found);
		if (err)
			err = print_no_access(pid, "mappings", err);
	}
	if (!err)
		err = check_library(pid, found, library);
	if (!err)
		err = find_page(&attached, &found->page);
	if (!err)
		err = lock_page(&attached);
	/* All that was read by the pid may have been of another that has it by now. */
	if (!err && attached__has_ended(&attached))
		err = print_no_access(pid, "status", -ESRCH);
	free(found);
	if (err)
		attached__close(&attached);
	else
		*ret = attached;
	return err;
}

/* On its way out, it has given up its memory before anybody is told that it has ended. */
static bool is_ending(const struct attached *attached)
{
	char path[64], exe[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)attached->pid);
	return readlink(path, exe, sizeof(exe)) < 0 &&
	       (errno == ENOENT || errno == ESRCH);
}

bool attached__has_ended(const struct attached *attached)
{
	struct pollfd fd = {.fd = attached->pidfd, .events = POLLIN};

	return poll(&fd, 1, 0) > 0 || is_ending(attached);
}

static int find_map(void *ctx, const struct gpu_log_map *map)
{
	const struct stat *st = ctx;

	return map->inode == st->st_ino && !strcmp(map->path, CONTROL_MEMFD_PATH);
}

bool attached__has_page(const struct attached *attached)
{
	struct stat page, there;
	char path[64];

	if (fstat(attached->page_fd, &page))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)attached->pid,
		 attached->number);
	if (attached->number >= 0 && !stat(path, &there) && there.st_dev == page.st_dev &&
	    there.st_ino == page.st_ino)
		return true;
	/* Closed by an exec, or by the program. */
	return proc_maps__read(attached->pid, find_map, &page) == 1;
}

void attached__close(struct attached *attached)
{
	if (attached->page_fd >= 0)
		close(attached->page_fd);
	if (attached->pidfd >= 0)
		close(attached->pidfd);
	attached->page_fd = attached->pidfd = -1;
}
