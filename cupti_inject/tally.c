// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "log_client.h"
#include "no_xfsz.h"

/* Linux 6.3; older kernels refuse it. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

static int make_file(void)
{
	struct no_xfsz no_xfsz;
	int fd, err;

	fd = memfd_create(LOG_MEMORY_NAME,
			  MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(LOG_MEMORY_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	no_xfsz = no_xfsz__begin();
	err = ftruncate(fd, sizeof(struct log_memory)) ? -errno : 0;
	no_xfsz__end(&no_xfsz, -err);
	if (!err && fcntl(fd, F_ADD_SEALS, LOG_MEMORY_SEALS))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Where another one was, for who still counts there. */
static int map_file(struct tally *tally, int fd)
{
	void *at = tally->memory;
	void *map = mmap(at, sizeof(struct log_memory), PROT_READ | PROT_WRITE,
			 MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	tally->memory = map;
	tally->page = &tally->memory->tally;
	return 0;
}

void tally__open(struct tally *tally, uint64_t log_id)
{
	const int own = make_file();
	/* Of a size that is no more than the process may give one (RLIMIT_FSIZE) */
	const int fd = own == -EFBIG ? log_client__open_tally(log_id) : own;

	tally->is_shared = false;
	if (fd >= 0 && !map_file(tally, fd)) {
		tally->is_shared = own < 0 || log_client__send_tally(log_id, fd);
	} else {
		/* What the recorder may have is of another log. */
		tally->memory = NULL;
		tally->page = &tally->own;
		memset(tally->page, 0, sizeof(*tally->page));
	}
	if (fd >= 0)
		close(fd);
}
