/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of a GPU log, version 1: what the injected library writes, one
 * log per process, and what perf.data.gpu is made of.
 *
 *   log            = block, block, ...
 *   perf.data.gpu  = the blocks of every log of a recording, one log after
 *                    the other, then one block written by the recorder
 *   launch log     = block, block, ...: with --stacks process, what is otherwise
 *                    said to the kernel: launches and their stacks, and what is
 *                    mapped where. A second file of the process, with the log id
 *                    of the first; the recorder makes perf.data of it.
 *
 *   block          +--------------------------------------------------+
 *                  | struct gpu_log_block (32 bytes)                  |
 *                  |   magic  crc32  payload_bytes  version  log_id   |
 *                  +--------------------------------------------------+
 *                  | record | record | ...          payload_bytes     |
 *                  +--------------------------------------------------+
 *   record         +---------------------+----------------------------+
 *                  | u16 type | u16 size | body: size - 4 bytes       |
 *                  +---------------------+----------------------------+
 *
 * Invariants, which a writer keeps and a reader checks:
 *   - Everything is little endian. Records are 8-byte aligned and their size,
 *     which includes the 4 bytes of type and size, is a multiple of 8.
 *   - A block is appended by one write(2) and carries the CRC-32 (zlib's) of
 *     everything behind its crc32 field, so after a crash a log is valid up
 *     to its last whole block. Payloads are at most GPU_LOG_MAX_PAYLOAD bytes.
 *   - An id (string, shape, ...) is defined, within its log, before the first
 *     record that uses it. Each is higher than those of its kind before, and they
 *     count from 1; 0 means none. Where the recorder has kept a part of a log, ids
 *     that no record uses any more are missing.
 *   - A reader skips record types it doesn't know, and trailing bytes of a
 *     record that is longer than it expects: both may grow within version 1.
 *
 * Times are CLOCK_MONOTONIC nanoseconds of the recorded machine.
 * The format is described for users in man/perf-gpu-data.5.
 */
#ifndef PERF_GPU_GPU_LOG_H
#define PERF_GPU_GPU_LOG_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_LOG_MAGIC	    0x42555047u /* "GPUB" */
#define GPU_LOG_VERSION	    1
#define GPU_LOG_MAX_PAYLOAD (1u << 20)
/* A string is cut to this; gpu_log_record.size has 16 bits. */
#define GPU_LOG_MAX_STRING 65000

struct gpu_log_block {
	uint32_t magic;
	uint32_t crc32; /* of what follows this field, to the payload's end */
	uint32_t payload_bytes;
	uint32_t version;
	uint64_t log_id; /* random, unique; 0 in the recorder's own block */
	uint64_t session; /* random, one per recording; never 0 */
};

_Static_assert(sizeof(struct gpu_log_block) == 32, "on disk");

enum gpu_log_type {
	GPU_LOG_PROCESS = 1,
	GPU_LOG_STRING = 2,
	GPU_LOG_API = 3,
	GPU_LOG_DEVICE = 4,
	GPU_LOG_CONTEXT = 5,
	GPU_LOG_SHAPE = 6,
	GPU_LOG_KERNEL = 7,
	GPU_LOG_LOSS = 8,
	GPU_LOG_MESSAGE = 9,
	GPU_LOG_RECORDER = 10,
	GPU_LOG_END = 11,
	/* of a launch log */
	GPU_LOG_STACK = 12,
	GPU_LOG_TIME = 13,
	GPU_LOG_LAUNCH = 14,
	GPU_LOG_THREAD = 15,
	GPU_LOG_MAP = 16,
	/* of the log again */
	GPU_LOG_PYTHON_CODE = 17,
	/* of a log */
	GPU_LOG_GRAPH_NODE = 18,
	GPU_LOG_JIT = 19,
	GPU_LOG_API_CALL = 21,
	GPU_LOG_EVENTS = 22,
	GPU_LOG_OPERATION = 23,
	GPU_LOG_ACTIVITY = 24,
	GPU_LOG_MEMORY = 25,
	GPU_LOG_NVTX = 26,
	GPU_LOG_RANK = 27,
	GPU_LOG_NAMESPACE = 28,
	GPU_LOG_ORIGIN = 29,
	GPU_LOG_FORGET = 30,
};

/* The events of -e, a bit each (GPU_LOG_EVENT_BIT()): samples that are made of a log. */
enum gpu_log_event {
	GPU_LOG_EVENT_KERNEL = 0,
	GPU_LOG_EVENT_MEMCPY = 1,
	GPU_LOG_EVENT_MEMSET = 2,
	GPU_LOG_EVENT_SYNC = 3,
	GPU_LOG_EVENT_LAUNCH = 4,
	GPU_LOG_EVENT_QUEUE = 5,
	GPU_LOG_EVENT_IDLE = 6,
	GPU_LOG_EVENT_ALLOC = 7,
	GPU_LOG_EVENT_FAULT = 8,
	GPU_LOG_NR_EVENTS = 9,
};

#define GPU_LOG_EVENT_BIT(event) (1u << (event))
#define GPU_LOG_DEFAULT_EVENTS                     \
	(GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_KERNEL) | \
	 GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_MEMCPY) | \
	 GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_MEMSET))

