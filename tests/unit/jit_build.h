/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes jitdumps for tests, and reads files with cupti_inject/jit_file.c into symbols
 * as a log and the sidecar's reader would carry them.
 */
#ifndef PERF_GPU_TESTS_JIT_BUILD_H
#define PERF_GPU_TESTS_JIT_BUILD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "../../cupti_inject/jit_file.h"
#include "symbol/jit_symbols.h"

struct dump_header {
	uint32_t magic, version, nr_bytes, elf_machine, pad, pid;
	uint64_t time, flags;
};

/* Of this machine, with times of CLOCK_MONOTONIC */
__attribute__((unused)) static struct dump_header dump__header(void)
{
	return (struct dump_header){
		.magic = 0x4a695444,
		.version = 1,
		.nr_bytes = sizeof(struct dump_header),
		.elf_machine = 62,
	};
}

__attribute__((unused)) static void dump__write(int fd, const void *data, size_t bytes)
{
	if (write(fd, data, bytes) != (ssize_t)bytes)
		abort();
}

/* Any record; the rest of @bytes, code for example, is 0xcc. */
__attribute__((unused)) static void dump__record(int fd, uint32_t type, uint64_t time,
						 const void *body, size_t body_bytes,
						 size_t bytes)
{
	uint32_t head[2] = {type, (uint32_t)(16 + bytes)};
	unsigned char *rest = malloc(bytes + 1);

	if (!rest)
		abort();
	memset(rest, 0xcc, bytes);
	memcpy(rest, body, body_bytes);
	dump__write(fd, head, sizeof(head));
	dump__write(fd, &time, sizeof(time));
	dump__write(fd, rest, bytes);
	free(rest);
}

__attribute__((unused)) static void dump__load(int fd, uint64_t time, uint64_t address,
					       uint64_t code_bytes, uint64_t index,
					       const char *name)
{
	size_t name_bytes = strlen(name) + 1;
	unsigned char *body = calloc(1, 40 + name_bytes);
	uint64_t fields[5] = {0, address, address, code_bytes, index};

	if (!body)
		abort();
	memcpy(body, fields, sizeof(fields));
	memcpy(body + 40, name, name_bytes);
	dump__record(fd, 0, time, body, 40 + name_bytes, 40 + name_bytes + code_bytes);
	free(body);
}

__attribute__((unused)) static void dump__move(int fd, uint64_t time,
					       uint64_t old_address, uint64_t address,
					       uint64_t code_bytes, uint64_t index)
{
	uint64_t body[6] = {0, address, old_address, address, code_bytes, index};

	dump__record(fd, 1, time, body, sizeof(body), sizeof(body));
}

/* A jit_file_take_fn that adds a piece to a struct jit_symbols. */
__attribute__((unused)) static int
take_into_symbols(void *symbols, const struct gpu_log_jit *piece, const void *deflated)
{
	uint64_t data[GPU_LOG_JIT_MAX_BYTES / sizeof(uint64_t)];
	uLongf bytes = sizeof(data);

	if (uncompress((unsigned char *)data, &bytes, deflated,
		       piece->nr_deflated_bytes) != Z_OK ||
	    bytes != piece->nr_bytes || !bytes)
		abort();
	return piece->kind == GPU_LOG_JIT_PERF_MAP
		       ? jit_symbols__add_perf_map(symbols, piece->offset,
						   (const char *)data, bytes)
		       : jit_symbols__add_code(symbols, data, bytes);
}

__attribute__((unused)) static const char *jit_name(struct jit_symbols *symbols,
						    uint64_t address, uint64_t time_ns)
{
	const struct symbol *symbol = jit_symbols__find(symbols, address, time_ns);

	return symbol ? symbol->name : "none";
}

#endif
