/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of event_truth share: kernels of a known length, and the lines that
 * say what was done. All of it is used by one thread.
 */
#ifndef PERF_GPU_TESTS_EVENT_TRUTH_H
#define PERF_GPU_TESTS_EVENT_TRUTH_H

#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* C's, so that names in stacks are these, and no two of a name can be. */
#define KNOWN_FUNCTION extern "C" __attribute__((noinline))

#define CHECK(call)                                                                    \
	do {                                                                           \
		int error_ = (call);                                                   \
		if (error_) {                                                          \
			fprintf(stderr, "event_truth: %s: error %d\n", #call, error_); \
			exit(1);                                                       \
		}                                                                      \
	} while (0)

#define KIB  1024ul
#define MIB  (1024ul * 1024)
#define MS   1000000l /* in ns */
#define NONE (-1l)

/* What was done, of one event, by one function. */
struct fact {
	const char *event, *unit; /* as the sums below have it: ns or bytes */
	const char *leaf; /* behind the event's prefix; a kernel: its name */
	const char *function; /* that is in each stack; "-": not known */
	const char *maker; /* of a graph's node: in each stack as well; or NULL */
	long count; /* of samples; NONE: not known */
	/*
	 * The sum of their periods: what it is by construction, and what it can't be
	 * below or above, by clocks that were read around it. Each NONE if not known.
	 */
	long known, least, most;
};

/* Print one line of it. */
void fact__print(const struct fact *fact);

/* What is countable: @nr samples of @sum bytes. */
void did(const char *event, const char *leaf, const char *function, long nr, long bytes);
/* The same through a graph that @maker made. */
void did_in_graph(const char *event, const char *leaf, const char *function,
		  const char *maker, long nr, long bytes);

static inline long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000l + t.tv_nsec;
}

/* What a kernel of the next three takes; the stand-in's script says the same. */
#define SHORT_NS (5 * MS)
#define LONG_NS	 (50 * MS)
#define COVER_NS (400 * MS)

/* The only ones to launch a kernel spin_short, spin_long or spin_cover; or nothing. */
KNOWN_FUNCTION void run_short(cudaStream_t stream);
KNOWN_FUNCTION void run_long(cudaStream_t stream);
KNOWN_FUNCTION void run_cover(cudaStream_t stream);
KNOWN_FUNCTION void run_nothing(cudaStream_t stream);
/* Loads them all, so that their first launch is no longer than others. */
void load_kernels(void);
/* How often each was launched, and so what the GPU did. */
void print_kernels(void);

/* The parts: each does things and says so. event_truth_memory.cu ... */
void do_copies(void);
void do_memsets(void);
void do_graphs(void);
void do_peers(void);
void do_allocations(void);
void do_faults(void);
void do_touches(void);
/* What do_faults() moves by a kernel, for the stand-in's script */
void print_migrations(void);
/* ... and event_truth_time.cu */
void do_waits(void);
void do_gaps(void);
void do_calls(void);
void do_queues(void);

#endif
