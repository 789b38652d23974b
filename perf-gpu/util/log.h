/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the user is told, all of it on stderr and through these.
 *
 * Who knows what failed, on what, and why, says so once, with what to do, and
 * returns a negative errno; callers add nothing.
 */
#ifndef PERF_GPU_UTIL_LOG_H
#define PERF_GPU_UTIL_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * log__set_command - name the subcommand that messages begin with
 * @command: "record", ...; NULL for perf-gpu itself. Kept by reference.
 *
 * Call before there are threads.
 */
void log__set_command(const char *command);
const char *log__command(void); /* "" for perf-gpu itself */

/* -1: errors only (-q), 0: the default, 1 and more: pr_debug() (-v) */
extern int log_verbosity;

/* "perf-gpu record: <text>\n"; never cut, control characters made visible. */
void pr_err(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void pr_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* "[ perf-gpu record: <text> ]\n", as perf's own closing lines */
void pr_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void pr_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Of what there may be any number of, because who is recorded decides, the first few are
 * told, and how many there were.
 */
struct log_limit {
	uint64_t nr; /* 0 at first */
};

/* Is this one, of a warning that comes next, among the first? Counts it. */
bool log_limit__take(struct log_limit *limit);

/* In the end: "<what> more that are not listed: 12,345", if there were more. */
void log_limit__tell(const struct log_limit *limit, const char *what);

/* What a library says, which ends its lines itself; from a verbosity on. Returns 0. */
int log__library(int min_verbosity, const char *fmt, va_list args)
	__attribute__((format(printf, 2, 0)));

#endif
