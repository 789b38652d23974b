// SPDX-License-Identifier: GPL-2.0-or-later
/* Rules learned from unwind tables, and what is taken for code: frame_rule.c */
#include "unit.h"

#include <string.h>
#include <sys/mman.h>

#include "arch.h"
#include "frame_rule.h"

#if defined(__x86_64__)

/* One place in each function, behind the name with _at: where its call has returned to */
#define FUNCTION(name, code)                                                   \
	".type " #name ", @function\n" #name ":\n	.cfi_startproc\n" code \
	"	.cfi_endproc\n.size " #name ", . - " #name "\n"
#define FUNCTION_AT(name) \
	extern const char name##_at[] __attribute__((visibility("hidden")))

FUNCTION_AT(by_sp);
FUNCTION_AT(by_fp);
FUNCTION_AT(by_rbx);
FUNCTION_AT(indirect);
FUNCTION_AT(outermost);
FUNCTION_AT(without_table);
FUNCTION_AT(by_expression);

__asm__(".text\n" FUNCTION(by_sp, "	sub $40, %rsp\n"
				  "	.cfi_def_cfa_offset 48\n"
				  "	call by_sp\n"
				  ".globl by_sp_at\nby_sp_at:\n"
				  "	add $40, %rsp\n"
				  "	ret\n")
		FUNCTION(by_fp, "	push %rbp\n"
				"	.cfi_def_cfa_offset 16\n"
				"	.cfi_offset %rbp, -16\n"
				"	mov %rsp, %rbp\n"
				"	.cfi_def_cfa_register %rbp\n"
				"	push %r12\n"
				"	.cfi_offset %r12, -24\n"
				"	call *%rax\n"
				".globl by_fp_at\nby_fp_at:\n"
				"	ret\n")
			FUNCTION(by_rbx, "	.cfi_def_cfa %rbx, 24\n"
					 "	.cfi_offset %rbx, -24\n"
					 "	call by_rbx\n"
					 ".globl by_rbx_at\nby_rbx_at:\n"
					 "	ret\n")
	/* CFA: the word at rbp - 8; rbp saved at rbp. As gcc realigns a stack. */
	FUNCTION(indirect, "	.cfi_escape 0x0f, 3, 0x76, 0x78, 0x06\n"
			   "	.cfi_escape 0x10, 6, 2, 0x76, 0\n"
			   "	call indirect\n"
			   ".globl indirect_at\nindirect_at:\n"
			   "	ret\n")
		FUNCTION(outermost, "	.cfi_undefined %rip\n"
				    "	call outermost\n"
				    ".globl outermost_at\noutermost_at:\n"
				    "	hlt\n")
	/* CFA: rsp * 2, which no rule can say */
	FUNCTION(by_expression,
		 "	.cfi_escape 0x0f, 4, 0x77, 0, 0x12, 0x22\n"
		 "	call by_expression\n"
		 ".globl by_expression_at\nby_expression_at:\n"
		 "	ret\n") ".type without_table, @function\n"
				"without_table:\n"
				"	call without_table\n"
				".globl without_table_at\nwithout_table_at:\n"
				"	ret\n"
				".size without_table, . - without_table\n");

static struct frame_rule learn(const char *return_address)
{
	static bool is_open;
	struct frame_rule rule;

	if (!is_open)
		CHECK_EQ(frame_rule__open(), 0);
	is_open = true;
	frame_rule__learn((uintptr_t)return_address - 1, &rule);
	return rule;
}

TEST(a_frame_by_the_stack_pointer)
{
	struct frame_rule rule = learn(by_sp_at);

	CHECK_EQ(rule.head.kind, FRAME_TABLE);
	CHECK(rule.head.cfa_register == FRAME_SP);
	CHECK_EQ(rule.head.cfa_offset, 48);
	CHECK_EQ(rule.head.saved_fp, FRAME_SAME);
	CHECK(rule.head.is_plain);
	CHECK(rule.head.is_after_call);
	CHECK(!rule.head.is_interrupted);
}

