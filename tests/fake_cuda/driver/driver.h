/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the double of libcuda.so.1.
 *
 * Handles are pointers to the structs below; a CUkernel is a CUfunction, and a
 * CUlibrary a CUmodule. Nothing is computed: memory is the host's, copies are made at
 * once, and a kernel only takes its time on the timeline of its stream. That is why
 * its end is known when it is launched.
 */
#ifndef FAKE_CUDA_DRIVER_DRIVER_H
#define FAKE_CUDA_DRIVER_DRIVER_H

#include <pthread.h>

#include "../tools.h"

/* The header has these names mean the newest version; there is also a first one. */
#undef cuDeviceGetUuid
#undef cuEventElapsedTime

#define FAKE_MAX_DEVICES 16

/* A kernel by its name: what all modules that have it share. Never freed. */
struct kernel_type {
	struct kernel_type *next;
	uint64_t duration_ns;
	const struct migration *migration; /* that the script plays with it, or NULL */
	uint32_t registers;
	uint32_t hash;
	/* What ran, for the truth */
	atomic_uint_fast64_t nr_runs, nr_dropped, nr_unknown;
	char name[];
};

struct CUmod_st {
	uint32_t id;
	const char *image;
	size_t image_bytes; /* of an image that is text, else 0: it has every name */
	pthread_mutex_t mutex;
	struct CUfunc_st *functions;
};

struct CUfunc_st {
	struct CUfunc_st *next;
	struct CUmod_st *module;
	struct kernel_type *type;
};

struct CUstream_st {
	struct CUctx_st *context;
	uint32_t id;
	bool is_null;
	bool is_blocking; /* waits for the null stream, which waits for it */
	pthread_mutex_t mutex;
	uint64_t tail_ns; /* when all that was put into it ends */
	struct CUgraph_st *capture;
	struct CUstream_st *next_captured; /* with the same capture */
	bool owns_capture; /* it began it; else it joined through an event */
};

struct CUctx_st {
	struct CUctx_st *next;
	uint32_t id;
	int device;
	unsigned int flags;
	unsigned int nr_retained; /* of a primary context */
	atomic_bool is_dead;
	atomic_uint peers; /* whose memory it reaches, a bit each */
	struct CUstream_st null_stream;
	atomic_uint_fast64_t tail_ns, null_tail_ns, blocking_tail_ns;
};

struct CUevent_st {
	pthread_mutex_t mutex;
	uint32_t id, context_id;
	uint64_t sync_id; /* of its last recording, among those of all events */
	uint64_t time_ns; /* 0: not recorded yet */
	uint32_t capture_id; /* of the graph it was recorded into, or 0 */
};

struct launch {
	struct CUfunc_st *function;
	uint32_t grid[3], block[3], cluster[3];
	uint32_t shared_bytes;
	bool is_cooperative;
};

/* Where a copy reads or writes; all that is said of it is known when it is made. */
struct copy_side {
	char *start; /* of the first row that is copied; NULL: a memset's source */
	size_t pitch, plane_bytes; /* from row to row, from plane to plane */
	CUpti_ActivityMemoryKind kind;
	uint32_t device, context;
};

struct copy {
	struct copy_side to, from;
	size_t width_bytes, height, depth;
	unsigned int value, element_bytes; /* of a memset; else 1 */
	CUpti_ActivityMemcpyKind direction;
	bool is_async;
};

struct CUarray_st {
	struct CUctx_st *context;
	char *start;
	size_t pitch, height, depth;
};

struct allocation {
	char *start;
	size_t bytes;
	CUpti_ActivityMemoryKind kind;
	struct CUctx_st *context;
	struct CUmemPoolHandle_st *pool; /* NULL: of none */
	const char *name; /* of a variable */
	bool is_registered; /* the program's own */
	bool is_mapped; /* of virtual memory */
	bool is_told; /* the same: it is accessible */
	int home; /* of managed memory: a device, or -1 for the CPU */
};

struct CUgraphNode_st {
	struct CUgraphNode_st *next;
	CUgraphNodeType type;
	uint64_t id; /* its graph's in the upper half */
	uint64_t recorded_id; /* what records of its kernel have, if it is executed */
	struct CUgraph_st *graph;
	const struct CUgraphNode_st *original; /* that it is a clone of; may be gone */
	struct CUgraph_st *child; /* of a child graph's node, which owns it */
	struct launch launch;
	CUDA_KERNEL_NODE_PARAMS kernel_params;
	struct copy copy;
	CUDA_HOST_NODE_PARAMS host;
};

struct CUgraph_st {
	uint32_t id;
	uint32_t nr_nodes;
	uint32_t nr_ids;
	struct CUgraphNode_st *first, **end;
	/* While it is being captured */
	struct CUgraph_st *next_capture;
	struct CUstream_st *captured_streams;
};

