/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is a record laid out as those of its kind have always been? For a CUPTI that is newer
 * than our header (record_layout.h says why its records are read at all): a member that had
 * moved would be nonsense, and a pointer among them the end of the target.
 *
 * Stateless; any thread. Changes errno.
 */
#ifndef PERF_GPU_INJECT_RECORD_CHECK_H
#define PERF_GPU_INJECT_RECORD_CHECK_H

#include <stdbool.h>

#include <cupti.h>

/*
 * Are all members that are read what they can be? Loosely: kinds of copies and of memory
 * that there aren't yet can be. True of records that aren't read.
 */
bool record_check__is_plausible(const CUpti_Activity *record);

#endif