/* What is recorded, for one event or several; a bit each (GPU_LOG_KIND_BIT()). */
enum gpu_log_kind {
	GPU_LOG_KIND_KERNEL = 0, /* GPU_LOG_KERNEL */
	GPU_LOG_KIND_MEMCPY = 1, /* GPU_LOG_ACTIVITY, to GPU_LOG_KIND_SYNC */
	GPU_LOG_KIND_MEMSET = 2,
	GPU_LOG_KIND_SYNC = 3,
	GPU_LOG_KIND_CALL = 4, /* GPU_LOG_API_CALL of what puts work on the GPU */
	GPU_LOG_KIND_MEMORY = 5, /* GPU_LOG_MEMORY */
	GPU_LOG_KIND_FAULT = 6, /* GPU_LOG_ACTIVITY */
	GPU_LOG_KIND_NVTX = 7, /* GPU_LOG_NVTX; with --nvtx, for no event */
};

#define GPU_LOG_KIND_BIT(kind) (1u << (kind))

/* The kinds that events are made of: of GPU_LOG_EVENT_BIT()s, the GPU_LOG_KIND_BIT()s. */
static inline uint32_t gpu_log_kinds_of(uint32_t events)
{
	static const uint32_t kinds[GPU_LOG_NR_EVENTS] = {
		[GPU_LOG_EVENT_KERNEL] = GPU_LOG_KIND_BIT(GPU_LOG_KIND_KERNEL),
		[GPU_LOG_EVENT_MEMCPY] = GPU_LOG_KIND_BIT(GPU_LOG_KIND_MEMCPY),
		[GPU_LOG_EVENT_MEMSET] = GPU_LOG_KIND_BIT(GPU_LOG_KIND_MEMSET),
		[GPU_LOG_EVENT_SYNC] = GPU_LOG_KIND_BIT(GPU_LOG_KIND_SYNC),
		[GPU_LOG_EVENT_LAUNCH] = GPU_LOG_KIND_BIT(GPU_LOG_KIND_CALL),
		[GPU_LOG_EVENT_QUEUE] = GPU_LOG_KIND_BIT(GPU_LOG_KIND_KERNEL) |
					GPU_LOG_KIND_BIT(GPU_LOG_KIND_CALL),
		[GPU_LOG_EVENT_IDLE] = GPU_LOG_KIND_BIT(GPU_LOG_KIND_KERNEL) |
				       GPU_LOG_KIND_BIT(GPU_LOG_KIND_MEMCPY) |
				       GPU_LOG_KIND_BIT(GPU_LOG_KIND_MEMSET),
		[GPU_LOG_EVENT_ALLOC] = GPU_LOG_KIND_BIT(GPU_LOG_KIND_MEMORY),
		/* Kernels, since a migration belongs to the one that ran meanwhile. */
		[GPU_LOG_EVENT_FAULT] = GPU_LOG_KIND_BIT(GPU_LOG_KIND_KERNEL) |
					GPU_LOG_KIND_BIT(GPU_LOG_KIND_FAULT),
	};
	uint32_t all = 0;

	for (unsigned int event = 0; event < GPU_LOG_NR_EVENTS; event++)
		if (events & GPU_LOG_EVENT_BIT(event))
			all |= kinds[event];
	return all;
}

struct gpu_log_record {
	uint16_t type;
	uint16_t size;
};

