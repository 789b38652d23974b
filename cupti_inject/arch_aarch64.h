/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arch.h for aarch64. A call leaves the return address in the link register (x30), and
 * a function that calls others saves it with the frame pointer (x29), as a pair:
 *
 *   fp ──► │ caller's fp │ return address │ … locals, saved registers … │ ◄── CFA
 *
 * So the pair may be anywhere in the frame, and says nothing about where it ends. With
 * pointer authentication the return address is signed, in its upper bits.
 */
#ifndef PERF_GPU_INJECT_ARCH_AARCH64_H
#define PERF_GPU_INJECT_ARCH_AARCH64_H

#define FRAME_NR_OTHERS 2 /* x19, and the link register, x30 */
#define FRAME_LINK	(FRAME_OTHER + 1)

#define ARCH_UNW_PC UNW_AARCH64_PC
#define ARCH_UNW_REGISTERS                                                        \
	{                                                                         \
		UNW_AARCH64_SP, UNW_AARCH64_X29, UNW_AARCH64_X19, UNW_AARCH64_X30 \
	}

#define ARCH_READS_CODE	   true
#define ARCH_SIGNS_RETURNS true
#define ARCH_CHAIN_HAS_SP  false
#define ARCH_CALL_BYTES	   4

#define ARCH_LINKER_CACHE_FLAGS 0xa03
#define ARCH_MULTIARCH		"aarch64-linux-gnu"

/*
 * xpaclri, as a hint: what can't sign takes it for a nop. Which bits a signature has is
 * for the kernel's configuration to say, and this instruction knows.
 */
static inline uint64_t arch__return_address(uint64_t word)
{
	register uint64_t link __asm__("x30") = word;

	__asm__("hint #7" : "+r"(link));
	return link;
}

static inline uint64_t arch__plain_return(uint64_t cfa, int64_t saved_fp)
{
	return cfa + (uint64_t)(saved_fp + 1) * 8;
}

#define ARCH_PLACE_HERE(pc, registers)                                           \
	__asm__ volatile("adr x9, 0f\n"                                          \
			 "0: str x9, %0\n"                                       \
			 "mov x9, sp\n"                                          \
			 "str x9, %1\n"                                          \
			 "str x29, %2\n"                                         \
			 "str x19, %3\n"                                         \
			 "str x30, %4\n"                                         \
			 : "=m"(pc), "=m"((registers)[0]), "=m"((registers)[1]), \
			   "=m"((registers)[2]), "=m"((registers)[3])            \
			 :                                                       \
			 : "x9")

#endif
