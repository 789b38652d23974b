// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/folded_stacks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sink/folded_names.h"
#include "util/array.h"
#include "util/hash_index.h"
#include "util/key_sums.h"
#include "util/sum.h"

/* Stacks with a stack_id, whose place that is: 4096 are recognized. */
#define NR_NUMBERED (1u << 12)

/* Part of numbers */
struct sequence {
	size_t first;
	uint32_t nr;
	uint32_t hash;
};

/* A stack of a number */
struct numbered_stack {
	uint64_t stack_id; /* 0: none */
	const struct frame_name *root;
	uint32_t stack;
};

struct folded_stacks {
	struct frame_names *frame_names;
	struct folded_names *names;
	struct sequence *stacks; /* without their leaves */
	size_t nr_stacks, nr_allocated_stacks;
	struct hash_index index; /* of stacks */
	uint32_t *numbers; /* of their parts, and room for those of another one */
	size_t nr_numbers, nr_allocated_numbers;
	struct key_sums sums; /* by stack, and the id of the leaf's name */
	struct numbered_stack numbered[NR_NUMBERED];
};

int folded_stacks__new(struct frame_names *names, struct folded_stacks **ret)
{
	struct folded_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return -ENOMEM;
	stacks->frame_names = names;
	if (folded_names__new(&stacks->names)) {
		free(stacks);
		return -ENOMEM;
	}
	*ret = stacks;
	return 0;
}

void folded_stacks__delete(struct folded_stacks *stacks)
{
	if (!stacks)
		return;
	folded_names__delete(stacks->names);
	key_sums__release(&stacks->sums);
	hash_index__release(&stacks->index);
	free(stacks->stacks);
	free(stacks->numbers);
	free(stacks);
}

/* --- stacks ------------------------------------------------------------------------------- */

/* Put the parts of a name behind those that a new sequence has. */
static int push_name(struct folded_stacks *stacks, struct sequence *new,
		     const struct frame_name *name)
{
	const uint32_t *parts;
	ssize_t nr = folded_names__parts(stacks->names, name, &parts);

	for (ssize_t i = 0; i < nr; i++) {
		if (array__grow(&stacks->numbers, new->first + new->nr,
				&stacks->nr_allocated_numbers, sizeof(*stacks->numbers)))
			return -ENOMEM;
		stacks->numbers[new->first + new->nr++] = parts[i];
	}
	return nr < 0 ? -ENOMEM : 0;
}

static uint32_t hash_of(const uint32_t *numbers, size_t nr)
{
	uint64_t hash = nr;

	for (size_t i = 0; i < nr; i++)
		hash = hash__mix(hash, numbers[i]);
	return (uint32_t)hash;
}

/* The stack of a sequence at the end of numbers, which stays there if it is a new one */
static int intern(struct folded_stacks *stacks, struct sequence *new, uint32_t *ret)
{
	const uint32_t *numbers = stacks->numbers + new->first;
	struct hash_cursor cursor;

	new->hash = hash_of(numbers, new->nr);
	cursor = hash_index__find(&stacks->index, new->hash);
	while (hash_index__next(&stacks->index, &cursor, ret)) {
		const struct sequence *known = &stacks->stacks[*ret];

		if (known->hash == new->hash && known->nr == new->nr &&
		    !memcmp(stacks->numbers + known->first, numbers,
			    new->nr * sizeof(*numbers)))
			return 0;
	}
	if (array__grow(&stacks->stacks, stacks->nr_stacks, &stacks->nr_allocated_stacks,
			sizeof(*stacks->stacks)) ||
	    hash_index__add(&stacks->index, new->hash, (uint32_t)stacks->nr_stacks))
		return -ENOMEM;
	*ret = (uint32_t)stacks->nr_stacks;
	stacks->stacks[stacks->nr_stacks++] = *new;
	stacks->nr_numbers += new->nr;
	return 0;
}

/* Frame by frame, from the root on; the leaf isn't among them */
static int find_stack(struct folded_stacks *stacks, const struct gpu_sample *sample,
		      const struct frame_name *root, uint32_t *ret)
{
	struct sequence new = {.first = stacks->nr_numbers};
	const struct frame_name *name;

	if (push_name(stacks, &new, root))
		return -ENOMEM;
	for (size_t i = sample->nr_frames; i-- > 1;)
		if (frame_names__of(stacks->frame_names, sample, i, &name) ||
		    push_name(stacks, &new, name))
			return -ENOMEM;
	return intern(stacks, &new, ret);
}

