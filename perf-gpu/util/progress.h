/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far a command has come, in a line at the bottom of the terminal:
 *
 *	[ perf-gpu inject: reading perf.data: 45 % ]
 *
 * It is there from the first second on, and gone when the command has something to say or
 * is done. Nothing is shown where stderr is no terminal (or is that of a job in the
 * background), with -q, nor once anything has been written to a pipe or to the terminal
 * itself.
 *
 *	progress__begin("reading", path, nr_bytes);
 *	while (...)
 *		progress__at(offset);
 *	progress__end();
 *
 * A thread draws it, so that what takes long between two calls is shown too; a call is
 * as cheap as a store. All but progress__clear_for_good() are for one thread.
 */
#ifndef PERF_GPU_UTIL_PROGRESS_H
#define PERF_GPU_UTIL_PROGRESS_H

#include <stdatomic.h>
#include <stdint.h>

extern _Atomic uint64_t progress_done;

/**
 * progress__begin - a step begins; what was there before is over
 * @verb:  "reading", "joining", ...
 * @what:  what is read or written: a path; copied. NULL: nothing more is told
 * @total: that progress__at() is of; 0: it isn't known
 */
void progress__begin(const char *verb, const char *what, uint64_t total);

static inline void progress__at(uint64_t done)
{
	atomic_store_explicit(&progress_done, done, memory_order_relaxed);
}

/* A step, while another one is done in its midst */
struct progress_step {
	char what[256];
	uint64_t total, done;
};

/**
 * progress__begin_within - a step begins, and the one that was there goes on afterwards
 * @ret_outer: for progress__resume()
 */
void progress__begin_within(const char *verb, const char *what,
			    struct progress_step *ret_outer);
void progress__resume(const struct progress_step *outer);

/* All is done: the line is cleared. */
void progress__end(void);

/* Something else is to be written on the terminal: clear the line; it comes again. */
void progress__hide(void);

/**
 * progress__yield_to - no line any more, if what is written to @fd is seen at once
 *
 * That is, if it is anything but a regular file: behind a pipe there may be a pager.
 */
void progress__yield_to(int fd);

/* The same in a signal handler, before the end */
void progress__clear_for_good(void);

#endif
