// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/spread.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash_index.h"
#include "util/sum.h"

/*
 * Distinct values that may be pending: putting them in order reads all that is, so there
 * are as many as make that cheap.
 */
#define MIN_PENDING	 512
#define FIRST_SLOTS	 16
#define MAX_NUMBER_BYTES 10 /* of a 64-bit number in groups of seven bits */

static size_t max_pending(const struct spread *spread)
{
	return spread->nr_distinct / 8 > MIN_PENDING ? spread->nr_distinct / 8
						     : MIN_PENDING;
}

/* --- numbers ------------------------------------------------------------------------ */

static uint8_t *write_number(uint8_t *at, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	return at;
}

static const uint8_t *read_number(const uint8_t *at, uint64_t *ret)
{
	unsigned int shift = 0;

	*ret = 0;
	for (;; shift += 7) {
		*ret |= (uint64_t)(*at & 0x7f) << shift;
		if (!(*at++ & 0x80))
			return at;
	}
}

/* Walks the sorted pairs. */
struct walk {
	const uint8_t *at, *end;
	struct value_count now;
};

static struct walk walk_of(const struct spread *spread)
{
	/* Nothing can be added to the address of no bytes, not even nothing. */
	return (struct walk){.at = spread->bytes,
			     .end = spread->nr_bytes ? spread->bytes + spread->nr_bytes
						     : spread->bytes};
}

static bool walk__next(struct walk *walk)
{
	uint64_t distance;

	if (walk->at == walk->end)
		return false;
	walk->at = read_number(walk->at, &distance);
	walk->at = read_number(walk->at, &walk->now.nr);
	walk->now.value += distance;
	return true;
}

/* --- putting in order --------------------------------------------------------------- */

