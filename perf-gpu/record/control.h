/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands to the injected library while the processes run: record, pause, stop; through
 * control pages (cupti_inject/control_page.h). Either one page in the spool, which all
 * processes of the command share, or the pages of processes that ran already.
 *
 * A page may change at any time, or be cut: it is never mapped to be read. One thread.
 */
#ifndef PERF_GPU_RECORD_CONTROL_H
#define PERF_GPU_RECORD_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "control_page.h"
#include "record/spool.h"

/* Of the page in the spool; no log is called so. */
#define CONTROL_PAGE_NAME "control"

struct control;

/**
 * control__create - a page for the processes of a command, in the spool
 * @state: what they begin with
 * @ret:   released by control__close(); written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int control__create(const struct spool *spool, enum control_state state,
		    struct control **ret);

/**
 * control__attach - take the pages of running processes, which stay idle
 * @pids, @nr: of the processes
 * @library:   that they must have loaded
 * @ret:       released by control__close(); written on success only
 *
 * All of them must have one user. Return: 0 or a negative errno, printed.
 */
int control__attach(const pid_t *pids, size_t nr, const char *library,
		    struct control **ret);

/* Where the page is that control__create() made. */
const char *control__path(const struct control *control);

/* The user of the processes that control__attach() has taken */
uid_t control__uid(const struct control *control);

/**
 * control__configure - tell processes that run how to record
 * @spool:       where to; its path is kept by reference
 * @environment: "NAME=value" strings, NULL-terminated
 *
 * Return: 0 or a negative errno, printed.
 */
int control__configure(struct control *control, const struct spool *spool,
		       char *const *environment);

/* Give a command. The answers come later. */
void control__command(struct control *control, enum control_state state);

/*
 * Have all who live carried out the last command? Those who don't within some seconds
 * are given up, and told of; so are those who can't.
 */
bool control__is_answered(struct control *control);

/*
 * Is there still one of the processes that were attached to? Those which have executed
 * another program, and so don't wait any more, are told of.
 */
bool control__has_process(struct control *control);

/* Has one of the processes that were attached to made a log? */
bool control__has_log(const struct control *control);

/* Did all do what they were told? */
bool control__is_whole(const struct control *control);

/*
 * Release. Processes that are still recorded find their recorder gone, and stop. NULL is
 * fine.
 */
void control__close(struct control *control);

#endif
