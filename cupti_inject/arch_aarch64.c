// SPDX-License-Identifier: GPL-2.0-or-later
#if defined(__aarch64__)

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "arch.h"
#include "frame_rule.h"

/* bl, blr, and blraa and its kin, which authenticate where they go to */
bool arch__ends_in_call(const unsigned char *end)
{
	uint32_t instruction;

	memcpy(&instruction, end - sizeof(instruction), sizeof(instruction));
	return (instruction & 0xfc000000) == 0x94000000 ||
	       (instruction & 0xfffffc1f) == 0xd63f0000 ||
	       (instruction & 0xfffff81f) == 0xd63f081f ||
	       (instruction & 0xfffff800) == 0xd73f0800;
}

/* Words from the stack pointer on, in what the kernel writes for a signal handler */
#define SIGNAL_WORD(member)                                             \
	((int)((sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext) + \
		offsetof(mcontext_t, member)) /                         \
	       8))

/*
 * What a signal handler returns to: the kernel's own two instructions. Since Linux 5.8
 * they have no table, on purpose; before, it led over the function that was interrupted.
 */
bool arch__learn_code(uint64_t pc,
		      bool (*is_readable)(uint64_t address, uint64_t bytes, void *data),
		      void *data, struct frame_rule *rule)
{
	static const uint32_t code[] = {
		0xd2801168, /* mov x8, #139: rt_sigreturn */
		0xd4000001, /* svc #0 */
	};

	if (pc & 3 || !is_readable(pc, sizeof(code), data) ||
	    memcmp((const void *)(uintptr_t)pc, code, sizeof(code)))
		return false;
	*rule = (struct frame_rule){
		.head = {.kind = FRAME_TABLE,
			 .cfa_register = FRAME_SP,
			 .is_cfa_indirect = true,
			 .cfa_offset = SIGNAL_WORD(sp) * 8,
			 .is_interrupted = true,
			 .saved_fp = SIGNAL_WORD(regs[29])},
		.return_base = FRAME_FROM_SP,
		.return_offset = SIGNAL_WORD(pc),
		.saved_base = FRAME_FROM_SP,
		.saved_others = {SIGNAL_WORD(regs[19]), SIGNAL_WORD(regs[30])},
	};
	return true;
}

#endif
