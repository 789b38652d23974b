/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether libdw can be given the unwind tables of a file.
 *
 * libdw keeps a rule for each register up to the highest one that a table names, and a
 * copy of them all for each state that is to be remembered: of a table of some bytes that
 * nobody's compiler wrote it makes gigabytes, and takes minutes. So tables are looked
 * through before it sees them: each entry that it could get to, as .eh_frame_hdr has them,
 * or where there is no such index, all of them.
 */
#ifndef PERF_GPU_UNWIND_TABLES_H
#define PERF_GPU_UNWIND_TABLES_H

#include <libelf.h>
#include <stdbool.h>

/**
 * tables__are_bounded - do a file's unwind tables take bounded time and memory?
 * @elf: of the file; a compressed .debug_frame is unpacked in it
 *
 * Return: false also where tables are written in forms that no linker writes, and nothing
 * can be said. True if there are none.
 */
bool tables__are_bounded(Elf *elf);

#endif
