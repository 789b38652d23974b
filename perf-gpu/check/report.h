/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of `perf-gpu check`, on stdout:
 *
 *	Kernel
 *	  ok    BTF            /sys/kernel/btf/vmlinux
 *	  FAIL  capabilities   neither CAP_SYS_ADMIN nor CAP_BPF and CAP_PERFMON
 *	                       -> run record with sudo
 *
 * A FAIL is what keeps record from doing its job; a warning is not. Text from
 * outside is safe to pass: control characters are not printed. One thread.
 */
#ifndef PERF_GPU_CHECK_REPORT_H
#define PERF_GPU_CHECK_REPORT_H

#include <stdbool.h>

enum verdict {
	VERDICT_OK,
	VERDICT_NOTE, /* neither good nor bad */
	VERDICT_WARN,
	VERDICT_FAIL,
};

struct report {
	bool is_verbose;
	unsigned int nr_failed;
	unsigned int nr_warnings;
};

/* Start a group of lines. */
void report__section(struct report *report, const char *title);

/**
 * report__line - say how one thing is
 * @name: of the thing, at most 14 columns
 * @fmt:  what was found; wrapped
 */
void report__line(struct report *report, enum verdict verdict, const char *name,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* How to mend what the line above tells of. */
void report__mend(struct report *report, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* More about the line above, for -v. */
void report__detail(struct report *report, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
