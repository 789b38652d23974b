/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of a log (cupti_inject/gpu_log.h), and what they become on another clock and
 * with other pids. Stateless.
 */
#ifndef PERF_GPU_MERGE_LOG_RECORDS_H
#define PERF_GPU_MERGE_LOG_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"
#include "util/pid_set.h"
#include "merge/shift.h"

/* Add the pid and the tids that a record has. Return: 0 or -ENOMEM. */
int log_record__note_pids(const struct gpu_log_record *record, struct pid_set *set);

/**
 * log_record__rewrite - what a record becomes
 * @ret: 8-byte aligned, room for UINT16_MAX bytes
 *
 * Return: 0; -EINVAL if the record is shorter than its type says, or its text can't be
 * inflated; -ENOTSUP for a type that isn't known: nobody knows then which part of it is
 * a time; -ENOMEM.
 */
int log_record__rewrite(const struct gpu_log_record *record, const struct shift *shift,
			void *ret);

/* Add to @to what another recorder has counted; not its CPUs and its clocks. */
void log_record__add_recorder(struct gpu_log_recorder *to,
			      const struct gpu_log_recorder *recorder);

#endif
