// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/output_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "util/file.h"
#include "util/log.h"

/* Who has the lock: "process 123 on host" */
#define OWNER_BYTES 128

/* Of recorders that end just then */
#define MAX_TRIES 100

/*
 * A file that a recorder has made, and nothing that somebody put there who may write to the
 * folder, such as another name of a file of ours: it is written to.
 */
static bool is_lock_file(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink <= 1 &&
	       st.st_size <= OWNER_BYTES;
}

/* Who had the lock before may have removed the file by now. */
static bool is_in_place(int fd, const char *path)
{
	struct stat of_fd, of_path;

	return !fstat(fd, &of_fd) && !lstat(path, &of_path) &&
	       of_fd.st_ino == of_path.st_ino && of_fd.st_dev == of_path.st_dev;
}

static void tell_owner(int fd, const char *output, const char *advice)
{
	char owner[OWNER_BYTES] = "";
	ssize_t nr = pread(fd, owner, sizeof(owner) - 1, 0);

	owner[nr > 0 ? nr : 0] = '\0';
	owner[strcspn(owner, "\n")] = '\0';
	pr_err("%s is being written by another recorder%s%s%s: %s", output,
	       *owner ? " (" : "", owner, *owner ? ")" : "", advice);
}

static void write_owner(int fd)
{
	char owner[OWNER_BYTES];
	struct utsname uts;
	int nr;

	uname(&uts);
	nr = snprintf(owner, sizeof(owner), "process %d on %s\n", (int)getpid(),
		      uts.nodename);
	/* Without it, another recorder's message has no owner in it. */
	if (ftruncate(fd, 0) || pwrite(fd, owner, (size_t)nr, 0) != nr)
		pr_debug("can't write who locks the output");
}

/* A new file, or one that is there and may be it. Return: a descriptor or -errno */
static int open_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 && errno == EEXIST)
		fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (is_lock_file(fd))
		return fd;
	close(fd);
	return -EINVAL;
}

int output_lock__take(const char *sidecar_path, const char *output, const char *advice,
		      struct output_lock *ret)
{
	struct output_lock lock = {.fd = -1};
	int err, nr_tries = 0;

	if (snprintf(lock.path, sizeof(lock.path), "%s.lock", sidecar_path) >=
	    (int)sizeof(lock.path)) {
		pr_err("the output path is too long: %s", output);
		return -ENAMETOOLONG;
	}
	for (;;) {
		lock.fd = open_file(lock.path);
		if (lock.fd == -ENOENT && nr_tries++ < MAX_TRIES)
			continue; /* removed between the two steps */
		/* Where nothing can be created, the output says so, better. */
		if (lock.fd < 0) {
			pr_debug("no lock for %s: %s: %s", output, lock.path,
				 strerror(-lock.fd));
			lock.fd = -1;
			*ret = lock;
			return 0;
		}
		err = file__lock(lock.fd);
		if (err || is_in_place(lock.fd, lock.path))
			break;
		close(lock.fd);
	}
	if (err == -EAGAIN) {
		tell_owner(lock.fd, output, advice);
		close(lock.fd);
		return -EBUSY;
	}
	if (err)
		pr_debug("no lock for %s: %s", output, strerror(-err));
	else
		write_owner(lock.fd);
	lock.is_held = !err;
	*ret = lock;
	return 0;
}

void output_lock__release(struct output_lock *lock)
{
	if (lock->fd < 0)
		return;
	/* While it is locked: then nobody else has taken it yet. */
	unlink(lock->path);
	close(lock->fd);
	lock->fd = -1;
}