TEST(a_frame_by_the_frame_pointer)
{
	struct frame_rule rule = learn(by_fp_at);

	CHECK_EQ(rule.head.kind, FRAME_TABLE);
	CHECK(rule.head.cfa_register == FRAME_FP);
	CHECK_EQ(rule.head.cfa_offset, 16);
	CHECK_EQ(rule.head.saved_fp, -2);
	CHECK_EQ(rule.saved_others[0], FRAME_SAME);
	CHECK_EQ(rule.saved_others[1], -3);
	CHECK(rule.head.is_plain);
	CHECK(rule.head.is_after_call);
}

TEST(a_frame_by_another_register_is_not_plain)
{
	struct frame_rule rule = learn(by_rbx_at);

	CHECK_EQ(rule.head.kind, FRAME_TABLE);
	CHECK(rule.head.cfa_register == FRAME_OTHER);
	CHECK_EQ(rule.head.cfa_offset, 24);
	CHECK_EQ(rule.saved_others[0], -3);
	CHECK(!rule.head.is_plain);
}

TEST(a_realigned_stack_has_its_frame_in_a_word)
{
	struct frame_rule rule = learn(indirect_at);

	CHECK_EQ(rule.head.kind, FRAME_TABLE);
	CHECK(rule.head.cfa_register == FRAME_FP);
	CHECK(rule.head.is_cfa_indirect);
	CHECK_EQ(rule.head.cfa_offset, -8);
	CHECK_EQ(rule.return_base, FRAME_FROM_CFA);
	CHECK_EQ(rule.return_offset, -1);
	CHECK_EQ(rule.saved_base, FRAME_FROM_FP);
	CHECK_EQ(rule.head.saved_fp, 0);
	CHECK(!rule.head.is_plain);
}

TEST(without_a_return_address_the_stack_ends)
{
	CHECK_EQ(learn(outermost_at).head.kind, FRAME_END);
}

TEST(what_no_rule_can_say_is_left_to_the_frame_pointer)
{
	struct frame_rule rule = learn(by_expression_at);

	CHECK_EQ(rule.head.kind, FRAME_CHAIN);
	CHECK(rule.head.is_after_call);
}

TEST(without_an_entry_nothing_is_guessed)
{
	struct frame_rule rule = learn(without_table_at);

	CHECK_EQ(rule.head.kind, FRAME_CHAIN);
	CHECK(rule.head.is_after_call);
}

TEST(data_is_not_after_a_call)
{
	static const char data[64] = "no code";
	struct frame_rule rule = learn(data + 32);

	CHECK_EQ(rule.head.kind, FRAME_CHAIN);
	CHECK(!rule.head.is_after_call);
}

TEST(where_nothing_is_mapped_is_no_code)
{
	CHECK_EQ(learn((const char *)16).head.kind, FRAME_NONE);
	CHECK_EQ(learn((const char *)0x123456789abc).head.kind, FRAME_NONE);
	CHECK_EQ(learn((const char *)0xdeadbeefdeadbeef).head.kind, FRAME_NONE);
	CHECK_EQ(learn(NULL).head.kind, FRAME_NONE);
}

/* Is code that ends in these bytes, at run time, taken for a call? */
static bool is_call(const char *bytes, size_t nr_bytes)
{
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct frame_rule rule;

	CHECK(page != MAP_FAILED);
	memcpy(page + 64 - nr_bytes, bytes, nr_bytes);
	rule = learn((const char *)page + 64);
	CHECK_EQ(rule.head.kind, FRAME_CHAIN);
	munmap(page, 4096);
	return rule.head.is_after_call;
}

#define IS_CALL(bytes) is_call(bytes, sizeof(bytes) - 1)

