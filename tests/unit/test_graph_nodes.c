// SPDX-License-Identifier: GPL-2.0-or-later
/* From the node of a graph's kernel to what made it: join/graph_nodes.c */
#include <errno.h>

#include "gpu_log.h"
#include "join/graph_nodes.h"
#include "unit.h"

static struct sidecar_log logs[] = {{.log_id = 900, .tells_graph_nodes = true},
				    {.log_id = 5, .tells_graph_nodes = true},
				    {.log_id = 6}};

#define CAPTURED(node_, id_)                                      \
	{                                                         \
		.origin = GPU_LOG_NODE_CAPTURED, .node = (node_), \
		.correlation_id = (id_)                           \
	}
#define CLONED(node_, original_)                                                        \
	{                                                                               \
		.origin = GPU_LOG_NODE_CLONED, .node = (node_), .original = (original_) \
	}
#define UPDATED(node_, original_, id_)                           \
	{                                                        \
		.origin = GPU_LOG_NODE_UPDATED, .node = (node_), \
		.original = (original_), .correlation_id = (id_) \
	}

static struct sidecar sidecar;

#define NEW(shapes_, told_)                                                 \
	({                                                                  \
		struct graph_nodes *new_ = NULL;                            \
                                                                            \
		sidecar = (struct sidecar){                                 \
			.logs = logs,                                       \
			.nr_logs = 3,                                       \
			.shapes = (shapes_),                                \
			.nr_shapes = sizeof(shapes_) / sizeof(*(shapes_)),  \
			.graph_nodes = (told_),                             \
			.nr_graph_nodes = sizeof(told_) / sizeof(*(told_)), \
		};                                                          \
		CHECK_EQ(graph_nodes__new(&sidecar, &new_), 0);             \
		new_;                                                       \
	})

static ssize_t maker_of(const struct graph_nodes *nodes, uint32_t shape, uint64_t id)
{
	const struct sidecar_activity kernel = {
		.log = sidecar.shapes[shape].log, .shape = shape, .correlation_id = id};

	return graph_nodes__maker_of(nodes, &kernel);
}

static ssize_t launch(const struct graph_nodes *nodes, uint32_t log, uint64_t id)
{
	return graph_nodes__find_maker(nodes, log, GPU_LOG_API_ID(2, 211), id);
}

static ssize_t addition(const struct graph_nodes *nodes, uint32_t log, uint64_t node)
{
	return graph_nodes__find_maker(
		nodes, log, GPU_LOG_API_GRAPH_NODE | GPU_LOG_API_ID(2, 289), node);
}

TEST(copies_lead_to_the_launch_that_was_captured)
{
	struct sidecar_shape shapes[] = {{.graph_node = 30}, {.graph_node = 31}};
	struct sidecar_graph_node told[] = {CAPTURED(10, 7), CLONED(20, 10),
					    CLONED(30, 20),  CAPTURED(11, 8),
					    CLONED(31, 11),  CAPTURED(12, 9)};
	struct graph_nodes *nodes = NEW(shapes, told);

	CHECK(launch(nodes, 0, 7) >= 0);
	CHECK_EQ(maker_of(nodes, 0, 100), launch(nodes, 0, 7));
	CHECK_EQ(maker_of(nodes, 1, 100), launch(nodes, 0, 8));
	CHECK(launch(nodes, 0, 7) != launch(nodes, 0, 8));
	CHECK_EQ(launch(nodes, 0, 9), -ENOENT); /* nothing ran of it */
	CHECK_EQ(launch(nodes, 1, 7), -ENOENT); /* another process's */
	CHECK_EQ(addition(nodes, 0, 7), -ENOENT);
	CHECK_EQ(graph_nodes__nr_makers(nodes), 4); /* 30 and 31 themselves, too */
	graph_nodes__delete(nodes);
}

TEST(node_that_no_one_tells_of_was_added)
{
	struct sidecar_shape shapes[] = {{.graph_node = 30}, {.graph_node = 40}};
	struct sidecar_graph_node told[] = {CLONED(30, 20)};
	struct graph_nodes *nodes = NEW(shapes, told);

	CHECK(addition(nodes, 0, 20) >= 0);
	CHECK_EQ(maker_of(nodes, 0, 100), addition(nodes, 0, 20));
	CHECK_EQ(maker_of(nodes, 1, 100), addition(nodes, 0, 40));
	graph_nodes__delete(nodes);
}