/* First record of a log: whose it is. */
struct gpu_log_process {
	struct gpu_log_record rec;
	uint32_t pid; /* as the process itself sees it */
	uint32_t ppid;
	uint32_t is_forked; /* 1: a fork of a process with a log of its own */
	uint64_t start_ns; /* when the log was opened */
	uint32_t cupti_version; /* cuptiGetVersion(), e.g. 130001; 0 unknown */
	uint32_t driver_version; /* cuDriverGetVersion(), e.g. 13000; 0 unknown */
	char comm[16]; /* NUL-terminated */
};

_Static_assert(sizeof(struct gpu_log_process) == 48, "on disk");

struct gpu_log_string {
	struct gpu_log_record rec;
	uint32_t id;
	uint32_t nr_bytes; /* without the NUL that follows and pads to 8 */
	char text[];
};

_Static_assert(sizeof(struct gpu_log_string) == 12, "on disk");

/*
 * Public name of an API function that launches, without CUPTI's _vNNNN. Another thread's
 * call of it can come before.
 */
struct gpu_log_api {
	struct gpu_log_record rec;
	uint32_t api; /* GPU_LOG_API_ID() */
	uint32_t name; /* string */
	/* GPU_LOG_KIND_BIT()s of what its calls give records of; 0: not said */
	uint32_t kinds;
};

_Static_assert(sizeof(struct gpu_log_api) == 16, "on disk");

/* An API function's id: CUPTI's callback domain and callback id. */
#define GPU_LOG_API_ID(domain, cbid) ((uint32_t)(domain) << 24 | (uint32_t)(cbid))
/*
 * Added to the id in what is carried like a launch: a node was added to a CUDA graph by
 * that function (0: not known which). No launch: nothing counts it as one, and in the
 * place of a correlation id it has the id of the node.
 */
#define GPU_LOG_API_GRAPH_NODE 0x80000000u
/*
 * In the place of the id, from a process that can't tell of launches, since another
 * profiler has CUPTI there: probes on the API are to be set. Not in any file.
 */
#define GPU_LOG_API_TAKEN 0x40000000u
/*
 * Added to the id in a perf.data of record --switch-output: the launch, or node, is of
 * before this file, and is here for the sake of what the GPU did for it since. It isn't
 * counted as a launch of this file.
 */
#define GPU_LOG_API_EARLIER 0x20000000u
/*
 * What the recorder answers with: an empty file beside the log, whose name is the log's id,
 * 16 hexadecimal digits, and this. The probes are there, or won't be.
 */
#define GPU_LOG_PROBED_SUFFIX	".probed"
#define GPU_LOG_UNPROBED_SUFFIX ".unprobed"

/* A call of an API function that launches; with --probe api. */
struct gpu_log_api_call {
	struct gpu_log_record rec;
	uint32_t api; /* GPU_LOG_API_ID() */
	/* As gpu_log_kernel has it; a call within a call has the same. */
	uint64_t correlation_id;
	uint64_t start_ns, end_ns; /* 0: CUPTI doesn't know */
	uint32_t tid; /* as the process itself sees it */
	uint32_t pad;
};

_Static_assert(sizeof(struct gpu_log_api_call) == 40, "on disk");

struct gpu_log_device {
	struct gpu_log_record rec;
	uint32_t device; /* CUDA's number for it in this process */
	uint32_t name; /* string */
	uint32_t compute_major;
	uint32_t compute_minor;
	uint32_t nr_multiprocessors;
	uint8_t uuid[16];
	uint64_t memory_bytes;
};

_Static_assert(sizeof(struct gpu_log_device) == 48, "on disk");

struct gpu_log_context {
	struct gpu_log_record rec;
	uint32_t context;
	uint32_t device;
	uint32_t null_stream; /* id of the context's default stream */
};

_Static_assert(sizeof(struct gpu_log_context) == 16, "on disk");

/* What kernels executed alike have in common; said once, then named by id. */
struct gpu_log_shape {
	struct gpu_log_record rec;
	uint32_t shape; /* id */
	uint32_t name; /* string: the kernel's name as CUPTI has it (mangled) */
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t registers_per_thread;
	uint32_t static_shared_bytes;
	uint32_t dynamic_shared_bytes;
	uint32_t graph; /* CUDA graph id; 0: not launched by a graph */
	uint64_t graph_node; /* CUPTI's graph node id; 0 likewise */
};

_Static_assert(sizeof(struct gpu_log_shape) == 72, "on disk");

