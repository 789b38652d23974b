// SPDX-License-Identifier: GPL-2.0-or-later
/* Every kernel is handed out once: to its launch, or as the rest. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "join/join.h"
#include "unit.h"

enum { LOG_A = 900, LOG_B = 5 };

static struct sidecar_log logs[] = {{.log_id = LOG_A}, {.log_id = LOG_B}};

static struct join *new_join(struct sidecar *sidecar, struct sidecar_kernel *kernels,
			     size_t nr)
{
	struct join *join = NULL;

	*sidecar = (struct sidecar){
		.logs = logs, .nr_logs = 2, .kernels = kernels, .nr_kernels = nr};
	CHECK_EQ(join__new(sidecar, &join), 0);
	return join;
}

TEST(kernels_go_to_their_launch)
{
	struct sidecar_kernel kernels[] = {
		{.log = 1, .correlation_id = 7, .start_ns = 50, .shape = 1},
		{.log = 0, .correlation_id = 8, .start_ns = 30, .shape = 2},
		{.log = 0, .correlation_id = 7, .start_ns = 40, .shape = 3},
		{.log = 0, .correlation_id = 7, .start_ns = 20, .shape = 4},
		{.log = 0, .correlation_id = 1ull << 40, .start_ns = 1, .shape = 5},
	};
	const struct sidecar_kernel *of;
	struct sidecar sidecar;
	struct join *join = new_join(&sidecar, kernels, 5);
	size_t cursor = 0;

	join__announce(join, LOG_A, 7);
	join__announce(join, LOG_B, 7);
	join__announce(join, LOG_B, 8); /* no kernel */
	join__announce(join, 12345, 8); /* no log */

	CHECK_EQ(join__launch(join, LOG_A, 7, &of), 2);
	CHECK_EQ(of[0].shape, 4);
	CHECK_EQ(of[1].shape, 3);
	CHECK_EQ(join__launch(join, LOG_B, 7, &of), 1);
	CHECK_EQ(of[0].shape, 1);
	CHECK_EQ(join__launch(join, LOG_B, 8, &of), 0);
	CHECK_EQ(join__launch(join, 12345, 8, &of), 0);

	CHECK_EQ(join__rest(join, &cursor)->shape, 2);
	CHECK_EQ(join__rest(join, &cursor)->shape, 5);
	CHECK(join__rest(join, &cursor) == NULL);
	CHECK(join__rest(join, &cursor) == NULL);
	join__delete(join);
}

TEST(key_that_comes_twice_gets_its_kernels_once)
{
	struct sidecar_kernel kernels[] = {{.correlation_id = 7}, {.correlation_id = 7}};
	const struct sidecar_kernel *of = NULL;
	struct sidecar sidecar;
	struct join *join = new_join(&sidecar, kernels, 2);
	size_t cursor = 0;

	join__announce(join, LOG_A, 7);
	join__announce(join, LOG_A, 7);
	CHECK_EQ(join__launch(join, LOG_A, 7, &of), 2);
	join__announce(join, LOG_A, 7);
	CHECK_EQ(join__launch(join, LOG_A, 7, &of), 0);
	CHECK(join__rest(join, &cursor) == NULL);
	join__delete(join);
}

/* Otherwise they would be handed out twice: they are the rest's. */
TEST(launch_that_was_not_announced_has_no_kernels)
{
	struct sidecar_kernel kernels[] = {{.correlation_id = 7}};
	const struct sidecar_kernel *of = NULL;
	struct sidecar sidecar;
	struct join *join = new_join(&sidecar, kernels, 1);
	size_t cursor = 0;

	CHECK_EQ(join__launch(join, LOG_A, 7, &of), 0);
	CHECK(of == NULL);
	CHECK(join__rest(join, &cursor) == &kernels[0]);
	join__delete(join);
}

TEST(logs_are_found_by_id)
{
	struct sidecar sidecar;
	struct join *join = new_join(&sidecar, NULL, 0);
	const struct sidecar_kernel *of;
	size_t cursor = 0;

	CHECK_EQ(join__find_log(join, LOG_A), 0);
	CHECK_EQ(join__find_log(join, LOG_B), 1);
	CHECK_EQ(join__find_log(join, 0), -ENOENT);
	join__announce(join, LOG_A, 1);
	CHECK_EQ(join__launch(join, LOG_A, 1, &of), 0);
	CHECK(join__rest(join, &cursor) == NULL);
	join__delete(join);
	join__delete(NULL);
}

TEST(empty_sidecar_has_nothing)
{
	struct sidecar sidecar = {0};
	struct join *join = NULL;
	size_t cursor = 0;

	CHECK_EQ(join__new(&sidecar, &join), 0);
	CHECK_EQ(join__find_log(join, 0), -ENOENT);
	CHECK(join__rest(join, &cursor) == NULL);
	join__delete(join);
}

/* Any kernels, any launches: each kernel comes once, under its own key or none. */
TEST(time_is_conserved)
{
	enum { NR = 20000, NR_IDS = 3000 };
	struct sidecar_kernel *kernels = calloc(NR, sizeof(*kernels));
	uint8_t *nr_seen = calloc(NR, sizeof(*nr_seen));
	const struct sidecar_kernel *of;
	struct sidecar sidecar;
	struct join *join;
	size_t cursor = 0;

	CHECK(kernels && nr_seen);
	srand(1);
	for (uint32_t i = 0; i < NR; i++)
		kernels[i] = (struct sidecar_kernel){
			.log = (uint32_t)rand() % 2,
			.correlation_id = (uint64_t)rand() % NR_IDS,
			.start_ns = (uint64_t)rand(),
			.shape = i,
		};
	join = new_join(&sidecar, kernels, NR);
	for (uint64_t id = 0; id < NR_IDS; id += 2)
		join__announce(join, id % 3 ? LOG_A : LOG_B, id);
	for (uint64_t id = 0; id < NR_IDS; id += 2) {
		size_t nr = join__launch(join, id % 3 ? LOG_A : LOG_B, id, &of);

		for (size_t i = 0; i < nr; i++) {
			nr_seen[of[i].shape]++;
			CHECK_EQ(of[i].correlation_id, id);
			CHECK_EQ(of[i].log, id % 3 ? 0 : 1);
			CHECK(!i || of[i].start_ns >= of[i - 1].start_ns);
		}
	}
	while ((of = join__rest(join, &cursor)))
		nr_seen[of->shape]++;
	for (size_t i = 0; i < NR; i++)
		CHECK_EQ(nr_seen[i], 1);
	join__delete(join);
	free(kernels);
	free(nr_seen);
}
