// SPDX-License-Identifier: GPL-2.0-or-later
#include "python_merge.h"

#include <string.h>
#include <sys/types.h>

#include "gpu_log.h"

#define TRUNCATED ((uint64_t)GPU_LOG_FRAME_TRUNCATED << 56)

/* The native frames, in a copy; and what is made of them. */
struct merge {
	uint64_t native[PYTHON_MAX_FRAMES];
	size_t nr_native;
	const uint64_t *stack_pointers;
	bool is_native_cut;
	bool is_unmatched;
	bool is_cut;
	uint64_t *frames;
	size_t nr, max;
};

static bool is_loop(const struct python_source *source, uint64_t return_address)
{
	return return_address - 1 >= source->loop_start &&
	       return_address - 1 < source->loop_end;
}

/* The native frame, from FROM outwards, that has an address in its part of the stack. */
static size_t find_by_address(const struct merge *merge, size_t from, uint64_t address)
{
	for (size_t i = from; i < merge->nr_native; i++) {
		if (merge->stack_pointers[i] <= address &&
		    address < merge->stack_pointers[i + 1])
			return i;
	}
	return merge->nr_native;
}

/*
 * Where the next group goes, from the native frame FROM on. A group whose frame isn't
 * found goes with the next one that is, so that their order is kept.
 */
static size_t place_by_address(struct merge *merge, const struct python_source *source,
			       size_t from)
{
	const struct python_frames *python = &source->python;

	for (size_t group = source->group; group < python->nr_groups; group++) {
		size_t place = find_by_address(merge, from, python->addresses[group]);

		if (place < merge->nr_native)
			return place;
		merge->is_unmatched = true;
	}
	return merge->nr_native;
}

/*
 * The same by counting. The compiler may have cut something off the loop, and Python
 * functions be called from there: there are more groups than loops then, and those that
 * are left go into the outermost loop.
 */
static size_t place_by_count(struct merge *merge, const struct python_source *source,
			     size_t from)
{
	for (size_t i = from; i < merge->nr_native; i++) {
		if (is_loop(source, merge->native[i]))
			return i;
	}
	merge->is_unmatched = true;
	return from && !merge->is_native_cut ? from - 1 : merge->nr_native;
}

/* The next group, when those up to the native frame I have been placed; I may be -1. */
static void place_group(struct merge *merge, struct python_source *source, ssize_t i)
{
	if (source->group == source->python.nr_groups)
		return;
	if (source->has_addresses)
		source->place = place_by_address(merge, source, i < 0 ? 0 : (size_t)i);
	else
		source->place = place_by_count(merge, source, (size_t)(i + 1));
}

static void merge__add(struct merge *merge, uint64_t frame)
{
	if (merge->nr < merge->max)
		merge->frames[merge->nr++] = frame;
	else
		merge->is_cut = true;
}

/* The groups that go before the native frame I. */
static void merge__add_groups(struct merge *merge, struct python_source *source, size_t i)
{
	const struct python_frames *python = &source->python;

	while (source->group < python->nr_groups && source->place == i) {
		size_t frame = source->group ? python->group_ends[source->group - 1] : 0;

		for (; frame < python->group_ends[source->group]; frame++)
			merge__add(merge, python->frames[frame]);
		source->group++;
		place_group(merge, source, (ssize_t)i);
	}
}

static void merge__all(struct merge *merge, struct python_source *sources,
		       size_t nr_sources)
{
	for (size_t s = 0; s < nr_sources; s++)
		place_group(merge, &sources[s], -1);
	for (size_t i = 0; i <= merge->nr_native && !merge->is_cut; i++) {
		for (size_t s = 0; s < nr_sources; s++)
			merge__add_groups(merge, &sources[s], i);
		if (i < merge->nr_native)
			merge__add(merge, merge->native[i]);
	}
	for (size_t s = 0; s < nr_sources; s++)
		merge->is_cut |= sources[s].python.is_cut;
}

size_t python_merge__run(uint64_t *frames, const uint64_t *stack_pointers, size_t nr,
			 size_t max, struct python_source *sources, size_t nr_sources,
			 bool *ret_is_sure)
{
	struct merge merge;

	merge.is_native_cut =
		nr && GPU_LOG_FRAME_KIND(frames[nr - 1]) == GPU_LOG_FRAME_TRUNCATED;
	merge.nr_native = nr - merge.is_native_cut;
	memcpy(merge.native, frames, merge.nr_native * sizeof(*frames));
	merge.stack_pointers = stack_pointers;
	merge.is_unmatched = false;
	merge.is_cut = false;
	merge.frames = frames;
	merge.nr = 0;
	merge.max = max;
	merge__all(&merge, sources, nr_sources);

	*ret_is_sure = !merge.is_unmatched || merge.is_native_cut || merge.is_cut;
	if (merge.is_native_cut || merge.is_cut) {
		if (merge.nr == PYTHON_MAX_FRAMES)
			merge.nr--;
		frames[merge.nr++] = TRUNCATED;
	}
	return merge.nr;
}