/* One execution of a kernel. */
struct gpu_log_kernel {
	struct gpu_log_record rec;
	uint32_t shape;
	uint64_t correlation_id; /* widened to 64 bits: see gpu_log_widen() */
	uint64_t start_ns; /* start 0, or end before start: time unknown */
	uint64_t end_ns;
};

_Static_assert(sizeof(struct gpu_log_kernel) == 32, "on disk");

enum gpu_log_node_origin {
	/*
	 * None: the log tells of all nodes from here on. One that it doesn't know was made
	 * before, or while recording was paused.
	 */
	GPU_LOG_NODE_NONE = 0,
	/* The launch correlation_id, of a stream that was being captured, made it. */
	GPU_LOG_NODE_CAPTURED = 1,
	/* It is a copy of original, in an executable graph, a cloned or a child graph. */
	GPU_LOG_NODE_CLONED = 2,
	/* It got what original does, for launches behind correlation_id. */
	GPU_LOG_NODE_UPDATED = 3,
};

/*
 * Where a kernel node of a CUDA graph comes from; said before the first record of a node
 * that was made of it. What was added through the graph API, and is no copy, has no
 * record, but a stack: see GPU_LOG_API_GRAPH_NODE.
 */
struct gpu_log_graph_node {
	struct gpu_log_record rec;
	uint32_t origin; /* enum gpu_log_node_origin */
	uint64_t node; /* CUPTI's graph node id, as in gpu_log_shape */
	uint64_t original; /* likewise; 0 if it is no copy */
	uint64_t correlation_id; /* 0 if none is said above */
};

_Static_assert(sizeof(struct gpu_log_graph_node) == 32, "on disk");

/*
 * What is recorded, in words of -e; behind GPU_LOG_PROCESS, and again when CUPTI has turned
 * out not to record a kind: the last one holds. A log without one has kernels alone (it is
 * of an older perf-gpu).
 */
struct gpu_log_events {
	struct gpu_log_record rec;
	uint32_t events; /* GPU_LOG_EVENT_BIT()s that were asked for */
	/* GPU_LOG_KIND_BIT()s that are recorded: fewer, where CUPTI can't */
	uint32_t kinds;
	uint32_t pad;
};

_Static_assert(sizeof(struct gpu_log_events) == 16, "on disk");

/* Where memory is: CUpti_ActivityMemoryKind, whose numbers are these. */
enum gpu_log_memory_kind {
	GPU_LOG_MEMORY_UNKNOWN = 0,
	GPU_LOG_MEMORY_PAGEABLE = 1,
	GPU_LOG_MEMORY_PINNED = 2,
	GPU_LOG_MEMORY_DEVICE = 3,
	GPU_LOG_MEMORY_ARRAY = 4,
	GPU_LOG_MEMORY_MANAGED = 5,
	GPU_LOG_MEMORY_DEVICE_STATIC = 6,
	GPU_LOG_MEMORY_MANAGED_STATIC = 7,
};

/* gpu_log_operation.what of a GPU_LOG_KIND_SYNC: CUpti_ActivitySynchronizationType */
enum gpu_log_sync {
	GPU_LOG_SYNC_EVENT = 1,
	GPU_LOG_SYNC_STREAM_WAIT_EVENT = 2, /* on the GPU: no thread waits */
	GPU_LOG_SYNC_STREAM = 3,
	GPU_LOG_SYNC_CONTEXT = 4,
};

/* gpu_log_operation.what of a GPU_LOG_KIND_FAULT: CUpti_ActivityUnifiedMemoryCounterKind */
enum gpu_log_fault {
	GPU_LOG_FAULT_HTOD = 1, /* migrated; bytes are bytes */
	GPU_LOG_FAULT_DTOH = 2, /* likewise */
	GPU_LOG_FAULT_CPU_PAGE =
		3, /* bytes: number of faults, here and of what follows */
	GPU_LOG_FAULT_GPU_PAGE = 4,
	GPU_LOG_FAULT_THRASHING = 5,
	GPU_LOG_FAULT_THROTTLING = 6,
	GPU_LOG_FAULT_REMOTE_MAP = 7,
	GPU_LOG_FAULT_DTOD = 8, /* bytes are bytes again */
};

/* gpu_log_operation.what of a GPU_LOG_KIND_MEMORY */
enum gpu_log_memory_operation {
	GPU_LOG_ALLOCATED = 1,
	GPU_LOG_FREED = 2,
};

