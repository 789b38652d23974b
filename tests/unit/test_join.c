// SPDX-License-Identifier: GPL-2.0-or-later
/* Every occurrence is handed out once: to its launch, or as the rest. Here, periods name them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "join/join.h"
#include "unit.h"

enum { LOG_A = 900, LOG_B = 5 };

static struct sidecar_log logs[] = {{.log_id = LOG_A}, {.log_id = LOG_B}};

static const struct sidecar sidecar = {.logs = logs, .nr_logs = 2};

static struct join *new_join(struct occurrences *occurrences, struct occurrence *items,
			     size_t nr)
{
	struct join *join = NULL;

	*occurrences = (struct occurrences){.items = items, .nr = nr};
	CHECK_EQ(join__new(&sidecar, &join), 0);
	CHECK_EQ(join__index(join, occurrences), 0);
	return join;
}

/* Those of a launch, which follow each other, as they aren't streamed */
static size_t launch(struct join *join, uint64_t log_id, uint64_t correlation_id,
		     const struct occurrence **ret)
{
	size_t first, nr = join__launch(join, log_id, correlation_id, &first);

	if (nr)
		*ret = join__at(join, first);
	return nr;
}

TEST(kernels_go_to_their_launch)
{
	struct occurrence kernels[] = {
		{.log = 1, .correlation_id = 7, .start_ns = 50, .period = 1},
		{.log = 0, .correlation_id = 8, .start_ns = 30, .period = 2},
		{.log = 0, .correlation_id = 7, .start_ns = 40, .period = 3},
		{.log = 0, .correlation_id = 7, .start_ns = 20, .period = 4},
		{.log = 0, .correlation_id = 1ull << 40, .start_ns = 1, .period = 5},
	};
	const struct occurrence *of;
	struct occurrences occurrences;
	struct join *join = new_join(&occurrences, kernels, 5);
	size_t cursor = 0;

	join__announce(join, LOG_A, 7);
	join__announce(join, LOG_B, 7);
	join__announce(join, LOG_B, 8); /* no kernel */
	join__announce(join, 12345, 8); /* no log */

	CHECK_EQ(launch(join, LOG_A, 7, &of), 2);
	CHECK_EQ(of[0].period, 4);
	CHECK_EQ(of[1].period, 3);
	CHECK_EQ(launch(join, LOG_B, 7, &of), 1);
	CHECK_EQ(of[0].period, 1);
	CHECK_EQ(launch(join, LOG_B, 8, &of), 0);
	CHECK_EQ(launch(join, 12345, 8, &of), 0);

	CHECK_EQ(join__rest(join, &cursor)->period, 2);
	CHECK_EQ(join__rest(join, &cursor)->period, 5);
	CHECK(join__rest(join, &cursor) == NULL);
	CHECK(join__rest(join, &cursor) == NULL);
	join__delete(join);
}

TEST(key_that_comes_twice_gets_its_kernels_once)
{
	struct occurrence kernels[] = {{.correlation_id = 7}, {.correlation_id = 7}};
	const struct occurrence *of = NULL;
	struct occurrences occurrences;
	struct join *join = new_join(&occurrences, kernels, 2);
	size_t cursor = 0;

	join__announce(join, LOG_A, 7);
	join__announce(join, LOG_A, 7);
	CHECK_EQ(launch(join, LOG_A, 7, &of), 2);
	join__announce(join, LOG_A, 7);
	CHECK_EQ(launch(join, LOG_A, 7, &of), 0);
	CHECK(join__rest(join, &cursor) == NULL);
	join__delete(join);
}

/* Otherwise they would be handed out twice: they are the rest's. */
TEST(launch_that_was_not_announced_has_no_kernels)
{
	struct occurrence kernels[] = {{.correlation_id = 7}};
	const struct occurrence *of = NULL;
	struct occurrences occurrences;
	struct join *join = new_join(&occurrences, kernels, 1);
	size_t cursor = 0;

	CHECK_EQ(launch(join, LOG_A, 7, &of), 0);
	CHECK(of == NULL);
	CHECK(join__rest(join, &cursor) == &kernels[0]);
	join__delete(join);
}

