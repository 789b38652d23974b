/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which struct CUPTI's activity records are, by kind and cuptiGetVersion(), and how they
 * are read.
 *
 * A record has no version and no size: what it is, only the version of the library tells.
 * But since CUDA 11.0, the first that is supported, a struct has only ever been replaced
 * by one that begins as it does and has new members behind (NVIDIA's release notes name
 * each; record_layout.c lists them, and compares the members' places where the header has
 * both structs). So a record is read through the oldest struct of its kind, here named
 * record_*, and members that came later are asked for by their version.
 *
 * So it is, too, with a CUPTI that is newer than our header. NVIDIA promises nothing about
 * it, but programs that were compiled for CUDA 12 run with any libcupti.so.12, whose
 * structs grew three times meanwhile; and where it did break a struct (that of NVLink, in
 * CUDA 13.2) its release notes warned. None of the kinds here has been. Should one be, its
 * records are nonsense, which record_check.h tells before anything is made of them.
 *
 * Stateless; any thread.
 */
#ifndef PERF_GPU_INJECT_RECORD_LAYOUT_H
#define PERF_GPU_INJECT_RECORD_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

/* cuptiGetVersion() of some CUDA versions; cupti_version.h has them all. */
#define CUPTI_OF_CUDA_11_0 13
#define CUPTI_OF_CUDA_11_1 14
#define CUPTI_OF_CUDA_11_2 15 /* and of 11.3 and 11.4 */
#define CUPTI_OF_CUDA_11_6 17 /* and of 11.7 */
#define CUPTI_OF_CUDA_11_8 18
#define CUPTI_OF_CUDA_12_0 19 /* and of 12.1 */
#define CUPTI_OF_CUDA_12_4 22
#define CUPTI_OF_CUDA_12_5 23
#define CUPTI_OF_CUDA_12_6 24
#define CUPTI_OF_CUDA_12_8 26
#define CUPTI_OF_CUDA_13_0 130000
#define CUPTI_NEWEST_KNOWN CUPTI_API_VERSION

/* What records of a kind begin with, in all versions that have the kind */
typedef CUpti_ActivityKernel5 record_kernel;
typedef CUpti_ActivityMemcpy3 record_memcpy;
typedef CUpti_ActivityMemcpyPtoP2 record_peer_memcpy;
typedef CUpti_ActivityMemset2 record_memset;
typedef CUpti_ActivitySynchronization record_sync;
typedef CUpti_ActivityMemory2 record_memory;
typedef CUpti_ActivityUnifiedMemoryCounter2 record_fault;
typedef CUpti_ActivityContext record_context;
typedef CUpti_ActivityAPI record_api;

struct record_layout {
	CUpti_ActivityKind kind;
	uint32_t since; /* the first cuptiGetVersion() that has it */
	const char *name; /* of the struct */
	size_t bytes; /* of a record */
};

/**
 * record_layout__find - the struct of a kind's records
 * @version: cuptiGetVersion()
 *
 * Return: the newest that is not newer than @version; NULL if CUPTI had no such records
 * then, or nothing is known of them.
 */
const struct record_layout *record_layout__find(CUpti_ActivityKind kind,
						uint32_t version);

/* All of them, for tests; @i counts from 0. NULL behind the last. */
const struct record_layout *record_layout__get(size_t i);

/**
 * record_layout__graph - the id of the CUDA graph that a record's work was part of
 * @record:  of a kernel, copy, peer copy or memset
 * @version: cuptiGetVersion()
 *
 * Return: 0: of none. Records of CUDA 11.0 don't have it: it is then made of the node's id.
 */
uint32_t record_layout__graph(const CUpti_Activity *record, uint32_t version);

#endif
