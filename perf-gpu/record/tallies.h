/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What processes count for us while they run (cupti_inject/tally_page.h): for those that
 * end without having written all that they had. One thread.
 */
#ifndef PERF_GPU_RECORD_TALLIES_H
#define PERF_GPU_RECORD_TALLIES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tally;

struct tally_counts {
	uint64_t nr_launches;
	uint64_t nr_records; /* of the GPU, with those that are lost */
};

/* All 0 is empty. */
struct tallies {
	struct tally *tallies;
	size_t nr;
};

/**
 * tallies__add - keep a process's tally
 * @log_id: of the process's log
 * @pid:    as the kernel says it; 0: not to be seen from here
 * @fd:     the memfd; stays the caller's
 *
 * What isn't sealed as it has to be, or is too much, is left out. Nothing is printed.
 */
void tallies__add(struct tallies *tallies, uint64_t log_id, pid_t pid, int fd);

/**
 * tallies__new - make a tally for a process that can't, and keep it
 *
 * Return: the memfd, the caller's; or a negative errno, not printed
 */
int tallies__new(struct tallies *tallies, uint64_t log_id, pid_t pid);

/**
 * tallies__find - what a process had counted when it ended
 *
 * Return: 0, -ENOENT if there is none for the log, or -EBUSY if the process still runs, and
 * counts on.
 */
int tallies__find(const struct tallies *tallies, uint64_t log_id,
		  struct tally_counts *ret);

void tallies__release(struct tallies *tallies);

#endif
