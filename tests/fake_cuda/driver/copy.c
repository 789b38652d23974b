// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies and memsets. They are made at once, in program order, and take their time on
 * the timeline of their stream: what the script says, or by their bytes.
 */
#include <stdio.h>
#include <string.h>

#include "driver.h"

/*
 * The fixed cost of one, and GB/s: of PCIe 5.0, NVLink and an H200's memory. Pageable
 * memory is nearly as fast as pinned, since the time on the CPU isn't in the record.
 */
#define LATENCY_NS    1500
#define PAGEABLE_GB_S 40
#define PINNED_GB_S   50
#define PEER_GB_S     400
#define DEVICE_GB_S   2000
#define HOST_GB_S     20

const char *const direction_names[NR_DIRECTIONS] = {
	[CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN] = "unknown",
	[CUPTI_ACTIVITY_MEMCPY_KIND_HTOD] = "HtoD",
	[CUPTI_ACTIVITY_MEMCPY_KIND_DTOH] = "DtoH",
	[CUPTI_ACTIVITY_MEMCPY_KIND_HTOA] = "HtoA",
	[CUPTI_ACTIVITY_MEMCPY_KIND_ATOH] = "AtoH",
	[CUPTI_ACTIVITY_MEMCPY_KIND_ATOA] = "AtoA",
	[CUPTI_ACTIVITY_MEMCPY_KIND_ATOD] = "AtoD",
	[CUPTI_ACTIVITY_MEMCPY_KIND_DTOA] = "DtoA",
	[CUPTI_ACTIVITY_MEMCPY_KIND_DTOD] = "DtoD",
	[CUPTI_ACTIVITY_MEMCPY_KIND_HTOH] = "HtoH",
	[CUPTI_ACTIVITY_MEMCPY_KIND_PTOP] = "PtoP",
};

static atomic_uint_fast64_t nr_recorded;

static bool is_host(CUpti_ActivityMemoryKind kind)
{
	return kind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE ||
	       kind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
}

/*
 * H, D or A. Managed memory is what the function takes it for; one that says nothing
 * (0) takes it for the device's.
 */
static char side__letter(const struct copy_side *side, char said)
{
	if (side->kind == CUPTI_ACTIVITY_MEMORY_KIND_ARRAY)
		return 'A';
	if (side->kind == CUPTI_ACTIVITY_MEMORY_KIND_MANAGED && said)
		return said;
	return is_host(side->kind) ? 'H' : 'D';
}

static CUpti_ActivityMemcpyKind copy__direction(const struct copy *copy,
						CUpti_ActivityMemcpyKind said)
{
	const char *name = direction_names[said];
	char from = side__letter(&copy->from, said ? name[0] : 0);
	char to = side__letter(&copy->to, said ? name[3] : 0);

	if (from == 'D' && to == 'D' && copy->from.device != copy->to.device)
		return CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
	for (unsigned int i = 1; i < NR_DIRECTIONS; i++)
		if (direction_names[i][0] == from && direction_names[i][3] == to)
			return (CUpti_ActivityMemcpyKind)i;
	return CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN;
}

static uint64_t copy__bytes(const struct copy *copy)
{
	return (uint64_t)copy->width_bytes * copy->height * copy->depth;
}

static uint64_t copy__gb_s(const struct copy *copy)
{
	if (!copy->from.start)
		return DEVICE_GB_S;
	if (copy->direction == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP)
		return PEER_GB_S;
	if (copy->direction == CUPTI_ACTIVITY_MEMCPY_KIND_HTOH)
		return HOST_GB_S;
	if (copy->from.kind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE ||
	    copy->to.kind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE)
		return PAGEABLE_GB_S;
	return is_host(copy->from.kind) || is_host(copy->to.kind) ? PINNED_GB_S
								  : DEVICE_GB_S;
}

