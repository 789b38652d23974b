// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/arch.h"

#include <elf.h>
#include <string.h>

#if defined(__x86_64__)
#define HOST "x86_64"
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define HOST "aarch64"
#else
#error "perf-gpu is for x86-64 and little-endian aarch64: describe yours in archs[]"
#endif

#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))

/* perf's numbers: asm/perf_regs.h of each; DWARF's: the psABIs. */
static const struct arch archs[] = {
	{
		.name = "x86_64",
		.elf_machine = EM_X86_64,
		.nop_bytes = 1,
		.nop = {0x90},
		.library_folders = {"/usr/lib/x86_64-linux-gnu"},
		.perf_user_regs = 0xff0fff, /* not ds, es, fs, gs */
		.nr_regs = 17,
		/* ax dx cx bx si di bp sp r8 ... r15, and ip as return address */
		.perf_regs = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8},
		.perf_pc = 8,
		.perf_sp = 7,
	},
	{
		.name = "aarch64",
		.elf_machine = EM_AARCH64,
		.nop_bytes = 4,
		.nop = {0x1f, 0x20, 0x03, 0xd5},
		.library_folders = {"/usr/lib/aarch64-linux-gnu",
				    "/usr/lib/aarch64-linux-gnu/nvidia",
				    "/usr/lib/aarch64-linux-gnu/tegra"},
		.perf_user_regs = (1ull << 33) - 1,
		.nr_regs = 32,
		/* x0 ... x30, sp */
		.perf_regs = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
			      11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
			      22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
		.perf_pc = 32,
		.perf_sp = 31,
		/* Also with 52-bit addresses, which only who asks for them gets */
		.code_mask = (1ull << 48) - 1,
	},
};

const struct arch *arch__find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++) {
		if (name && !strcmp(name, archs[i].name))
			return &archs[i];
	}
	return NULL;
}

const struct arch *arch__host(void)
{
	return arch__find(HOST);
}
