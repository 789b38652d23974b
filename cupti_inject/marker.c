// SPDX-License-Identifier: GPL-2.0-or-later
#include "marker.h"

#include <stddef.h>

#include "wiped_page.h"

#include "gpu_log.h"

#include "marker_code.h"

/*
 * The functions are written in assembly so that the instruction that a probe is quick
 * on is their very first (a compiler may put endbr64 or a frame there, and a probe on
 * those is single-stepped: 20 µs in a VM), and so that the arguments are in
 * registers at the probe, as the note says:
 *
 *   https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
 *
 *   name size, descriptor size, type 3, "stapsdt"
 *   address of the probe, of .stapsdt.base, of the semaphore (none)
 *   provider, name, arguments ("size@operand", negative size: signed)
 */
#define MARKER(name, code)                          \
	".pushsection .text\n"                      \
	".globl " name "\n"                         \
	".type " name ", %function\n"               \
	".balign 64\n" name ":\n"                   \
	"	.cfi_startproc\n"                         \
	"990:	" code "\n"                         \
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
	"	.asciz \"" MARKER_ARGUMENTS "\"\n"  \
	"994:	.balign 4\n"                          \
	".popsection\n"

/* Readers of the notes take the distance that .stapsdt.base has moved off them. */
__asm__(".pushsection .stapsdt.base, \"aG\", %progbits, .stapsdt.base, comdat\n"
	".weak _.stapsdt.base\n"
	".hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n"
	".size _.stapsdt.base, 1\n"
	".popsection\n" MARKER("perf_gpu_launch", MARKER_CODE)
		MARKER("perf_gpu_launch_forked", MARKER_CODE_FORKED));

void marker__tell_no_log(uint64_t session, int err)
{
	/* The one that is safe in a forked child too. */
	perf_gpu_launch_forked(session, 0, (uint64_t)-err, 0, NULL, 0);
}

void marker__tell_taken(uint64_t session, uint64_t log_id)
{
	perf_gpu_launch_forked(session, log_id, 0, GPU_LOG_API_TAKEN, NULL, 0);
}

/* A page with a 1 in it, which a forked child finds to be 0. */
static const unsigned char *fork_page;

int fork_page__init(void)
{
	unsigned char *page;
	int err;

	if (fork_page)
		return 0;
	err = wiped_page__create(&page);
	if (err)
		return err;
	*page = 1;
	fork_page = page;
	return 0;
}

bool fork_page__is_copy(void)
{
	return fork_page && !*(volatile const unsigned char *)fork_page;
}

bool fork_page__is_forked(void)
{
	return !fork_page || fork_page__is_copy();
}