TEST(all_forms_of_calls_are_known)
{
	CHECK(IS_CALL("\xe8\x01\x02\x03\x04")); /* call there */
	CHECK(IS_CALL("\xff\xd0")); /* call *%rax */
	CHECK(IS_CALL("\x41\xff\xd7")); /* call *%r15 */
	CHECK(IS_CALL("\xff\x13")); /* call *(%rbx) */
	CHECK(IS_CALL("\xff\x14\x24")); /* call *(%rsp) */
	CHECK(IS_CALL("\xff\x50\x18")); /* call *24(%rax) */
	CHECK(IS_CALL("\xff\x54\x24\x08")); /* call *8(%rsp) */
	CHECK(IS_CALL("\xff\x15\x01\x02\x03\x04")); /* call *there(%rip) */
	CHECK(IS_CALL("\xff\x90\x01\x02\x03\x04")); /* call *far(%rax) */
	CHECK(IS_CALL("\xff\x94\x24\x01\x02\x03\x04")); /* call *far(%rsp) */
	CHECK(IS_CALL("\xff\x14\xc5\x01\x02\x03\x04")); /* call *table(,%rax,8) */
	CHECK(!IS_CALL("\xff\xe0")); /* jmp *%rax */
	CHECK(!IS_CALL("\xff\x25\x01\x02\x03\x04")); /* jmp *there(%rip) */
	CHECK(!IS_CALL("\xc3"));
	CHECK(!IS_CALL("\x90\x90\x90\x90\x90\x90\x90\x90"));
}

#elif defined(__aarch64__)

/* One place in each function, behind the name with _at: where its call has returned to */
#define FUNCTION(name, code)                                                   \
	".type " #name ", %function\n" #name ":\n	.cfi_startproc\n" code \
	"	.cfi_endproc\n.size " #name ", . - " #name "\n"
#define AT(name) ".globl " #name "_at\n" #name "_at:\n"
#define FUNCTION_AT(name) \
	extern const char name##_at[] __attribute__((visibility("hidden")))

FUNCTION_AT(with_pair);
FUNCTION_AT(with_pair_and_fp);
FUNCTION_AT(is_signed);
FUNCTION_AT(by_x19);
FUNCTION_AT(link_alone);
FUNCTION_AT(leaf);
FUNCTION_AT(outermost);
FUNCTION_AT(without_table);
FUNCTION_AT(by_expression);
FUNCTION_AT(returns_from_signal);

#define PUSH_PAIR                                               \
	"	stp x29, x30, [sp, #-48]!\n	.cfi_def_cfa_offset 48\n" \
	"	.cfi_offset 29, -48\n	.cfi_offset 30, -40\n	mov x29, sp\n"

__asm__(".text\n	.balign 8\n");
__asm__(FUNCTION(with_pair, PUSH_PAIR "	str x19, [sp, #16]\n"
				      "	.cfi_offset 19, -32\n"
				      "	bl with_pair\n" AT(with_pair) "	ret\n"));
__asm__(FUNCTION(with_pair_and_fp,
		 PUSH_PAIR "	.cfi_def_cfa 29, 48\n"
			   "	sub sp, sp, #4096\n"
			   "	blr x0\n" AT(with_pair_and_fp) "	ret\n"));
/* paciasp */
__asm__(FUNCTION(is_signed, "	hint #25\n	.cfi_negate_ra_state\n" PUSH_PAIR
			    "	bl is_signed\n" AT(is_signed) "	ret\n"));
__asm__(FUNCTION(by_x19, PUSH_PAIR "	.cfi_def_cfa 19, 24\n"
				   "	bl by_x19\n" AT(by_x19) "	ret\n"));
__asm__(FUNCTION(link_alone, "	str x30, [sp, #-16]!\n	.cfi_def_cfa_offset 16\n"
			     "	.cfi_offset 30, -16\n"
			     "	bl link_alone\n" AT(link_alone) "	ret\n"));
