/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The library's own thread. While there is a recording it writes what the GPU did every
 * second, so that a kill loses at most a second of completed work; and it carries out
 * what a recorder wants (control.h). Without a recording it sleeps, without end.
 */
#ifndef PERF_GPU_INJECT_WORKER_H
#define PERF_GPU_INJECT_WORKER_H

/*
 * A recording has been opened by the calling thread, in a process that a recorder has
 * started: switch it on, unless the recorder wants something else. Closed if that fails.
 */
void worker__begin(void);

/* Start the thread. 0 or a negative errno. */
int worker__start(void);

/*
 * As the atexit handlers run, end the thread and take out everything. To be called once
 * libcupti is loaded: its own handlers have to come after this one.
 */
void worker__finish_at_exit(void);

/*
 * The process ends: the thread does nothing any more from here on. Waits for what it is
 * at, but not for long. Not in a forked child.
 */
void worker__end(void);

#endif
