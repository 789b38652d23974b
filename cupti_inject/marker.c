// SPDX-License-Identifier: GPL-2.0-or-later
#include "marker.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The functions are written in assembly so that the nop is their very first
 * instruction (a compiler may put endbr64 or a frame there, and a probe on
 * those is single-stepped: 20 µs in a VM), and so that the arguments are in
 * registers at the probe, as the note says:
 *
 *   https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
 *
 *   name size, descriptor size, type 3, "stapsdt"
 *   address of the probe, of .stapsdt.base, of the semaphore (none)
 *   provider, name, arguments ("size@operand", negative size: signed)
 */
#if defined(__x86_64__)
#define NOP_QUICK  ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"
#define NOP_FORKED "nop"
#define RETURN	   "ret"
#define ARGUMENTS  "8@%rdi 8@%rsi 8@%rdx 4@%ecx 8@%r8 8@%r9"
#elif defined(__aarch64__)
#define NOP_QUICK  "nop"
#define NOP_FORKED "nop"
#define RETURN	   "ret"
#define ARGUMENTS  "8@x0 8@x1 8@x2 4@x3 8@x4 8@x5"
#else
#error "write the marker for this architecture"
#endif

#define MARKER(name, nop)                           \
	".pushsection .text\n"                      \
	".globl " name "\n"                         \
	".type " name ", %function\n"               \
	".balign 64\n" name ":\n"                   \
	"	.cfi_startproc\n"                         \
	"990:	" nop "\n"                          \
	"	" RETURN "\n"                       \
	"	.cfi_endproc\n"                           \
	".size " name ", . - " name "\n"            \
	".popsection\n"                             \
	".pushsection .note.stapsdt, \"\", %note\n" \
	"	.balign 4\n"                              \
	"	.4byte 992f - 991f, 994f - 993f, 3\n"     \
	"991:	.asciz \"stapsdt\"\n"                 \
	"992:	.balign 4\n"                          \
	"993:	.8byte 990b\n"                        \
	"	.8byte _.stapsdt.base\n"                  \
	"	.8byte 0\n"                               \
	"	.asciz \"perf_gpu\"\n"                    \
	"	.asciz \"launch\"\n"                      \
	"	.asciz \"" ARGUMENTS "\"\n"         \
	"994:	.balign 4\n"                          \
	".popsection\n"

/* Readers of the notes take the distance that .stapsdt.base has moved off them. */
__asm__(".pushsection .stapsdt.base, \"aG\", %progbits, .stapsdt.base, comdat\n"
	".weak _.stapsdt.base\n"
	".hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n"
	".size _.stapsdt.base, 1\n"
	".popsection\n" MARKER("perf_gpu_launch", NOP_QUICK)
		MARKER("perf_gpu_launch_forked", NOP_FORKED));

void marker__tell_no_log(uint64_t session, int err)
{
	/* The one that is safe in a forked child too. */
	perf_gpu_launch_forked(session, 0, (uint64_t)-err, 0, NULL, 0);
}

/* A page with a 1 in it, which a forked child finds to be 0. */
static const unsigned char *fork_page;

int fork_page__init(void)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *page;

	if (fork_page)
		return 0;
	page = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (page == MAP_FAILED)
		return -errno;
	if (madvise(page, page_bytes, MADV_WIPEONFORK)) {
		int err = -errno;

		munmap(page, page_bytes);
		return err;
	}
	*page = 1;
	fork_page = page;
	return 0;
}

bool fork_page__is_forked(void)
{
	return !fork_page || !*(volatile const unsigned char *)fork_page;
}
