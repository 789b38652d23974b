/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes on the launch functions that libcuda exports (--probe api), with the BPF
 * program of bpf/api.bpf.c. The runtime enters the driver through them, be it linked
 * in or loaded, so they are hit once a launch, whoever launches. One thread.
 */
#ifndef PERF_GPU_RECORD_API_PROBE_H
#define PERF_GPU_RECORD_API_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/probe.h"
#include "util/failure.h"

struct api_probe;

struct api_probe_config {
	uint32_t
		events; /* GPU_LOG_EVENT_BIT()s: of functions that are wanted for these */
	/* Of a probe that works here; NULL: one is tried */
	const struct probe_facts *facts;
	/* Record children of this process from here on, and theirs; else those that are told */
	bool follows_children;
};

/**
 * api_probe__open - load the program
 * @config: as far as it is pointers, not kept
 * @ret:     released by api_probe__close(); written on success only
 * @failure: written on failure only; nothing is printed
 *
 * Return: 0 or a negative errno, as probe__open() has them.
 */
int api_probe__open(const struct api_probe_config *config, struct api_probe **ret,
		    struct failure *failure);

/*
 * Record a process, by its pid in the initial namespace, until it ends or executes. 0 or a
 * negative errno, not printed: -E2BIG there are too many at a time
 */
int api_probe__record(struct api_probe *probe, uint32_t global_pid);

/* Whether calls are recorded from now on; they are at first. */
void api_probe__turn(struct api_probe *probe, bool on);

/**
 * api_probe__add - probe a file, unless that was tried before
 * @path: of a libcuda
 *
 * Return: 0 if it is probed, else a negative errno, printed as a warning the first time:
 * -ENOENT it has no launch functions.
 */
int api_probe__add(struct api_probe *probe, const char *path);

/* The same of a file that a process has mapped, maybe in a mount namespace of its own. */
int api_probe__add_mapping(struct api_probe *probe, pid_t pid, uint64_t start,
			   uint64_t bytes, const char *path);

/* The same of those that programs find in the usual places; what isn't there is no error. */
void api_probe__add_known(struct api_probe *probe);

/* How many files are probed. */
size_t api_probe__nr_files(const struct api_probe *probe);

/* Are files probed through links, which take CAP_BPF and CAP_PERFMON alone? */
bool api_probe__is_uprobe_multi(const struct api_probe *probe);

/* The PERF_EVENT_ARRAY that receives each CPU's ring. */
int api_probe__sample_rings_fd(const struct api_probe *probe);

/* Stop; counters stay readable. */
void api_probe__detach(struct api_probe *probe);

/* What BPF has counted: launches without room, and children that were too many. */
uint64_t api_probe__nr_lost_ring(const struct api_probe *probe);
uint64_t api_probe__nr_lost_processes(const struct api_probe *probe);

void api_probe__close(struct api_probe *probe); /* NULL is fine */

/* Is it a libcuda, by the name of its file? */
bool api_probe__is_libcuda(const char *path);

#endif
