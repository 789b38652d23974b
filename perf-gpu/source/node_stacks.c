// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/node_stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "join/graph_nodes.h"
#include "source/graph_stack.h"
#include "source/kept_stacks.h"

struct node_stacks {
	enum graph_stacks mode;
	struct graph_nodes *nodes;
	bool are_told; /* by a log at least */
	struct kept_stacks kept;
	struct kept_stack **made; /* by maker; NULL: not seen (yet) */
	struct stack stack; /* the last that node_stacks__of() made */
};

int node_stacks__new(const struct sidecar *sidecar, enum graph_stacks mode,
		     struct node_stacks **ret)
{
	struct node_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return -ENOMEM;
	stacks->mode = mode;
	for (size_t i = 0; i < sidecar->nr_logs; i++)
		stacks->are_told |= sidecar->logs[i].tells_graph_nodes;
	if (graph_nodes__new(sidecar, &stacks->nodes))
		goto no_memory;
	/* One more: calloc(0) may give NULL. */
	stacks->made = calloc(graph_nodes__nr_makers(stacks->nodes) + 1,
			      sizeof(struct kept_stack *));
	if (!stacks->made)
		goto no_memory;
	*ret = stacks;
	return 0;
no_memory:
	node_stacks__delete(stacks);
	return -ENOMEM;
}

void node_stacks__delete(struct node_stacks *stacks)
{
	if (!stacks)
		return;
	free(stacks->made);
	kept_stacks__release(&stacks->kept);
	graph_nodes__delete(stacks->nodes);
	free(stacks);
}

ssize_t node_stacks__wants(const struct node_stacks *stacks, uint32_t log, uint32_t api,
			   uint64_t key)
{
	if (stacks->mode == GRAPH_STACKS_LAUNCH)
		return -ENOENT;
	return graph_nodes__find_maker(stacks->nodes, log, api, key);
}

int node_stacks__add(struct node_stacks *stacks, ssize_t maker, const struct stack *stack,
		     const struct machine *machine, uint32_t pid)
{
	if (!stack->has_code)
		return 0;
	return kept_stacks__add(&stacks->kept, stack, machine, pid, &stacks->made[maker]);
}

struct stack *node_stacks__of(struct node_stacks *stacks,
			      const struct sidecar_activity *activity,
			      struct stack *launch, const struct machine *machine)
{
	struct gpu_frame made[STACK_MAX_FRAMES];
	size_t nr_made = 0;
	ssize_t maker;

	if (stacks->mode == GRAPH_STACKS_LAUNCH || !stacks->are_told)
		return launch;
	maker = graph_nodes__maker_of(stacks->nodes, activity);
	if (maker == -ENOENT || maker == -ENODATA)
		return launch;
	if (maker >= 0 && stacks->made[maker])
		nr_made = kept_stack__frames(stacks->made[maker], machine, made);
	if (stacks->mode == GRAPH_STACKS_CAPTURE)
		graph_stack__made(made, nr_made, &stacks->stack);
	else
		graph_stack__join(launch, made, nr_made, &stacks->stack);
	return &stacks->stack;
}
