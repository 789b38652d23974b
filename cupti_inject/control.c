// SPDX-License-Identifier: GPL-2.0-or-later
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "control_page.h"
#include "marker.h"
#include "no_xfsz.h"

/* Linux 6.3; older kernels refuse it. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

/* As log files: out of the program's way */
#define LOWEST_FD 100

static struct control_page *page;
static struct control_member *member; /* ours; NULL: there was no room */
/* Of the memfd, for its lock; another file may have the number by now. */
static int memfd = -1;
static ino_t memfd_ino;

static int map_page(int fd)
{
	struct control_page *map;
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size != sizeof(*map))
		return -EINVAL;
	map = mmap(NULL, sizeof(*map), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	/* Else a forked child would look as if it waited, and answer for its parent. */
	if (madvise(map, sizeof(*map), MADV_DONTFORK)) {
		int err = -errno;

		munmap(map, sizeof(*map));
		return err;
	}
	page = map;
	return 0;
}

/* A free place, or the one we had before an exec. */
static void take_member(void)
{
	const uint32_t pid = (uint32_t)getpid();
	struct control_member *members = page->members;

	for (size_t i = 0; i < CONTROL_MAX_MEMBERS && !member; i++)
		if (__atomic_load_n(&members[i].pid, __ATOMIC_RELAXED) == pid)
			member = &members[i];
	for (size_t i = 0; i < CONTROL_MAX_MEMBERS && !member; i++) {
		uint32_t nobody = 0;

		if (__atomic_compare_exchange_n(&members[i].pid, &nobody, pid, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			member = &members[i];
	}
}

static int create_memfd(void)
{
	int low, fd;

	low = memfd_create(CONTROL_MEMFD_NAME,
			   MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
	if (low < 0 && errno == EINVAL)
		low = memfd_create(CONTROL_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (low < 0)
		return -errno;
	fd = fcntl(low, F_DUPFD_CLOEXEC, LOWEST_FD);
	if (fd < 0)
		return low;
	close(low);
	return fd;
}

int control__create(void)
{
	struct no_xfsz no_xfsz;
	struct stat st = {};
	int fd, err = 0;

	fd = create_memfd();
	if (fd < 0)
		return fd;
	no_xfsz = no_xfsz__begin();
	if (ftruncate(fd, sizeof(*page)))
		err = -errno;
	no_xfsz__end(&no_xfsz, -err);
	/* The recorder takes no page that could shrink under its hands. */
	if (!err && (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ||
		     fstat(fd, &st)))
		err = -errno;
	if (!err)
		err = map_page(fd);
	if (err) {
		close(fd);
		return err;
	}
	memfd = fd;
	memfd_ino = st.st_ino;
	page->version = CONTROL_PAGE_VERSION;
	take_member();
	__atomic_store_n(&page->magic, CONTROL_PAGE_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

int control__join(const char *path)
{
	int fd, err;

	fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = map_page(fd);
	close(fd);
	if (err)
		return err;
	if (page->magic != CONTROL_PAGE_MAGIC || page->version != CONTROL_PAGE_VERSION) {
		munmap(page, sizeof(*page));
		page = NULL;
		return -EINVAL;
	}
	take_member();
	return 0;
}

bool control__is_own(void)
{
	return memfd >= 0;
}

uint32_t control__wanted(void)
{
	return page ? __atomic_load_n(&page->wanted, __ATOMIC_ACQUIRE) : 0;
}

void control__wait(uint32_t seen, unsigned int ms)
{
	const struct timespec time = {.tv_sec = ms / 1000,
				      .tv_nsec = ms % 1000 * 1000000};

	if (page)
		syscall(SYS_futex, &page->wanted, FUTEX_WAIT, seen, ms ? &time : NULL,
			NULL, 0);
	else
		clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

void control__answer(uint32_t wanted, int err)
{
	uint64_t answer = wanted | (uint64_t)(uint32_t)-err << 32;

	if (member)
		__atomic_store_n(&member->answer, answer, __ATOMIC_RELEASE);
}

size_t control__read_environment(char *ret, size_t size)
{
	size_t bytes = page ? page->environment_bytes : 0;

	if (!bytes || bytes > sizeof(page->environment) || bytes > size)
		return 0;
	memcpy(ret, page->environment, bytes);
	return ret[bytes - 1] ? 0 : bytes;
}

bool control__has_recorder(void)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	struct stat st;

	if (memfd < 0 || fstat(memfd, &st) || st.st_ino != memfd_ino ||
	    fcntl(memfd, F_OFD_GETLK, &lock))
		return true;
	return lock.l_type != F_UNLCK;
}

void control__leave(void)
{
	if (!member || fork_page__is_forked())
		return;
	__atomic_store_n(&member->pid, 0, __ATOMIC_RELEASE);
	member = NULL; /* it may be another's from now on */
}
