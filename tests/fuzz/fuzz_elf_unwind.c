// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A stack of fixed content that is walked through an ELF file of any bytes: its unwind
 * tables and programs are what is tried. The file is mapped where its segments say, a
 * frame's address being tried at many places of it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "../unit/own_machine.h"
#include "unwind/dwarf_unwind.h"
#include "util/arch.h"

#define PID	    1
#define LOAD_AT	    0x400000
#define STACK_AT    0x7fff0000
#define STACK_WORDS 64
/* Addresses in the file that a stack begins at; each costs a walk */
#define MAX_WALKS 32

static void walk(struct dwarf_unwind *unwind, uint64_t pc)
{
	uint64_t frames[DWARF_UNWIND_MAX_FRAMES], stack[STACK_WORDS];
	struct user_state state = {
		.pc = pc,
		.stack = (const unsigned char *)stack,
		.stack_bytes = sizeof(stack),
		.sp = STACK_AT,
	};
	int nr;

	for (size_t i = 0; i < STACK_WORDS; i++)
		stack[i] = i % 2 ? STACK_AT + 8 * i : pc + i;
	for (size_t i = 0; i < ARCH_MAX_REGS; i++)
		state.regs[i] = STACK_AT + 8 * i;
	state.regs[7] = state.regs[31] = STACK_AT; /* x86-64's and arm64's */
	nr = dwarf_unwind__walk(unwind, PID, &state, frames);
	if (nr < 1 || nr > DWARF_UNWIND_MAX_FRAMES)
		abort();
}

/* Walks are spread over the file, the odd ones within its words. */
static void walk_through(const char *path, const char *arch_name, size_t size)
{
	const struct arch *arch = arch__find(arch_name);
	struct dwarf_unwind *unwind;
	struct machine *machine;

	if (machine__new(NULL, &machine) || dwarf_unwind__new(machine, arch, &unwind))
		abort();
	own_machine__map(machine, PID, LOAD_AT, LOAD_AT + (size | 4095) + 1, 0, path);
	for (size_t i = 0; i < MAX_WALKS; i++)
		walk(unwind, LOAD_AT + size / MAX_WALKS * i + i % 2);
	dwarf_unwind__delete(unwind);
	machine__delete(machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_path path;
	int fd = fuzz_file__open(data, size, &path);

	walk_through(path.text, "x86_64", size);
	walk_through(path.text, "aarch64", size);
	close(fd);
	return 0;
}
