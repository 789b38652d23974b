/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instruction that a marker begins with, and a uprobe sits on: for the library's
 * markers (marker.c), and the one that the recorder tests the kernel with.
 *
 *   x86-64   Linux 6.18 turns a probe on the 5-byte nop into a call, and other kernels
 *            emulate the 1-byte nop; anything else is single-stepped, with a second
 *            trap.
 *   aarch64  All kernels that have uprobes simulate branches, and so the marker's ret
 *            itself; a nop is single-stepped by those before 2025
 *            (arch/arm64/kernel/probes/decode-insn.c), which halves the number of hits
 *            a second: 0.9 instead of 1.85 million on a Kunpeng 916, by the kernel's
 *            own bench. There is nothing quicker than a trap, and no call that a
 *            forked child could inherit.
 */
#ifndef PERF_GPU_INJECT_MARKER_CODE_H
#define PERF_GPU_INJECT_MARKER_CODE_H

#if defined(__x86_64__)
#define MARKER_CODE	   ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n	ret"
#define MARKER_CODE_FORKED "nop\n	ret"
/* What they are, for messages: where the kernel makes a call of it, and elsewhere */
#define MARKER_NAME_CALL "5-byte nop, which this kernel turns into a call"
#define MARKER_NAME	 "1-byte nop"
/* "size@operand", negative size: signed; as the SDT note has them */
#define MARKER_ARGUMENTS "8@%rdi 8@%rsi 8@%rdx 4@%ecx 8@%r8 8@%r9"
#elif defined(__aarch64__)
#define MARKER_CODE	   "ret"
#define MARKER_CODE_FORKED "ret"
#define MARKER_NAME_CALL   MARKER_NAME
#define MARKER_NAME	   "ret, which the kernel simulates"
#define MARKER_ARGUMENTS   "8@x0 8@x1 8@x2 4@x3 8@x4 8@x5"
#else
#error "perf-gpu is for x86-64 and aarch64: which instruction is a probe quick on?"
#endif

#endif