static int compare_values(const void *a, const void *b)
{
	const struct value_count *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* The pending ones move to the front of their table, sorted: it is no table then. */
static void sort_pending(struct spread *spread)
{
	size_t nr = 0;

	for (size_t i = 0; i < spread->nr_slots; i++)
		if (spread->pending[i].nr)
			spread->pending[nr++] = spread->pending[i];
	qsort(spread->pending, nr, sizeof(*spread->pending), compare_values);
}

/* Writes pairs; the distance is counted from what was written before. */
struct writer {
	uint8_t *at;
	uint64_t last;
	size_t nr;
};

static void writer__put(struct writer *writer, const struct value_count *pair)
{
	writer->at = write_number(writer->at, pair->value - writer->last);
	writer->at = write_number(writer->at, pair->nr);
	writer->last = pair->value;
	writer->nr++;
}

/* Merge the two sorted lists into @writer. */
static void merge(const struct spread *spread, struct writer *writer)
{
	const struct value_count *new = spread->pending;
	const struct value_count *end = new + spread->nr_pending;
	struct walk old = walk_of(spread);
	bool has_old = walk__next(&old);

	while (has_old || new < end) {
		struct value_count pair;

		if (!has_old || (new < end &&new->value < old.now.value)) {
			pair = *new ++;
		} else {
			pair = old.now;
			if (new < end &&new->value == pair.value)
				sum__add(&pair.nr, new ++->nr);
			has_old = walk__next(&old);
		}
		writer__put(writer, &pair);
	}
}

static int put_in_order(struct spread *spread)
{
	/*
	 * A new pair is two numbers. The distance behind it gets smaller; a count that
	 * grows has no more bytes than that of a new pair.
	 */
	size_t nr_bytes = spread->nr_bytes + 2 * MAX_NUMBER_BYTES * spread->nr_pending;
	uint8_t *bytes = malloc(nr_bytes + 1), *fitting;
	struct writer writer = {.at = bytes};

	if (!bytes)
		return -ENOMEM;
	sort_pending(spread);
	merge(spread, &writer);
	memset(spread->pending, 0, spread->nr_slots * sizeof(*spread->pending));
	spread->nr_pending = 0;
	free(spread->bytes);
	spread->nr_bytes = (size_t)(writer.at - bytes);
	spread->nr_distinct = writer.nr;
	fitting = realloc(bytes, spread->nr_bytes + 1);
	spread->bytes = fitting ? fitting : bytes;
	return 0;
}

/* --- adding -------------------------------------------------------------------------- */

/* The slot of a value, or the free one where it belongs; there is one. */
static struct value_count *find_slot(const struct spread *spread, uint64_t value)
{
	size_t slot = hash__mix(0, value) & (spread->nr_slots - 1);

	while (spread->pending[slot].nr && spread->pending[slot].value != value)
		slot = (slot + 1) & (spread->nr_slots - 1);
	return &spread->pending[slot];
}

static int grow(struct spread *spread)
{
	const size_t nr_old = spread->nr_slots,
		     nr_new = nr_old ? 2 * nr_old : FIRST_SLOTS;
	struct value_count *old = spread->pending, *new = calloc(nr_new, sizeof(*new));

	if (!new)
		return -ENOMEM;
	spread->pending = new;
	spread->nr_slots = nr_new;
	for (size_t i = 0; i < nr_old; i++)
		if (old[i].nr)
			*find_slot(spread, old[i].value) = old[i];
	free(old);
	return 0;
}

static int count_value(struct spread *spread, uint64_t value)
{
	struct value_count *slot;

	if (2 * spread->nr_pending >= spread->nr_slots && grow(spread))
		return -ENOMEM;
	slot = find_slot(spread, value);
	slot->value = value;
	if (slot->nr++)
		return 0;
	if (++spread->nr_pending < max_pending(spread))
		return 0;
	return put_in_order(spread);
}

int spread__add(struct spread *spread, uint64_t value)
{
	unsigned __int128 square = (unsigned __int128)value * value;

	if (count_value(spread, value))
		return -ENOMEM;
	if (!spread->nr || value < spread->min)
		spread->min = value;
	if (value > spread->max)
		spread->max = value;
	spread->nr++;
	sum__add(&spread->sum, value);
	if (__builtin_add_overflow(spread->squares, square, &spread->squares))
		spread->squares = ~(unsigned __int128)0;
	return 0;
}

void spread__release(struct spread *spread)
{
	free(spread->pending);
	free(spread->bytes);
	*spread = (struct spread){0};
}

/* --- questions ------------------------------------------------------------------------ */

int spread__median(struct spread *spread, struct half *ret)
{
	uint64_t lower_place = (spread->nr - 1) / 2, upper_place = spread->nr / 2;
	uint64_t lower = 0, nr = 0;
	struct walk walk;

	if (!spread->nr) {
		*ret = (struct half){0};
		return 0;
	}
	if (spread->nr_pending && put_in_order(spread))
		return -ENOMEM;
	walk = walk_of(spread);
	while (walk__next(&walk)) {
		if (nr <= lower_place && lower_place < nr + walk.now.nr)
			lower = walk.now.value;
		nr += walk.now.nr;
		if (upper_place < nr)
			break;
	}
	/* The sum of the two may be more than 64 bits hold. */
	ret->whole = lower + (walk.now.value - lower) / 2;
	ret->is_half = (walk.now.value - lower) & 1;
	return 0;
}

double spread__mean(const struct spread *spread)
{
	return spread->nr ? (double)((long double)spread->sum / (long double)spread->nr)
			  : 0;
}

double spread__deviation(const struct spread *spread)
{
	unsigned __int128 product, square;
	long double nr = (long double)spread->nr, variance;

	if (spread->nr < 2)
		return 0;
	square = (unsigned __int128)spread->sum * spread->sum;
	/* Exact where it fits into 128 bits, which is 10^7 times a second and more. */
	if (!__builtin_mul_overflow(spread->squares, (unsigned __int128)spread->nr,
				    &product) &&
	    product >= square)
		variance = (long double)(product - square) / nr / (nr - 1);
	else
		variance = ((long double)spread->squares - (long double)square / nr) /
			   (nr - 1);
	return variance > 0 ? (double)sqrtl(variance) : 0;
}
