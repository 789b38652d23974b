/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What processes count for us while they run, and what they have recorded and not written yet
 * (cupti_inject/log_memory.h): for those that end without having written all that they had.
 * One thread.
 */
#ifndef PERF_GPU_RECORD_TALLIES_H
#define PERF_GPU_RECORD_TALLIES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/spool.h"

struct tally;

struct tally_counts {
	uint64_t nr_launches;
	uint64_t nr_records; /* of the GPU, with those that are lost */
};

/* But for the first two all 0 is empty. */
struct tallies {
	const struct spool *spool; /* where the logs are; NULL: they are not completed */
	uint64_t session; /* of the logs */
	struct tally *tallies;
	size_t nr;
	size_t next; /* that is looked at whether it can be forgotten */
};

/* Whose it is */
struct tally_owner {
	uint64_t log_id;
	uint32_t own_pid; /* as the process itself sees it: its files are named so */
	pid_t pid; /* as the kernel says it; 0: not to be seen from here */
};

/**
 * tallies__add - keep a process's tally
 * @fd: the memfd; stays the caller's
 *
 * What isn't sealed as it has to be, or is too much, is left out. Nothing is printed.
 */
void tallies__add(struct tallies *tallies, const struct tally_owner *owner, int fd);

/**
 * tallies__new - make a tally for a process that can't, and keep it
 *
 * Return: the memfd, the caller's; or a negative errno, not printed
 */
int tallies__new(struct tallies *tallies, const struct tally_owner *owner);

/**
 * tallies__find - what a process had counted when it ended
 *
 * Return: 0, -ENOENT if there is none for the log, or -EBUSY if the process still runs, and
 * counts on.
 */
int tallies__find(const struct tallies *tallies, uint64_t log_id,
		  struct tally_counts *ret);

/**
 * tallies__complete - if a process has ended, write the rest of its files
 *
 * Once: then only the counts are kept. Nothing is printed: what can't be written is missing
 * as if it had not been tried.
 */
void tallies__complete(struct tallies *tallies, uint64_t log_id);

/* Of all those that have ended. */
void tallies__complete_all(struct tallies *tallies);

void tallies__release(struct tallies *tallies);

#endif
