// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/kept_stacks.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN "[unknown]"

struct kept_frame {
	struct gpu_frame frame;
	/* What its address was; NULL: no code that is known */
	struct dso *dso;
	uint64_t offset; /* in the file */
};

struct kept_stack {
	/* Of the machine's maps, when they last were as they are needed */
	uint64_t nr_map_changes;
	uint32_t pid;
	uint32_t nr_frames;
	struct kept_frame frames[];
};

static int compare_kept(const void *a, const void *b)
{
	const struct kept_stack *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->nr_frames != y->nr_frames)
		return x->nr_frames < y->nr_frames ? -1 : 1;
	return memcmp(x->frames, y->frames, x->nr_frames * sizeof(*x->frames));
}

static uint64_t offset_in(const struct map *map, uint64_t ip)
{
	return ip - map->start + map->pgoff;
}

static struct kept_stack *make_kept(const struct stack *stack,
				    const struct machine *machine, uint32_t pid)
{
	size_t nr_frames = stack->nr_frames - 1;
	struct kept_stack *kept =
		calloc(1, sizeof(*kept) + nr_frames * sizeof(*kept->frames));

	if (!kept)
		return NULL;
	kept->nr_map_changes = machine__nr_map_changes(machine);
	kept->pid = pid;
	kept->nr_frames = (uint32_t)nr_frames;
	for (size_t i = 0; i < nr_frames; i++) {
		const struct gpu_frame *frame = &stack->frames[i + 1];
		const struct map *map;

		kept->frames[i].frame = *frame;
		map = frame->name ? NULL : machine__find_map(machine, pid, frame->ip);
		if (!map)
			continue;
		kept->frames[i].dso = map->dso;
		kept->frames[i].offset = offset_in(map, frame->ip);
	}
	return kept;
}

int kept_stacks__add(struct kept_stacks *stacks, const struct stack *stack,
		     const struct machine *machine, uint32_t pid, struct kept_stack **ret)
{
	struct kept_stack *kept = make_kept(stack, machine, pid), **found;

	if (!kept)
		return -ENOMEM;
	found = tsearch(kept, &stacks->tree, compare_kept);
	if (!found || *found != kept)
		free(kept);
	if (!found)
		return -ENOMEM;
	*ret = *found;
	return 0;
}

static bool is_as_it_was(const struct kept_frame *kept, const struct machine *machine,
			 uint32_t pid)
{
	const struct map *map;

	if (!kept->dso)
		return true;
	map = machine__find_map(machine, pid, kept->frame.ip);
	return map && map->dso == kept->dso &&
	       offset_in(map, kept->frame.ip) == kept->offset;
}

size_t kept_stack__frames(struct kept_stack *kept, const struct machine *machine,
			  struct gpu_frame *ret)
{
	uint64_t nr_map_changes = machine__nr_map_changes(machine);
	bool has_changed = false;

	for (size_t i = 0; i < kept->nr_frames; i++) {
		const struct kept_frame *frame = &kept->frames[i];
		const struct symbol *symbol;

		ret[i] = frame->frame;
		if (kept->nr_map_changes == nr_map_changes ||
		    is_as_it_was(frame, machine, kept->pid))
			continue;
		has_changed = true;
		symbol = dso__find_symbol(frame->dso, frame->offset, NULL);
		ret[i] = (struct gpu_frame){.name = symbol ? symbol->demangled : UNKNOWN};
	}
	if (!has_changed)
		kept->nr_map_changes = nr_map_changes;
	return kept->nr_frames;
}

void kept_stacks__release(struct kept_stacks *stacks)
{
	tdestroy(stacks->tree, free);
	stacks->tree = NULL;
}
