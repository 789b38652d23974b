// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers and stacks of any content, walked through this very program. A word of the
 * input below 1 MiB is an offset in our code, and the stack lies where the stack
 * pointer says: so chains of frames can be found, not only guessed.
 *
 * The input is what a sample has behind its callchain: u64 abi, u64 regs[20], u64 bytes,
 * the stack, u64 how many of its bytes are valid (on x86-64).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gpu_log.h"
#include "../unit/own_machine.h"
#include "unwind/dwarf_unwind.h"
#include "util/log.h"

#define CODE_BYTES (1u << 20)

static const struct perf_event_attr attr = {
	.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	.sample_regs_user = 0xff0fffull,
};

static struct machine *machine;
static struct dwarf_unwind *unwind;
static uint64_t code; /* where ours begins */

static void setup(void)
{
	const struct map *map;

	log_verbosity = -1;
	if (machine__new(NULL, &machine))
		abort();
	own_machine__fill(machine);
	map = machine__find_map(machine, (uint32_t)getpid(),
				(uintptr_t)LLVMFuzzerTestOneInput);
	if (!map || dwarf_unwind__new(machine, arch__find("x86_64"), &unwind))
		abort();
	code = map->start;
}

/* The registers, and each word of the stack, moved into our code. */
static void relocate(uint64_t *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (words[i] < CODE_BYTES)
			words[i] += code;
	}
}

static void check(const uint64_t *frames, int nr)
{
	if (nr < 1 || nr > DWARF_UNWIND_MAX_FRAMES)
		abort();
	for (int i = 1; i < nr; i++) {
		bool is_last = i == nr - 1;

		if (!(is_last &&
		      GPU_LOG_FRAME_KIND(frames[i]) == GPU_LOG_FRAME_TRUNCATED) &&
		    !machine__find_map(machine, (uint32_t)getpid(), frames[i] - 1))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t frames[DWARF_UNWIND_MAX_FRAMES];
	struct user_state state;
	unsigned char *stack;

	if (!machine)
		setup();
	if (user_state__parse(arch__find("x86_64"), &attr, data, size, &state))
		return 0;
	stack = malloc(state.stack_bytes + 1);
	if (!stack)
		abort();
	memcpy(stack, state.stack, state.stack_bytes);
	relocate((uint64_t *)stack, state.stack_bytes / sizeof(uint64_t));
	relocate(state.regs, ARCH_MAX_REGS);
	state.pc = state.regs[16];
	state.stack = stack;
	check(frames, dwarf_unwind__walk(unwind, (uint32_t)getpid(), &state, frames));
	free(stack);
	return 0;
}
