/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who records this process. Any thread, one at a time. */
#ifndef PERF_GPU_INJECT_RECORDER_H
#define PERF_GPU_INJECT_RECORDER_H

#include <stdbool.h>

/*
 * Is the recorder of a spool dead, as far as can be seen? It has a file locked there as long
 * as it lives (GPU_LOG_JOURNAL). A process that does not get to the file, as another user or
 * in another root folder, looks for the socket that the recorder gives logs by: in another
 * network namespace, it can't see that either.
 */
bool recorder__is_dead(const char *spool);

#endif
