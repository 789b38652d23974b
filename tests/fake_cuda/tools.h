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

#include <cudaProfiler.h>
#include <cuda_profiler_api.h>
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
	const char *migrations_path; /* or NULL */
	const char *truth_path; /* or NULL */
	const char *subscriber; /* or NULL */
	const char *cupti_errors; /* or NULL */
	uint64_t drop_every; /* 0: never */
	uint64_t unknown_time_every;
	uint64_t copy_drop_every; /* of copies and memsets */
	uint64_t copy_unknown_time_every;
	const char *late_until; /* a file, or NULL */
	uint64_t late_after; /* records */
	uint32_t correlation_start;
	int nr_gpus;
	int nr_mig_instances; /* of each GPU; 0: not in MIG mode */
	int driver_version;
	bool is_instant;
	bool allows_fork;
	bool has_strays;
	bool has_stuck_faults, has_late_faults;
	uint32_t untold_after; /* calls of a thread; 0: all are told of */
	const char *trap; /* part of the names of kernels that trap, or NULL */
};

struct fake_thread {
	uint32_t depth; /* of API calls within API calls */
	uint32_t correlation_id;
	uint32_t nr_calls; /* outermost ones */
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

/* A copy or a memset, likewise */
struct fake_copy {
	enum fake_fate fate;
	bool is_memset, is_async;
	CUpti_ActivityMemcpyKind direction; /* PTOP: from one device to another */
	CUpti_ActivityMemoryKind src_kind, dst_kind;
	uint32_t value; /* of a memset */
	uint64_t nr; /* copies of a batch, in one; else 1 */
	uint64_t bytes, start_ns, end_ns;
	uint32_t correlation_id;
	uint32_t device, context, stream;
	uint32_t src_device, src_context, dst_device, dst_context;
	uint32_t graph;
	uint64_t graph_node;
};

/* A thread that waited, or a stream that is to (STREAM_WAIT_EVENT) */
struct fake_wait {
	CUpti_ActivitySynchronizationType type;
	bool is_query; /* whether it would wait */
	CUresult result;
	uint64_t start_ns, end_ns; /* of the call */
	uint32_t correlation_id;
	/* CUPTI_SYNCHRONIZATION_INVALID_VALUE: it is about none */
	uint32_t context, stream, event;
	uint64_t event_sync;
};

/* Memory that was allocated or freed */
struct fake_memory {
	CUpti_ActivityMemoryOperationType operation;
	CUpti_ActivityMemoryKind kind;
	uint64_t address, bytes, time_ns;
	uint32_t correlation_id;
	uint32_t device, context, stream; /* stream: only if it is in a stream's order */
	bool is_async;
	const char *name; /* of a variable; stays valid */
	bool has_pool;
	uint64_t pool_address, pool_threshold, pool_bytes, pool_used_bytes;
};

/* What happened to managed memory */
struct fake_migration {
	CUpti_ActivityUnifiedMemoryCounterKind kind;
	uint64_t value, address, start_ns, end_ns;
	uint32_t from, to; /* device, or CUPTI's number for the CPU */
	uint32_t flags;
};

struct fake_context_info {
	uint32_t context, device, null_stream;
};

struct fake_device_info {
	const char *name;
	CUuuid uuid, gpu_uuid; /* they differ for an instance of a GPU in MIG mode */
	bool is_mig;
	uint32_t instance;
	uint64_t memory_bytes;
	int compute_major, compute_minor, nr_multiprocessors;
};

/* libcupti's side: called by the other two. */
struct fake_hooks {
	void (*api)(struct fake_call *call, CUpti_ApiCallbackSite site, void *result);
	void (*api_record)(const struct fake_call *call, uint64_t end_ns);
	void (*resource)(CUpti_CallbackIdResource id, const void *data);
	void (*kernel)(const struct fake_run *run);
	void (*copy)(const struct fake_copy *copy);
	void (*wait)(const struct fake_wait *wait);
	void (*memory)(const struct fake_memory *memory);
	void (*migration)(const struct fake_migration *migration);
	void (*context)(const struct fake_context_info *info);
};

/* libcuda's side */
struct fake_tools {
	/* Set once by libcupti, when it is first used */
	_Atomic(const struct fake_hooks *) hooks;
	/* What libcupti wants to be called for */
	atomic_bool wants[CUPTI_CB_DOMAIN_SIZE][FAKE_MAX_CBIDS];
	atomic_bool wants_records[CUPTI_CB_DOMAIN_SIZE][FAKE_MAX_CBIDS];
	/* By the kind of their records; all kernels are CONCURRENT_KERNEL. */
	atomic_bool wants_kind[CUPTI_ACTIVITY_KIND_COUNT];

	const struct fake_knobs *knobs;
	struct fake_thread *(*thread)(void);
	uint32_t (*next_correlation_id)(void);
	bool (*is_forked)(void);
	bool (*is_initialized)(void); /* cuInit() is over */
	CUcontext (*current_context)(void);
	uint32_t (*context_id)(CUcontext context);
	uint32_t (*device_of)(CUcontext context);
	CUresult (*stream_id)(CUcontext context, CUstream stream, bool is_per_thread,
			      uint32_t *ret_id);
	uint32_t (*graph_id)(CUgraph graph);
	uint32_t (*graph_exec_id)(CUgraphExec exec);
	uint64_t (*graph_node_id)(CUgraphNode node);
	/* The memory of a variable that nvcc registered; @name stays valid. */
	CUresult (*allocate_variable)(size_t bytes, const char *name, void **ret);
	/* Calls hooks->context for each context there is. */
	void (*tell_contexts)(void);
	bool (*has_contexts)(void);
	/* Before cuInit() too; false past the last device. */
	bool (*device_info)(int device, struct fake_device_info *ret);
};

static inline bool fake_tools__wants(struct fake_tools *tools, CUpti_ActivityKind kind)
{
	return atomic_load_explicit(&tools->wants_kind[kind], memory_order_acquire);
}

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
static inline bool fake_call__is_told(const struct fake_tools *tools,
				      const struct fake_thread *thread)
{
	uint32_t untold_after = tools->knobs->untold_after;

	return !untold_after || thread->nr_calls <= untold_after;
}

static inline void fake_call__enter(const struct fake_tools *tools,
				    struct fake_call *call)
{
	struct fake_thread *thread = tools->thread();

	call->thread = thread;
	if (!thread->depth++) {
		thread->nr_calls++;
		if (fake_call__is_told(tools, thread))
			thread->correlation_id = tools->next_correlation_id();
	}
	call->correlation_id = thread->correlation_id;
	if (atomic_load_explicit(&tools->wants_records[call->domain][call->cbid],
				 memory_order_acquire))
		call->start_ns = fake_monotonic_ns();
	if (atomic_load_explicit(&tools->wants[call->domain][call->cbid],
				 memory_order_acquire) &&
	    !thread->is_in_callback && fake_call__is_told(tools, thread)) {
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