/* "memcpy HtoD pageable device", "memset device": what a line of the script begins */
static uint64_t copy__duration(const struct copy *copy, uint64_t bytes)
{
	char name[64];
	uint64_t ns;

	if (knobs.durations_path) {
		if (copy->from.start)
			snprintf(name, sizeof(name), "memcpy %s %s %s",
				 direction_names[copy->direction],
				 memory_kind_names[copy->from.kind],
				 memory_kind_names[copy->to.kind]);
		else
			snprintf(name, sizeof(name), "memset %s",
				 memory_kind_names[copy->to.kind]);
		if (script__copy_duration(name, &ns))
			return ns;
	}
	return LATENCY_NS + bytes / copy__gb_s(copy);
}

static void fill(char *to, const struct copy *copy)
{
	if (copy->element_bytes == 1) {
		memset(to, (int)copy->value, copy->width_bytes);
		return;
	}
	for (size_t at = 0; at < copy->width_bytes; at += copy->element_bytes)
		memcpy(to + at, &copy->value, copy->element_bytes);
}

void copy__make(const struct copy *copy)
{
	for (size_t z = 0; z < copy->depth; z++) {
		for (size_t y = 0; y < copy->height; y++) {
			char *to = copy->to.start + z * copy->to.plane_bytes +
				   y * copy->to.pitch;

			if (copy->from.start)
				memmove(to,
					copy->from.start + z * copy->from.plane_bytes +
						y * copy->from.pitch,
					copy->width_bytes);
			else
				fill(to, copy);
		}
	}
}

static enum fake_fate next_fate(void)
{
	uint64_t nr;

	if (!knobs.copy_drop_every && !knobs.copy_unknown_time_every)
		return FAKE_FATE_RECORDED;
	nr = atomic_fetch_add(&nr_recorded, 1) + 1;
	if (knobs.copy_drop_every && nr % knobs.copy_drop_every == 0)
		return FAKE_FATE_DROPPED;
	if (knobs.copy_unknown_time_every && nr % knobs.copy_unknown_time_every == 0)
		return FAKE_FATE_UNKNOWN_TIME;
	return FAKE_FATE_RECORDED;
}

static CUpti_ActivityKind record_kind(const struct copy *copy)
{
	if (!copy->from.start)
		return CUPTI_ACTIVITY_KIND_MEMSET;
	return copy->direction == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP
		       ? CUPTI_ACTIVITY_KIND_MEMCPY2
		       : CUPTI_ACTIVITY_KIND_MEMCPY;
}

/* @nr: copies of a batch that were made together, of @bytes */
static void record(const struct copy *copy, uint64_t nr, uint64_t bytes,
		   const struct CUstream_st *stream, uint64_t start, uint64_t duration,
		   uint64_t graph_node)
{
	bool is_wanted = fake_tools__wants(&tools, record_kind(copy));
	const struct fake_copy run = {
		.fate = is_wanted ? next_fate() : FAKE_FATE_RECORDED,
		.is_memset = !copy->from.start,
		.is_async = copy->is_async,
		.direction = copy->direction,
		.src_kind = copy->from.kind,
		.dst_kind = copy->to.kind,
		.value = copy->value,
		.nr = nr,
		.bytes = bytes,
		.start_ns = start,
		.end_ns = start + duration,
		.correlation_id = driver_thread()->common.correlation_id,
		.device = (uint32_t)stream->context->device,
		.context = stream->context->id,
		.stream = stream->id,
		.src_device = copy->from.device,
		.src_context = copy->from.context,
		.dst_device = copy->to.device,
		.dst_context = copy->to.context,
		.graph = (uint32_t)(graph_node >> 32),
		.graph_node = graph_node,
	};

	truth__add_copy(&run);
	if (is_wanted)
		atomic_load(&tools.hooks)->copy(&run);
}

void copies__run(const struct copy *copy, uint64_t nr, uint64_t bytes,
		 struct CUstream_st *stream, uint64_t graph_node)
{
	uint64_t duration, start;

	if (!bytes || fork_page__is_forked())
		return;
	duration = copy__duration(copy, bytes);
	start = stream__run(stream, duration);
	record(copy, nr, bytes, stream, start, duration, graph_node);
}

