// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Demangling by libiberty, which perf uses too.
 *
 * Symbols come from files that anybody may have written, and libiberty has two
 * weak sides, which are kept away from here:
 *   - A symbol of 300 bytes can stand for a name of 2^30, by substitutions that
 *     double. So names are printed piecewise, and given up when too long.
 *   - Its parser recurses. It refuses symbols above 1,024 bytes for that reason,
 *     but those of kernels (CUTLASS) are longer. So the long ones are demangled
 *     without its limit on a stack of their own that is large enough. Printing,
 *     which recurses deeper, keeps a limit in any case.
 *
 * Threads: any number; nothing is shared.
 */
#include <errno.h>
#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/demangle.h"
#include "symbol/short_name.h"

/*
 * What is longer stays mangled: ten times what PyTorch's longest name needs, and of a short
 * symbol so many times its size (names of CUTLASS and PyTorch have 8 times, at most), since
 * a file can have many of them.
 */
#define MAX_NAME_BYTES (1u << 18)
#define MAX_RATIO      64
#define MIN_MAX_BYTES  4096
/* The longest symbol that libiberty takes with its limit on. */
#define MAX_LIMITED_BYTES 1024
/* The longest symbol that is tried; gpu_log.h cuts at 65,000. */
#define MAX_SYMBOL_BYTES 65536
/*
 * Per byte of the symbol: measured with binutils 2.40 on 21 kinds of nesting
 * ("PPP...", "1aI1aI...", "FFF...", ...), 168 at most, and 400 KiB to print.
 */
#define STACK_PER_BYTE 512
#define STACK_BYTES    (1u << 20)

struct demangling {
	const char *symbol;
	int options;
	char *text; /* the name so far, NUL-terminated */
	size_t nr, capacity, max;
	bool is_done;
	bool has_no_memory;
	jmp_buf give_up;
};

static void demangling__print(const char *piece, size_t nr, void *opaque)
{
	struct demangling *demangling = opaque;
	size_t capacity = demangling->capacity ? demangling->capacity : 256;
	char *text;

	if (nr >= demangling->max - demangling->nr)
		longjmp(demangling->give_up, 1);
	while (capacity <= demangling->nr + nr)
		capacity *= 2;
	if (capacity != demangling->capacity) {
		text = realloc(demangling->text, capacity);
		if (!text) {
			demangling->has_no_memory = true;
			longjmp(demangling->give_up, 1);
		}
		demangling->text = text;
		demangling->capacity = capacity;
	}
	memcpy(demangling->text + demangling->nr, piece, nr);
	demangling->nr += nr;
	demangling->text[demangling->nr] = '\0';
}

/* libiberty has no way to stop; it holds nothing but its stack while printing. */
static void *demangling__run(void *argument)
{
	struct demangling *demangling = argument;

	if (setjmp(demangling->give_up))
		return NULL;
	demangling->is_done =
		rust_demangle_callback(demangling->symbol,
				       demangling->options & ~DMGL_NO_RECURSE_LIMIT,
				       demangling__print, demangling);
	if (demangling->is_done)
		return NULL;
	demangling->nr = 0;
	demangling->is_done = cplus_demangle_v3_callback(
		demangling->symbol, demangling->options, demangling__print, demangling);
	return NULL;
}

static void demangling__run_on_large_stack(struct demangling *demangling, size_t nr_bytes)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (pthread_attr_init(&attr)) {
		demangling->has_no_memory = true;
		return;
	}
	if (!pthread_attr_setstacksize(&attr, STACK_BYTES + nr_bytes * STACK_PER_BYTE) &&
	    !pthread_create(&thread, &attr, demangling__run, demangling))
		pthread_join(thread, NULL);
	else
		demangling->has_no_memory = true;
	pthread_attr_destroy(&attr);
}

/*
 * The name for free(), or NULL if the symbol isn't mangled, or not sanely.
 * Return: 0 or -ENOMEM.
 */
static int demangle_symbol(const char *symbol, int options, char **ret)
{
	struct demangling demangling = {.symbol = symbol, .options = options};
	size_t nr_bytes = strlen(symbol);

	demangling.max = MIN_MAX_BYTES + MAX_RATIO * nr_bytes;
	if (demangling.max > MAX_NAME_BYTES)
		demangling.max = MAX_NAME_BYTES;

	/* Both schemes begin so; saves the parsers for what is none of theirs. */
	*ret = NULL;
	if (*symbol != '_' || nr_bytes > MAX_SYMBOL_BYTES)
		return 0;
	if (nr_bytes <= MAX_LIMITED_BYTES) {
		demangling__run(&demangling);
	} else {
		demangling.options |= DMGL_NO_RECURSE_LIMIT;
		demangling__run_on_large_stack(&demangling, nr_bytes);
	}
	if (demangling.is_done && demangling.nr)
		*ret = demangling.text;
	else
		free(demangling.text);
	return demangling.has_no_memory ? -ENOMEM : 0;
}

char *demangle(const char *name, enum demangle_style style)
{
	/* As perf has it: without parameters, return types and Rust's hashes. */
	static const int perf_options = DMGL_NO_OPTS;
	char *demangled = NULL, *shortened;

	if (style == DEMANGLE_NONE)
		return strdup(name);
	if (demangle_symbol(
		    name, style == DEMANGLE_FULL ? DMGL_PARAMS | DMGL_ANSI : perf_options,
		    &demangled))
		return NULL;
	if (style != DEMANGLE_SHORT)
		return demangled ? demangled : strdup(name);
	shortened = short_name(demangled ? demangled : name);
	free(demangled);
	return shortened;
}
