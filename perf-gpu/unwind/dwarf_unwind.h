/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the stacks of --call-graph dwarf samples by the unwind tables of the files
 * that were mapped. One thread.
 */
#ifndef PERF_GPU_UNWIND_DWARF_UNWIND_H
#define PERF_GPU_UNWIND_DWARF_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "symbol/machine.h"
#include "unwind/user_state.h"

struct dwarf_unwind;

/* perf's limit, and the frame that says that there are more */
#define DWARF_UNWIND_MAX_FRAMES (127 + 1)

/**
 * dwarf_unwind__new - an unwinder for one recording
 * @machine: whose address spaces are those of the sample at hand; must outlive it
 * @arch:    of the recorded machine
 * @ret:     released by dwarf_unwind__delete(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int dwarf_unwind__new(const struct machine *machine, const struct arch *arch,
		      struct dwarf_unwind **ret);
void dwarf_unwind__delete(struct dwarf_unwind *unwind); /* NULL is fine */

/**
 * dwarf_unwind__walk - the stack of one sample
 * @pid:   whose
 * @state: of the sample
 * @ret:   receives the sample's pc, then return addresses, as the kernel's own
 *         callchains have them. A stack that goes on, but can't be walked, ends in
 *         GPU_LOG_FRAME_TRUNCATED: there is no unwind table, the copied stack ends,
 *         a return address is in no code, or there are too many frames.
 *
 * Files are those of symbol_files.h: another build than the recorded one is not used.
 *
 * Return: how many frames, at least 1; or -ENOMEM.
 */
int dwarf_unwind__walk(struct dwarf_unwind *unwind, uint32_t pid,
		       const struct user_state *state,
		       uint64_t ret[DWARF_UNWIND_MAX_FRAMES]);

#endif