void copy__run(const struct copy *copy, struct CUstream_st *stream, uint64_t graph_node)
{
	copy__make(copy);
	copies__run(copy, 1, copy__bytes(copy), stream, graph_node);
}

/* The caller of one to or from pageable memory gets it back when it is done with. */
static bool copy__waits(const struct copy *copy)
{
	if (!copy->from.start)
		return false;
	if (copy->is_async)
		return copy->direction == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH &&
		       copy->to.kind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
	return copy->direction != CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
}

CUresult copy__put(const struct copy *copy, CUstream handle, bool is_per_thread)
{
	struct CUstream_st *stream;
	CUresult result = stream__get(handle, is_per_thread, &stream);

	if (result)
		return result;
	if (stream->capture) {
		const struct CUgraphNode_st node = {
			.type = copy->from.start ? CU_GRAPH_NODE_TYPE_MEMCPY
						 : CU_GRAPH_NODE_TYPE_MEMSET,
			.copy = *copy,
		};

		return graph__add(stream->capture, &node, NULL);
	}
	copy__run(copy, stream, 0);
	if (copy__waits(copy) && !fork_page__is_forked())
		wait_until(stream__tail(stream));
	return CUDA_SUCCESS;
}

struct copy_side side__at(const void *address, size_t pitch, size_t height)
{
	struct copy_side side = {
		.start = (char *)address,
		.pitch = pitch,
		.plane_bytes = pitch * height,
	};

	memory__describe(address, &side);
	return side;
}

struct corner {
	size_t x_bytes, y, z;
};

static struct copy_side side__in(CUmemorytype type, const void *host, CUdeviceptr device,
				 CUarray array, struct corner corner, size_t pitch,
				 size_t height)
{
	struct copy_side side;

	if (type == CU_MEMORYTYPE_ARRAY)
		side = (struct copy_side){
			.start = array->start,
			.pitch = array->pitch,
			.plane_bytes = array->pitch * array->height,
			.kind = CUPTI_ACTIVITY_MEMORY_KIND_ARRAY,
			.device = (uint32_t)array->context->device,
			.context = array->context->id,
		};
	else
		side = side__at(type == CU_MEMORYTYPE_HOST
					? host
					: (const void *)(uintptr_t)device,
				pitch, height);
	side.start +=
		corner.x_bytes + corner.y * side.pitch + corner.z * side.plane_bytes;
	return side;
}

void copy__set_direction(struct copy *copy, CUpti_ActivityMemcpyKind said)
{
	copy->element_bytes = 1;
	copy->direction = copy__direction(copy, said);
}

void copy__from_3d(const CUDA_MEMCPY3D *from, struct copy *ret)
{
	size_t src_pitch = from->srcPitch ? from->srcPitch : from->WidthInBytes;
	size_t dst_pitch = from->dstPitch ? from->dstPitch : from->WidthInBytes;

	*ret = (struct copy){
		.from = side__in(
			from->srcMemoryType, from->srcHost, from->srcDevice,
			from->srcArray,
			(struct corner){from->srcXInBytes, from->srcY, from->srcZ},
			src_pitch, from->srcHeight ? from->srcHeight : from->Height),
		.to = side__in(from->dstMemoryType, from->dstHost, from->dstDevice,
			       from->dstArray,
			       (struct corner){from->dstXInBytes, from->dstY, from->dstZ},
			       dst_pitch,
			       from->dstHeight ? from->dstHeight : from->Height),
		.width_bytes = from->WidthInBytes,
		.height = from->Height,
		.depth = from->Depth,
	};
	copy__set_direction(ret, CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN);
}

void copy__from_memset(const CUDA_MEMSET_NODE_PARAMS *from, struct copy *ret)
{
	*ret = (struct copy){
		.to = side__at((void *)(uintptr_t)from->dst, from->pitch, from->height),
		.width_bytes = from->width * from->elementSize,
		.height = from->height,
		.depth = 1,
		.value = from->value,
		.element_bytes = from->elementSize,
	};
}
