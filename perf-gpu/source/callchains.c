// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/callchains.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * A callchain has one of a few places, so that of 500 practically none has to go for
 * another; with 40 frames, all places take 3 MB.
 */
#define NR_SETS	  (1u << 11)
#define NR_PLACES 4

struct callchain {
	uint64_t number;
	uint64_t nr_ips, nr_allocated;
	uint64_t ips[];
};

/* Places of one hash, the newest first */
struct callchain_set {
	uint64_t hashes[NR_PLACES]; /* of those that are there */
	struct callchain *chains[NR_PLACES]; /* NULL: none, nor behind it */
};

struct callchains {
	uint64_t last_number;
	/* A bit for each number, up to the last that has come again; the others haven't */
	uint64_t *again;
	size_t nr_again_words;
	bool is_again_lost; /* there was no memory for them */
	struct callchain_set sets[NR_SETS];
};

int callchains__new(struct callchains **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void callchains__delete(struct callchains *chains)
{
	if (!chains)
		return;
	for (size_t i = 0; i < NR_SETS; i++)
		for (size_t k = 0; k < NR_PLACES; k++)
			free(chains->sets[i].chains[k]);
	free(chains->again);
	free(chains);
}

/* Both halves of a product */
static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/*
 * Sums of the words, and sums of these sums, so that their order counts: of each fourth
 * word, since four additions go on at once. 10 ns for 40 frames, where a hash with a
 * multiplication for each word took 45; what it mixes up is told apart by is_same().
 */
uint64_t callchains__hash(const uint64_t *ips, uint64_t nr_ips)
{
	uint64_t a = nr_ips, b = 0, c = 0, d = 0, sum_a = 0, sum_b = 0, sum_c = 0,
		 sum_d = 0, i = 0;

	for (; i + 4 <= nr_ips; i += 4) {
		sum_a += a += ips[i];
		sum_b += b += ips[i + 1];
		sum_c += c += ips[i + 2];
		sum_d += d += ips[i + 3];
	}
	for (; i < nr_ips; i++)
		sum_a += a += ips[i];
	/* Fractional digits of the square roots of 2, 3, 5 and 7 */
	return mix(mix(a ^ 0x6a09e667f3bcc908, sum_a ^ 0xbb67ae8584caa73b) +
			   mix(b ^ 0x3c6ef372fe94f82b, sum_b ^ 0xa54ff53a5f1d36f1),
		   mix(c ^ 0xa54ff53a5f1d36f1, sum_c ^ 0x3c6ef372fe94f82b) +
			   mix(d ^ 0xbb67ae8584caa73b, sum_d ^ 0x6a09e667f3bcc908));
}

static bool is_same(const struct callchain *chain, const uint64_t *ips, uint64_t nr_ips)
{
	return chain->nr_ips == nr_ips &&
	       (!nr_ips || !memcmp(chain->ips, ips, nr_ips * sizeof(*ips)));
}

/* Room for a callchain, in that of one that goes, if it is large enough; else NULL. */
static struct callchain *make_room(struct callchain *old, uint64_t nr_ips)
{
	struct callchain *new;

	if (old && old->nr_allocated >= nr_ips)
		return old;
	free(old);
	new = malloc(sizeof(*new) + nr_ips * sizeof(*new->ips));
	if (new)
		new->nr_allocated = nr_ips;
	return new;
}

/* Without memory, the last place of the set is empty. */
static uint64_t add(struct callchains *chains, struct callchain_set *set, uint64_t hash,
		    const uint64_t *ips, uint64_t nr_ips)
{
	struct callchain *new = make_room(set->chains[NR_PLACES - 1], nr_ips);

	set->chains[NR_PLACES - 1] = NULL;
	if (!new)
		return 0;
	memmove(set->chains + 1, set->chains, (NR_PLACES - 1) * sizeof(*set->chains));
	memmove(set->hashes + 1, set->hashes, (NR_PLACES - 1) * sizeof(*set->hashes));
	new->number = ++chains->last_number;
	new->nr_ips = nr_ips;
	if (nr_ips)
		memcpy(new->ips, ips, nr_ips * sizeof(*ips));
	set->chains[0] = new;
	set->hashes[0] = hash;
	return new->number;
}

static bool make_again_room(struct callchains *chains)
{
	size_t nr = 2 * (chains->last_number / 64 + 1);
	uint64_t *grown = reallocarray(chains->again, nr, sizeof(*grown));

	if (!grown)
		return false;
	memset(grown + chains->nr_again_words, 0,
	       (nr - chains->nr_again_words) * sizeof(*grown));
	chains->again = grown;
	chains->nr_again_words = nr;
	return true;
}

/* Return: the number */
static uint64_t note_again(struct callchains *chains, uint64_t number)
{
	if (number / 64 >= chains->nr_again_words && !make_again_room(chains))
		chains->is_again_lost = true;
	else
		chains->again[number / 64] |= 1ull << number % 64;
	return number;
}

bool callchains__came_again(const struct callchains *chains, uint64_t number)
{
	if (chains->is_again_lost)
		return true;
	return number / 64 < chains->nr_again_words &&
	       chains->again[number / 64] >> number % 64 & 1;
}

uint64_t callchains__find(struct callchains *chains, uint64_t hash, const uint64_t *ips,
			  uint64_t nr_ips)
{
	struct callchain_set *set = &chains->sets[hash & (NR_SETS - 1)];

	for (size_t i = 0; i < NR_PLACES && set->chains[i]; i++)
		if (set->hashes[i] == hash && is_same(set->chains[i], ips, nr_ips))
			return note_again(chains, set->chains[i]->number);
	return add(chains, set, hash, ips, nr_ips);
}

uint64_t callchains__number(struct callchains *chains, const uint64_t *ips,
			    uint64_t nr_ips)
{
	return callchains__find(chains, callchains__hash(ips, nr_ips), ips, nr_ips);
}
