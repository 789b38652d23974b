// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernels, put on the timeline or into a capture. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

static atomic_uint_fast64_t nr_recorded;

/* What becomes of the next kernel's record, as the script says. */
static enum fake_fate next_fate(struct kernel_type *type)
{
	uint64_t nr;

	if (!knobs.drop_every && !knobs.unknown_time_every)
		return FAKE_FATE_RECORDED;
	nr = atomic_fetch_add(&nr_recorded, 1) + 1;
	if (knobs.drop_every && nr % knobs.drop_every == 0) {
		atomic_fetch_add(&type->nr_dropped, 1);
		return FAKE_FATE_DROPPED;
	}
	if (knobs.unknown_time_every && nr % knobs.unknown_time_every == 0) {
		atomic_fetch_add(&type->nr_unknown, 1);
		return FAKE_FATE_UNKNOWN_TIME;
	}
	return FAKE_FATE_RECORDED;
}

static void record(const struct launch *launch, const struct CUstream_st *stream,
		   uint64_t start, uint32_t graph, uint64_t graph_node)
{
	const struct fake_hooks *hooks = atomic_load(&tools.hooks);
	struct kernel_type *type = launch->function->type;
	struct fake_run run = {
		.name = type->name,
		.start_ns = start,
		.end_ns = start + type->duration_ns,
		.correlation_id = driver_thread()->common.correlation_id,
		.device = (uint32_t)stream->context->device,
		.context = stream->context->id,
		.stream = stream->id,
		.registers = type->registers,
		.dynamic_shared_bytes = launch->shared_bytes,
		.graph = graph,
		.graph_node = graph_node,
		.is_cooperative = launch->is_cooperative,
	};

	memcpy(run.grid, launch->grid, sizeof(run.grid));
	memcpy(run.block, launch->block, sizeof(run.block));
	memcpy(run.cluster, launch->cluster, sizeof(run.cluster));
	run.fate = next_fate(type);
	hooks->kernel(&run);
}

CUresult launch__run(const struct launch *launch, struct CUstream_st *stream,
		     uint32_t graph, uint64_t graph_node)
{
	struct kernel_type *type = launch->function->type;
	uint64_t start;

	/* There is no GPU behind a forked child; see FAKE_CUDA_ALLOW_FORK. */
	if (fork_page__is_forked())
		return CUDA_SUCCESS;
	if (knobs.trap && strstr(type->name, knobs.trap)) {
		driver__break();
		return CUDA_SUCCESS;
	}
	start = stream__run(stream, type->duration_ns);
	truth__add_kernel(type, stream->context->device);
	if (fake_tools__wants(&tools, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
		record(launch, stream, start, graph, graph_node);
	if (type->migration)
		migration__play(type->migration, stream, start, type->duration_ns);
	return CUDA_SUCCESS;
}

static bool is_valid(const struct launch *launch)
{
	uint64_t nr_threads = 1;

	for (int i = 0; i < 3; i++) {
		if (!launch->grid[i] || !launch->block[i] || launch->block[i] > 1024)
			return false;
		nr_threads *= launch->block[i];
	}
	return nr_threads <= 1024;
}

static CUresult launch(const struct launch *launch, CUstream handle, bool is_per_thread)
{
	struct CUstream_st *stream;
	CUresult result;

	if (!launch->function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!is_valid(launch))
		return CUDA_ERROR_INVALID_VALUE;
	result = stream__get(handle, is_per_thread, &stream);
	if (result)
		return result;
	if (stream->capture) {
		const struct CUgraphNode_st node = {
			.type = CU_GRAPH_NODE_TYPE_KERNEL,
			.launch = *launch,
		};

		return graph__add(stream->capture, &node, NULL);
	}
	return launch__run(launch, stream, 0, 0);
}

CUresult launch__from_config(const CUlaunchConfig *config, CUfunction function,
			     struct launch *ret)
{
	if (!config)
		return CUDA_ERROR_INVALID_VALUE;
	*ret = (struct launch){
		.function = function,
		.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
		.block = {config->blockDimX, config->blockDimY, config->blockDimZ},
		.shared_bytes = config->sharedMemBytes,
	};
	for (unsigned int i = 0; i < config->numAttrs; i++) {
		const CUlaunchAttribute *attribute = &config->attrs[i];

		if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
			ret->cluster[0] = attribute->value.clusterDim.x;
			ret->cluster[1] = attribute->value.clusterDim.y;
			ret->cluster[2] = attribute->value.clusterDim.z;
		} else if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
			ret->is_cooperative = attribute->value.cooperative;
		}
	}
	return CUDA_SUCCESS;
}

