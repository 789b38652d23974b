/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arch.h for x86-64. A call pushes the return address; frame pointers are rare. */
#ifndef PERF_GPU_INJECT_ARCH_X86_64_H
#define PERF_GPU_INJECT_ARCH_X86_64_H

#define FRAME_NR_OTHERS 5 /* rbx, r12 to r15 */
#define FRAME_LINK	FRAME_NR_REGISTERS /* none */

#define ARCH_UNW_PC UNW_X86_64_RIP
#define ARCH_UNW_REGISTERS                                                      \
	{                                                                       \
		UNW_X86_64_RSP, UNW_X86_64_RBP, UNW_X86_64_RBX, UNW_X86_64_R12, \
			UNW_X86_64_R13, UNW_X86_64_R14, UNW_X86_64_R15          \
	}

#define ARCH_READS_CODE	   false
#define ARCH_SIGNS_RETURNS false
#define ARCH_CHAIN_HAS_SP  true
#define ARCH_CALL_BYTES	   8

#define ARCH_LINKER_CACHE_FLAGS 0x303
#define ARCH_MULTIARCH		"x86_64-linux-gnu"

static inline uint64_t arch__return_address(uint64_t word)
{
	return word;
}

/* A call has pushed it. */
static inline uint64_t arch__plain_return(uint64_t cfa, int64_t saved_fp)
{
	(void)saved_fp;
	return cfa - 8;
}

#define ARCH_PLACE_HERE(pc, registers)                                           \
	__asm__ volatile("lea 0f(%%rip), %%rax\n"                                \
			 "0: mov %%rax, %0\n"                                    \
			 "mov %%rsp, %1\n"                                       \
			 "mov %%rbp, %2\n"                                       \
			 "mov %%rbx, %3\n"                                       \
			 "mov %%r12, %4\n"                                       \
			 "mov %%r13, %5\n"                                       \
			 "mov %%r14, %6\n"                                       \
			 "mov %%r15, %7\n"                                       \
			 : "=m"(pc), "=m"((registers)[0]), "=m"((registers)[1]), \
			   "=m"((registers)[2]), "=m"((registers)[3]),           \
			   "=m"((registers)[4]), "=m"((registers)[5]),           \
			   "=m"((registers)[6])                                  \
			 :                                                       \
			 : "rax")

#endif
