// SPDX-License-Identifier: GPL-2.0-or-later
#include "wiped_page.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

int wiped_page__create(unsigned char **ret)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *page;

	page = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (page == MAP_FAILED)
		return -errno;
	if (madvise(page, page_bytes, MADV_WIPEONFORK)) {
		int err = -errno;

		munmap(page, page_bytes);
		return err;
	}
	*ret = page;
	return 0;
}