int folded_stacks__add(struct folded_stacks *stacks, const struct gpu_sample *sample,
		       const struct frame_name *root)
{
	struct numbered_stack *known =
		&stacks->numbered[sample->stack_id & (NR_NUMBERED - 1)];
	const struct frame_name *leaf;
	uint32_t stack;

	if (sample->stack_id && known->stack_id == sample->stack_id &&
	    known->root == root) {
		stack = known->stack;
	} else {
		if (find_stack(stacks, sample, root, &stack))
			return -ENOMEM;
		*known = (struct numbered_stack){
			.stack_id = sample->stack_id, .root = root, .stack = stack};
	}
	if (frame_names__of(stacks->frame_names, sample, 0, &leaf))
		return -ENOMEM;
	return key_sums__add(&stacks->sums, stack, leaf->id, sample->period);
}

/* --- lines -------------------------------------------------------------------------------- */

/* What a stack ends in: a line */
struct leaf {
	uint32_t stack, part;
	uint64_t period;
};

/* A stack, and the part that it is sorted by */
struct branch {
	uint32_t part, stack;
};

struct printer {
	struct folded_stacks *stacks;
	struct leaf *leaves; /* by stack, then part */
	size_t nr_leaves;
	size_t *first; /* by stack: where its leaves begin */
	struct branch *branches;
	folded_line_fn *print;
	void *data;
	/* The line up to where it is: frames from the root on, each with ; behind it */
	char *text;
	size_t capacity;
};

/*
 * The line of a stack and a leaf's name: the name's last part ends it. It may have several,
 * or none at all, so that the line ends with the stack.
 */
static int find_leaf(struct folded_stacks *stacks, const struct key_sum *sum,
		     struct leaf *ret)
{
	const struct frame_name *name =
		frame_names__at(stacks->frame_names, (uint32_t)sum->b);
	struct sequence new = {.first = stacks->nr_numbers};
	const struct sequence *stack = &stacks->stacks[sum->a];
	const uint32_t *parts;
	ssize_t nr = folded_names__parts(stacks->names, name, &parts);

	*ret = (struct leaf){.stack = (uint32_t)sum->a, .period = sum->sum};
	if (nr == 1) {
		ret->part = *parts;
		return 0;
	}
	for (uint32_t i = 0; i < stack->nr && nr >= 0; i++) {
		if (array__grow(&stacks->numbers, new.first + i,
				&stacks->nr_allocated_numbers, sizeof(*stacks->numbers)))
			return -ENOMEM;
		stacks->numbers[new.first + new.nr++] = stacks->numbers[stack->first + i];
	}
	if (nr < 0 || push_name(stacks, &new, name))
		return -ENOMEM;
	ret->part = stacks->numbers[new.first + --new.nr];
	return intern(stacks, &new, &ret->stack);
}

static int compare_leaves(const void *a, const void *b)
{
	const struct leaf *x = a, *y = b;

	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	return (x->part > y->part) - (x->part < y->part);
}

/* Names may be the same once they are cleaned: so may be lines. */
static void add_up(struct printer *printer)
{
	struct leaf *leaves = printer->leaves;
	size_t nr = 0;

	for (size_t i = 0; i < printer->nr_leaves; i++) {
		if (nr && !compare_leaves(&leaves[nr - 1], &leaves[i]))
			sum__add(&leaves[nr - 1].period, leaves[i].period);
		else
			leaves[nr++] = leaves[i];
	}
	printer->nr_leaves = nr;
}

static int find_leaves(struct printer *printer)
{
	struct key_sums *sums = &printer->stacks->sums;

	if (key_sums__settle(sums))
		return -ENOMEM;
	printer->leaves = calloc(sums->nr + 1, sizeof(*printer->leaves));
	if (!printer->leaves)
		return -ENOMEM;
	for (size_t i = 0; i < sums->nr; i++)
		if (find_leaf(printer->stacks, &sums->items[i], &printer->leaves[i]))
			return -ENOMEM;
	printer->nr_leaves = sums->nr;
	key_sums__release(sums);
	return 0;
}

/* Numbers of parts become those by which they are sorted. */
static int sort_parts(struct printer *printer)
{
	struct folded_stacks *stacks = printer->stacks;
	uint32_t *numbers;

	if (folded_names__sort(stacks->names, &numbers))
		return -ENOMEM;
	for (size_t i = 0; i < stacks->nr_numbers; i++)
		stacks->numbers[i] = numbers[stacks->numbers[i]];
	for (size_t i = 0; i < printer->nr_leaves; i++)
		printer->leaves[i].part = numbers[printer->leaves[i].part];
	free(numbers);
	qsort(printer->leaves, printer->nr_leaves, sizeof(*printer->leaves),
	      compare_leaves);
	add_up(printer);
	return 0;
}

