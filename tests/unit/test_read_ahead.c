// SPDX-License-Identifier: GPL-2.0-or-later
/* All that is read ahead comes, in its order, and the thread ends whenever it is to. */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "unit.h"
#include "util/read_ahead.h"

enum { MAX_ITEMS = 8 };

struct numbers {
	unsigned int next, end;
	unsigned int nr_calls_behind_end;
};

static size_t fill(void *data, void *batch)
{
	struct numbers *numbers = data;
	unsigned int *items = batch;
	size_t nr = 0;

	if (numbers->next == numbers->end) {
		numbers->nr_calls_behind_end++;
		return 0;
	}
	/* Batches are of all lengths that they can have. */
	while (nr < 1 + numbers->next % MAX_ITEMS && numbers->next < numbers->end)
		items[nr++] = numbers->next++;
	return nr;
}

static struct read_ahead *begin(struct numbers *numbers)
{
	const struct read_ahead_input input = {
		.fill = fill,
		.data = numbers,
		.batch_bytes = MAX_ITEMS * sizeof(unsigned int),
	};
	struct read_ahead *ahead;

	CHECK_EQ(read_ahead__new(&input, &ahead), 0);
	return ahead;
}

static void read_all(unsigned int nr)
{
	struct numbers numbers = {.end = nr};
	struct read_ahead *ahead = begin(&numbers);
	unsigned int expected = 0, *items;
	size_t nr_items = 0;

	while ((items = read_ahead__next(ahead, &nr_items)))
		for (size_t i = 0; i < nr_items; i++)
			CHECK_EQ(items[i], expected++);
	CHECK_EQ(expected, nr);
	CHECK(!read_ahead__next(ahead, &nr_items));
	read_ahead__delete(ahead);
	CHECK_EQ(numbers.nr_calls_behind_end, 1);
}

TEST(all_items_come_in_order)
{
	read_all(0);
	read_all(1);
	read_all(100000);
	read_ahead__delete(NULL);
}

/* Whether the thread waits for room then, fills a batch, or is done. */
TEST(it_can_be_ended_at_any_time)
{
	for (unsigned int i = 0; i < 1000; i++) {
		struct numbers numbers = {.end = 1 + i % 200};
		struct read_ahead *ahead = begin(&numbers);
		size_t nr_items;

		for (unsigned int k = 0; k < i % 10; k++)
			read_ahead__next(ahead, &nr_items);
		read_ahead__delete(ahead);
	}
}

/* A user with as many threads as are allowed gets none more, but root always does. */
TEST(without_a_thread_all_is_read_as_well)
{
	struct rlimit before, none;

	if (!geteuid())
		CHECK_EQ(setresuid(65534, 65534, 65534), 0);
	prctl(PR_SET_DUMPABLE, 1); /* for who looks for leaks at the end */
	CHECK_EQ(getrlimit(RLIMIT_NPROC, &before), 0);
	none = before;
	none.rlim_cur = 0;
	CHECK_EQ(setrlimit(RLIMIT_NPROC, &none), 0);
	read_all(1000);
	CHECK_EQ(setrlimit(RLIMIT_NPROC, &before), 0);
}
