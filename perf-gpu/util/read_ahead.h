/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading while what was read before is worked on: a thread that fills batches of items,
 * a few ahead of the one that the caller has.
 *
 *	read_ahead__new(&input, &ahead);
 *	while ((batch = read_ahead__next(ahead, &nr_items)))
 *		...                           the items of the batch, in their order
 *	read_ahead__delete(ahead);            at any time
 *
 * All functions are for one thread; the one that fills is called in another.
 */
#ifndef PERF_GPU_UTIL_READ_AHEAD_H
#define PERF_GPU_UTIL_READ_AHEAD_H

#include <stddef.h>

struct read_ahead;

struct read_ahead_input {
	/*
	 * Fill a batch, and say how many items are in it now; 0: there was none more, and it
	 * isn't called again. Nobody else may touch what it works on until the end.
	 */
	size_t (*fill)(void *data, void *batch);
	void *data;
	size_t batch_bytes;
};

/**
 * read_ahead__new - start the thread, which takes no signal
 * @input: copied
 * @ret:   released by read_ahead__delete(); written on success only
 *
 * Where no thread can be had, each batch is filled when it is asked for.
 *
 * Return: 0 or -ENOMEM.
 */
int read_ahead__new(const struct read_ahead_input *input, struct read_ahead **ret);

/* The next batch, the caller's until the next call; NULL: there is none more. */
void *read_ahead__next(struct read_ahead *ahead, size_t *ret_nr);

/* What was filled and not asked for is lost. NULL is fine. */
void read_ahead__delete(struct read_ahead *ahead);

#endif
