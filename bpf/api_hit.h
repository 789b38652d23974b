/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the BPF program on the CUDA API's launch functions hands to the recorder: the
 * RAW part of a BPF_OUTPUT sample, in the perf ring of the CPU.
 */
#ifndef PERF_GPU_API_HIT_H
#define PERF_GPU_API_HIT_H

#ifndef __bpf__
#include <assert.h>
#include <stdint.h>
#define API_HIT_U64 uint64_t
#else
#define API_HIT_U64 __u64
#endif

struct api_hit {
	/*
	 * The function's return address, 0 if it couldn't be read. At a function's entry
	 * the frame pointer is still the caller's, so a chain along frame pointers
	 * begins with the caller's caller.
	 */
	API_HIT_U64 caller;
};

_Static_assert(sizeof(struct api_hit) == 8, "shared with the BPF program");

#endif
