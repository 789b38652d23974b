// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libdwfl walks the stack; what it asks for comes from here:
 *
 *   registers   the sample's
 *   memory      the sample's copy of the stack, else what the mapped file has there
 *   files       modules.c: told when the walk gets to them
 *
 * A Dwfl per process is kept for as long as the process is known, with all tables
 * that were read: made anew for each sample, as perf does, a stack takes
 * milliseconds.
 *
 * Invariant: frames that are given away lie in executable maps. In code without a file,
 * which a JIT compiler made, and for functions that a file has no entry of, libdwfl
 * guesses by the frame pointer; what isn't code ends the stack.
 *
 * Broken states of any kind end in fewer frames: libdwfl bounds its work for a
 * frame, and frames are counted here.
 */
#include "unwind/dwarf_unwind.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_log.h"
#include "unwind/modules.h"

#define TRUNCATED ((uint64_t)GPU_LOG_FRAME_TRUNCATED << 56)

struct unwind_process {
	uint32_t pid; /* first: key */
	struct modules modules;
	bool is_attached; /* to its Dwfl, which takes the first module */
};

struct dwarf_unwind {
	const struct machine *machine;
	const struct arch *arch;
	void *processes; /* tsearch(3) tree */
	/* The walk at hand */
	struct unwind_process *process;
	const struct user_state *state;
	uint64_t *frames;
	int nr_frames;
	bool has_missed; /* memory that wasn't copied was asked for, since the last frame */
	int err;
};

static int unwind_process__compare(const void *a, const void *b)
{
	const struct unwind_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void unwind_process__delete(void *node)
{
	struct unwind_process *process = node;

	modules__release(&process->modules);
	free(process);
}

int dwarf_unwind__new(const struct machine *machine, const struct arch *arch,
		      struct dwarf_unwind **ret)
{
	struct dwarf_unwind *unwind = calloc(1, sizeof(*unwind));

	if (!unwind)
		return -ENOMEM;
	unwind->machine = machine;
	unwind->arch = arch;
	*ret = unwind;
	return 0;
}

void dwarf_unwind__delete(struct dwarf_unwind *unwind)
{
	if (!unwind)
		return;
	tdestroy(unwind->processes, unwind_process__delete);
	free(unwind);
}

static int dwarf_unwind__find_process(struct dwarf_unwind *unwind, uint32_t pid)
{
	struct unwind_process key = {.pid = pid}, *process, **found;

	if (unwind->process && unwind->process->pid == pid)
		return 0;
	found = tfind(&key, &unwind->processes, unwind_process__compare);
	if (found) {
		unwind->process = *found;
		return 0;
	}
	process = calloc(1, sizeof(*process));
	if (!process)
		return -ENOMEM;
	process->pid = pid;
	if (modules__init(&process->modules, unwind->machine, pid,
			  unwind->arch->elf_machine) ||
	    !tsearch(process, &unwind->processes, unwind_process__compare)) {
		unwind_process__delete(process);
		return -ENOMEM;
	}
	unwind->process = process;
	return 0;
}

/* What libdwfl asks for */

static bool read_file(const struct dwarf_unwind *unwind, uint64_t address, uint64_t *ret)
{
	const struct map *map =
		machine__find_map(unwind->machine, unwind->process->pid, address);
	Elf *elf = map ? dso__elf(map->dso) : NULL;
	size_t nr_bytes = 0;
	uint64_t offset;
	const char *bytes;

	bytes = elf ? elf_rawfile(elf, &nr_bytes) : NULL;
	if (!bytes || map->end - address < sizeof(*ret))
		return false;
	offset = address - map->start + map->pgoff;
	if (nr_bytes < sizeof(*ret) || offset > nr_bytes - sizeof(*ret))
		return false;
	memcpy(ret, bytes + offset, sizeof(*ret));
	return true;
}

/*
 * A word that is a signed return address, as what it returns to: libdw doesn't know of
 * signatures. Where they are the sample doesn't tell, but only addresses of code come
 * out right. No other word has upper bits, and leads to code without them.
 */
static uint64_t without_signature(const struct dwarf_unwind *unwind, uint64_t word)
{
	uint64_t address = word & unwind->arch->code_mask;

	if (!unwind->arch->code_mask || address == word || !address ||
	    !machine__find_map(unwind->machine, unwind->process->pid, address - 1))
		return word;
	return address;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *arg)
{
	struct dwarf_unwind *unwind = arg;
	uint64_t word;

	(void)dwfl;
	if (!user_state__read(unwind->state, address, &word) &&
	    !read_file(unwind, address, &word)) {
		unwind->has_missed = true;
		return false;
	}
	*ret = without_signature(unwind, word);
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct dwarf_unwind *unwind = arg;
	const struct user_state *state = unwind->state;

	dwfl_thread_state_register_pc(thread, state->pc);
	return dwfl_thread_state_registers(thread, 0, unwind->arch->nr_regs, state->regs);
}

/* Who asks has the one thread in mind that there is. */
static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = arg;
	return 1;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)tid;
	*thread_arg = arg;
	return true;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/* The walk */

