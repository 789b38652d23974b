/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions of an entry in an unwind table (DWARF 5, 6.4.2), looked through for
 * two things that libunwind's answer doesn't tell:
 *
 *   DW_CFA_AARCH64_negate_ra_state, and ..._with_pc: from here on the return address is
 *           signed, or isn't any more. Nothing has to be known of it but that it takes
 *           no room, since arch__return_address() takes any signature off. libunwind
 *           before 1.7 gives up on it, so it is shown a DW_CFA_nop.
 *   Is anything computed by an expression? Where libunwind makes no sense of a table it
 *           answers as if the return address were in the link register.
 */
#ifndef PERF_GPU_INJECT_CFI_PROGRAM_H
#define PERF_GPU_INJECT_CFI_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

/* A function of some thousand instructions, with 20 returns, has 200. */
#define CFI_PROGRAM_MAX_BYTES 2048

/* Zeroed: nothing is hidden */
struct cfi_program {
	uint64_t start; /* address of the first byte */
	uint32_t nr_bytes; /* that hidden has bits of; 0: nothing is hidden */
	bool is_plain; /* all of it is known, and no expressions */
	uint8_t hidden[CFI_PROGRAM_MAX_BYTES / 8]; /* a bit for each byte */
};

/* Look through the bytes at an address, which can be read; fills in all of it. */
void cfi_program__scan(struct cfi_program *program, uint64_t start, uint64_t nr_bytes);

/* The little-endian word at @address, as libunwind is to see it. */
uint64_t cfi_program__hide(const struct cfi_program *program, uint64_t address,
			   uint64_t word);

#endif
