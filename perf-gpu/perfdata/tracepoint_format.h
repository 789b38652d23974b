/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text that describes a tracepoint, as a perf.data brings it: from anybody.
 * libtraceevent's parser takes more than it releases where a text isn't as the kernel
 * writes it, so it only gets what is.
 */
#ifndef PERF_GPU_PERFDATA_TRACEPOINT_FORMAT_H
#define PERF_GPU_PERFDATA_TRACEPOINT_FORMAT_H

#include <stddef.h>

/**
 * tracepoint_format__copy - what is as the kernel writes it
 *
 *   name: IDENTIFIER
 *   ID: NUMBER
 *   format:
 *   <TAB>field:INTEGER TYPE NAME;<TAB>offset:N;<TAB>size:N;<TAB>signed:N;
 *   ...
 *   print fmt: ...
 *
 * Of what follows "format:", lines that are neither empty nor a number's are left out. How samples are
 * printed is a language of its own, which we have no use for: the shortest text is in
 * its place.
 *
 * @text, @bytes: need not end with a NUL, and may have some in it
 * @ret: a string, released by free(); NULL if it is no format. Written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int tracepoint_format__copy(const char *text, size_t bytes, char **ret);

#endif