#define GPU_LOG_NO_DEVICE UINT32_MAX

/*
 * What activities that are alike have in common: a copy's direction, a sync's kind.
 * Said once, then named by id, as shapes are; the ids are of their own.
 */
struct gpu_log_operation {
	struct gpu_log_record rec;
	uint32_t operation; /* id */
	uint32_t kind; /* enum gpu_log_kind: MEMCPY, MEMSET, SYNC, MEMORY, FAULT */
	/* MEMCPY: CUpti_ActivityMemcpyKind; MEMSET: 0; else as said above */
	uint32_t what;
	uint32_t src_kind; /* enum gpu_log_memory_kind; of a MEMCPY alone */
	uint32_t dst_kind; /* likewise; and of a MEMSET or MEMORY, of what it is about */
	uint32_t is_async; /* 1: the call needn't wait; MEMORY: of a stream's order */
	uint32_t device; /* on which it ran; GPU_LOG_NO_DEVICE: none */
	uint32_t context, stream;
	/* Of a copy between devices, a migration; else GPU_LOG_NO_DEVICE. */
	uint32_t src_device, dst_device;
	uint32_t name; /* string: of an allocated variable; mostly 0 */
	uint32_t graph; /* as gpu_log_shape has it */
	uint64_t graph_node;
};

_Static_assert(sizeof(struct gpu_log_operation) == 64, "on disk");

/* One execution of a copy, a memset, a sync, or a fault of unified memory. */
struct gpu_log_activity {
	struct gpu_log_record rec;
	uint32_t operation;
	uint64_t correlation_id; /* as gpu_log_kernel has it; 0: of no call */
	uint64_t start_ns; /* as gpu_log_kernel has it; of a SYNC, on the CPU */
	uint64_t end_ns; /* of a FAULT without a duration: start_ns */
	uint64_t bytes; /* 0 of a sync */
};

_Static_assert(sizeof(struct gpu_log_activity) == 40, "on disk");

/* Memory that was allocated or freed. */
struct gpu_log_memory {
	struct gpu_log_record rec;
	uint32_t operation;
	uint64_t correlation_id;
	uint64_t time_ns;
	uint64_t bytes; /* 0 if a call that frees doesn't know */
	uint64_t address; /* by which the two belong together, within a process */
};

_Static_assert(sizeof(struct gpu_log_memory) == 40, "on disk");

enum gpu_log_nvtx_operation {
	GPU_LOG_NVTX_PUSH = 1, /* ranges of a thread, one within the other */
	GPU_LOG_NVTX_POP = 2, /* ends the domain's innermost of the thread */
	GPU_LOG_NVTX_START = 3, /* a range of the process, from any thread ... */
	GPU_LOG_NVTX_END = 4, /* ... to any thread */
	GPU_LOG_NVTX_MARK = 5,
};

/* The program says what it is doing. In the order of each thread. */
struct gpu_log_nvtx {
	struct gpu_log_record rec;
	uint32_t operation; /* enum gpu_log_nvtx_operation */
	uint64_t time_ns;
	uint64_t range; /* START, END: its id, unique in the log; else 0 */
	uint32_t tid; /* as the process itself sees it */
	uint32_t domain; /* string; 0: the default domain */
	uint32_t name; /* string; 0 of POP and END */
	uint32_t pad;
};

_Static_assert(sizeof(struct gpu_log_nvtx) == 40, "on disk");

/* Which of a job's processes it is, if the environment says so; behind GPU_LOG_PROCESS. */
struct gpu_log_rank {
	struct gpu_log_record rec;
	uint32_t rank;
	uint32_t local_rank; /* on its host; UINT32_MAX: not said */
	uint32_t nr_ranks; /* 0: not said */
	uint32_t source; /* string: the variable that had the rank: "RANK", ... */
	uint32_t pad;
};

_Static_assert(sizeof(struct gpu_log_rank) == 24, "on disk");

/*
 * In which pid namespace the pids and tids of the log are, which others may have too;
 * behind GPU_LOG_PROCESS, in a launch log as well.
 */
struct gpu_log_namespace {
	struct gpu_log_record rec;
	uint32_t pad;
	uint64_t pid_namespace; /* inode of /proc/self/ns/pid; 0: not known */
};

_Static_assert(sizeof(struct gpu_log_namespace) == 16, "on disk");

