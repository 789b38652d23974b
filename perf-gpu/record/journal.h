/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must be known to make a recording of what a recorder has left that was killed: a
 * file in its spool, named "recording", of lines
 *
 *   perf-gpu recording 1
 *   WORD VALUE             each word once, but for arg; see journal.c
 *
 * It is locked as long as the recorder lives: that's how it is known to be dead, also by the
 * injected library. One thread.
 */
#ifndef PERF_GPU_RECORD_JOURNAL_H
#define PERF_GPU_RECORD_JOURNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/events.h"
#include "record/features.h"
#include "record/spool.h"

struct journal {
	uint64_t session;
	struct clock_pair clock; /* of its beginning */
	struct stack_config stack;
	uint32_t events; /* GPU_LOG_EVENT_BIT()s that were asked for */
	bool has_perfdata; /* else others record launches */
	bool has_launch_logs; /* they are in the spool; else in the data file */
	int pid; /* the recorder's */
	char host[65]; /* where it ran */
	char data[NAME_MAX + 1]; /* the unfinished perf.data, beside the spool */
	uint64_t data_offset; /* where its records begin */
	const char *const *argv; /* the recorder's command line; NULL-terminated */
};

/**
 * journal__create - write it, and lock it for as long as this process lives
 * @journal: pid and host are filled in here; NULL: what there is can't be recovered, and the
 *           file is there for its lock alone
 * @ret_fd:  what holds the lock; to be closed when the spool is gone; written on success
 *           only
 *
 * Return: 0, or a negative errno after a warning: there is none then, which is no reason not
 * to record.
 */
int journal__create(const struct spool *spool, const struct journal *journal,
		    int *ret_fd);

enum journal_state {
	JOURNAL_NONE, /* it isn't there, or not this user's: the spool is none of ours */
	JOURNAL_LOCKED, /* its recorder lives, or somebody recovers it */
	JOURNAL_LEFT, /* its recorder is dead */
	JOURNAL_LOST, /* the same, but it wrote several files: this can't be recovered */
};

/**
 * journal__state - what is it with a spool?
 * @ret: written on success only
 *
 * Return: 0 or a negative errno, not printed: it can't be told.
 */
int journal__state(const struct spool *spool, enum journal_state *ret);

/**
 * journal__read - read it, and lock it
 * @ret:    released by journal__release(); written on success only
 * @ret_fd: as in journal__create()
 *
 * Return: 0 or a negative errno, printed: -EBUSY if it is locked, -EINVAL if it isn't whole.
 */
int journal__read(const struct spool *spool, struct journal *ret, int *ret_fd);
void journal__release(struct journal *journal);

#endif
