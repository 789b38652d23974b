// SPDX-License-Identifier: GPL-2.0-or-later
#include "python_frames.h"

#include <string.h>

#include "readable.h"

/* Of a chain, which would have no end if it were garbage */
#define MAX_STEPS (4 * PYTHON_MAX_FRAMES)

struct walk {
	struct python_reader reader;
	uintptr_t cframe; /* of the run that we are in; 0: none */
	size_t group_start; /* in ret->frames */
	struct python_frames *ret;
};

/* A pointer in readable memory, without the tags that 3.14 has in its low bits */
static uintptr_t pointer_at(uintptr_t address)
{
	uintptr_t pointer;

	memcpy(&pointer, (const void *)address, sizeof(pointer));
	return pointer & ~(uintptr_t)7;
}

/* 0 if there is none */
static uintptr_t walk__pointer(struct walk *walk, uintptr_t address)
{
	uintptr_t pointer;

	if (address % sizeof(void *) ||
	    !readable__check(&walk->reader.readable, address, sizeof(pointer)))
		return 0;
	return pointer_at(address);
}

static uintptr_t walk__first_frame(struct walk *walk, uintptr_t thread)
{
	const struct python_layout *layout = walk->reader.layout;

	if (layout->thread.cframe)
		walk->cframe = walk__pointer(walk, thread + layout->thread.cframe);
	if (layout->thread.frame)
		return walk__pointer(walk, thread + layout->thread.frame);
	return walk->cframe ? walk__pointer(walk, walk->cframe + layout->cframe.frame)
			    : 0;
}

static void walk__end_group(struct walk *walk, uintptr_t address)
{
	struct python_frames *ret = walk->ret;

	if (ret->nr == walk->group_start)
		return;
	ret->group_ends[ret->nr_groups] = (uint8_t)ret->nr;
	ret->addresses[ret->nr_groups++] = address;
	walk->group_start = ret->nr;
}

/* Each run of the loop has a cframe of its own. */
static uintptr_t walk__leave_cframe(struct walk *walk)
{
	uintptr_t cframe = walk->cframe;

	if (cframe)
		walk->cframe = walk__pointer(
			walk, cframe + walk->reader.layout->cframe.previous);
	return cframe;
}

static uint64_t instruction_of(const struct python_layout *layout, uintptr_t frame)
{
	const void *at = (const void *)(frame + layout->frame.instruction);
	uint64_t address;
	uint32_t index;

	if (layout->frame.bytes_per_index) {
		memcpy(&index, at, sizeof(index));
		return index;
	}
	memcpy(&address, at, sizeof(address));
	return address;
}

/* False if there is no room for it. */
static bool walk__add(struct walk *walk, uintptr_t frame)
{
	const struct python_layout *layout = walk->reader.layout;
	struct python_frames *ret = walk->ret;
	uint64_t value;

	/* What has no code is none of the program's; what is garbage has none either. */
	if (!python_code__frame(&walk->reader, pointer_at(frame + layout->frame.code),
				instruction_of(layout, frame), &value))
		return true;
	if (ret->nr == PYTHON_MAX_FRAMES) {
		ret->is_cut = true;
		return false;
	}
	ret->frames[ret->nr++] = value;
	return true;
}

static uint8_t byte_at(uintptr_t address)
{
	return *(const uint8_t *)address;
}

/* False if it was the last one that there is room for. */
static bool walk__take(struct walk *walk, uintptr_t frame)
{
	const struct python_layout *layout = walk->reader.layout;

	switch (layout->group_end) {
	case PYTHON_SHIM_FRAME:
		if (byte_at(frame + layout->frame.owner) < layout->frame.shim_owner)
			return walk__add(walk, frame);
		walk__end_group(walk, frame);
		return true;
	case PYTHON_ENTRY_FRAME:
		if (!walk__add(walk, frame))
			return false;
		if (byte_at(frame + layout->frame.entry))
			walk__end_group(walk, walk__leave_cframe(walk));
		return true;
	default:
		if (!walk__add(walk, frame))
			return false;
		walk__end_group(walk, walk__leave_cframe(walk));
		return true;
	}
}

void python_frames__walk(const struct python_layout *layout,
			 const struct python_types *types, uintptr_t thread,
			 struct python_frames *ret)
{
	struct walk walk = {
		.reader = {.layout = layout,
			   .types = types,
			   .readable = readable__begin()},
		.ret = ret,
	};
	uintptr_t frame;

	ret->nr = 0;
	ret->nr_groups = 0;
	ret->is_cut = false;
	frame = walk__first_frame(&walk, thread);
	for (int i = 0; frame && i < MAX_STEPS; i++) {
		if (!readable__check(&walk.reader.readable, frame, layout->frame.bytes) ||
		    !walk__take(&walk, frame))
			break;
		frame = pointer_at(frame + layout->frame.previous);
	}
	walk__end_group(&walk, 0);
}
