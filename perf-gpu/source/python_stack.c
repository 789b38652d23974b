// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/python_stack.h"

#include <string.h>

#include "gpu_log.h"

#define TRAMPOLINE_PREFIX "py::"
#define UNKNOWN		  "py::[unknown]"

static bool has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool is_walked(const struct gpu_frame *frame)
{
	return frame->file;
}

static void name_frame(struct gpu_frame *frame, const struct sidecar *sidecar, int log)
{
	uint64_t value = frame->ip;
	const struct sidecar_python *python = NULL;
	uint32_t code = (uint32_t)(value >> 16), lines;

	if (log >= 0)
		python = sidecar__python(sidecar, (uint32_t)log, code);
	*frame = (struct gpu_frame){
		.name = python ? python->name : UNKNOWN,
		.file = python ? python->file : "",
	};
	lines = (uint32_t)value & GPU_LOG_FRAME_NO_LINE;
	if (python && python->first_line && lines != GPU_LOG_FRAME_NO_LINE)
		frame->line = python->first_line + lines;
}

static const struct map *map_of(const struct machine *machine, uint32_t pid,
				const struct gpu_frame *frame)
{
	return frame->name ? NULL : machine__find_map(machine, pid, frame->ip);
}

/* A function of Python's by the name that CPython gave its trampoline. */
static bool is_trampoline(const struct machine *machine, uint32_t pid,
			  const struct gpu_frame *frame)
{
	const struct map *map;
	const struct symbol *symbol;

	if (frame->name)
		return !is_walked(frame) && has_prefix(frame->name, TRAMPOLINE_PREFIX);
	map = map_of(machine, pid, frame);
	if (!map || !dso__is_memory(map->dso))
		return false;
	symbol = dso__find_symbol(map->dso, frame->ip - map->start + map->pgoff, NULL);
	return symbol && has_prefix(symbol->name, TRAMPOLINE_PREFIX);
}

/* python, python3.11, python3.13t; libpython3.11.so.1.0, libpython3.13td.so */
static bool is_interpreter(const struct machine *machine, uint32_t pid,
			   const struct gpu_frame *frame)
{
	const struct map *map = map_of(machine, pid, frame);
	const char *name;

	if (!map)
		return false;
	name = dso__basename(map->dso);
	if (has_prefix(name, "libpython"))
		return strstr(name, ".so");
	if (!has_prefix(name, "python"))
		return false;
	name += strlen("python");
	name += strspn(name, "0123456789.");
	name += strspn(name, "dmtu"); /* builds: debug, pymalloc, free-threaded */
	return !*name;
}

struct view {
	struct stack *stack;
	const struct machine *machine;
	uint32_t pid;
	bool has_walked; /* functions of Python's that the library has walked */
};

static bool view__is_interpreter(const struct view *view, size_t i)
{
	return i < view->stack->nr_frames &&
	       is_interpreter(view->machine, view->pid, &view->stack->frames[i]);
}

static bool view__is_trampoline(const struct view *view, size_t i)
{
	return is_trampoline(view->machine, view->pid, &view->stack->frames[i]);
}

/*
 * Up to where frames of the interpreter are left out; 0: nothing of Python's is there.
 * The loop that executes the outermost function that was walked is part of it. In a
 * stack that ends early, so is what leads to a function that isn't seen any more.
 */
static size_t view__python_end(const struct view *view)
{
	const struct stack *stack = view->stack;
	size_t end = stack->nr_frames, last;

	while (end && !is_walked(&stack->frames[end - 1]) &&
	       !view__is_trampoline(view, end - 1))
		end--;
	if (!end)
		return 0;
	if (is_walked(&stack->frames[end - 1]) && view__is_interpreter(view, end))
		end++;
	last = end;
	while (view__is_interpreter(view, last))
		last++;
	if (last + 1 == stack->nr_frames && stack->frames[last].name &&
	    !strcmp(stack->frames[last].name, STACK_TRUNCATED))
		return last;
	return end;
}

static void view__leave_out_interpreter(struct view *view)
{
	struct stack *stack = view->stack;
	size_t end = view__python_end(view), nr = 0;

	for (size_t i = 0; i < stack->nr_frames; i++) {
		if (i < end && (view__is_interpreter(view, i) ||
				(view->has_walked && view__is_trampoline(view, i))))
			continue;
		stack->frames[nr++] = stack->frames[i];
	}
	stack->nr_frames = nr;
}

void python_stack__show(struct stack *stack, const struct sidecar *sidecar, int log,
			const struct machine *machine, uint32_t pid,
			bool keep_interpreter_frames)
{
	struct view view = {.stack = stack, .machine = machine, .pid = pid};

	if (stack->is_of_files)
		return;
	for (size_t i = 0; i < stack->nr_frames; i++) {
		struct gpu_frame *frame = &stack->frames[i];

		if (frame->name || GPU_LOG_FRAME_KIND(frame->ip) != GPU_LOG_FRAME_PYTHON)
			continue;
		name_frame(frame, sidecar, log);
		view.has_walked = true;
	}
	if (!keep_interpreter_frames)
		view__leave_out_interpreter(&view);
}
