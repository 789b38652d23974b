/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How recordings get beside each other: one clock, pids that are told apart, names with
 * their hosts. One thread.
 */
#ifndef PERF_GPU_MERGE_PLAN_H
#define PERF_GPU_MERGE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "merge/input.h"

/**
 * merge_plan__make - check that they can be merged, and say how
 * @inputs:    get their shift and comm_host; put into another order where some are parts
 *             of one recording
 * @has_hosts: names of processes get their host, if there are several
 *
 * Times go on the clock of the machine that has been up longest, so that none gets
 * less than 0. A recording in which a pid or tid is one of those before it gets all of
 * its own higher, by a number that leaves the last digits as they are.
 *
 * Return: 0 or a negative errno, printed: -EEXIST if two are the same recording, or have
 * one in common, or of record --overwrite; -EINVAL if they are of two architectures; -ERANGE if there are no
 * pids any more; -ENOMEM.
 */
int merge_plan__make(struct merge_input **inputs, size_t nr_inputs, bool has_hosts);

/**
 * merge_plan__hosts - the names of all hosts, with commas between them
 * @ret: released by free(3); "" if no recording says its
 *
 * Return: how many there are, or -ENOMEM, printed.
 */
int merge_plan__hosts(struct merge_input *const *inputs, size_t nr_inputs, char **ret);

#endif
