// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a sample has of a stack that is walked later:
 *
 *   REGS_USER    u64 abi, u64 regs[]       those of sample_regs_user, by number;
 *                                          none if abi is 0
 *   STACK_USER   u64 bytes, u8 stack[bytes], u64 how many of them are valid
 *                                          nothing behind bytes if it is 0
 *
 * The stack is copied from the stack pointer on, towards the outermost frame.
 */
#include "unwind/user_state.h"

#include <errno.h>
#include <string.h>

#include "perfdata/cursor.h"

static bool is_sampled(uint64_t mask, unsigned int perf_reg)
{
	return mask >> perf_reg & 1;
}

/* Register PERF_REG of those that are stored one after the other. */
static uint64_t reg_value(const unsigned char *regs, uint64_t mask, unsigned int perf_reg)
{
	size_t place;
	uint64_t value;

	if (!is_sampled(mask, perf_reg))
		return 0;
	place = (size_t)__builtin_popcountll(mask & ((1ull << perf_reg) - 1));
	memcpy(&value, regs + place * sizeof(value), sizeof(value));
	return value;
}

static int parse_regs(const struct arch *arch, uint64_t mask,
		      struct perfdata_cursor *cursor, struct user_state *state)
{
	uint64_t abi = perfdata_cursor__u64(cursor);
	const unsigned char *regs;

	if (perfdata_cursor__failed(cursor))
		return -EINVAL;
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return -ENODATA;
	if (abi != PERF_SAMPLE_REGS_ABI_64)
		return -ENOTSUP;
	regs = perfdata_cursor__take(cursor, (uint64_t)__builtin_popcountll(mask),
				     sizeof(uint64_t));
	if (!regs)
		return -EINVAL;
	for (unsigned int i = 0; i < arch->nr_regs; i++)
		state->regs[i] = reg_value(regs, mask, arch->perf_regs[i]);
	state->pc = reg_value(regs, mask, arch->perf_pc);
	state->sp = reg_value(regs, mask, arch->perf_sp);
	return 0;
}

static int parse_stack(struct perfdata_cursor *cursor, struct user_state *state)
{
	uint64_t bytes = perfdata_cursor__u64(cursor), nr_valid;

	state->stack = perfdata_cursor__take(cursor, bytes, 1);
	nr_valid = bytes ? perfdata_cursor__u64(cursor) : 0;
	if (perfdata_cursor__failed(cursor))
		return -EINVAL;
	state->stack_bytes = nr_valid < bytes ? nr_valid : bytes;
	return 0;
}

int user_state__parse(const struct arch *arch, const struct perf_event_attr *attr,
		      const void *data, size_t bytes, struct user_state *ret)
{
	struct perfdata_cursor cursor = perfdata_cursor__new(data, bytes);
	uint64_t mask = attr->sample_regs_user;
	struct user_state state = {0};
	int err;

	if (!(attr->sample_type & PERF_SAMPLE_REGS_USER) ||
	    !is_sampled(mask, arch->perf_pc) || !is_sampled(mask, arch->perf_sp))
		return -ENOTSUP;
	err = parse_regs(arch, mask, &cursor, &state);
	if (!err && attr->sample_type & PERF_SAMPLE_STACK_USER)
		err = parse_stack(&cursor, &state);
	if (err)
		return err;
	*ret = state;
	return 0;
}

bool user_state__read(const struct user_state *state, uint64_t address, uint64_t *ret)
{
	uint64_t offset = address - state->sp;

	if (address < state->sp || state->stack_bytes < sizeof(*ret) ||
	    offset > state->stack_bytes - sizeof(*ret))
		return false;
	memcpy(ret, state->stack + offset, sizeof(*ret));
	return true;
}
