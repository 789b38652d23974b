/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives files for logs to processes that can't make them in the spool folder, by an
 * abstract socket (cupti_inject/log_request.h), takes the tallies of all, and tells the user
 * of those that can't be recorded. One thread.
 */
#ifndef PERF_GPU_RECORD_LOG_SERVER_H
#define PERF_GPU_RECORD_LOG_SERVER_H

#include <stdint.h>
#include <sys/types.h>

#include "log_request.h"
#include "record/spool.h"
#include "record/tallies.h"
#include "util/log.h"

struct log_server {
	int fd; /* readable when somebody asks; -1: there is no server */
	char name[LOG_SERVER_MAX_NAME]; /* for the processes; "": there is none */
	uint64_t session;
	struct spool *spool;
	struct tallies tallies; /* that were given to it */
	struct log_limit limit; /* of warnings */
};

/**
 * log_server__open - be there to be asked
 * @session: who says another is not answered
 * @spool:   where files are made; kept by reference
 * @peer:    a process that is to ask: names of abstract sockets are those of a network
 *           namespace, and it may have one of its own, as in a container; 0: ours
 * @ret:     to be given to log_server__close(); without a server if there can't be one:
 *           then processes have nothing but the folder
 */
void log_server__open(uint64_t session, struct spool *spool, pid_t peer,
		      struct log_server *ret);

/* Answer those that have asked, as far as they are not too many at once. Never waits. */
void log_server__serve(struct log_server *server);

void log_server__close(struct log_server *server);

#endif