static int list_branches(struct printer *printer)
{
	size_t nr = printer->stacks->nr_stacks, leaf = 0;

	printer->first = calloc(nr + 1, sizeof(*printer->first));
	printer->branches = calloc(nr + 1, sizeof(*printer->branches));
	if (!printer->first || !printer->branches)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		printer->branches[i].stack = (uint32_t)i;
		printer->first[i] = leaf;
		while (leaf < printer->nr_leaves && printer->leaves[leaf].stack == i)
			leaf++;
	}
	printer->first[nr] = leaf;
	return 0;
}

/* --- printing ----------------------------------------------------------------------------- */

/* Put a part behind the line up to @bytes, which become those behind it and its ; */
static int add_part(struct printer *printer, uint32_t number, size_t *bytes)
{
	const struct folded_part *part =
		folded_names__part(printer->stacks->names, number);

	if (!printer->text || *bytes + part->bytes + 1 > printer->capacity) {
		size_t capacity = 2 * (*bytes + part->bytes + 1);
		char *text = realloc(printer->text, capacity);

		if (!text)
			return -ENOMEM;
		printer->text = text;
		printer->capacity = capacity;
	}
	memcpy(printer->text + *bytes, part->text, part->bytes);
	*bytes += part->bytes;
	printer->text[(*bytes)++] = ';';
	return 0;
}

static int print_leaf(struct printer *printer, const struct leaf *leaf, size_t bytes)
{
	if (add_part(printer, leaf->part, &bytes))
		return -ENOMEM;
	return printer->print(printer->data, printer->text, bytes - 1, leaf->period);
}

static int compare_branches(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	return (x->part > y->part) - (x->part < y->part);
}

/* Sort stacks that are the same up to @depth, and longer, by the part that is there. */
static void sort_branches(struct printer *printer, struct branch *branches, size_t nr,
			  uint32_t depth)
{
	const struct folded_stacks *stacks = printer->stacks;
	bool is_sorted = true;

	for (size_t i = 0; i < nr; i++) {
		const struct sequence *stack = &stacks->stacks[branches[i].stack];

		branches[i].part = stacks->numbers[stack->first + depth];
		is_sorted &= !i || branches[i - 1].part <= branches[i].part;
	}
	if (!is_sorted)
		qsort(branches, nr, sizeof(*branches), compare_branches);
}

/* Move the stack that ends at @depth, of which there is one at most, to the front. */
static bool has_end(struct printer *printer, struct branch *branches, size_t nr,
		    uint32_t depth)
{
	for (size_t i = 0; i < nr; i++)
		if (printer->stacks->stacks[branches[i].stack].nr == depth) {
			struct branch end = branches[i];

			branches[i] = branches[0];
			branches[0] = end;
			return true;
		}
	return false;
}

/*
 * All lines of stacks that are the same up to @depth: those that end here, and those that go
 * on, by their next part. As deep as stacks are.
 */
static int print_branches(struct printer *printer, struct branch *branches, size_t nr,
			  uint32_t depth, size_t bytes)
{
	const struct leaf *leaf = NULL, *end = NULL;
	const struct branch *last = branches + nr;
	int err = 0;

	if (has_end(printer, branches, nr, depth)) {
		leaf = printer->leaves + printer->first[branches->stack];
		end = printer->leaves + printer->first[branches->stack + 1];
		branches++;
	}
	sort_branches(printer, branches, (size_t)(last - branches), depth);
	while (!err && (leaf < end || branches < last)) {
		size_t nr_alike = 0, deeper = bytes;

		if (branches == last || (leaf < end && leaf->part <= branches->part)) {
			err = print_leaf(printer, leaf++, bytes);
			continue;
		}
		while (branches + nr_alike < last &&
		       branches[nr_alike].part == branches->part)
			nr_alike++;
		err = add_part(printer, branches->part, &deeper);
		if (!err)
			err = print_branches(printer, branches, nr_alike, depth + 1,
					     deeper);
		branches += nr_alike;
	}
	return err;
}

int folded_stacks__print(struct folded_stacks *stacks, folded_line_fn *print, void *data)
{
	struct printer printer = {.stacks = stacks, .print = print, .data = data};
	int err = find_leaves(&printer);

	if (!err)
		err = sort_parts(&printer);
	if (!err)
		err = list_branches(&printer);
	if (!err)
		err = print_branches(&printer, printer.branches, stacks->nr_stacks, 0, 0);
	free(printer.leaves);
	free(printer.first);
	free(printer.branches);
	free(printer.text);
	return err;
}