/*
 * In a perf.data that is made of launch logs, the pids and tids of another namespace than
 * the recorder's are higher by a multiple of this, which is more than a pid can be.
 */
#define GPU_LOG_NAMESPACE_STEP 10000000u

/*
 * Of which recording the log was: perf-gpu merge has put it into another, on another
 * clock, and perhaps with other pids and tids. Behind GPU_LOG_PROCESS.
 */
struct gpu_log_origin {
	struct gpu_log_record rec;
	uint32_t pid; /* that GPU_LOG_PROCESS had */
	uint64_t session; /* that its blocks had */
	uint32_t pad;
	uint32_t nr_bytes; /* of host, without the NUL that follows and pads to 8 */
	char host[]; /* uname -n where it was recorded; "": not known */
};

_Static_assert(sizeof(struct gpu_log_origin) == 24, "on disk");

/*
 * A file in the folder of the logs, which the recorder has locked as long as it lives
 * (fcntl(2), open file description locks).
 */
#define GPU_LOG_JOURNAL "recording"

/*
 * No record behind this one uses strings, shapes or operations with ids below these, but
 * for strings that are used by other definitions. Who keeps a part of a log can do without.
 */
struct gpu_log_forget {
	struct gpu_log_record rec;
	uint32_t strings, shapes, operations;
};

_Static_assert(sizeof(struct gpu_log_forget) == 16, "on disk");

enum gpu_log_loss_kind {
	/* CUPTI had no buffer for a record, or its layout isn't known */
	GPU_LOG_LOSS_CUPTI_DROPPED = 1,
	GPU_LOG_LOSS_WRITE = 2, /* records in blocks that could not be written */
	GPU_LOG_LOSS_NO_MEMORY = 3, /* records the library had no memory for */
	GPU_LOG_LOSS_UNFINISHED = 4, /* kernels that still ran: have a record, end 0 */
	GPU_LOG_LOSS_LAUNCH = 5, /* launches that the launch log had no room for */
};

/* Records that are missing, counted since the last loss record of the kind. */
struct gpu_log_loss {
	struct gpu_log_record rec;
	uint32_t kind; /* enum gpu_log_loss_kind */
	uint64_t nr_records;
};

_Static_assert(sizeof(struct gpu_log_loss) == 16, "on disk");

enum gpu_log_severity {
	GPU_LOG_INFO = 1,
	GPU_LOG_WARNING = 2, /* something was not recorded */
	GPU_LOG_ERROR = 3, /* nothing more is recorded of this process */
};

/* Something the library says to the user, who reads it from the recorder. */
struct gpu_log_message {
	struct gpu_log_record rec;
	uint32_t severity; /* enum gpu_log_severity */
	uint32_t nr_bytes; /* without the NUL that follows and pads to 8 */
	char text[];
};

_Static_assert(sizeof(struct gpu_log_message) == 12, "on disk");

/* Last block of perf.data.gpu, from the recorder: what became of launches. */
struct gpu_log_recorder {
	struct gpu_log_record rec;
	uint32_t nr_cpus;
	uint64_t nr_launches; /* samples written to perf.data */
	uint64_t nr_lost_ring; /* no room in the ring, or in a launch log */
	uint64_t nr_lost_stack; /* frames could not be read: counted by BPF */
	uint64_t realtime_ns; /* CLOCK_REALTIME ... */
	uint64_t monotonic_ns; /* ... at this CLOCK_MONOTONIC */
	/*
	 * The same at the end: other hosts' clocks are nearer to this one's then, if it
	 * was set in between. Recordings of older versions end before.
	 */
	uint64_t end_realtime_ns;
	uint64_t end_monotonic_ns;
	/*
	 * What became of everything, so that who reads has the same figures. Recordings of
	 * older versions end before.
	 */
	uint64_t nr_lost_log; /* of nr_lost_ring: in launch logs */
	uint64_t nr_unreadable; /* samples of the kernel's that were none */
	uint64_t
		nr_missing; /* launches that logs have counted, lost in none of these ways */
	uint64_t nr_records; /* GPU_LOG_END.nr_records of the logs' blocks in this file */
	/* By their processes' count: behind broken blocks, or never written */
	uint64_t nr_records_cut;
	uint32_t has_others; /* 1: not all of nr_launches are launches */
	uint32_t is_window; /* 1: of record --overwrite; its files may have the same */
	/* By record --max-size. Recordings of older versions end before. */
	uint64_t nr_over_limit; /* launches that are left out */
	uint64_t stopped_after_ns; /* how long was recorded until then; 0: to the end */
	uint64_t nr_bytes_cut; /* of logs, left out */
	/*
	 * Of record --overwrite, which keeps the newest: from when on (CLOCK_MONOTONIC; 0:
	 * all that was recorded is here), and what of before is not here.
	 */
	uint64_t kept_from_ns;
	uint64_t nr_cut_launches;
	uint64_t nr_cut_records; /* of the GPU: kernels, copies and the like */
	/* By record --max-size. Recordings of older versions end before. */
	uint64_t nr_records_over_limit; /* of the GPU, that are left out */
	/*
	 * Of the kernel's records of mappings and processes, until the end of this file: lost
	 * in rings, or left out. Recordings of older versions end before.
	 */
	uint64_t nr_lost_sideband;
};

