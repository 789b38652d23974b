/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading what a JIT compiler says of its code, and is still writing, into pieces for
 * a log (struct gpu_log_jit):
 *
 *   /tmp/perf-PID.map   linux tools/perf/Documentation/jit-interface.txt
 *   jit-PID.dump        linux tools/perf/Documentation/jitdump-specification.txt;
 *                       the code itself, most of the file, is skipped
 *
 * All of a file is kept, deflated, whether a stack needs it or not: which addresses
 * stacks will have isn't known here, and of --call-graph dwarf not before they are
 * unwound. A map of 50 MB makes 8 to 17 MB, in 0.4 s that are spread over the life of
 * the process.
 *
 * Used by the library in the target, and by the recorder for targets that were killed.
 * Nothing is locked: of a file, one thread at a time.
 */
#ifndef PERF_GPU_INJECT_JIT_FILE_H
#define PERF_GPU_INJECT_JIT_FILE_H

#include <stdint.h>

#include "gpu_log.h"

/* So much of a file is kept, without the code; five times a large server's. */
#define JIT_FILE_MAX_BYTES (256ull << 20)

/* How far a file has been read; all 0 but for the kind: not at all. */
struct jit_file {
	enum gpu_log_jit_kind kind;
	uint32_t has_no_time; /* the jitdump's times are of a clock that isn't ours */
	uint64_t offset; /* of what is read next */
	uint64_t nr_kept_bytes;
};

/* Gets a piece. Return: 0 or a negative errno, after which it comes again next time. */
typedef int jit_file_take_fn(void *ctx, const struct gpu_log_jit *piece,
			     const void *deflated);

/**
 * jit_file__read - hand over what has been appended to a file
 * @fd: a regular file that can be read. A perf map that has become shorter is read
 *      from its start, again.
 *
 * Return: 0, also if nothing has been appended, or a negative errno: -EFBIG if there is
 * too much, -EINVAL if a jitdump is none of this machine's, -ENOMEM, that of pread(2)
 * or @take's.
 */
int jit_file__read(struct jit_file *file, int fd, jit_file_take_fn *take, void *ctx);

#endif
