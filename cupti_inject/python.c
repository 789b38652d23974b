// SPDX-License-Identifier: GPL-2.0-or-later
#include "python.h"

#include <stdatomic.h>
#include <string.h>

#include "gpu_log.h"
#include "python_code.h"
#include "python_frames.h"
#include "python_runtime.h"
#include "readable.h"

#define TRUNCATED ((uint64_t)GPU_LOG_FRAME_TRUNCATED << 56)

static struct python_runtime runtimes[PYTHON_MAX_RUNTIMES];
static size_t nr_found; /* of python__look() */
static atomic_size_t nr_runtimes; /* to be walked: none, or those found */
static struct log *python_log; /* NULL: not to be walked */
static atomic_uint_fast64_t nr_unmatched; /* stacks */

void python__begin(struct log *log)
{
	python_log = log;
	atomic_store(&nr_unmatched, 0);
	if (!log) {
		atomic_store(&nr_runtimes, 0);
		return;
	}
	python_code__begin(log);
	python__look();
}

void python__look(void)
{
	if (!python_log)
		return;
	readable__forget();
	nr_found = python_runtimes__look(python_log, runtimes, nr_found);
	atomic_store_explicit(&nr_runtimes, nr_found, memory_order_release);
}

bool python__is_there(void)
{
	return atomic_load_explicit(&nr_runtimes, memory_order_acquire);
}

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

/* The Python frames of one interpreter, which are put between. */
struct source {
	const struct python_runtime *runtime;
	size_t group; /* the next one */
	size_t place; /* before which native frame */
	struct python_frames python;
};

static bool is_loop(const struct python_runtime *runtime, uint64_t return_address)
{
	return return_address - 1 >= runtime->loop_start &&
	       return_address - 1 < runtime->loop_end;
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
 * Where the next group goes, outwards of the native frame FROM. A group whose frame
 * isn't found goes with the next one that is, so that their order is kept.
 */
static size_t place_by_address(struct merge *merge, const struct source *source,
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
static size_t place_by_count(struct merge *merge, const struct source *source,
			     size_t from)
{
	for (size_t i = from; i < merge->nr_native; i++) {
		if (is_loop(source->runtime, merge->native[i]))
			return i;
	}
	merge->is_unmatched = true;
	return from && !merge->is_native_cut ? from - 1 : merge->nr_native;
}

static void place_group(struct merge *merge, struct source *source, size_t from)
{
	const struct python_layout *layout = &source->runtime->layout;

	if (source->group == source->python.nr_groups)
		return;
	if (layout->group_end == PYTHON_SHIM_FRAME || layout->thread.cframe)
		source->place = place_by_address(merge, source, from);
	else
		source->place = place_by_count(merge, source, from);
}

static void merge__add(struct merge *merge, uint64_t frame)
{
	if (merge->nr < merge->max)
		merge->frames[merge->nr++] = frame;
	else
		merge->is_cut = true;
}

/* The groups that go before the native frame I. */
static void merge__add_groups(struct merge *merge, struct source *source, size_t i)
{
	const struct python_frames *python = &source->python;

	while (source->group < python->nr_groups && source->place == i) {
		size_t frame = source->group ? python->group_ends[source->group - 1] : 0;

		for (; frame < python->group_ends[source->group]; frame++)
			merge__add(merge, python->frames[frame]);
		source->group++;
		place_group(merge, source, i + 1);
	}
}

static void merge__run(struct merge *merge, struct source *sources, size_t nr_sources)
{
	for (size_t s = 0; s < nr_sources; s++)
		place_group(merge, &sources[s], 0);
	for (size_t i = 0; i <= merge->nr_native && !merge->is_cut; i++) {
		for (size_t s = 0; s < nr_sources; s++)
			merge__add_groups(merge, &sources[s], i);
		if (i < merge->nr_native)
			merge__add(merge, merge->native[i]);
	}
	for (size_t s = 0; s < nr_sources; s++)
		merge->is_cut |= sources[s].python.is_cut;
}

/* The Python frames of this thread, where it has some. How many sources have. */
static size_t walk_python(struct source sources[PYTHON_MAX_RUNTIMES])
{
	size_t nr_here = atomic_load_explicit(&nr_runtimes, memory_order_acquire);
	size_t nr = 0;

	for (size_t i = 0; i < nr_here; i++) {
		const struct python_runtime *runtime = &runtimes[i];
		void *thread = runtime->thread_state();

		if (!thread)
			continue;
		sources[nr].runtime = runtime;
		sources[nr].group = 0;
		python_frames__walk(&runtime->layout, &runtime->types, (uintptr_t)thread,
				    &sources[nr].python);
		nr += sources[nr].python.nr > 0;
	}
	return nr;
}

size_t python__merge(uint64_t *frames, const uint64_t *stack_pointers, size_t nr,
		     size_t max)
{
	struct source sources[PYTHON_MAX_RUNTIMES];
	size_t nr_sources = walk_python(sources);
	struct merge merge;

	if (!nr_sources || nr > PYTHON_MAX_FRAMES)
		return nr;
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
	merge__run(&merge, sources, nr_sources);

	if (merge.is_unmatched && !merge.is_native_cut && !merge.is_cut)
		atomic_fetch_add_explicit(&nr_unmatched, 1, memory_order_relaxed);
	if (merge.is_native_cut || merge.is_cut) {
		if (merge.nr == PYTHON_MAX_FRAMES)
			merge.nr--;
		frames[merge.nr++] = TRUNCATED;
	}
	return merge.nr;
}

void python__end(void)
{
	uint64_t nr = atomic_load(&nr_unmatched);

	if (python_log && nr)
		log__message(python_log, GPU_LOG_WARNING,
			     "%llu stacks have Python functions whose place among the "
			     "native ones is not sure: all are there, and in their order",
			     (unsigned long long)nr);
}
