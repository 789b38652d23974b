/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks the recorder for a log's file (log_request.h). */
#ifndef PERF_GPU_INJECT_LOG_CLIENT_H
#define PERF_GPU_INJECT_LOG_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "log_request.h"

/*
 * Whom to ask, in which recording: the socket's name, copied; "": nobody. Before any log
 * of it is opened.
 */
void log_client__use(const char *server, uint64_t session);

/**
 * log_client__open - get a file
 * @log_id: for the same one, it is the same file again
 *
 * Waits for a recorder that is there, for two seconds at most; one that hasn't answered
 * isn't asked for some seconds.
 *
 * Return: a file descriptor, open for writing; or a negative errno: -ETIMEDOUT without an
 * answer, -ECONNREFUSED if no recorder is there (any more), -ENOENT if none is to be asked.
 */
int log_client__open(uint64_t log_id, bool is_launch_log);

/* The same, of a file that is the size of a tally, and is the recorder's tally already */
int log_client__open_tally(uint64_t log_id);

/* Give the recorder a tally, which stays the caller's. Return: it gets there, if it is there. */
bool log_client__send_tally(uint64_t log_id, int file);

/*
 * Has the recorder gone that is to be asked? Not if there is none to be asked. Waits for
 * nothing.
 */
bool log_client__is_gone(void);

/* Tell the recorder at once that the process can't be recorded, as another has CUPTI. */
void log_client__tell_taken(uint64_t log_id);

#endif