__asm__(FUNCTION(leaf, "	sub sp, sp, #32\n	.cfi_def_cfa_offset 32\n"
		       "	ldr x0, [x0]\n" AT(leaf) "	ret\n"));
__asm__(FUNCTION(outermost, "	.cfi_undefined 30\n"
			    "	bl outermost\n" AT(outermost) "	brk #1\n"));
/* CFA: sp * 2, which no rule can say */
__asm__(FUNCTION(by_expression, "	.cfi_escape 0x0f, 4, 0x8f, 0, 0x12, 0x22\n"
				"	bl by_expression\n" AT(by_expression) "	ret\n"));
__asm__("without_table:	bl without_table\n" AT(without_table) "	ret\n");
__asm__(AT(returns_from_signal) "	mov x8, #139\n	svc #0\n");

static struct frame_rule learn_at(uint64_t pc)
{
	static bool is_open;
	struct frame_rule rule;

	if (!is_open)
		CHECK_EQ(frame_rule__open(), 0);
	is_open = true;
	frame_rule__learn(pc, &rule);
	return rule;
}

static struct frame_rule learn(const char *return_address)
{
	return learn_at((uintptr_t)return_address - 1);
}

TEST(a_frame_with_a_pair_is_plain)
{
	struct frame_rule rule = learn(with_pair_at);

	CHECK_EQ(rule.head.kind, FRAME_TABLE);
	CHECK(rule.head.cfa_register == FRAME_SP);
	CHECK_EQ(rule.head.cfa_offset, 48);
	CHECK_EQ(rule.head.saved_fp, -6);
	CHECK_EQ(rule.return_base, FRAME_FROM_CFA);
	CHECK_EQ(rule.return_offset, -5);
	CHECK_EQ(rule.saved_others[0], -4);
	CHECK_EQ(rule.saved_others[FRAME_LINK - FRAME_OTHER], FRAME_SAME);
	CHECK(rule.head.is_plain);
	CHECK(rule.head.is_after_call);
	CHECK(!rule.head.is_interrupted);
	rule = learn(with_pair_and_fp_at);
	CHECK(rule.head.cfa_register == FRAME_FP);
	CHECK_EQ(rule.head.cfa_offset, 48);
	CHECK(rule.head.is_plain);
	CHECK(rule.head.is_after_call);
}

TEST(a_signed_return_address_makes_no_difference)
{
	struct frame_rule rule = learn(is_signed_at), other = learn(with_pair_at);

	other.saved_others[0] = FRAME_SAME;
	CHECK_MEM(&rule, &other, sizeof(rule));
}

TEST(a_frame_by_another_register_is_not_plain)
{
	struct frame_rule rule = learn(by_x19_at);

	CHECK_EQ(rule.head.kind, FRAME_TABLE);
	CHECK(rule.head.cfa_register == FRAME_OTHER);
	CHECK_EQ(rule.head.cfa_offset, 24);
	CHECK(!rule.head.is_plain);
}

TEST(a_link_register_without_its_pair_is_not_plain)
{
	struct frame_rule rule = learn(link_alone_at);

	CHECK_EQ(rule.head.kind, FRAME_TABLE);
	CHECK_EQ(rule.return_offset, -2);
	CHECK_EQ(rule.head.saved_fp, FRAME_SAME);
	CHECK(!rule.head.is_plain);
}

/* Interrupted where it stands, not returned to */
TEST(a_leaf_has_its_return_address_in_the_link_register)
{
	struct frame_rule rule = learn_at((uintptr_t)leaf_at);

	CHECK_EQ(rule.head.kind, FRAME_TABLE);
	CHECK_EQ(rule.return_base, FRAME_IN_LINK);
	CHECK(rule.head.cfa_register == FRAME_SP);
	CHECK_EQ(rule.head.cfa_offset, 32);
	CHECK(!rule.head.is_plain);
}