/* Its graph is a clone of the one that it was made from. */
struct CUgraphExec_st {
	struct CUgraph_st *graph;
};

/* init.c: what the process has one of */
extern struct fake_knobs knobs;
void knobs__read(void);
/* 0 if calls may go on, else the error that every call gives. */
CUresult driver__refusal(void);
/* From here on that is what every call gives: a kernel has trapped. */
void driver__break(void);
bool driver__is_initialized(void);

/* tools.c: threads, correlation, forks */
struct driver_thread {
	struct fake_thread common;
	struct CUctx_st *context;
	struct CUctx_st *stack[8]; /* cuCtxPushCurrent() */
	unsigned int nr_stack;
	struct CUstream_st *own_stream; /* CU_STREAM_PER_THREAD, of own_context */
};

extern struct fake_tools tools;
struct driver_thread *driver_thread(void);
/* After cuInit: from now on a child made by fork or clone sees that it is one. */
CUresult fork_page__init(void);
bool fork_page__is_forked(void);
void tools__resource(CUpti_CallbackIdResource id, const void *data);

/* gpu.c: kernels, and what the script says of what takes how long */
struct kernel_type *kernel_type__get(const char *name);
void kernel_type__for_each(void (*call)(struct kernel_type *type, void *data),
			   void *data);
/* @name: as copy.c makes it up; false: the script says nothing */
bool script__copy_duration(const char *name, uint64_t *ret_ns);

/* truth.c: what was done */
#define NR_DIRECTIONS	(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP + 1)
#define NR_MEMORY_KINDS (CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC + 1)
#define NR_COUNTERS	(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD + 1)

enum wait {
	WAIT_EVENT,
	WAIT_STREAM_WAIT_EVENT,
	WAIT_STREAM,
	WAIT_CONTEXT,
	WAIT_EVENT_QUERY,
	WAIT_STREAM_QUERY,
	NR_WAITS,
};

extern const char *const direction_names[NR_DIRECTIONS];
extern const char *const memory_kind_names[NR_MEMORY_KINDS];
extern const char *const counter_names[NR_COUNTERS];
void truth__add_kernel(struct kernel_type *type, int device);
void truth__add_copy(const struct fake_copy *copy);
void truth__add_wait(enum wait which, uint64_t ns);
void truth__add_memory(const struct fake_memory *memory);
/* @device: the one that isn't the CPU */
void truth__add_migration(const struct fake_migration *migration, int device);
void truth__write(void);

/* stream.c: the timeline */
#define LAUNCH_LATENCY_NS 1000 /* from the call to the start on an idle GPU */
uint64_t clock_ns(void);
/* Put something that takes @duration_ns into a stream. Returns its start. */
uint64_t stream__run(struct CUstream_st *stream, uint64_t duration_ns);
/* Wait until it is @time_ns, unless the knob says that no one waits. */
void wait_until(uint64_t time_ns);
void stream__init(struct CUstream_st *stream, struct CUctx_st *context,
		  unsigned int flags);
/* The stream behind a handle, which may be one of the three special ones. */
CUresult stream__get(CUstream handle, bool is_per_thread, struct CUstream_st **ret);
CUresult stream__synchronize(CUstream handle, bool is_per_thread);
/* When all that is in it ends */
uint64_t stream__tail(struct CUstream_st *stream);

/* wait.c: a call that waits until @until_ns; @about: the context, stream and event */
struct wait_about {
	uint32_t context, stream, event;
	uint64_t event_sync;
};

void wait__for(enum wait which, const struct wait_about *about, uint64_t until_ns);
/* One that doesn't wait: what it is about ends later, or has ended */
void wait__tell(enum wait which, const struct wait_about *about, uint64_t start_ns,
		CUresult result);

/* context.c */
CUresult context__current(struct CUctx_st **ret);
void context__tell_all(void);
bool context__is_any(void); /* has there been one? */
void context__synchronize(struct CUctx_st *context);

/* device.c */
int devices__choose(void); /* once, by cuInit(). Returns how many there are. */
bool device__is_valid(CUdevice device);
bool device__can_access(CUdevice device, CUdevice peer);
/* Before cuInit(), too */
bool device__info(int device, struct fake_device_info *ret);
/* 36 characters and the NUL */
void uuid__print(const CUuuid *uuid, char *ret);

/* launch.c */
CUresult launch__run(const struct launch *launch, struct CUstream_st *stream,
		     uint32_t graph, uint64_t graph_node);
CUresult launch__from_config(const CUlaunchConfig *config, CUfunction function,
			     struct launch *ret);

/* capture.c: a stream becomes part of a capture; CUDA_ERROR_CAPTURED_EVENT: it is over */
CUresult capture__join(struct CUstream_st *stream, uint32_t capture_id);

