// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/operation_name.h"

#include <stdbool.h>
#include <stdio.h>

#include "gpu_log.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* CUpti_ActivityMemcpyKind; A is a CUDA array, in a device's memory */
enum copy_kind {
	COPY_HTOD = 1,
	COPY_DTOH = 2,
	COPY_HTOA = 3,
	COPY_ATOH = 4,
	COPY_ATOA = 5,
	COPY_ATOD = 6,
	COPY_DTOA = 7,
	COPY_DTOD = 8,
	COPY_HTOH = 9,
	COPY_PTOP = 10,
};

static const char *const copy_names[] = {
	[COPY_HTOD] = "HtoD", [COPY_DTOH] = "DtoH", [COPY_HTOA] = "HtoA",
	[COPY_ATOH] = "AtoH", [COPY_ATOA] = "AtoA", [COPY_ATOD] = "AtoD",
	[COPY_DTOA] = "DtoA", [COPY_DTOD] = "DtoD", [COPY_HTOH] = "HtoH",
	[COPY_PTOP] = "PtoP",
};

static const char *const memory_names[] = {
	[GPU_LOG_MEMORY_PAGEABLE] = "pageable",
	[GPU_LOG_MEMORY_PINNED] = "pinned",
	[GPU_LOG_MEMORY_DEVICE] = "device",
	[GPU_LOG_MEMORY_ARRAY] = "array",
	[GPU_LOG_MEMORY_MANAGED] = "managed",
	[GPU_LOG_MEMORY_DEVICE_STATIC] = "device static",
	[GPU_LOG_MEMORY_MANAGED_STATIC] = "managed static",
};

static const char *const sync_names[] = {
	[GPU_LOG_SYNC_EVENT] = "event",
	[GPU_LOG_SYNC_STREAM_WAIT_EVENT] = "stream wait event",
	[GPU_LOG_SYNC_STREAM] = "stream",
	[GPU_LOG_SYNC_CONTEXT] = "context",
};

static const char *const fault_names[] = {
	[GPU_LOG_FAULT_HTOD] = "HtoD",
	[GPU_LOG_FAULT_DTOH] = "DtoH",
	[GPU_LOG_FAULT_DTOD] = "DtoD",
};

/* NULL for what has no name */
#define NAME(names, what) ((what) < NR(names) ? (names)[what] : NULL)

static bool is_managed(uint32_t memory_kind)
{
	return memory_kind == GPU_LOG_MEMORY_MANAGED ||
	       memory_kind == GPU_LOG_MEMORY_MANAGED_STATIC;
}

/* Between two devices: both; GPU_LOG_NO_DEVICE is not known. */
static void write_devices(const struct sidecar_shape *shape, const char *name, char *ret,
			  size_t bytes)
{
	if (shape->src_device == GPU_LOG_NO_DEVICE ||
	    shape->dst_device == GPU_LOG_NO_DEVICE)
		snprintf(ret, bytes, "%s", name);
	else
		snprintf(ret, bytes, "%s GPU%u to GPU%u", name, shape->src_device,
			 shape->dst_device);
}

static void write_with_memory(const char *name, uint32_t memory_kind, char *ret,
			      size_t bytes)
{
	const char *memory = NAME(memory_names, memory_kind);

	snprintf(ret, bytes, "%s%s%s", name, memory ? " " : "", memory ? memory : "");
}

static void write_copy(const struct sidecar_shape *shape, char *ret, size_t bytes)
{
	const char *name = NAME(copy_names, shape->what);
	const char *src = NAME(memory_names, shape->src_kind);
	const char *dst = NAME(memory_names, shape->dst_kind);

	if (!name)
		name = "unknown";
	if (shape->what == COPY_PTOP)
		write_devices(shape, name, ret, bytes);
	else if (is_managed(shape->src_kind) || is_managed(shape->dst_kind))
		snprintf(ret, bytes, "%s managed", name);
	else if (shape->what == COPY_HTOD || shape->what == COPY_HTOA)
		write_with_memory(name, shape->src_kind, ret, bytes);
	else if (shape->what == COPY_DTOH || shape->what == COPY_ATOH)
		write_with_memory(name, shape->dst_kind, ret, bytes);
	else if (shape->what != COPY_HTOH)
		snprintf(ret, bytes, "%s", name);
	else if (src && dst && src != dst)
		snprintf(ret, bytes, "%s %s to %s", name, src, dst);
	else
		write_with_memory(name, src ? shape->src_kind : shape->dst_kind, ret,
				  bytes);
}

static void write_memory(const struct sidecar_shape *shape, char *ret, size_t bytes)
{
	const char *memory = NAME(memory_names, shape->dst_kind);

	snprintf(ret, bytes, "%s%s%s%s", memory ? memory : "unknown",
		 shape->is_async ? " async" : "", *shape->name ? " " : "", shape->name);
}

static void write_fault(const struct sidecar_shape *shape, char *ret, size_t bytes)
{
	const char *name = NAME(fault_names, shape->what);

	if (shape->what == GPU_LOG_FAULT_DTOD)
		write_devices(shape, name, ret, bytes);
	else
		snprintf(ret, bytes, "%s", name ? name : "unknown");
}

void operation_name__write(const struct sidecar_shape *shape, char *ret, size_t bytes)
{
	const char *name = NULL;

	switch (shape->kind) {
	case GPU_LOG_KIND_MEMCPY:
		write_copy(shape, ret, bytes);
		return;
	case GPU_LOG_KIND_MEMSET:
		name = NAME(memory_names, shape->dst_kind);
		break;
	case GPU_LOG_KIND_SYNC:
		name = NAME(sync_names, shape->what);
		break;
	case GPU_LOG_KIND_MEMORY:
		write_memory(shape, ret, bytes);
		return;
	case GPU_LOG_KIND_FAULT:
		write_fault(shape, ret, bytes);
		return;
	default:
		break;
	}
	snprintf(ret, bytes, "%s", name ? name : "unknown");
}
