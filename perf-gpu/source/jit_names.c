// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/jit_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "gpu_log.h"
#include "symbol/jit_symbols.h"
#include "util/log.h"

/* How many times their size all pieces may be when inflated, and what any may be */
#define MAX_RATIO     64
#define MIN_MAX_BYTES (1u << 20)
#define MIN_MAX_LINES 65536

/* Forks of forks are followed so far. */
#define MAX_FORKS 16

/* Of a log */
struct process_names {
	bool is_loaded;
	struct jit_symbols *symbols; /* NULL: none */
};

/* What was read of all logs' pieces so far */
struct inflated {
	uint64_t deflated_bytes, bytes, nr_lines;
};

struct jit_names {
	const struct sidecar *sidecar;
	struct inflated inflated;
	struct process_names processes[]; /* sidecar->nr_logs */
};

int jit_names__new(const struct sidecar *sidecar, struct jit_names **ret)
{
	struct jit_names *names =
		calloc(1, sizeof(*names) + sidecar->nr_logs * sizeof(*names->processes));

	if (!names)
		return -ENOMEM;
	names->sidecar = sidecar;
	*ret = names;
	return 0;
}

void jit_names__delete(struct jit_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->sidecar->nr_logs; i++)
		jit_symbols__delete(names->processes[i].symbols);
	free(names);
}

/*
 * 100 bytes can be inflated to 64 KiB. Functions have addresses of their own, which take
 * more than a byte each; maps of Python and V8 have a tenth of their size when deflated.
 */
static bool bursts(struct inflated *inflated, const char *data, size_t bytes,
		   size_t nr_deflated_bytes)
{
	inflated->deflated_bytes += nr_deflated_bytes;
	inflated->bytes += bytes;
	for (const char *at = data; (at = memchr(at, '\n', bytes - (size_t)(at - data)));
	     at++)
		inflated->nr_lines++;
	return inflated->bytes > MIN_MAX_BYTES + MAX_RATIO * inflated->deflated_bytes ||
	       inflated->nr_lines > MIN_MAX_LINES + inflated->deflated_bytes;
}

static int add_piece(struct jit_symbols *symbols, const struct sidecar_jit *piece,
		     struct inflated *inflated)
{
	/* Aligned, for the records in it */
	uint64_t data[GPU_LOG_JIT_MAX_BYTES / sizeof(uint64_t)];
	uLongf bytes = sizeof(data);

	if (uncompress((unsigned char *)data, &bytes, piece->deflated,
		       piece->nr_deflated_bytes) != Z_OK ||
	    bytes != piece->nr_bytes ||
	    bursts(inflated, (const char *)data, bytes, piece->nr_deflated_bytes))
		return -EINVAL;
	switch (piece->kind) {
	case GPU_LOG_JIT_PERF_MAP:
		return jit_symbols__add_perf_map(symbols, piece->offset,
						 (const char *)data, bytes);
	case GPU_LOG_JIT_CODE:
		return jit_symbols__add_code(symbols, data, bytes);
	default: /* of a later writer */
		return 0;
	}
}

static int add_pieces(struct jit_symbols *symbols, const struct sidecar *sidecar,
		      uint32_t log, struct inflated *inflated)
{
	int err, broken = 0;

	for (size_t i = 0; i < sidecar->nr_jits; i++) {
		if (sidecar->jits[i].log != log)
			continue;
		err = add_piece(symbols, &sidecar->jits[i], inflated);
		if (err == -ENOMEM)
			return err;
		if (err)
			broken = err;
	}
	err = jit_symbols__finish(symbols);
	return err ? err : broken;
}

static void load(struct jit_names *names, uint32_t log)
{
	const struct sidecar *sidecar = names->sidecar;
	struct jit_symbols *symbols = NULL;
	int err;

	err = jit_symbols__new(&symbols);
	if (!err)
		err = add_pieces(symbols, sidecar, log, &names->inflated);
	if (err)
		pr_warning("names of functions that were compiled at run time are "
			   "missing for %s (pid %u): %s",
			   sidecar->logs[log].comm, sidecar->logs[log].pid,
			   err == -EINVAL ? "the GPU records are damaged"
					  : strerror(-err));
	if (err == -ENOMEM) {
		jit_symbols__delete(symbols);
		symbols = NULL;
	}
	names->processes[log].symbols = symbols;
	names->processes[log].is_loaded = true;
}

/* The log of a forked process's parent; -1 if it has none. */
static int64_t find_parent(const struct sidecar *sidecar, uint32_t log)
{
	const struct sidecar_log *child = &sidecar->logs[log];
	int64_t found = -1;

	if (!child->is_forked)
		return -1;
	for (size_t i = 0; i < sidecar->nr_logs; i++) {
		const struct sidecar_log *parent = &sidecar->logs[i];

		/* A pid can have been used more than once: the last one before counts. */
		if (parent->pid == child->ppid &&
		    parent->pid_namespace == child->pid_namespace &&
		    parent->start_ns < child->start_ns &&
		    (found < 0 || parent->start_ns > sidecar->logs[found].start_ns))
			found = (int64_t)i;
	}
	return found;
}

const char *jit_names__find(struct jit_names *names, uint32_t log, uint64_t address,
			    uint64_t time_ns)
{
	const struct sidecar *sidecar = names->sidecar;
	int64_t process = log;

	if (!sidecar->nr_jits)
		return NULL;
	for (int i = 0; i < MAX_FORKS && process >= 0; i++) {
		struct process_names *own = &names->processes[process];
		const struct symbol *symbol = NULL;

		if (!own->is_loaded)
			load(names, (uint32_t)process);
		if (own->symbols)
			symbol = jit_symbols__find(own->symbols, address, time_ns);
		if (symbol)
			return symbol->demangled;
		process = find_parent(sidecar, (uint32_t)process);
	}
	return NULL;
}
