/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERF_GPU_RECORD_HIT_CHAIN_H
#define PERF_GPU_RECORD_HIT_CHAIN_H

#include <stddef.h>
#include <stdint.h>

/* perf's PERF_MAX_STACK_DEPTH, its markers, and the caller */
#define HIT_CHAIN_MAX_IPS (127 + 8 + 1)

/**
 * hit_chain__add_caller - the frame-pointer chain of a function's entry, made whole
 * @ips, @nr: of the kernel, with PERF_CONTEXT_* markers
 * @caller:   the function's return address; 0: not known
 * @ret:      room for HIT_CHAIN_MAX_IPS
 *
 * At a function's entry the frame pointer is still the caller's, so the chain goes on
 * with the caller's caller; kernels since 6.11 put the caller in by themselves, where
 * they know the first instruction. Stateless; any thread.
 *
 * Return: how many there are in @ret; those past its end are left out.
 */
uint64_t hit_chain__add_caller(const uint64_t *ips, uint64_t nr, uint64_t caller,
			       uint64_t *ret);

#endif
