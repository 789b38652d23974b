// SPDX-License-Identifier: GPL-2.0-or-later
/* The table that the other doubles work with, threads, correlation ids and forks. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"

static _Thread_local struct driver_thread this_thread;
static pthread_key_t thread_key;

static atomic_uint newest_correlation_id;

/*
 * A page that the kernel gives a child of any kind of fork empty: who reads 0 in it is
 * a child. NULL before cuInit().
 */
static _Atomic(atomic_bool *) fork_page;

struct driver_thread *driver_thread(void)
{
	return &this_thread;
}

static struct fake_thread *common_thread(void)
{
	return &this_thread.common;
}

static void free_own_stream(void *stream)
{
	free(stream);
}

static uint32_t next_correlation_id(void)
{
	uint32_t id;

	do {
		id = atomic_fetch_add_explicit(&newest_correlation_id, 1,
					       memory_order_relaxed);
	} while (!id);
	return id;
}

CUresult fork_page__init(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	atomic_bool *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED || madvise(page, size, MADV_WIPEONFORK))
		return CUDA_ERROR_OPERATING_SYSTEM;
	atomic_store(page, true);
	atomic_store(&fork_page, page);
	return CUDA_SUCCESS;
}

bool fork_page__is_forked(void)
{
	atomic_bool *page = atomic_load_explicit(&fork_page, memory_order_acquire);

	return page && !atomic_load_explicit(page, memory_order_relaxed);
}

void tools__resource(CUpti_CallbackIdResource id, const void *data)
{
	const struct fake_hooks *hooks = atomic_load(&tools.hooks);

	if (hooks && tools.wants[CUPTI_CB_DOMAIN_RESOURCE][id])
		hooks->resource(id, data);
}

static CUcontext current_context(void)
{
	return this_thread.context;
}

static uint32_t context_id(CUcontext context)
{
	return context ? context->id : 0;
}

static uint32_t device_of(CUcontext context)
{
	return context ? (uint32_t)context->device : 0;
}

static CUresult stream_id(CUcontext context, CUstream handle, bool is_per_thread,
			  uint32_t *ret_id)
{
	struct CUstream_st *stream;
	CUresult result;

	if (context && (!handle || handle == CU_STREAM_LEGACY) && !is_per_thread) {
		*ret_id = context->null_stream.id;
		return CUDA_SUCCESS;
	}
	result = stream__get(handle, is_per_thread, &stream);
	if (!result)
		*ret_id = stream->id;
	return result;
}

static uint32_t graph_id(CUgraph graph)
{
	return graph->id;
}

static uint32_t graph_exec_id(CUgraphExec exec)
{
	return exec->graph->id;
}

static uint64_t graph_node_id(CUgraphNode node)
{
	return node->id;
}

struct fake_tools tools = {
	.knobs = &knobs,
	.thread = common_thread,
	.next_correlation_id = next_correlation_id,
	.is_forked = fork_page__is_forked,
	.current_context = current_context,
	.context_id = context_id,
	.device_of = device_of,
	.stream_id = stream_id,
	.graph_id = graph_id,
	.graph_exec_id = graph_exec_id,
	.graph_node_id = graph_node_id,
	.allocate_variable = memory__allocate_variable,
	.is_initialized = driver__is_initialized,
	.tell_contexts = context__tell_all,
	.has_contexts = context__is_any,
	.device_info = device__info,
};

/* The stream that a thread has of its own, by CU_STREAM_PER_THREAD */
static CUresult own_stream(struct CUctx_st *context, struct CUstream_st **ret)
{
	struct driver_thread *thread = driver_thread();
	struct CUstream_st *stream = thread->own_stream;

	if (!stream || stream->context != context) {
		free(stream);
		stream = calloc(1, sizeof(*stream));
		thread->own_stream = stream;
		pthread_setspecific(thread_key, stream);
		if (!stream)
			return CUDA_ERROR_OUT_OF_MEMORY;
		stream__init(stream, context, CU_STREAM_DEFAULT);
	}
	*ret = stream;
	return CUDA_SUCCESS;
}

CUresult stream__get(CUstream handle, bool is_per_thread, struct CUstream_st **ret)
{
	struct CUctx_st *context;
	CUresult result;

	if (handle && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
		*ret = handle;
		return CUDA_SUCCESS;
	}
	result = context__current(&context);
	if (result)
		return result;
	if (handle == CU_STREAM_PER_THREAD || (!handle && is_per_thread))
		return own_stream(context, ret);
	*ret = &context->null_stream;
	return CUDA_SUCCESS;
}

__attribute__((constructor)) static void set_up(void)
{
	knobs__read();
	atomic_store(&newest_correlation_id, knobs.correlation_start);
	pthread_key_create(&thread_key, free_own_stream);
}

/* Libraries that link libcuda may launch in their destructors; they come before. */
__attribute__((destructor)) static void tear_down(void)
{
	if (driver__is_initialized() && !fork_page__is_forked())
		truth__write();
}
