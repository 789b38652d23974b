/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callchains by number: a program launches from the same few places over and over, and to
 * compare two numbers takes less than to compare 40 addresses each time that something is
 * asked of them.
 *
 * Those of a short while ago are known: there is room for some thousands; where callchains
 * of the same hash come, the oldest has to go, and gets another number when it comes again.
 * So callchains with the same number are equal, and equal ones mostly have the same.
 *
 * One thread at a time.
 */
#ifndef PERF_GPU_SOURCE_CALLCHAINS_H
#define PERF_GPU_SOURCE_CALLCHAINS_H

#include <stdbool.h>
#include <stdint.h>

struct callchains;

/* None yet. 0 or -ENOMEM; released by callchains__delete(), which takes NULL, too. */
int callchains__new(struct callchains **ret);
void callchains__delete(struct callchains *chains);

/**
 * callchains__number - the number of a callchain
 * @ips: copied, if it is new; NULL if there are none
 *
 * Return: 1, 2, 3, ... as they come; 0 without memory: that is no callchain's.
 */
uint64_t callchains__number(struct callchains *chains, const uint64_t *ips,
			    uint64_t nr_ips);

/*
 * The same in two steps: who has many callchains is quicker if the first step is done for all
 * of them, which needs nothing that was found before.
 */
uint64_t callchains__hash(const uint64_t *ips, uint64_t nr_ips);
uint64_t callchains__find(struct callchains *chains, uint64_t hash, const uint64_t *ips,
			  uint64_t nr_ips);

/* Was a number given more than once? Without memory, all were. */
bool callchains__came_again(const struct callchains *chains, uint64_t number);

#endif
