/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files by build id from the servers of DEBUGINFOD_URLS, by elfutils' client library, which
 * also keeps them (~/.cache/debuginfod_client). It is loaded when it is needed first: it
 * brings a good part of a web browser with it, and most people have no such servers.
 *
 * Without the variable, or with an empty one, nothing is loaded or asked. Once the servers
 * could not be asked, which is said once, they aren't asked any more.
 *
 * One thread.
 */
#ifndef PERF_GPU_SYMBOL_DEBUGINFOD_H
#define PERF_GPU_SYMBOL_DEBUGINFOD_H

#include "symbol/build_id.h"

struct debuginfod;

enum debuginfod_kind {
	DEBUGINFOD_EXECUTABLE, /* as it was mapped */
	DEBUGINFOD_DEBUGINFO, /* its separate debug file */
};

int debuginfod__new(struct debuginfod **ret); /* 0 or -ENOMEM; asks nobody */
void debuginfod__delete(struct debuginfod *debuginfod); /* NULL is fine */

/**
 * debuginfod__find - have a file of a build
 * @id:   of one byte at least
 * @path: of the file as it was recorded, for messages
 *
 * It may take as long as DEBUGINFOD_TIMEOUT says, from server to server.
 *
 * Return: a file descriptor for the caller to close; -ENOENT if no server has it, or none
 * is asked; or a negative errno, printed once as a warning.
 */
int debuginfod__find(struct debuginfod *debuginfod, enum debuginfod_kind kind,
		     const struct build_id *id, const char *path);

#endif