/*
 * Called before libdwfl goes on from a frame, but only if it isn't asked whether the
 * pc is a return address: for the answer it would go on at once, without the
 * file. It is one in all frames but the first; a signal's frame needs no exactness.
 */
static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct dwarf_unwind *unwind = arg;
	const struct map *map;
	Dwarf_Addr pc, code;

	if (!dwfl_frame_pc(frame, &pc, NULL) ||
	    unwind->nr_frames == DWARF_UNWIND_MAX_FRAMES - 1)
		return DWARF_CB_ABORT;
	/* A return address may be the first one behind a file's code. */
	code = unwind->nr_frames ? pc - 1 : pc;
	map = machine__find_map(unwind->machine, unwind->process->pid, code);
	if (!map)
		return DWARF_CB_ABORT;
	unwind->frames[unwind->nr_frames++] = pc;
	unwind->err = modules__add(&unwind->process->modules, code);
	/* By its frame pointer libdwfl would also walk what has none. */
	if (unwind->err == -ENOMEM || (unwind->err && !dso__is_memory(map->dso)))
		return DWARF_CB_ABORT;
	unwind->has_missed = false;
	return DWARF_CB_OK;
}

/* libdwfl wants to see a file first, to know the architecture. */
static int dwarf_unwind__attach(struct dwarf_unwind *unwind)
{
	struct unwind_process *process = unwind->process;
	int err;

	if (process->is_attached)
		return 0;
	err = modules__add(&process->modules, unwind->state->pc);
	if (err)
		return err;
	if (!dwfl_attach_state(process->modules.dwfl, process->modules.entries[0].elf,
			       (pid_t)process->pid, &thread_callbacks, unwind))
		return -ENOMEM;
	process->is_attached = true;
	return 0;
}

/* True if that was the whole stack. */
static bool dwarf_unwind__run(struct dwarf_unwind *unwind)
{
	/* An error of before would be taken for one of this walk. */
	dwfl_errno();
	return !dwfl_getthread_frames(unwind->process->modules.dwfl, 1, take_frame,
				      unwind) &&
	       !unwind->has_missed;
}

int dwarf_unwind__walk(struct dwarf_unwind *unwind, uint32_t pid,
		       const struct user_state *state,
		       uint64_t ret[DWARF_UNWIND_MAX_FRAMES])
{
	bool is_whole = false;
	int err;

	unwind->state = state;
	unwind->frames = ret;
	unwind->nr_frames = 0;
	unwind->err = 0;
	err = dwarf_unwind__find_process(unwind, pid);
	if (!err)
		err = modules__refresh(&unwind->process->modules);
	if (!err)
		err = dwarf_unwind__attach(unwind);
	if (err == -ENOENT)
		ret[unwind->nr_frames++] = state->pc;
	else if (err)
		return err;
	else
		is_whole = dwarf_unwind__run(unwind);
	if (unwind->err == -ENOMEM)
		return unwind->err;
	if (!is_whole)
		ret[unwind->nr_frames++] = TRUNCATED;
	return unwind->nr_frames;
}
