/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recorder leaves that is killed before it records anything: a spool without a
 * journal, in which no process has written, and an empty unfinished perf.data beside it. One
 * thread.
 */
#ifndef PERF_GPU_RECORD_UNBEGUN_H
#define PERF_GPU_RECORD_UNBEGUN_H

#include <stdbool.h>

#include "record/spool.h"

/* Is a spool such a one? Of a recorder that is just beginning it is, too. */
bool unbegun__is_spool(const struct spool *spool);

/**
 * unbegun__remove - remove all that is left so beside a perf.data, and tell of each
 * @path: of the perf.data, be that there or not; its output_lock is held
 *
 * Return: how many were removed; 0 also if it can't be looked for.
 */
unsigned int unbegun__remove(const char *path);

#endif
