// SPDX-License-Identifier: GPL-2.0-or-later
/* Stacks that were made a short while ago: all that they depend on tells them apart. */
#include <string.h>

#include "source/recent_stacks.h"
#include "unit.h"

enum { LAUNCH = 211, COPY = 41 }; /* functions of the API */

static const struct recent_key key = {
	.epoch = 1, .api = LAUNCH, .pid = 7, .log = 0, .chain = 1};

static struct stack make_stack(size_t nr_frames)
{
	struct stack stack = {.nr_frames = nr_frames, .has_code = true};

	for (size_t i = 0; i < nr_frames; i++)
		stack.frames[i].ip = 100 + i;
	return stack;
}

TEST(a_stack_is_found_as_it_was)
{
	struct stack stack = make_stack(STACK_MAX_FRAMES), *found;
	struct recent_stacks *recent;

	CHECK_EQ(recent_stacks__new(&recent), 0);
	CHECK(!recent_stacks__find(recent, &key));
	CHECK(recent_stacks__add(recent, &key, &stack));
	found = recent_stacks__find(recent, &key);
	CHECK(found);
	CHECK_EQ(found->nr_frames, stack.nr_frames);
	CHECK(found->has_code);
	CHECK_MEM(found->frames, stack.frames, sizeof(stack.frames));
	recent_stacks__delete(recent);
}

TEST(all_that_a_stack_depends_on_is_compared)
{
	struct stack stack = make_stack(4);
	struct recent_key others[8];
	struct recent_stacks *recent;

	for (size_t i = 0; i < 8; i++)
		others[i] = key;
	others[0].epoch = 2;
	others[1].api = COPY;
	others[2].pid = 8;
	others[3].log = -1;
	others[4].is_hit = true;
	others[5].has_user_state = true;
	others[6].chain = 2;
	others[7].chain = 0;
	CHECK_EQ(recent_stacks__new(&recent), 0);
	recent_stacks__add(recent, &key, &stack);
	for (size_t i = 0; i < 8; i++)
		CHECK(!recent_stacks__find(recent, &others[i]));
	CHECK(recent_stacks__find(recent, &key));
	recent_stacks__delete(recent);
	recent_stacks__delete(NULL);
}

TEST(many_stacks_are_found_or_forgotten_but_never_wrong)
{
	enum { NR = 20000 };
	struct recent_stacks *recent;
	struct stack stack, *found;
	size_t nr_found = 0;

	CHECK_EQ(recent_stacks__new(&recent), 0);
	for (int round = 0; round < 2; round++)
		for (uint64_t k = 0; k < NR; k++) {
			/* Back to the oldest, which has gone for those behind it */
			uint64_t i = round ? NR - 1 - k : k;
			struct recent_key of_chain = key;

			of_chain.chain = 1 + i;
			found = recent_stacks__find(recent, &of_chain);
			if (found) {
				CHECK_EQ(found->nr_frames, 1 + i % 7);
				CHECK_EQ(found->frames[0].ip, i);
				nr_found++;
				continue;
			}
			stack = make_stack(1 + i % 7);
			stack.frames[0].ip = i;
			recent_stacks__add(recent, &of_chain, &stack);
			CHECK(recent_stacks__find(recent, &of_chain));
		}
	CHECK(nr_found > 0);
	recent_stacks__delete(recent);
}

/* A callchain that is not known may be any. */
TEST(no_callchain_is_equal_to_none)
{
	struct recent_key unknown = key;
	struct stack stack = make_stack(2);
	struct recent_stacks *recent;

	unknown.chain = 0;
	CHECK_EQ(recent_stacks__new(&recent), 0);
	CHECK(recent_stacks__add(recent, &unknown, &stack));
	CHECK(!recent_stacks__find(recent, &unknown));
	recent_stacks__delete(recent);
}

/* What sinks know of an id must never be of another stack. */
TEST(each_stack_that_is_added_has_an_id_of_its_own)
{
	struct stack stack = make_stack(3), *first, *second;
	struct recent_stacks *recent;
	struct recent_key other = key;

	other.pid = 8;
	CHECK_EQ(recent_stacks__new(&recent), 0);
	first = recent_stacks__add(recent, &key, &stack);
	second = recent_stacks__add(recent, &other, &stack);
	CHECK(first && second);
	CHECK_EQ(first->id, 1);
	CHECK_EQ(second->id, 2);
	CHECK_EQ(recent_stacks__find(recent, &key)->id, 1);
	CHECK_EQ(recent_stacks__add(recent, &key, &stack)->id, 3);
	recent_stacks__delete(recent);
}

/* As many as a program launches from are all remembered. */
TEST(five_hundred_stacks_have_room_beside_each_other)
{
	struct stack stack = make_stack(3);
	struct recent_stacks *recent;
	size_t nr_found = 0;

	CHECK_EQ(recent_stacks__new(&recent), 0);
	for (int is_second = 0; is_second < 2; is_second++)
		for (uint64_t i = 0; i < 500; i++) {
			struct recent_key of_chain = key;

			of_chain.chain = 1 + i;
			if (!is_second)
				recent_stacks__add(recent, &of_chain, &stack);
			else if (recent_stacks__find(recent, &of_chain))
				nr_found++;
		}
	CHECK_EQ(nr_found, 500);
	recent_stacks__delete(recent);
}