_Static_assert(sizeof(struct gpu_log_recorder) == 176, "on disk");
#define GPU_LOG_RECORDER_MIN_BYTES offsetof(struct gpu_log_recorder, end_realtime_ns)

/*
 * Last record of a log whose process ended in order. nr_launches counts the
 * markers the process hit, so: launches - samples of this log = lost.
 */
struct gpu_log_end {
	struct gpu_log_record rec;
	uint32_t pad;
	uint64_t nr_launches;
	uint64_t nr_kernels;
	/*
	 * Of the types that GPU_LOG_LOSS_WRITE counts: KERNEL, ACTIVITY, MEMORY, API_CALL,
	 * NVTX. In a launch log, and in logs of older versions, it isn't there.
	 */
	uint64_t nr_records;
};

_Static_assert(sizeof(struct gpu_log_end) == 32, "on disk");
#define GPU_LOG_END_MIN_BYTES offsetof(struct gpu_log_end, nr_records)

/* Is a record of the type counted when it is lost? Others only describe these. */
static inline int gpu_log_is_counted(unsigned int type)
{
	return type == GPU_LOG_KERNEL || type == GPU_LOG_ACTIVITY ||
	       type == GPU_LOG_MEMORY || type == GPU_LOG_API_CALL || type == GPU_LOG_NVTX;
}

/* Has what began and ended a time that is known? */
static inline int gpu_log_has_time(uint64_t start_ns, uint64_t end_ns)
{
	return start_ns && end_ns >= start_ns;
}

/* The same of a kernel, which takes some time */
static inline int gpu_log_has_duration(uint64_t start_ns, uint64_t end_ns)
{
	return start_ns && end_ns > start_ns;
}

/*
 * Frames of a stack that are no code, among its return addresses: addresses that no
 * process has, neither on x86-64 (they are not canonical) nor on arm64.
 */
#define GPU_LOG_FRAME_KIND(frame) ((frame) >> 56)
#define GPU_LOG_FRAME_ADDRESS	  0 /* a return address */
/* The stack goes on, but could not be walked: always the outermost frame. */
#define GPU_LOG_FRAME_TRUNCATED 2
/*
 * A function of Python's: bits 16 to 55 are the id of its code (0: not known), bits 0
 * to 15 the line that is executed, counted from the line of its definition.
 */
#define GPU_LOG_FRAME_PYTHON  3
#define GPU_LOG_FRAME_NO_LINE 0xffffu /* it is of none, or further down */

/* A function of Python's, or what else is one code object: a module, a class body. */
struct gpu_log_python_code {
	struct gpu_log_record rec;
	uint32_t code; /* id */
	uint32_t name; /* string: qualified, as A.f, from CPython 3.11 on */
	uint32_t file; /* string: as the code object has it, so it may be relative */
	uint32_t first_line; /* of the definition, or of its first decorator */
	uint32_t pad;
};

_Static_assert(sizeof(struct gpu_log_python_code) == 24, "on disk");

/*
 * A stack of one thread's, below one API function: launches that are alike in these
 * share it. tid is part of it so that launches need not have it.
 */
struct gpu_log_stack {
	struct gpu_log_record rec;
	uint32_t stack; /* id */
	uint32_t tid; /* as the process itself sees it */
	uint32_t api; /* GPU_LOG_API_ID() */
	uint32_t nr_frames;
	uint32_t pad;
	uint64_t frames[]; /* leaf first; see GPU_LOG_FRAME_KIND() */
};

