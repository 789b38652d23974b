/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trying something that may print, crash, hang or leave things open: in a forked
 * child, whose output is caught. One thread.
 */
#ifndef PERF_GPU_CHECK_TRIAL_H
#define PERF_GPU_CHECK_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

/* A driver that has to wake a rack of GPUs takes some seconds. */
#define TRIAL_LIMIT_S 30

struct trial {
	bool is_tried; /* a child ran it */
	bool is_done; /* it returned 0, or exited with 0 */
	char output[2048]; /* the beginning of what it printed, on stdout and stderr */
	/* Unless is_done: "died of signal 11 (Segmentation fault)" */
	char death[128];
};

/**
 * trial__run - call a function in a child process
 * @run:    gets a copy of @result to write to; returns 0 or an error; may exec
 * @result: read and written; what a child wrote before it died is in it too
 * @bytes:  size of @result
 * @ret:    always written
 *
 * Return: whether it is done.
 */
bool trial__run(int (*run)(void *result), void *result, size_t bytes, struct trial *ret);

/* What pr_err() told in the trial, without the prefix; else the death; else "". */
const char *trial__error(struct trial *trial);

#endif
