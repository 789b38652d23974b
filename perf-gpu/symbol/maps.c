// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A search tree by address whose nodes never change: what maps something makes the nodes
 * on the way to it anew, a few dozen, and has all others in common with who had the
 * address space before. So a file of forked children that map something each can't make
 * us hold a copy of all maps for every child.
 *
 * The tree is a treap: a heap by a number that is made of the map's address and of bytes
 * that nobody else knows, so that no file can choose its shape, and it is flat.
 */
#include "symbol/maps.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* A node, and with it all below: an address space is its root. */
struct maps {
	unsigned int nr_users;
	struct maps *left, *right; /* lower and higher addresses */
	struct map map;
};

struct maps *maps__share(struct maps *maps)
{
	if (maps)
		maps->nr_users++;
	return maps;
}

void maps__put(struct maps *maps)
{
	if (!maps || --maps->nr_users)
		return;
	maps__put(maps->left);
	maps__put(maps->right);
	free(maps);
}

/* Where a node is in the heap (splitmix64's last step) */
static uint64_t priority_of(const struct maps *node)
{
	static uint64_t secret;
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint64_t value;

	if (!secret && random)
		memcpy(&secret, random, sizeof(secret));
	value = node->map.start ^ secret;
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
	value = (value ^ value >> 27) * 0x94d049bb133111ebull;
	return value ^ value >> 31;
}

/* @left and @right become its own, or are put back without memory. */
static int make_node(const struct map *map, struct maps *left, struct maps *right,
		     struct maps **ret)
{
	struct maps *node = malloc(sizeof(*node));

	if (!node) {
		maps__put(left);
		maps__put(right);
		return -ENOMEM;
	}
	*node = (struct maps){.nr_users = 1, .left = left, .right = right, .map = *map};
	*ret = node;
	return 0;
}

/* What begins below @address, and the rest */
static int split(const struct maps *from, uint64_t address, struct maps **ret_below,
		 struct maps **ret_rest)
{
	struct maps *between;
	int err;

	if (!from) {
		*ret_below = *ret_rest = NULL;
		return 0;
	}
	if (from->map.start < address) {
		err = split(from->right, address, &between, ret_rest);
		if (err)
			return err;
		err = make_node(&from->map, maps__share(from->left), between, ret_below);
		if (err)
			maps__put(*ret_rest);
		return err;
	}
	err = split(from->left, address, ret_below, &between);
	if (err)
		return err;
	err = make_node(&from->map, between, maps__share(from->right), ret_rest);
	if (err)
		maps__put(*ret_below);
	return err;
}

/* Both together; all of @low is below all of @high. */
static int join(struct maps *low, struct maps *high, struct maps **ret)
{
	struct maps *between;
	int err;

	if (!low || !high) {
		*ret = maps__share(low ? low : high);
		return 0;
	}
	if (priority_of(low) > priority_of(high)) {
		err = join(low->right, high, &between);
		return err ? err
			   : make_node(&low->map, maps__share(low->left), between, ret);
	}
	err = join(low, high->left, &between);
	return err ? err : make_node(&high->map, between, maps__share(high->right), ret);
}

/* The same with a map more, above all */
static int append(struct maps **maps, const struct map *map)
{
	struct maps *node, *result;
	int err = make_node(map, NULL, NULL, &node);

	if (err)
		return err;
	err = join(*maps, node, &result);
	maps__put(node);
	if (err)
		return err;
	maps__put(*maps);
	*maps = result;
	return 0;
}

static const struct map *last_of(const struct maps *maps)
{
	while (maps && maps->right)
		maps = maps->right;
	return maps ? &maps->map : NULL;
}

/* The part of @map from @start on; false if there is none. */
static bool has_tail(const struct map *map, uint64_t start, struct map *ret)
{
	if (!map || map->end <= start)
		return false;
	*ret = *map;
	ret->start = start;
	ret->pgoff += start - map->start;
	return true;
}

/* Cut the last map, which the new one covers the end of. */
static int cut_last(struct maps **maps, uint64_t end)
{
	const struct map *last = last_of(*maps);
	struct maps *before, *none;
	struct map cut;
	int err;

	if (!last || last->end <= end)
		return 0;
	cut = *last;
	cut.end = end;
	err = split(*maps, cut.start, &before, &none);
	if (err)
		return err;
	maps__put(none);
	err = append(&before, &cut);
	if (err) {
		maps__put(before);
		return err;
	}
	maps__put(*maps);
	*maps = before;
	return 0;
}

int maps__insert(struct maps **maps, const struct map *new)
{
	struct maps *below, *rest = NULL, *covered = NULL, *behind = NULL, *result;
	struct map tail;
	bool has_one = false;
	int err;

	err = split(*maps, new->start, &below, &rest);
	if (err)
		return err;
	err = split(rest, new->end, &covered, &behind);
	if (!err) {
		has_one = has_tail(last_of(below), new->end, &tail) ||
			  has_tail(last_of(covered), new->end, &tail);
		err = cut_last(&below, new->start);
		if (!err)
			err = append(&below, new);
		if (!err && has_one)
			err = append(&below, &tail);
		if (!err)
			err = join(below, behind, &result);
		maps__put(covered);
		maps__put(behind);
	}
	maps__put(rest);
	maps__put(below);
	if (err)
		return err;
	maps__put(*maps);
	*maps = result;
	return 0;
}

const struct map *maps__find(const struct maps *maps, uint64_t address)
{
	while (maps) {
		if (address < maps->map.start)
			maps = maps->left;
		else if (address >= maps->map.end)
			maps = maps->right;
		else
			return &maps->map;
	}
	return NULL;
}