_Static_assert(sizeof(struct gpu_log_stack) == 24, "on disk");

/*
 * A launch has one of the stacks that were written last: there are fewer bytes of stack
 * records behind it. So a reader can forget the others.
 */
#define GPU_LOG_STACK_REACH (64u << 20)

/* What the times of launches are counted from, up to the next such record. */
struct gpu_log_time {
	struct gpu_log_record rec;
	uint32_t pad;
	uint64_t time_ns;
};

_Static_assert(sizeof(struct gpu_log_time) == 16, "on disk");

/*
 * A launch. Those of several threads may stand a little out of order; a launch log
 * begins with a GPU_LOG_TIME behind its GPU_LOG_PROCESS.
 */
struct gpu_log_launch {
	struct gpu_log_record rec;
	uint32_t stack;
	uint64_t correlation_id; /* as gpu_log_kernel has it */
	int32_t offset_ns; /* from the time above; may be negative */
	uint32_t cpu;
};

_Static_assert(sizeof(struct gpu_log_launch) == 24, "on disk");

/* A thread's name from here on; before its first launch. */
struct gpu_log_thread {
	struct gpu_log_record rec;
	uint32_t tid;
	uint64_t time_ns;
	char comm[16]; /* NUL-terminated */
};

_Static_assert(sizeof(struct gpu_log_thread) == 32, "on disk");

/* An executable mapping, as /proc/PID/maps has it, from here on. */
struct gpu_log_map {
	struct gpu_log_record rec;
	uint32_t prot; /* PROT_* */
	uint64_t time_ns;
	uint64_t start;
	uint64_t bytes;
	uint64_t offset; /* in the file */
	uint64_t inode;
	uint32_t major, minor;
	uint32_t is_shared; /* MAP_SHARED; else MAP_PRIVATE */
	uint32_t nr_bytes; /* of path, without the NUL that follows and pads to 8 */
	char path[]; /* "" for anonymous memory, "[vdso]", ... */
};

_Static_assert(sizeof(struct gpu_log_map) == 64, "on disk");

/* A piece is no longer than this before it is deflated: then it fits into a record. */
#define GPU_LOG_JIT_MAX_BYTES 60000

enum gpu_log_jit_kind {
	GPU_LOG_JIT_PERF_MAP = 1, /* text, as in the file */
	GPU_LOG_JIT_CODE = 2, /* of a jitdump: struct gpu_log_jit_code, ... */
};

/*
 * A piece of what a JIT compiler says of its code: of /tmp/perf-PID.map, or of a
 * jitdump. Pieces of a kind follow each other as they do in the file.
 */
struct gpu_log_jit {
	struct gpu_log_record rec;
	uint32_t kind; /* enum gpu_log_jit_kind */
	/*
	 * Where it begins in the file. A perf map's piece that doesn't begin where the
	 * last one ended is of another file, or text is missing before it.
	 */
	uint64_t offset;
	uint32_t nr_bytes; /* once inflated */
	uint32_t nr_deflated_bytes;
	uint8_t deflated[]; /* zlib's format (RFC 1950), padded with 0 */
};

_Static_assert(sizeof(struct gpu_log_jit) == 24, "on disk");

/* Code that lies at an address from a time on; whole within a piece. */
struct gpu_log_jit_code {
	uint64_t time_ns; /* 0: not known */
	uint64_t address;
	uint64_t bytes;
	uint64_t index; /* the runtime's number for the code */
	uint32_t is_moved; /* 1: of that index, and here now; it has no name of its own */
	uint32_t nr_bytes; /* of name, without the NUL that follows and pads to 8 */
	char name[];
};

_Static_assert(sizeof(struct gpu_log_jit_code) == 40, "in a piece");

/**
 * gpu_log_widen - a 32-bit correlation id as a 64-bit one
 * @id:     CUPTI's id, which wraps (at 50,000 launches a second: in a day)
 * @newest: a widened id from about the same time: within 2^31 of it
 *
 * Return: the 64-bit id nearest to @newest whose low 32 bits are @id.
 */
static inline uint64_t gpu_log_widen(uint32_t id, uint64_t newest)
{
	int32_t distance = (int32_t)(id - (uint32_t)newest);

	if (distance < 0 && newest < (uint64_t) - (int64_t)distance)
		return id;
	return newest + (uint64_t)(int64_t)distance;
}

#endif
