/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the command has to know of a processor: of the one that it runs on, and of the
 * one that a recording was made on. What the injected library knows of its own is in
 * cupti_inject/arch.h; bpf/ asks __TARGET_ARCH_*. Constant; any thread.
 */
#ifndef PERF_GPU_UTIL_ARCH_H
#define PERF_GPU_UTIL_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More than any architecture here has: DWARF's numbers 0 to 32 */
#define ARCH_MAX_REGS 33

struct arch {
	const char *name; /* as uname(2) has it, and perf.data's HEADER_ARCH */
	uint16_t elf_machine; /* EM_* */
	uint8_t nop_bytes;
	uint8_t nop[4];
	/* Where the driver's libraries are, besides lib64: Debian's, and Jetson's, where
	   they are in folders of their own. NULL behind the last. */
	const char *library_folders[4];

	/* perf's registers: asm/perf_regs.h */
	uint64_t perf_user_regs; /* PERF_REGS_MASK: all that a stack is walked with */
	uint8_t nr_regs; /* that DWARF numbers from 0 on */
	uint8_t perf_regs[ARCH_MAX_REGS]; /* by DWARF's number */
	uint8_t perf_pc, perf_sp;

	/*
	 * Bits that an address of a user's code has, if return addresses in memory may be
	 * signed in the others; 0 if they aren't.
	 */
	uint64_t code_mask;
};

/* By its name; NULL if it isn't known here, or @name is NULL. */
const struct arch *arch__find(const char *name);

/* The one that this is built for */
const struct arch *arch__host(void);

#endif
