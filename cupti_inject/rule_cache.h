/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules that were learned, by place in the program; one table for all threads, without
 * locks: a thread that finds an entry being changed learns the rule itself.
 *
 *   32,768 rules in 1 MiB, of which only the pages that are used take memory. PyTorch
 *   launches from some thousand places. When a set is full, another rule is forgotten.
 *
 * A rule is of an epoch, which ends when a library is closed: another may then be at
 * its place.
 */
#ifndef PERF_GPU_INJECT_RULE_CACHE_H
#define PERF_GPU_INJECT_RULE_CACHE_H

#include "frame_rule.h"

/* Returns false if the rule isn't there. */
bool rule_cache__find(uint64_t pc, uint16_t epoch, struct frame_rule *ret);

void rule_cache__add(uint64_t pc, uint16_t epoch, const struct frame_rule *rule);

/* Forget all: epochs have come round. */
void rule_cache__clear(void);

#endif