TEST(logs_are_found_by_id)
{
	struct occurrences occurrences;
	struct join *join = new_join(&occurrences, NULL, 0);
	const struct occurrence *of;
	size_t cursor = 0;

	CHECK_EQ(join__find_log(join, LOG_A), 0);
	CHECK_EQ(join__find_log(join, LOG_B), 1);
	CHECK_EQ(join__find_log(join, 0), -ENOENT);
	join__announce(join, LOG_A, 1);
	CHECK_EQ(launch(join, LOG_A, 1, &of), 0);
	CHECK(join__rest(join, &cursor) == NULL);
	join__delete(join);
	join__delete(NULL);
}

TEST(empty_sidecar_has_nothing)
{
	const struct sidecar empty = {0};
	struct occurrences occurrences = {0};
	struct join *join = NULL;
	size_t cursor = 0;

	CHECK_EQ(join__new(&empty, &join), 0);
	CHECK_EQ(join__index(join, &occurrences), 0);
	CHECK_EQ(join__find_log(join, 0), -ENOENT);
	CHECK(join__rest(join, &cursor) == NULL);
	join__delete(join);
}

/* Any kernels, any launches: each kernel comes once, under its own key or none. */
TEST(time_is_conserved)
{
	enum { NR = 20000, NR_IDS = 3000 };
	struct occurrence *kernels = calloc(NR, sizeof(*kernels));
	uint8_t *nr_seen = calloc(NR, sizeof(*nr_seen));
	const struct occurrence *of;
	struct occurrences occurrences;
	struct join *join;
	size_t cursor = 0;

	CHECK(kernels && nr_seen);
	srand(1);
	for (uint32_t i = 0; i < NR; i++)
		kernels[i] = (struct occurrence){
			.log = (uint32_t)rand() % 2,
			.correlation_id = (uint64_t)rand() % NR_IDS,
			.start_ns = (uint64_t)rand(),
			.period = i,
		};
	join = new_join(&occurrences, kernels, NR);
	for (uint64_t id = 0; id < NR_IDS; id += 2)
		join__announce(join, id % 3 ? LOG_A : LOG_B, id);
	for (uint64_t id = 0; id < NR_IDS; id += 2) {
		size_t nr = launch(join, id % 3 ? LOG_A : LOG_B, id, &of);

		for (size_t i = 0; i < nr; i++) {
			nr_seen[of[i].period]++;
			CHECK_EQ(of[i].correlation_id, id);
			CHECK_EQ(of[i].log, id % 3 ? 0 : 1);
			CHECK(!i || of[i].start_ns >= of[i - 1].start_ns);
		}
	}
	while ((of = join__rest(join, &cursor)))
		nr_seen[of->period]++;
	for (size_t i = 0; i < NR; i++)
		CHECK_EQ(nr_seen[i], 1);
	join__delete(join);
	free(kernels);
	free(nr_seen);
}

/* In order, backwards, and with steps back: whichever came before, each has its own. */
TEST(order_of_launches_does_not_matter)
{
	enum { NR_IDS = 300 };
	static const int steps[] = {1, -1, 7};
	struct occurrence *kernels = calloc(2 * NR_IDS, sizeof(*kernels));
	const struct occurrence *of;

	CHECK(kernels);
	for (size_t s = 0; s < 3; s++) {
		struct occurrences occurrences;
		struct join *join;

		for (uint64_t i = 0; i < 2 * NR_IDS; i++)
			kernels[i] = (struct occurrence){
				.log = 0, .correlation_id = 1 + i / 2, .period = i};
		join = new_join(&occurrences, kernels, 2 * NR_IDS);
		for (int pass = 0; pass < 2; pass++)
			for (int i = 0; i < NR_IDS; i++) {
				int id = 1 + ((steps[s] * i) % NR_IDS + NR_IDS) % NR_IDS;

				if (!pass) {
					join__announce(join, LOG_A, (uint64_t)id);
					continue;
				}
				CHECK_EQ(launch(join, LOG_A, (uint64_t)id, &of), 2);
				CHECK_EQ(of[0].correlation_id, id);
				CHECK_EQ(of[1].correlation_id, id);
				CHECK_EQ(launch(join, LOG_A, (uint64_t)id, &of), 0);
			}
		join__delete(join);
	}
	free(kernels);
}
