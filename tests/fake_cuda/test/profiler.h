/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A CUPTI client that keeps what it is told, for the tests of the stand-in. Its tests
 * set the script by setenv(), which works until the first call that opens libcuda:
 * so this links only libcudart and libcupti.
 */
#ifndef FAKE_CUDA_TEST_PROFILER_H
#define FAKE_CUDA_TEST_PROFILER_H

#include "../../unit/unit.h"

#include "../../workloads/plain_cuda.h"

#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define KERNEL "_Z12plain_kernelv" /* plain_cuda.h's */

#define PROFILER_MAX_CALLS   64
#define PROFILER_MAX_KERNELS (1 << 18)
#define PROFILER_MAX_NODES   64
#define PROFILER_MAX_EVENTS  4096

struct profiler_call {
	CUpti_CallbackDomain domain;
	CUpti_ApiCallbackSite site;
	const char *name, *symbol;
	uint32_t correlation_id;
	const void *params;
	int result; /* at exit */
};

struct profiler_node {
	uint64_t id, original_id; /* the latter 0 unless it is a clone */
	CUgraphNodeType type;
	uint32_t correlation_id; /* of the last call before */
};

/* A record that is no kernel's, an API call's, a context's or a device's */
union profiler_event {
	CUpti_ActivityKind kind;
	CUpti_ActivityMemcpy6 copy;
	CUpti_ActivityMemcpyPtoP4 peer;
	CUpti_ActivityMemset4 memset;
	CUpti_ActivitySynchronization2 wait;
	CUpti_ActivityMemory4 memory;
	CUpti_ActivityUnifiedMemoryCounter3 migration;
};

static struct {
	CUpti_SubscriberHandle handle;
	pthread_mutex_t mutex;
	struct profiler_call calls[PROFILER_MAX_CALLS];
	size_t nr_calls; /* also those that had no room */
	struct profiler_node nodes[PROFILER_MAX_NODES];
	size_t nr_nodes;
	CUpti_ActivityKernel10 *kernels;
	size_t nr_kernels;
	CUpti_ActivityAPI apis[PROFILER_MAX_CALLS];
	size_t nr_apis;
	union profiler_event events[PROFILER_MAX_EVENTS];
	size_t nr_events;
	size_t nr_contexts, nr_devices;
	size_t nr_dropped;
	size_t nr_buffers_out;
	size_t buffer_bytes; /* 0: none to be had */
} profiler = {.mutex = PTHREAD_MUTEX_INITIALIZER, .buffer_bytes = 64 << 10};

static uint64_t CUPTIAPI profiler__clock(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void CUPTIAPI profiler__give_buffer(uint8_t **buffer, size_t *size,
					   size_t *max_nr_records)
{
	pthread_mutex_lock(&profiler.mutex);
	*max_nr_records = 0;
	*size = profiler.buffer_bytes;
	*buffer = *size ? aligned_alloc(8, *size) : NULL;
	profiler.nr_buffers_out += *buffer != NULL;
	pthread_mutex_unlock(&profiler.mutex);
}

static size_t profiler__event_bytes(CUpti_ActivityKind kind)
{
	switch (kind) {
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return sizeof(CUpti_ActivityMemcpy6);
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		return sizeof(CUpti_ActivityMemcpyPtoP4);
	case CUPTI_ACTIVITY_KIND_MEMSET:
		return sizeof(CUpti_ActivityMemset4);
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		return sizeof(CUpti_ActivitySynchronization2);
	case CUPTI_ACTIVITY_KIND_MEMORY2:
		return sizeof(CUpti_ActivityMemory4);
	case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
		return sizeof(CUpti_ActivityUnifiedMemoryCounter3);
	default:
		return 0;
	}
}

static void profiler__take_record(const CUpti_Activity *record)
{
	if (record->kind == CUPTI_ACTIVITY_KIND_CONTEXT)
		profiler.nr_contexts++;
	else if (record->kind == CUPTI_ACTIVITY_KIND_DEVICE)
		profiler.nr_devices++;
	else if ((record->kind == CUPTI_ACTIVITY_KIND_DRIVER ||
		  record->kind == CUPTI_ACTIVITY_KIND_RUNTIME) &&
		 profiler.nr_apis < PROFILER_MAX_CALLS)
		profiler.apis[profiler.nr_apis++] = *(const CUpti_ActivityAPI *)record;
	else if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
		 profiler.nr_kernels < PROFILER_MAX_KERNELS)
		profiler.kernels[profiler.nr_kernels++] =
			*(const CUpti_ActivityKernel10 *)record;
	else if (profiler__event_bytes(record->kind) &&
		 profiler.nr_events < PROFILER_MAX_EVENTS)
		memcpy(&profiler.events[profiler.nr_events++], record,
		       profiler__event_bytes(record->kind));
}

