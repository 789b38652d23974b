/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a process gets a file for its log that can't make one in the recorder's folder: it
 * runs as another user by now, or in another root folder or mount namespace. It asks the
 * recorder, by a datagram to the abstract socket of PERF_GPU_LOG_SERVER, which has no
 * path and no permissions, but a network namespace.
 *
 *   process   struct log_request
 *   recorder  struct log_reply, with the file as SCM_RIGHTS if err is 0
 *
 * Who knows the session may have a file. By the same way each process gives its tally
 * (tally_page.h) to the recorder, which doesn't answer that:
 *
 *   process   struct log_request, with the tally as SCM_RIGHTS
 *
 * One that may make no file, not even in memory (RLIMIT_FSIZE), asks for its tally as for a
 * log.
 */
#ifndef PERF_GPU_INJECT_LOG_REQUEST_H
#define PERF_GPU_INJECT_LOG_REQUEST_H

#include <assert.h>
#include <stdint.h>

enum log_request_kind {
	LOG_REQUEST_LOG = 0, /* a file for the log */
	LOG_REQUEST_LAUNCH_LOG = 1, /* a file for the launch log */
	LOG_REQUEST_TALLY = 2, /* here is the tally */
	LOG_REQUEST_NEW_TALLY = 3, /* a file for the tally, which the recorder has, too */
	/* Another profiler has CUPTI, and there is no way to its launches: not answered */
	LOG_REQUEST_TAKEN = 4,
};

struct log_request {
	uint64_t session;
	uint64_t log_id;
	uint32_t pid; /* as the process itself sees it; for the file's name */
	uint32_t kind; /* enum log_request_kind */
};

_Static_assert(sizeof(struct log_request) == 24, "between processes");

struct log_reply {
	uint64_t log_id;
	int32_t err; /* 0 or a negative errno */
	uint32_t pad;
};

_Static_assert(sizeof(struct log_reply) == 16, "between processes");

#define LOG_SERVER_MAX_NAME 64 /* with its NUL; without the one at its beginning */

#endif
