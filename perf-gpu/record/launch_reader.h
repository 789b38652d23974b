/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process's launch log (cupti_inject/gpu_log.h), with --stacks process: what the
 * process launched, mapped and called its threads, in the order of time.
 *
 * Nothing in the log is trusted: pids and tids are ones that can be, paths end, and
 * memory is bounded by the size of the log's stacks and LAUNCH_READER_WINDOW. One thread.
 */
#ifndef PERF_GPU_RECORD_LAUNCH_READER_H
#define PERF_GPU_RECORD_LAUNCH_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu_log.h"
#include "launch_event.h"
#include "record/log_file.h"

/*
 * So many records are read ahead, to put them in order. Out of order come those of
 * threads that were preempted between taking the time and writing: for 40 ms, at
 * 100,000 launches a second. One that is later yet keeps its time, in a later place.
 */
#define LAUNCH_READER_WINDOW 4096

struct launch_reader;

enum logged_kind {
	LOGGED_LAUNCH,
	LOGGED_MAP,
	LOGGED_THREAD,
};

/* Something of a log; what it points to is valid up to the next call. */
struct logged_event {
	uint64_t time_ns;
	enum logged_kind kind;
	union {
		const struct launch_frames *launch; /* all of it filled in */
		const struct gpu_log_map *map; /* path: shorter than PATH_MAX */
		const struct gpu_log_thread *thread;
	};
};

struct launch_reader_counts {
	uint64_t nr_lost; /* launches that the process could not write */
	uint64_t nr_lost_stacks; /* launches that refer to a stack the log hasn't */
};

/**
 * launch_reader__open - read the beginning
 * @fd:      is the log's from now on, also if this fails
 * @session: blocks of others are refused
 * @ret:     released by launch_reader__close(); written on success only
 *
 * Return: 0; -ENODATA if the log is empty; -EINVAL if it is none of @session, or
 * doesn't begin with its process; -ENOMEM or another errno of read(2). Not printed.
 */
int launch_reader__open(int fd, uint64_t session, struct launch_reader **ret);

/* The same of a log that grows; -ENODATA: its beginning isn't there yet. */
int launch_reader__open_growing(int fd, uint64_t session, struct launch_reader **ret);

/*
 * Of a log that grows: read on behind what was its end. @is_growing: else, what isn't whole
 * by now won't get so.
 */
void launch_reader__go_on(struct launch_reader *reader, bool is_growing);

/* The file that is read, to give back its space */
struct log_file *launch_reader__file(struct launch_reader *reader);

uint64_t launch_reader__log_id(const struct launch_reader *reader);

/* Does the log end in order, as far as it was read? */
bool launch_reader__has_end(const struct launch_reader *reader);

/* Whose log it is; comm ends with a NUL, pid is one that can be. */
const struct gpu_log_process *launch_reader__process(const struct launch_reader *reader);

/* In which pid namespace its pids are: an inode; 0: not known */
uint64_t launch_reader__namespace(const struct launch_reader *reader);

/**
 * launch_reader__next - the next event
 * @ret: written only if there is one
 *
 * A mapping or a thread's name is never later than the launch that was logged behind
 * it: its time is taken back if need be.
 *
 * Return: 1 for an event; 0 at the end; -EINVAL, -ENOMEM or another errno of read(2)
 * if the log is broken behind the events so far. Not printed.
 */
int launch_reader__next(struct launch_reader *reader, struct logged_event *ret);

/* Of what has been read so far */
struct launch_reader_counts launch_reader__counts(const struct launch_reader *reader);

void launch_reader__close(struct launch_reader *reader); /* NULL is fine */

#endif
