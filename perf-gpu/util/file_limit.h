/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many files this process may have open. Any thread. */
#ifndef PERF_GPU_UTIL_FILE_LIMIT_H
#define PERF_GPU_UTIL_FILE_LIMIT_H

/*
 * As many as it may allow itself, for logs of many processes; what it can't, it finds when
 * it opens one. Children that begin later have that limit, too.
 */
void file_limit__raise(void);

#endif
