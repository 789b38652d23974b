/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the handles of NVTX's domains and registered strings stand for: texts that are
 * kept to the end of the process. From any thread; looking one up takes no lock.
 */
#ifndef PERF_GPU_INJECT_NVTX_NAMES_H
#define PERF_GPU_INJECT_NVTX_NAMES_H

enum nvtx_name_kind {
	NVTX_NAME_DOMAIN,
	NVTX_NAME_STRING,
};

/* A name is cut to this many bytes of UTF-8, its NUL included. */
#define NVTX_NAME_BYTES 1024

/**
 * nvtx_names__add - a new handle, or a new text of an old one
 * @handle: of another tool, which has made it; NULL: this makes one, the same for the
 *          same text
 *
 * Return: the handle, or NULL without memory.
 */
const void *nvtx_names__add(enum nvtx_name_kind kind, const void *handle,
			    const char *text);

/* Its text, or NULL if nobody knows the handle. */
const char *nvtx_names__text(enum nvtx_name_kind kind, const void *handle);

/* In a forked child, in which only the calling thread is left. */
void nvtx_names__after_fork(void);

#endif
