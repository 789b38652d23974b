/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why something doesn't work here, for a caller who may have another way: what fails
 * with a struct failure prints nothing. Plain bytes, so that it can be shared with a
 * child process.
 */
#ifndef PERF_GPU_UTIL_FAILURE_H
#define PERF_GPU_UTIL_FAILURE_H

struct failure {
	char why[384];
	char advice[256]; /* what to do; "" if nothing is known */
};

/**
 * failure__set - say what failed, on what, and why
 * @advice: what to do, or NULL
 *
 * Return: @err.
 */
int failure__set(struct failure *ret, int err, const char *advice, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Say first what it was that failed: "@what: why". */
void failure__within(struct failure *failure, const char *what);

/* What to do where a file can't be written: ", make room ..."; "" unless @err is about room */
const char *failure__room(int err);

/* All of it, in one line: it is an error after all. */
void failure__print(const struct failure *failure);

#endif
