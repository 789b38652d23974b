// SPDX-License-Identifier: GPL-2.0-or-later
#include "python.h"

#include <stdatomic.h>

#include "python_code.h"
#include "python_frames.h"
#include "python_merge.h"
#include "python_runtime.h"
#include "readable.h"

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

/* The Python frames of this thread, where it has some. How many sources have. */
static size_t walk_python(struct python_source sources[PYTHON_MAX_RUNTIMES])
{
	size_t nr_here = atomic_load_explicit(&nr_runtimes, memory_order_acquire);
	size_t nr = 0;

	for (size_t i = 0; i < nr_here; i++) {
		const struct python_runtime *runtime = &runtimes[i];
		void *thread = runtime->thread_state();

		if (!thread)
			continue;
		sources[nr].has_addresses =
			python_layout__has_addresses(&runtime->layout);
		sources[nr].loop_start = runtime->loop_start;
		sources[nr].loop_end = runtime->loop_end;
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
	struct python_source sources[PYTHON_MAX_RUNTIMES];
	size_t nr_sources = walk_python(sources);
	bool is_sure;

	if (!nr_sources || nr > PYTHON_MAX_FRAMES)
		return nr;
	nr = python_merge__run(frames, stack_pointers, nr, max, sources, nr_sources,
			       &is_sure);
	if (!is_sure)
		atomic_fetch_add_explicit(&nr_unmatched, 1, memory_order_relaxed);
	return nr;
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
