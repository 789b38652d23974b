/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose is CUPTI, in a process where it isn't to be had? From CUDA 13 on, CUPTI may say a
 * name; else it is known by what is loaded into the process, or traces it. One thread.
 */
#ifndef PERF_GPU_INJECT_HOLDER_H
#define PERF_GPU_INJECT_HOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A library that is a profiler's or a debugger's, or has one in it */
struct holder_library {
	const char *prefix; /* of its file's name */
	const char *holder; /* "Nsight Systems (nsys)" */
	/* It is loaded by who uses the profiler; else by who could use it, too. */
	bool is_in_use;
};

/**
 * holder__of_library - whom a library belongs to
 * @path: of its file
 *
 * Return: static memory, or NULL if it is none that is known.
 */
const struct holder_library *holder__of_library(const char *path);

/**
 * holder__of_tracer - the debugger that a process is traced by
 * @pid: of the process; 0: this one
 * @ret: receives its name and pid: "cuda-gdb, pid 7"
 *
 * Return: is there one?
 */
bool holder__of_tracer(pid_t pid, char *ret, size_t size);

/**
 * holder__describe - name who has CUPTI in this process, for a message
 * @subscriber: what CUPTI says: "CUPTI for nsys"; "" if it says nothing
 * @ret: receives " (nsys)", " (torch.profiler: libtorch_cpu.so is loaded)"; "" if nothing
 *       is known
 */
void holder__describe(const char *subscriber, char *ret, size_t size);

/**
 * holder__possible - a profiler that is within this process, whether it is used or not
 *
 * Return: its library, or NULL if none is known.
 */
const struct holder_library *holder__possible(void);

#endif