/* copy.c: memory from @address on, in rows of @pitch and planes of @height rows */
struct copy_side side__at(const void *address, size_t pitch, size_t height);
/* By its sides, and what the function that is called says; UNKNOWN: nothing */
void copy__set_direction(struct copy *copy, CUpti_ActivityMemcpyKind said);
/* Into a stream, or the graph that it is captured into */
CUresult copy__put(const struct copy *copy, CUstream handle, bool is_per_thread);
/* Of which copy__run() is made: the bytes, and on the timeline @nr copies like @copy */
void copy__make(const struct copy *copy);
void copies__run(const struct copy *copy, uint64_t nr, uint64_t bytes,
		 struct CUstream_st *stream, uint64_t graph_node);
/* @graph_node: whose it is, or 0 */
void copy__run(const struct copy *copy, struct CUstream_st *stream, uint64_t graph_node);
void copy__from_3d(const CUDA_MEMCPY3D *from, struct copy *ret);
void copy__from_memset(const CUDA_MEMSET_NODE_PARAMS *from, struct copy *ret);

/*
 * memory.c; @allocation says bytes and kind, and gets the rest. @stream: in whose order,
 * NULL: in none's
 */
CUresult memory__allocate(struct allocation *allocation,
			  const struct CUstream_st *stream);
CUresult memory__free(void *start, bool is_host, const struct CUstream_st *stream);
CUresult memory__allocate_variable(size_t bytes, const char *name, void **ret);
/* Whose memory an address is; the host's own if nothing is known of it. */
/* Of virtual memory, from the beginning of what was mapped */
CUresult memory__map(void *start, size_t bytes, int device);
CUresult memory__tell_mapped(void *start, size_t bytes);
CUresult memory__unmap(void *start);
void memory__describe(const void *address, struct copy_side *ret);
bool memory__find_managed(const void *address, struct allocation *ret);
void memory__set_home(const void *address, int home);

/* An address in the managed memory that was allocated last, or 0 */
uint64_t memory__newest_managed(void);

/* managed.c */
struct migration;
const struct migration *migration__find(const char *kernel);
void migration__play(const struct migration *migration, const struct CUstream_st *stream,
		     uint64_t start_ns, uint64_t duration_ns);

/* pool.c */
void pool__use(struct CUmemPoolHandle_st *pool, uint64_t bytes);
void pool__describe(struct CUmemPoolHandle_st *pool, struct fake_memory *ret);

/* graph.c */
CUresult graph__create(CUgraph *ret);
void graph__delete(struct CUgraph_st *graph); /* NULL is fine */
/* @exec: that the copy is of; NULL for a graph that nodes can be added to */
CUresult graph__clone(struct CUgraph_st *graph, struct CUgraphExec_st *exec,
		      struct CUgraph_st **ret);
void graph__tell(CUpti_CallbackIdResource id, CUpti_GraphData *data);
CUresult node__set_kernel(struct CUgraphNode_st *node,
			  const CUDA_KERNEL_NODE_PARAMS *params);
CUresult graph__add(struct CUgraph_st *graph, const struct CUgraphNode_st *content,
		    struct CUgraphNode_st **ret);

/* Return from the function if a call fails. */
#define TRY(call_)                       \
	do {                             \
		CUresult try_ = (call_); \
                                         \
		if (try_)                \
			return try_;     \
	} while (0)

/*
 * An API function: its name, its parameters with and without types, its parameters
 * for CUPTI (the members of <name>_params), and what it does.
 */
/* clang-format off */
#define FIELDS(...) {__VA_ARGS__}

#define DRIVER_CALL(name_, params_, symbol_, work_)				\
	struct fake_call fake_call = {						\
		.domain = CUPTI_CB_DOMAIN_DRIVER_API,				\
		.cbid = CUPTI_DRIVER_TRACE_CBID_##name_,			\
		.params = params_,						\
		.symbol = symbol_,						\
	};									\
	CUresult fake_result;							\
										\
	fake_call__enter(&tools, &fake_call);					\
	fake_result = driver__refusal();					\
	if (!fake_result)							\
		fake_result = (work_);						\
	fake_call__leave(&tools, &fake_call, &fake_result);			\
	return fake_result;

#define DRIVER_API(name_, types_, args_, work_)					\
	CUresult CUDAAPI name_ types_;						\
	CUresult CUDAAPI name_ types_						\
	{									\
		name_##_params fake_params = FIELDS args_;			\
		DRIVER_CALL(name_, &fake_params, NULL, work_)			\
	}

#define DRIVER_LAUNCH_API(name_, types_, args_, function_, work_)		\
	CUresult CUDAAPI name_ types_;						\
	CUresult CUDAAPI name_ types_						\
	{									\
		name_##_params fake_params = FIELDS args_;			\
		DRIVER_CALL(name_, &fake_params, function__name(function_), work_) \
	}
/* clang-format on */

/* module.c */
const char *function__name(CUfunction function);

#endif
