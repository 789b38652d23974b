/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Can memory be read? For pointers out of structures that are another program's, and
 * may not be laid out as we think.
 *
 * The kernel is asked, once for each page, and answers are kept for a while. A page
 * that is unmapped in the meantime is not noticed: this is against pointers that are
 * none, not against memory that its owner frees while it is being read.
 *
 * Any thread, also several at once, without a lock. Changes errno.
 */
#ifndef PERF_GPU_INJECT_READABLE_H
#define PERF_GPU_INJECT_READABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A walk's own view: the last page that was found readable, so that what is read one
 * after the other of a page is checked once. All 0 is a new one.
 */
struct readable {
	uintptr_t page; /* its number */
};

/**
 * readable__check - are all bytes of a piece of memory readable?
 * @address: of the first one
 * @nr_bytes: 0 is always readable
 */
bool readable__check(struct readable *readable, uintptr_t address, size_t nr_bytes);

/* Ask anew from here on: to be called now and then. */
void readable__forget(void);

#endif
