/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which records of a part are those of before: each file of record --switch-output begins
 * with what is to be known of the files before it. By hashes of 64 bits. One thread.
 */
#ifndef PERF_GPU_MERGE_REPEATS_H
#define PERF_GPU_MERGE_REPEATS_H

#include <stddef.h>
#include <stdint.h>

#include "util/hash_index.h"

struct repeat;

/* All 0: no record was there yet. */
struct repeats {
	struct repeat *records;
	size_t nr, nr_allocated;
	struct hash_index index;
};

/**
 * repeats__take - does a record say again what an earlier part has said?
 * @hash: of the record, and of whose it is
 * @part: that it is in; those of a part come one after the other
 *
 * What was there several times can come again as often.
 *
 * Return: 1 if so, 0 if it is new, or -ENOMEM.
 */
int repeats__take(struct repeats *repeats, uint64_t hash, size_t part);

/* It is empty again. */
void repeats__release(struct repeats *repeats);

#endif