static CUresult launch_config(const CUlaunchConfig *config, CUfunction function,
			      bool is_per_thread)
{
	struct launch from_config;
	CUresult result = launch__from_config(config, function, &from_config);

	return result ? result : launch(&from_config, config->hStream, is_per_thread);
}

static CUresult launch_host(CUstream handle, bool is_per_thread, CUhostFn function,
			    void *data)
{
	struct CUstream_st *stream;
	CUresult result = stream__get(handle, is_per_thread, &stream);

	if (result)
		return result;
	if (stream->capture) {
		const struct CUgraphNode_st node = {
			.type = CU_GRAPH_NODE_TYPE_HOST,
			.host = {.fn = function, .userData = data},
		};

		return graph__add(stream->capture, &node, NULL);
	}
	/* When all before it is done; the real one does so on a thread of its own. */
	wait_until(stream__tail(stream));
	function(data);
	return CUDA_SUCCESS;
}

/* clang-format off */
#define LAUNCH(function_, cooperative_)						\
	(&(struct launch){							\
		.function = (function_), .grid = {gx, gy, gz}, .block = {bx, by, bz},	\
		.shared_bytes = shared_bytes, .is_cooperative = (cooperative_)})
#define DIMENSIONS								\
	unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,	\
	unsigned int by, unsigned int bz, unsigned int shared_bytes

DRIVER_LAUNCH_API(cuLaunchKernel,
		  (CUfunction f, DIMENSIONS, CUstream stream, void **args, void **extra),
		  (f, gx, gy, gz, bx, by, bz, shared_bytes, stream, args, extra), f,
		  launch(LAUNCH(f, false), stream, false))
DRIVER_LAUNCH_API(cuLaunchKernel_ptsz,
		  (CUfunction f, DIMENSIONS, CUstream stream, void **args, void **extra),
		  (f, gx, gy, gz, bx, by, bz, shared_bytes, stream, args, extra), f,
		  launch(LAUNCH(f, false), stream, true))
DRIVER_LAUNCH_API(cuLaunchCooperativeKernel,
		  (CUfunction f, DIMENSIONS, CUstream stream, void **args),
		  (f, gx, gy, gz, bx, by, bz, shared_bytes, stream, args), f,
		  launch(LAUNCH(f, true), stream, false))
DRIVER_LAUNCH_API(cuLaunchCooperativeKernel_ptsz,
		  (CUfunction f, DIMENSIONS, CUstream stream, void **args),
		  (f, gx, gy, gz, bx, by, bz, shared_bytes, stream, args), f,
		  launch(LAUNCH(f, true), stream, true))
DRIVER_LAUNCH_API(cuLaunchKernelEx,
		  (const CUlaunchConfig *config, CUfunction f, void **args, void **extra),
		  (config, f, args, extra), f, launch_config(config, f, false))
DRIVER_LAUNCH_API(cuLaunchKernelEx_ptsz,
		  (const CUlaunchConfig *config, CUfunction f, void **args, void **extra),
		  (config, f, args, extra), f, launch_config(config, f, true))
DRIVER_API(cuLaunchHostFunc, (CUstream stream, CUhostFn f, void *data), (stream, f, data),
	   launch_host(stream, false, f, data))
DRIVER_API(cuLaunchHostFunc_ptsz, (CUstream stream, CUhostFn f, void *data),
	   (stream, f, data), launch_host(stream, true, f, data))