static void CUPTIAPI profiler__take_buffer(CUcontext context, uint32_t stream,
					   uint8_t *buffer, size_t size, size_t used)
{
	CUpti_Activity *record = NULL;
	size_t nr_dropped = 0;

	(void)size;
	pthread_mutex_lock(&profiler.mutex);
	while (!cuptiActivityGetNextRecord(buffer, used, &record))
		profiler__take_record(record);
	cuptiActivityGetNumDroppedRecords(context, stream, &nr_dropped);
	profiler.nr_dropped += nr_dropped;
	profiler.nr_buffers_out--;
	pthread_mutex_unlock(&profiler.mutex);
	free(buffer);
}

static struct profiler_node *profiler__find_node(uint64_t id)
{
	for (size_t i = 0; i < profiler.nr_nodes; i++)
		if (profiler.nodes[i].id == id)
			return &profiler.nodes[i];
	return NULL;
}

static void profiler__add_node(const CUpti_GraphData *graph)
{
	struct profiler_node *node = &profiler.nodes[profiler.nr_nodes];
	size_t last = profiler.nr_calls - 1;

	if (profiler.nr_nodes == PROFILER_MAX_NODES)
		return;
	profiler.nr_nodes++;
	node->type = graph->nodeType;
	cuptiGetGraphNodeId(graph->node, &node->id);
	if (profiler.nr_calls && last < PROFILER_MAX_CALLS)
		node->correlation_id = profiler.calls[last].correlation_id;
}

/* A clone is told as created before. Of an update, the original is what is changed. */
static void profiler__set_original(const CUpti_GraphData *graph, bool is_update)
{
	struct profiler_node *node;
	uint64_t id;

	cuptiGetGraphNodeId(is_update ? graph->originalNode : graph->node, &id);
	node = profiler__find_node(id);
	CHECK(node);
	CHECK(is_update || !node->original_id);
	cuptiGetGraphNodeId(is_update ? graph->node : graph->originalNode,
			    &node->original_id);
}

static void profiler__on_graph(CUpti_CallbackId id, const CUpti_GraphData *graph)
{
	if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED)
		profiler__add_node(graph);
	else if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)
		profiler__set_original(graph, false);
	else if (id == CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED)
		profiler__set_original(graph, true);
}

static void profiler__add_call(CUpti_CallbackDomain domain,
			       const CUpti_CallbackData *data)
{
	size_t i = profiler.nr_calls++;

	if (i >= PROFILER_MAX_CALLS)
		return;
	profiler.calls[i] = (struct profiler_call){
		.domain = domain,
		.site = data->callbackSite,
		.name = data->functionName,
		.symbol = data->symbolName,
		.correlation_id = data->correlationId,
		.params = data->functionParams,
		.result = data->callbackSite == CUPTI_API_EXIT
				  ? *(const int *)data->functionReturnValue
				  : 0,
	};
}

static void CUPTIAPI profiler__on_callback(void *unused, CUpti_CallbackDomain domain,
					   CUpti_CallbackId id, const void *data)
{
	(void)unused;
	pthread_mutex_lock(&profiler.mutex);
	if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		profiler__on_graph(
			id, ((const CUpti_ResourceData *)data)->resourceDescriptor);
	} else {
		profiler__add_call(domain, data);
	}
	pthread_mutex_unlock(&profiler.mutex);
}

/* Subscribe, and record kernels; callbacks are enabled by the test. */
__attribute__((unused)) static void profiler__start(void)
{
	profiler.kernels = calloc(PROFILER_MAX_KERNELS, sizeof(*profiler.kernels));
	CHECK(profiler.kernels);
	CHECK_EQ(cuptiActivityRegisterTimestampCallback(profiler__clock), 0);
	CHECK_EQ(cuptiActivityRegisterCallbacks(profiler__give_buffer,
						profiler__take_buffer),
		 0);
	CHECK_EQ(cuptiSubscribe(&profiler.handle, profiler__on_callback, NULL), 0);
	CHECK_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 0);
}

__attribute__((unused)) static void profiler__enable(CUpti_CallbackDomain domain)
{
	CHECK_EQ(cuptiEnableDomain(1, profiler.handle, domain), 0);
}

/* The driver's function, without linking libcuda */
__attribute__((unused)) static void *driver_function(const char *name)
{
	void *handle = dlopen("libcuda.so.1", RTLD_NOW);
	void *function;

	CHECK(handle);
	function = dlsym(handle, name);
	CHECK(function);
	return function;
}

#define DRIVER(name_) ((__typeof__(&name_))driver_function(#name_))

static const dim3 one = {1, 1, 1};

__attribute__((unused)) static void launch(cudaStream_t stream)
{
	CHECK_EQ(cudaLaunchKernel((const void *)plain_kernel, one, one, NULL, 0, stream),
		 0);
}

__attribute__((unused)) static void finish(void)
{
	CHECK_EQ(cudaDeviceSynchronize(), 0);
	CHECK_EQ(cuptiActivityFlushAll(0), 0);
}

/* A file with @text, whose path goes into @variable */
__attribute__((unused)) static void set_script(const char *variable, const char *text)
{
	char path[] = "/tmp/fake_cuda-test.XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	setenv(variable, path, 1);
}

__attribute__((unused)) static void unset_script(const char *variable)
{
	unlink(getenv(variable));
	unsetenv(variable);
}

#endif
