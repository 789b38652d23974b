// SPDX-License-Identifier: GPL-2.0-or-later
#include "record_layout.h"

#define KERNEL	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
#define MEMCPY	CUPTI_ACTIVITY_KIND_MEMCPY
#define MEMCPY2 CUPTI_ACTIVITY_KIND_MEMCPY2
#define MEMSET	CUPTI_ACTIVITY_KIND_MEMSET
#define SYNC	CUPTI_ACTIVITY_KIND_SYNCHRONIZATION
#define MEMORY	CUPTI_ACTIVITY_KIND_MEMORY2
#define FAULT	CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER
#define CONTEXT CUPTI_ACTIVITY_KIND_CONTEXT

/*
 * By kind, then from old to new. The version of each is that of the CUDA whose release
 * notes introduce it; the header here says of older structs in which they were deprecated,
 * which is the same. A struct that came in an update of a CUDA counts from the next.
 */
static const struct record_layout layouts[] = {
#define LAYOUT(kind, version, type)                                \
	{                                                          \
		kind, CUPTI_OF_CUDA_##version, #type, sizeof(type) \
	}
	LAYOUT(KERNEL, 11_0, CUpti_ActivityKernel5),
	LAYOUT(KERNEL, 11_2, CUpti_ActivityKernel6), /* pAccessPolicyWindow */
	LAYOUT(KERNEL, 11_6, CUpti_ActivityKernel7), /* channelID */
	LAYOUT(KERNEL, 11_8, CUpti_ActivityKernel8), /* clusterX */
	LAYOUT(KERNEL, 12_0, CUpti_ActivityKernel9), /* maxPotentialClusterSize */
	LAYOUT(KERNEL, 13_0, CUpti_ActivityKernel10), /* isDeviceLaunched */
	/* CUDA 13.1 to 13.4: Kernel11 (priority), 12 (executionModel), 13 (sourceGraphId) */

	LAYOUT(MEMCPY, 11_0, CUpti_ActivityMemcpy3),
	LAYOUT(MEMCPY, 11_1, CUpti_ActivityMemcpy4), /* graphId */
	LAYOUT(MEMCPY, 11_6, CUpti_ActivityMemcpy5), /* channelID */
	LAYOUT(MEMCPY, 12_8, CUpti_ActivityMemcpy6), /* copyCount */

	LAYOUT(MEMCPY2, 11_0, CUpti_ActivityMemcpyPtoP2),
	LAYOUT(MEMCPY2, 11_1, CUpti_ActivityMemcpyPtoP3), /* graphId */
	LAYOUT(MEMCPY2, 11_6, CUpti_ActivityMemcpyPtoP4), /* channelID */

	LAYOUT(MEMSET, 11_0, CUpti_ActivityMemset2),
	LAYOUT(MEMSET, 11_1, CUpti_ActivityMemset3), /* graphId */
	LAYOUT(MEMSET, 11_6, CUpti_ActivityMemset4), /* channelID */

	LAYOUT(SYNC, 11_0, CUpti_ActivitySynchronization), /* since CUDA 8.0 */
	LAYOUT(SYNC, 12_8, CUpti_ActivitySynchronization2), /* cudaEventSyncId */

	/* Before CUDA 11.2 there was MEMORY, without the calls' ids, at the end. */
	LAYOUT(MEMORY, 11_2, CUpti_ActivityMemory2),
	LAYOUT(MEMORY, 11_6, CUpti_ActivityMemory3), /* utilizedSize */
	LAYOUT(MEMORY, 12_6, CUpti_ActivityMemory4), /* source */

	LAYOUT(FAULT, 11_0, CUpti_ActivityUnifiedMemoryCounter2), /* since CUDA 7.0 */
	LAYOUT(FAULT, 12_8, CUpti_ActivityUnifiedMemoryCounter3), /* processors */

	LAYOUT(CONTEXT, 11_0, CUpti_ActivityContext),
	LAYOUT(CONTEXT, 12_4, CUpti_ActivityContext2), /* parentContextId */
	LAYOUT(CONTEXT, 12_5, CUpti_ActivityContext3), /* cigMode */

	LAYOUT(CUPTI_ACTIVITY_KIND_RUNTIME, 11_0, CUpti_ActivityAPI),
	LAYOUT(CUPTI_ACTIVITY_KIND_DRIVER, 11_0, CUpti_ActivityAPI),
#undef LAYOUT
};
#define NR_LAYOUTS (sizeof(layouts) / sizeof(*layouts))

