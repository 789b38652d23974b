/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of launches, each by its log and its id there; bounded, since processes can make
 * up any number of both. One thread.
 */
#ifndef PERF_GPU_RECORD_LAUNCH_SET_H
#define PERF_GPU_RECORD_LAUNCH_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 32 MiB, with the places that are free */
#define LAUNCH_SET_MAX (1u << 20)

struct launch_name {
	uint64_t log_id; /* 0: a free place */
	uint64_t key;
};

/* All 0 is empty. */
struct launch_set {
	struct launch_name *places; /* by hash; a power of two, at most half full */
	size_t nr_places;
	size_t nr;
};

/* @log_id isn't 0. Return: 0, -ENOMEM, or -ENOSPC if there are too many. */
int launch_set__add(struct launch_set *set, uint64_t log_id, uint64_t key);

bool launch_set__has(const struct launch_set *set, uint64_t log_id, uint64_t key);

void launch_set__release(struct launch_set *set);

#endif
