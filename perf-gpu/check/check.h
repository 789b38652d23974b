/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Would `perf-gpu record` work here?
 *
 * What can be tried is tried, in child processes and by the code that record
 * itself uses. Settings of the machine are told beside it: they explain an outcome,
 * they don't decide it. Nothing is changed. One thread.
 */
#ifndef PERF_GPU_CHECK_CHECK_H
#define PERF_GPU_CHECK_CHECK_H

#include <limits.h>
#include <stdbool.h>

#include "check/report.h"
#include "record/probe.h"

/* What trying has shown, which more than one line depends on. */
struct check_facts {
	char libdir[PATH_MAX]; /* of the injected library; "": not found */
	bool has_probe; /* a uprobe with its BPF program, hit and seen */
	bool has_rings;
	bool has_sideband;
	struct probe_facts probe; /* if has_probe */
};

/**
 * check__run - print all lines and the verdict, on stdout
 * @is_verbose: with details
 *
 * Return: whether record would work.
 */
bool check__run(bool is_verbose);

/*
 * The parts, in the order they are printed. Each fills in the facts it finds, for
 * those that follow.
 */
void check__library(struct report *report, struct check_facts *facts);
void check__recorder(struct report *report, struct check_facts *facts);
void check__system(struct report *report, const struct check_facts *facts);
void check__cuda(struct report *report);
void check__mps(struct report *report); /* of check__cuda() */
void check__others(struct report *report);
void check__files(struct report *report);

#endif
