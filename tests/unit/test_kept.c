// SPDX-License-Identifier: GPL-2.0-or-later
/* Records that are kept for a while: in order, by their keys, and no more than wanted */
#include "record/kept.h"

#include <string.h>

#include "unit.h"

static struct kept *add(struct kept_queue *queue, uint64_t time_ns, uint64_t key,
			uint32_t bytes)
{
	const struct kept like = {.time_ns = time_ns,
				  .log_id = key >> 32,
				  .key = key,
				  .bytes = bytes,
				  .kind = KEPT_LAUNCH};
	struct kept *kept = kept_queue__add(queue, &like);

	CHECK(kept);
	memset(kept->data, (int)key, bytes);
	return kept;
}

TEST(entries_come_in_order_and_go_by_chunks)
{
	struct kept_queue queue = {0};
	uint64_t nr = 0, nr_dropped = 0;

	for (uint64_t i = 0; i < 10000; i++)
		add(&queue, i, i, (uint32_t)(i % 777));
	for (struct kept_chunk *chunk = queue.first; chunk; chunk = chunk->next) {
		struct kept *kept = NULL;

		while ((kept = kept_chunk__next(chunk, kept))) {
			CHECK_EQ(kept->key, nr);
			CHECK_EQ(kept->bytes, nr % 777);
			if (kept->bytes)
				CHECK_EQ(*(unsigned char *)kept->data, nr & 0xff);
			nr++;
		}
	}
	CHECK_EQ(nr, 10000);
	while (kept_queue__has_old(&queue, 5000, SIZE_MAX)) {
		CHECK(queue.first->newest_ns < 5000);
		for (struct kept *kept = NULL;
		     (kept = kept_chunk__next(queue.first, kept));)
			nr_dropped++;
		kept_queue__drop(&queue);
	}
	CHECK(nr_dropped > 1000 && nr_dropped <= 5000);
	/* Too much, though it isn't old; the last stays. */
	while (kept_queue__has_old(&queue, 0, 1))
		kept_queue__drop(&queue);
	CHECK(queue.first && queue.first == queue.last);
	kept_queue__release(&queue);
}

TEST(an_entry_can_be_larger_than_a_chunk)
{
	struct kept_queue queue = {0};

	add(&queue, 1, 1, 100);
	add(&queue, 2, 2, 1 << 20);
	add(&queue, 3, 3, 100);
	kept_queue__drop(&queue);
	CHECK_EQ(kept_chunk__next(queue.first, NULL)->bytes, 1 << 20);
	kept_queue__release(&queue);
}

/* As long as they are there, whatever is added and removed around them */
TEST(launches_are_found_by_their_keys)
{
	enum { NR = 20000, WINDOW = 500 };
	static struct kept *entries[NR];
	struct kept_queue queue = {0};
	struct kept_index index = {0};

	CHECK(!kept_index__find(&index, 0, 7));
	for (uint64_t i = 0; i < NR; i++) {
		entries[i] = add(&queue, i, (i % 3) << 32 | i, 8);
		CHECK_EQ(kept_index__add(&index, entries[i]), 0);
		if (i < WINDOW)
			continue;
		kept_index__remove(&index, entries[i - WINDOW]);
		for (uint64_t j = i - WINDOW; j <= i; j += 49)
			CHECK(kept_index__find(&index, j % 3, (j % 3) << 32 | j) ==
			      (j > i - WINDOW ? entries[j] : NULL));
	}
	CHECK_EQ(index.nr, WINDOW);
	/* It doesn't grow with what has been in it. */
	CHECK(index.nr_slots <= 4 * WINDOW);
	kept_index__release(&index);
	kept_queue__release(&queue);
}

TEST(of_two_with_a_key_the_later_is_found)
{
	struct kept_queue queue = {0};
	struct kept_index index = {0};
	struct kept *first = add(&queue, 1, 5, 0), *second = add(&queue, 2, 5, 0);

	CHECK_EQ(kept_index__add(&index, first), 0);
	CHECK_EQ(kept_index__add(&index, second), 0);
	kept_index__remove(&index, first);
	CHECK(kept_index__find(&index, 0, 5) == second);
	kept_index__remove(&index, second);
	CHECK(!kept_index__find(&index, 0, 5));
	kept_index__release(&index);
	kept_queue__release(&queue);
}
