/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The binary interface between NVTX 3, which every program and library has a copy of
 * in itself, and a tool; as far as we use it. It is that of NVIDIA's headers
 * (nvtx3/nvToolsExt.h and nvtxDetail/nvtxTypes.h), which CUDA's toolkit has but the
 * packages of CUPTI alone don't; test_nvtx_abi compares them.
 *
 * At its first call, a copy loads the library that NVTX_INJECTION64_PATH names and
 * calls its InitializeInjectionNvtx2() with a function that gives tables. In one is,
 * for each function of NVTX, where its implementation is to be put. What the tool
 * leaves alone does nothing from then on.
 */
#ifndef PERF_GPU_INJECT_NVTX_ABI_H
#define PERF_GPU_INJECT_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_ABI_TABLE_CALLBACKS 1 /* struct nvtx_callbacks */

#define NVTX_ABI_MODULE_CORE  1
#define NVTX_ABI_MODULE_CORE2 5

/* Places of the functions in a module's table */
enum nvtx_abi_core {
	NVTX_ABI_MARK_EX = 1,
	NVTX_ABI_MARK_A = 2,
	NVTX_ABI_MARK_W = 3,
	NVTX_ABI_RANGE_START_EX = 4,
	NVTX_ABI_RANGE_START_A = 5,
	NVTX_ABI_RANGE_START_W = 6,
	NVTX_ABI_RANGE_END = 7,
	NVTX_ABI_RANGE_PUSH_EX = 8,
	NVTX_ABI_RANGE_PUSH_A = 9,
	NVTX_ABI_RANGE_PUSH_W = 10,
	NVTX_ABI_RANGE_POP = 11,
	NVTX_ABI_CORE_SIZE = 12, /* of what we use */
};

enum nvtx_abi_core2 {
	NVTX_ABI_DOMAIN_MARK_EX = 1,
	NVTX_ABI_DOMAIN_RANGE_START_EX = 2,
	NVTX_ABI_DOMAIN_RANGE_END = 3,
	NVTX_ABI_DOMAIN_RANGE_PUSH_EX = 4,
	NVTX_ABI_DOMAIN_RANGE_POP = 5,
	NVTX_ABI_DOMAIN_REGISTER_STRING_A = 10,
	NVTX_ABI_DOMAIN_REGISTER_STRING_W = 11,
	NVTX_ABI_DOMAIN_CREATE_A = 12,
	NVTX_ABI_DOMAIN_CREATE_W = 13,
	NVTX_ABI_CORE2_SIZE = 14, /* of what we use */
};

enum nvtx_abi_message {
	NVTX_ABI_MESSAGE_NONE = 0,
	NVTX_ABI_MESSAGE_ASCII = 1,
	NVTX_ABI_MESSAGE_WIDE = 2,
	NVTX_ABI_MESSAGE_REGISTERED = 3,
};

/* What nvtxRangePush() and ...Pop() return without a tool */
#define NVTX_ABI_NO_PUSH_POP (-2)

struct nvtx_attributes {
	uint16_t version;
	uint16_t size; /* of what there is of this */
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t reserved;
	uint64_t payload;
	int32_t message_type; /* enum nvtx_abi_message */
	union {
		const char *ascii;
		const wchar_t *wide;
		const void *registered; /* what nvtxDomainRegisterString() returned */
	} message;
};

_Static_assert(sizeof(struct nvtx_attributes) == 48, "as nvtxEventAttributes_t");

typedef void nvtx_function(void);

struct nvtx_callbacks {
	size_t struct_size;
	/* 1, or 0 for a module that there isn't. @ret_size: places, from 0 */
	int (*get_table)(uint32_t module, nvtx_function ****ret, unsigned int *ret_size);
};

typedef const void *nvtx_get_table(uint32_t table);
typedef int nvtx_initialize(nvtx_get_table *get_table);

#endif
