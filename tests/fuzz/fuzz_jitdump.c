// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jitdumps and perf maps of any content, as the library reads them into a log and the
 * reader makes symbols of them. What is found must not depend on how much of the file
 * was there when it was looked at first.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "fuzz.h"
#include "../../cupti_inject/jit_file.h"
#include "symbol/jit_symbols.h"

/* Places in the input whose bytes are looked up as addresses and times */
#define MAX_LOOKUPS 200

static int take(void *symbols, const struct gpu_log_jit *piece, const void *deflated)
{
	uint64_t bytes[GPU_LOG_JIT_MAX_BYTES / sizeof(uint64_t)];
	uLongf nr_bytes = sizeof(bytes);

	if (!piece->nr_bytes ||
	    uncompress((unsigned char *)bytes, &nr_bytes, deflated,
		       piece->nr_deflated_bytes) != Z_OK ||
	    nr_bytes != piece->nr_bytes)
		abort();
	if (piece->kind == GPU_LOG_JIT_PERF_MAP)
		return jit_symbols__add_perf_map(symbols, piece->offset,
						 (const char *)bytes, nr_bytes);
	/* What the library writes the reader must take. */
	if (jit_symbols__add_code(symbols, bytes, nr_bytes))
		abort();
	return 0;
}

/* Read a file that has @first_bytes at first, and all of it then. */
static struct jit_symbols *read_file(enum gpu_log_jit_kind kind, const uint8_t *data,
				     size_t size, size_t first_bytes)
{
	int fd = memfd_create("jit", MFD_CLOEXEC);
	struct jit_file file = {.kind = kind};
	struct jit_symbols *symbols;

	if (fd < 0 || jit_symbols__new(&symbols) ||
	    write(fd, data, first_bytes) != (ssize_t)first_bytes)
		abort();
	jit_file__read(&file, fd, take, symbols);
	if (write(fd, data + first_bytes, size - first_bytes) !=
	    (ssize_t)(size - first_bytes))
		abort();
	jit_file__read(&file, fd, take, symbols);
	close(fd);
	if (jit_symbols__finish(symbols))
		abort();
	return symbols;
}

static void compare(struct jit_symbols *a, struct jit_symbols *b, uint64_t address,
		    uint64_t time_ns)
{
	const struct symbol *x = jit_symbols__find(a, address, time_ns);
	const struct symbol *y = jit_symbols__find(b, address, time_ns);

	if (!x != !y)
		abort();
	if (x &&
	    (strcmp(x->name, y->name) != 0 || x->start != y->start || x->end != y->end ||
	     address < x->start || address >= x->end || !*x->demangled))
		abort();
}

static void check(enum gpu_log_jit_kind kind, const uint8_t *data, size_t size)
{
	struct jit_symbols *at_once = read_file(kind, data, size, size);
	struct jit_symbols *in_steps = read_file(kind, data, size, size / 2);

	for (size_t i = 0; i < MAX_LOOKUPS && i + sizeof(uint64_t) <= size; i++) {
		uint64_t word, time_ns;

		memcpy(&word, data + i, sizeof(word));
		memcpy(&time_ns, data + size - sizeof(time_ns) - i, sizeof(time_ns));
		compare(at_once, in_steps, word, time_ns);
		compare(at_once, in_steps, word - 1, 0);
	}
	for (uint64_t address = 0; address < MAX_LOOKUPS; address++)
		compare(at_once, in_steps, address << 4, address);
	jit_symbols__delete(at_once);
	jit_symbols__delete(in_steps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(GPU_LOG_JIT_CODE, data, size);
	check(GPU_LOG_JIT_PERF_MAP, data, size);
	return 0;
}
