/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library that odd_stacks.c opens and closes. Built with different FRAME_BYTES, its
 * only function returns to the same place, from another frame.
 */
	.text
	.globl	call_back
	.type	call_back, @function
call_back:
	.cfi_startproc
	.byte	0x48, 0x81, 0xec /* sub $FRAME_BYTES, %rsp; always in this form */
	.long	FRAME_BYTES
	.cfi_def_cfa_offset FRAME_BYTES + 8
	call	*%rdi
	.byte	0x48, 0x81, 0xc4 /* add */
	.long	FRAME_BYTES
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	call_back, . - call_back
	.section .note.GNU-stack, "", @progbits
