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
	uint32_t code = (uint32_t)(value >> 16);

	if (log >= 0)
		python = sidecar__python(sidecar, (uint32_t)log, code);
	*frame = (struct gpu_frame){
		.name = python ? python->name : UNKNOWN,
		.file = python ? python->file : "",
	};
	if (python && python->first_line)
		frame->line = python->first_line + (uint32_t)(value & 0xffff);
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
	const struct map *map = map_of(machine, pid, frame);
	const struct symbol *symbol;

	if (frame->name)
		return !is_walked(frame) && has_prefix(frame->name, TRAMPOLINE_PREFIX);
	if (!map || !dso__is_anonymous(dso__path(map->dso)))
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

void python_stack__show(struct stack *stack, const struct sidecar *sidecar, int log,
			const struct machine *machine, uint32_t pid,
			bool keep_interpreter_frames)
{
	struct gpu_frame *frames = stack->frames;
	size_t nr = 0, nr_python = 0; /* up to the outermost one of Python's */
	bool is_walked_python = false;

	for (size_t i = 0; i < stack->nr_frames; i++) {
		bool is_python = false;

		if (!frames[i].name &&
		    GPU_LOG_FRAME_KIND(frames[i].ip) == GPU_LOG_FRAME_PYTHON) {
			name_frame(&frames[i], sidecar, log);
			is_walked_python = is_python = true;
		} else if (!keep_interpreter_frames) {
			is_python = is_trampoline(machine, pid, &frames[i]);
		}
		if (is_python)
			nr_python = i + 1;
	}
	if (!nr_python || keep_interpreter_frames)
		return;

	/* Its loop, which executes the outermost function */
	if (nr_python < stack->nr_frames && is_walked(&frames[nr_python - 1]) &&
	    is_interpreter(machine, pid, &frames[nr_python]))
		nr_python++;
	for (size_t i = 0; i < stack->nr_frames; i++) {
		if (i < nr_python &&
		    (is_interpreter(machine, pid, &frames[i]) ||
		     (is_walked_python && is_trampoline(machine, pid, &frames[i]))))
			continue;
		frames[nr++] = frames[i];
	}
	stack->nr_frames = nr;
}