/* A member that is read stands where the oldest struct has it, and is as wide. */
#define SAME(type, oldest, member)                                           \
	_Static_assert(offsetof(type, member) == offsetof(oldest, member) && \
			       sizeof(((type *)0)->member) ==                \
				       sizeof(((oldest *)0)->member),        \
		       #type "." #member)

#define SAME_KERNEL(type)                               \
	SAME(type, record_kernel, kind);                \
	SAME(type, record_kernel, registersPerThread);  \
	SAME(type, record_kernel, start);               \
	SAME(type, record_kernel, end);                 \
	SAME(type, record_kernel, deviceId);            \
	SAME(type, record_kernel, contextId);           \
	SAME(type, record_kernel, streamId);            \
	SAME(type, record_kernel, gridX);               \
	SAME(type, record_kernel, gridY);               \
	SAME(type, record_kernel, gridZ);               \
	SAME(type, record_kernel, blockX);              \
	SAME(type, record_kernel, blockY);              \
	SAME(type, record_kernel, blockZ);              \
	SAME(type, record_kernel, staticSharedMemory);  \
	SAME(type, record_kernel, dynamicSharedMemory); \
	SAME(type, record_kernel, correlationId);       \
	SAME(type, record_kernel, name);                \
	SAME(type, record_kernel, graphNodeId);         \
	SAME(type, record_kernel, graphId)
SAME_KERNEL(CUpti_ActivityKernel6);
SAME_KERNEL(CUpti_ActivityKernel7);
SAME_KERNEL(CUpti_ActivityKernel8);
SAME_KERNEL(CUpti_ActivityKernel9);
SAME_KERNEL(CUpti_ActivityKernel10);

#define SAME_COPY(type, oldest)            \
	SAME(type, oldest, kind);          \
	SAME(type, oldest, copyKind);      \
	SAME(type, oldest, srcKind);       \
	SAME(type, oldest, dstKind);       \
	SAME(type, oldest, flags);         \
	SAME(type, oldest, bytes);         \
	SAME(type, oldest, start);         \
	SAME(type, oldest, end);           \
	SAME(type, oldest, deviceId);      \
	SAME(type, oldest, contextId);     \
	SAME(type, oldest, streamId);      \
	SAME(type, oldest, correlationId); \
	SAME(type, oldest, graphNodeId)
SAME_COPY(CUpti_ActivityMemcpy4, record_memcpy);
SAME_COPY(CUpti_ActivityMemcpy5, record_memcpy);
SAME_COPY(CUpti_ActivityMemcpy6, record_memcpy);
SAME(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy4, graphId);
SAME(CUpti_ActivityMemcpy6, CUpti_ActivityMemcpy4, graphId);

#define SAME_PEER_COPY(type)                         \
	SAME_COPY(type, record_peer_memcpy);         \
	SAME(type, record_peer_memcpy, srcDeviceId); \
	SAME(type, record_peer_memcpy, dstDeviceId)
SAME_PEER_COPY(CUpti_ActivityMemcpyPtoP3);
SAME_PEER_COPY(CUpti_ActivityMemcpyPtoP4);
SAME(CUpti_ActivityMemcpyPtoP4, CUpti_ActivityMemcpyPtoP3, graphId);

#define SAME_MEMSET(type)                         \
	SAME(type, record_memset, kind);          \
	SAME(type, record_memset, bytes);         \
	SAME(type, record_memset, start);         \
	SAME(type, record_memset, end);           \
	SAME(type, record_memset, deviceId);      \
	SAME(type, record_memset, contextId);     \
	SAME(type, record_memset, streamId);      \
	SAME(type, record_memset, correlationId); \
	SAME(type, record_memset, flags);         \
	SAME(type, record_memset, memoryKind);    \
	SAME(type, record_memset, graphNodeId)
SAME_MEMSET(CUpti_ActivityMemset3);
SAME_MEMSET(CUpti_ActivityMemset4);
SAME(CUpti_ActivityMemset4, CUpti_ActivityMemset3, graphId);

SAME(CUpti_ActivitySynchronization2, record_sync, kind);
SAME(CUpti_ActivitySynchronization2, record_sync, type);
SAME(CUpti_ActivitySynchronization2, record_sync, start);
SAME(CUpti_ActivitySynchronization2, record_sync, end);
SAME(CUpti_ActivitySynchronization2, record_sync, correlationId);
SAME(CUpti_ActivitySynchronization2, record_sync, contextId);
SAME(CUpti_ActivitySynchronization2, record_sync, streamId);

#define SAME_MEMORY(type)                               \
	SAME(type, record_memory, kind);                \
	SAME(type, record_memory, memoryOperationType); \
	SAME(type, record_memory, memoryKind);          \
	SAME(type, record_memory, correlationId);       \
	SAME(type, record_memory, address);             \
	SAME(type, record_memory, bytes);               \
	SAME(type, record_memory, timestamp);           \
	SAME(type, record_memory, deviceId);            \
	SAME(type, record_memory, contextId);           \
	SAME(type, record_memory, streamId);            \
	SAME(type, record_memory, name);                \
	SAME(type, record_memory, isAsync)
SAME_MEMORY(CUpti_ActivityMemory3);
SAME_MEMORY(CUpti_ActivityMemory4);

SAME(CUpti_ActivityUnifiedMemoryCounter3, record_fault, kind);
SAME(CUpti_ActivityUnifiedMemoryCounter3, record_fault, counterKind);
SAME(CUpti_ActivityUnifiedMemoryCounter3, record_fault, value);
SAME(CUpti_ActivityUnifiedMemoryCounter3, record_fault, start);
SAME(CUpti_ActivityUnifiedMemoryCounter3, record_fault, end);
SAME(CUpti_ActivityUnifiedMemoryCounter3, record_fault, srcId);
SAME(CUpti_ActivityUnifiedMemoryCounter3, record_fault, dstId);

#define SAME_CONTEXT(type)                     \
	SAME(type, record_context, kind);      \
	SAME(type, record_context, contextId); \
	SAME(type, record_context, deviceId);  \
	SAME(type, record_context, nullStreamId)
SAME_CONTEXT(CUpti_ActivityContext2);
SAME_CONTEXT(CUpti_ActivityContext3);

const struct record_layout *record_layout__find(CUpti_ActivityKind kind, uint32_t version)
{
	const struct record_layout *found = NULL;

	for (size_t i = 0; i < NR_LAYOUTS; i++)
		if (layouts[i].kind == kind && layouts[i].since <= version)
			found = &layouts[i];
	return found;
}

const struct record_layout *record_layout__get(size_t i)
{
	return i < NR_LAYOUTS ? &layouts[i] : NULL;
}

/* Of a node's id, the upper half is the graph's. */
static uint32_t graph_of_node(const CUpti_Activity *record)
{
	uint64_t node = 0;

	switch (record->kind) {
	case KERNEL:
		node = ((const record_kernel *)record)->graphNodeId;
		break;
	case MEMCPY:
		node = ((const record_memcpy *)record)->graphNodeId;
		break;
	case MEMCPY2:
		node = ((const record_peer_memcpy *)record)->graphNodeId;
		break;
	case MEMSET:
		node = ((const record_memset *)record)->graphNodeId;
		break;
	default:
		break;
	}
	return (uint32_t)(node >> 32);
}

uint32_t record_layout__graph(const CUpti_Activity *record, uint32_t version)
{
	/* In CUDA 11.0, Kernel5 has padding there (says 11.1); the others have nothing. */
	if (version < CUPTI_OF_CUDA_11_1)
		return graph_of_node(record);
	switch (record->kind) {
	case KERNEL:
		return ((const record_kernel *)record)->graphId;
	case MEMCPY:
		return ((const CUpti_ActivityMemcpy4 *)record)->graphId;
	case MEMCPY2:
		return ((const CUpti_ActivityMemcpyPtoP3 *)record)->graphId;
	case MEMSET:
		return ((const CUpti_ActivityMemset3 *)record)->graphId;
	default:
		return 0;
	}
}
