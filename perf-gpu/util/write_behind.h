/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing to a file while more is made: a thread that calls write(2), or another writer. There
 * are some buffers, of which the caller fills one while those before it are written.
 *
 *	write_behind__new(fd, bytes, &behind);
 *	fill write_behind__buffer(behind)
 *	write_behind__put(behind, nr_bytes)   and again
 *	write_behind__drain(behind)           all of it is written
 *	write_behind__delete(behind)
 *
 * All functions are for one thread.
 */
#ifndef PERF_GPU_UTIL_WRITE_BEHIND_H
#define PERF_GPU_UTIL_WRITE_BEHIND_H

#include <stddef.h>

struct write_behind;

/**
 * write_behind__new - start the thread, which takes no signal
 * @fd:    stays the caller's, who doesn't use it until write_behind__drain()
 * @bytes: of a buffer
 * @ret:   released by write_behind__delete(); written on success only
 *
 * Return: 0, -ENOMEM, or another errno of pthread_create(3).
 */
int write_behind__new(int fd, size_t bytes, struct write_behind **ret);

/* The same by a writer of the caller's: @write gets buffers one after the other, as they were
 * put, in the thread. It returns 0 or a negative errno, which ends it. */
int write_behind__new_by(int (*write)(void *data, const unsigned char *bytes, size_t nr),
			 void *data, size_t bytes, struct write_behind **ret);

/* The buffer to fill; another one after each write_behind__put(). */
unsigned char *write_behind__buffer(struct write_behind *behind);

/**
 * write_behind__put - have the first bytes of the buffer written
 *
 * Waits where there is no other buffer until one is written. Return: 0 or a negative errno
 * of write(2), for anything that was put before; after an error nothing more is written.
 */
int write_behind__put(struct write_behind *behind, size_t bytes);

/* Wait until all is written. 0 or a negative errno of write(2). */
int write_behind__drain(struct write_behind *behind);

/* What was put and isn't written yet may be lost. NULL is fine. */
void write_behind__delete(struct write_behind *behind);

#endif