TEST(without_a_return_address_the_stack_ends)
{
	CHECK_EQ(learn(outermost_at).head.kind, FRAME_END);
}

/* libunwind answers all the same, with the link register. */
TEST(what_no_rule_can_say_is_left_to_the_frame_pointer)
{
	CHECK_EQ(learn(by_expression_at).head.kind, FRAME_CHAIN);
	CHECK(learn(by_expression_at).head.is_after_call);
}

TEST(without_an_entry_nothing_is_guessed)
{
	struct frame_rule rule = learn(without_table_at);

	CHECK_EQ(rule.head.kind, FRAME_CHAIN);
	CHECK(rule.head.is_after_call);
}

TEST(what_a_signal_handler_returns_to_is_known_by_its_code)
{
	struct frame_rule rule = learn_at((uintptr_t)returns_from_signal_at);

	CHECK_EQ(rule.head.kind, FRAME_TABLE);
	CHECK(rule.head.is_interrupted);
	CHECK(rule.head.is_cfa_indirect);
	/* asm/sigcontext.h: behind siginfo, and 168 bytes of ucontext to 16 */
	CHECK_EQ(rule.head.cfa_offset, 128 + 176 + 8 + 31 * 8);
	CHECK_EQ(rule.return_base, FRAME_FROM_SP);
	CHECK_EQ(rule.return_offset * 8, rule.head.cfa_offset + 8);
	CHECK(!rule.head.is_plain);
	CHECK_EQ(learn(returns_from_signal_at + 4).head.kind, FRAME_CHAIN);
}

TEST(where_nothing_is_mapped_is_no_code)
{
	CHECK_EQ(learn_at(16).head.kind, FRAME_NONE);
	CHECK_EQ(learn_at(0).head.kind, FRAME_NONE);
	CHECK_EQ(learn_at(UINT64_MAX).head.kind, FRAME_NONE);
	CHECK_EQ(learn_at(0x123456789abc).head.kind, FRAME_NONE);
	CHECK_EQ(learn_at(0xdeadbeefdeadbeef).head.kind, FRAME_NONE);
}

static bool is_call(uint32_t instruction)
{
	return arch__ends_in_call((const unsigned char *)(&instruction + 1));
}

TEST(all_forms_of_calls_are_known)
{
	CHECK(is_call(0x94000001)); /* bl */
	CHECK(is_call(0x97ffffff)); /* bl, backwards */
	CHECK(is_call(0xd63f0000)); /* blr x0 */
	CHECK(is_call(0xd63f03c0)); /* blr x30 */
	CHECK(is_call(0xd63f081f)); /* blraaz x0 */
	CHECK(is_call(0xd63f0fdf)); /* blrabz x30 */
	CHECK(is_call(0xd73f0801)); /* blraa x0, x1 */
	CHECK(is_call(0xd73f0c3f)); /* blrab x1, sp */
	CHECK(!is_call(0x14000001)); /* b */
	CHECK(!is_call(0xd61f0000)); /* br x0 */
	CHECK(!is_call(0xd61f081f)); /* braaz x0 */
	CHECK(!is_call(0xd65f03c0)); /* ret */
	CHECK(!is_call(0xd503201f)); /* nop */
	CHECK(!is_call(0));
}

TEST(signatures_are_taken_off_return_addresses)
{
	uint64_t here = (uintptr_t)with_pair_at, is_signed_here = here;

	CHECK_EQ(arch__return_address(here), here);
	CHECK_EQ(arch__return_address(0), 0);
	/* pacia1716 signs x17, with x16: a nop on a processor that can't */
	__asm__("mov x17, %0\n	mov x16, #42\n	hint #8\n	mov %0, x17"
		: "+r"(is_signed_here)
		:
		: "x16", "x17");
	if (is_signed_here == here)
		SKIP("this processor has no pointer authentication");
	CHECK_EQ(arch__return_address(is_signed_here), here);
}

#endif