TEST(update_counts_for_later_launches)
{
	struct sidecar_shape shapes[] = {{.graph_node = 30}};
	struct sidecar_graph_node told[] = {CAPTURED(10, 7),  CLONED(30, 10),
					    CAPTURED(11, 50), UPDATED(30, 11, 60),
					    CAPTURED(12, 70), UPDATED(30, 12, 80)};
	struct graph_nodes *nodes = NEW(shapes, told);

	CHECK_EQ(maker_of(nodes, 0, 20), launch(nodes, 0, 7));
	CHECK_EQ(maker_of(nodes, 0, 60), launch(nodes, 0, 7));
	CHECK_EQ(maker_of(nodes, 0, 61), launch(nodes, 0, 50));
	CHECK_EQ(maker_of(nodes, 0, 80), launch(nodes, 0, 50));
	CHECK_EQ(maker_of(nodes, 0, UINT64_MAX), launch(nodes, 0, 70));
	graph_nodes__delete(nodes);
}

TEST(processes_have_nodes_of_their_own)
{
	struct sidecar_shape shapes[] = {{.graph_node = 30},
					 {.log = 1, .graph_node = 30}};
	struct sidecar_graph_node told[] = {CAPTURED(30, 7), CAPTURED(30, 9)};
	struct graph_nodes *nodes;

	told[1].log = 1;
	nodes = NEW(shapes, told);
	CHECK_EQ(maker_of(nodes, 0, 100), launch(nodes, 0, 7));
	CHECK_EQ(maker_of(nodes, 1, 100), launch(nodes, 1, 9));
	graph_nodes__delete(nodes);
}

TEST(kernel_without_a_node_or_a_log_that_tells_has_no_maker)
{
	struct sidecar_shape shapes[] = {{.graph_node = 0}, {.log = 2, .graph_node = 30}};
	struct sidecar_graph_node told[] = {CAPTURED(10, 7)};
	struct graph_nodes *nodes = NEW(shapes, told);

	CHECK_EQ(maker_of(nodes, 0, 100), -ENOENT);
	CHECK_EQ(maker_of(nodes, 1, 100), -ENODATA);
	CHECK_EQ(graph_nodes__nr_makers(nodes), 0);
	graph_nodes__delete(nodes);
}

/* Against the format: a copy is told of behind its original. */
TEST(circles_end)
{
	struct sidecar_shape shapes[] = {
		{.graph_node = 30}, {.graph_node = 31}, {.graph_node = 33}};
	struct sidecar_graph_node told[] = {CLONED(30, 31), CLONED(31, 30),
					    CLONED(33, 33), UPDATED(33, 33, 5)};
	struct graph_nodes *nodes = NEW(shapes, told);

	CHECK(maker_of(nodes, 0, 100) >= 0);
	CHECK(maker_of(nodes, 1, 100) >= 0);
	CHECK(maker_of(nodes, 2, 1) >= 0);
	CHECK(maker_of(nodes, 2, 100) >= 0);
	graph_nodes__delete(nodes);
}

TEST(nothing_at_all_is_fine)
{
	struct graph_nodes *nodes = NULL;

	sidecar = (struct sidecar){0};
	CHECK_EQ(graph_nodes__new(&sidecar, &nodes), 0);
	CHECK_EQ(graph_nodes__nr_makers(nodes), 0);
	CHECK_EQ(launch(nodes, 0, 7), -ENOENT);
	graph_nodes__delete(nodes);
	graph_nodes__delete(NULL);
}

/* Copies of copies, as a file may have them: each is followed once, not once a kernel. */
TEST(long_chains_of_copies)
{
	enum { NR = 60000 };
	static struct sidecar_graph_node told[NR];
	static struct sidecar_shape shapes[NR];
	struct graph_nodes *nodes;

	told[0] = (struct sidecar_graph_node)CAPTURED(1, 7);
	shapes[0].graph_node = 1;
	for (uint64_t i = 1; i < NR; i++) {
		told[i] = (struct sidecar_graph_node)CLONED(i + 1, i);
		shapes[i].graph_node = i + 1;
	}
	nodes = NEW(shapes, told);
	CHECK_EQ(graph_nodes__nr_makers(nodes), 1 + NR);
	for (uint32_t i = 0; i < NR; i++)
		CHECK_EQ(maker_of(nodes, i, 100), launch(nodes, 0, 7));
	graph_nodes__delete(nodes);
}
