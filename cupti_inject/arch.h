/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the walk of a stack has to know of the processor; all that isn't C is here, in
 * marker_code.h, and in arch_NAME.[ch], which have, for each processor:
 *
 *   FRAME_NR_OTHERS      registers besides the stack and the frame pointer that a frame
 *                        may be found by; FRAME_LINK is the last of them, or none
 *   ARCH_UNW_PC          libunwind's number of the program counter
 *   ARCH_UNW_REGISTERS   and of our registers, by enum frame_register
 *   ARCH_READS_CODE      libunwind looks at the code at the program counter, to know a
 *                        signal's frame, which it is not to find
 *   ARCH_SIGNS_RETURNS   unwind tables tell where a return address is signed, which
 *                        libunwind before 1.7 takes for an error (cfi_program.h)
 *   ARCH_CHAIN_HAS_SP    who is found by the frame pointer has its stack pointer
 *                        behind the saved one; else only somewhere further out
 *   ARCH_CALL_BYTES      of code that arch__ends_in_call() may look at
 *   ARCH_MULTIARCH: the machine in the names of Debian's folders
 *   ARCH_LINKER_CACHE_FLAGS
 *                        of its libraries in ld.so.cache
 *   ARCH_PLACE_HERE(PC, REGISTERS)
 *                        store all registers at one place of the calling function
 *
 * and these functions:
 */
#ifndef PERF_GPU_INJECT_ARCH_H
#define PERF_GPU_INJECT_ARCH_H

#include <stdbool.h>
#include <stdint.h>

struct frame_rule;

/* What a return address, as found in memory or in a register, returns to. */
static inline uint64_t arch__return_address(uint64_t word);

/**
 * arch__plain_return - where the return address is, by a plain rule
 * @cfa:      of the frame
 * @saved_fp: where its caller's frame pointer is, from there, in words; or FRAME_SAME
 */
static inline uint64_t arch__plain_return(uint64_t cfa, int64_t saved_fp);

/* Do the ARCH_CALL_BYTES before @end end in a call instruction? */
bool arch__ends_in_call(const unsigned char *end);

/**
 * arch__learn_code - the rule of code that is known by its instructions
 * @pc:          an instruction, or the last byte of one
 * @is_readable: can the bytes of code be read?
 * @data:        for @is_readable
 * @rule:        written if the code is known
 *
 * Such code has no tables, or none that can be relied on: what returns from a signal
 * handler, CPython's trampolines. Return: it is known.
 */
bool arch__learn_code(uint64_t pc,
		      bool (*is_readable)(uint64_t address, uint64_t bytes, void *data),
		      void *data, struct frame_rule *rule);

#if defined(__x86_64__)
#include "arch_x86_64.h"
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#include "arch_aarch64.h"
#else
#error "perf-gpu is for x86-64 and little-endian aarch64: write arch_NAME.[ch] for yours"
#endif

#endif
