/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the doubles of libcuda, libcudart and libcupti share. As with the real ones,
 * libcuda owns the state and the others find it at run time: cuGetExportTable() with
 * FAKE_TOOLS_ID gives the table below. libcupti puts its hooks in, and API functions
 * of libcuda and libcudart call them around their work, so that a callback's stack is
 *
 *   user code, cudaLaunchKernel [libcudart], report [libcudart], [libcupti], callback
 *
 * All members may be used from any thread.
 */
#ifndef FAKE_CUDA_TOOLS_H
#define FAKE_CUDA_TOOLS_H

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* 16 bytes, as a CUuuid has. */
#define FAKE_TOOLS_ID "fake-cuda-tools"

/* More than the driver's 807 and the runtime's 523 callback ids of CUDA 13.0. */
#define FAKE_MAX_CBIDS 1024

/* The script that the environment gives, read once; README describes each. */
struct fake_knobs {
	const char *durations_path; /* or NULL */
	const char *truth_path; /* or NULL */
	const char *subscriber; /* or NULL */
	const char *cupti_errors; /* or NULL */
	uint64_t drop_every; /* 0: never */
	uint64_t unknown_time_every;
	uint64_t late_ns;
	uint32_t correlation_start;
	int nr_devices;
	int driver_version;
	bool is_instant;
	bool allows_fork;
	bool has_strays;
};

struct fake_thread {
	uint32_t depth; /* of API calls within API calls */
	uint32_t correlation_id;
	bool is_in_callback;
};

/* An API call, from its entry to its exit; lives on the stack of the API function. */
struct fake_call {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId cbid;
	const void *params;
	const char *symbol; /* the kernel's name, for launches */
	struct fake_thread *thread;
	uint64_t correlation_data;
	uint32_t correlation_id;
	bool is_reported;
	uint64_t start_ns; /* 0: no record is made of it */
};

enum fake_fate {
	FAKE_FATE_RECORDED,
	FAKE_FATE_DROPPED,
	FAKE_FATE_UNKNOWN_TIME,
};

/* A kernel that was put on the simulated timeline: times are of CLOCK_MONOTONIC. */
struct fake_run {
	const char *name; /* stays valid until the process ends */
	enum fake_fate fate;
	uint64_t start_ns, end_ns;
	uint32_t correlation_id;
	uint32_t device, context, stream;
	uint32_t grid[3], block[3], cluster[3];
	uint32_t registers, static_shared_bytes, dynamic_shared_bytes;
	uint32_t graph;
	uint64_t graph_node;
	bool is_cooperative;
};

struct fake_context_info {
	uint32_t context, device, null_stream;
};

struct fake_device_info {
	const char *name;
	CUuuid uuid;
	uint64_t memory_bytes;
	int compute_major, compute_minor, nr_multiprocessors;
};

/* libcupti's side: called by the other two. */
struct fake_hooks {
	void (*api)(struct fake_call *call, CUpti_ApiCallbackSite site, void *result);
	void (*api_record)(const struct fake_call *call, uint64_t end_ns);
	void (*resource)(CUpti_CallbackIdResource id, const void *data);
	void (*kernel)(const struct fake_run *run);
	void (*context)(const struct fake_context_info *info);
};

/* libcuda's side */
struct fake_tools {
	/* Set once by libcupti, when it is first used */
	_Atomic(const struct fake_hooks *) hooks;
	/* What libcupti wants to be called for */
	atomic_bool wants[CUPTI_CB_DOMAIN_SIZE][FAKE_MAX_CBIDS];
	atomic_bool wants_records[CUPTI_CB_DOMAIN_SIZE][FAKE_MAX_CBIDS];
	atomic_bool wants_kernels;

	const struct fake_knobs *knobs;
	struct fake_thread *(*thread)(void);
	uint32_t (*next_correlation_id)(void);
	bool (*is_forked)(void);
	CUcontext (*current_context)(void);
	uint32_t (*context_id)(CUcontext context);
	uint32_t (*device_of)(CUcontext context);
	CUresult (*stream_id)(CUcontext context, CUstream stream, bool is_per_thread,
			      uint32_t *ret_id);
	uint32_t (*graph_id)(CUgraph graph);
	uint32_t (*graph_exec_id)(CUgraphExec exec);
	uint64_t (*graph_node_id)(CUgraphNode node);
	/* Calls hooks->context for each context there is. */
	void (*tell_contexts)(void);
	/* Before cuInit() too; false past the last device. */
	bool (*device_info)(int device, struct fake_device_info *ret);
};

static inline uint64_t fake_monotonic_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static __attribute__((noinline)) void fake_call__report(const struct fake_tools *tools,
							struct fake_call *call,
							CUpti_ApiCallbackSite site,
							void *result)
{
	const struct fake_hooks *hooks = atomic_load(&tools->hooks);

	call->thread->is_in_callback = true;
	hooks->api(call, site, result);
	call->thread->is_in_callback = false;
}

/*
 * The outermost call of a thread gets a new correlation id, and those that it makes
 * within have the same.
 */
static inline void fake_call__enter(const struct fake_tools *tools,
				    struct fake_call *call)
{
	struct fake_thread *thread = tools->thread();

	call->thread = thread;
	if (!thread->depth++)
		thread->correlation_id = tools->next_correlation_id();
	call->correlation_id = thread->correlation_id;
	if (atomic_load_explicit(&tools->wants_records[call->domain][call->cbid],
				 memory_order_acquire))
		call->start_ns = fake_monotonic_ns();
	if (atomic_load_explicit(&tools->wants[call->domain][call->cbid],
				 memory_order_acquire) &&
	    !thread->is_in_callback) {
		call->is_reported = true;
		fake_call__report(tools, call, CUPTI_API_ENTER, NULL);
	}
}

static inline void fake_call__leave(const struct fake_tools *tools,
				    struct fake_call *call, void *result)
{
	if (call->is_reported &&
	    atomic_load_explicit(&tools->wants[call->domain][call->cbid],
				 memory_order_acquire))
		fake_call__report(tools, call, CUPTI_API_EXIT, result);
	if (call->start_ns)
		atomic_load(&tools->hooks)->api_record(call, fake_monotonic_ns());
	call->thread->depth--;
}

#endif
