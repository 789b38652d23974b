/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading perf.data.gpu, or one log, into tables (format: cupti_inject/gpu_log.h).
 *
 * Nothing in the file is trusted: what breaks the format ends the log it is in
 * (sidecar_log.is_cut), never the program. One thread.
 */
#ifndef PERF_GPU_SIDECAR_SIDECAR_H
#define PERF_GPU_SIDECAR_SIDECAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Ids of the log (string, shape, ...) have become pointers and indexes here. A shape is
 * what the log says of activities that are alike: of kernels its gpu_log_shape, of all
 * others its gpu_log_operation.
 */
struct sidecar_shape {
	const char *name; /* as CUPTI has it, mangled; "" if the log has none */
	uint32_t log; /* index in sidecar.logs */
	uint32_t kind; /* enum gpu_log_kind */
	uint32_t device, context, stream;
	uint32_t grid[3], block[3];
	uint32_t registers_per_thread;
	uint32_t static_shared_bytes, dynamic_shared_bytes;
	/* of all others than kernels; as gpu_log_operation has them */
	uint32_t what, src_kind, dst_kind, is_async, src_device, dst_device;
	uint32_t graph;
	uint64_t graph_node;
};

/* What was done once: a kernel, a copy, a sync, an allocation, ... */
struct sidecar_activity {
	uint64_t correlation_id;
	uint64_t start_ns; /* 0: unknown, then end_ns is 0 too */
	union {
		uint64_t end_ns;
		uint64_t address; /* of GPU_LOG_KIND_MEMORY, which has no end */
	};
	uint64_t bytes;
	uint32_t log; /* index in sidecar.logs */
	uint32_t shape; /* index in sidecar.shapes */
};

struct sidecar_device {
	uint32_t log, device;
	const char *name;
	uint32_t compute_major, compute_minor, nr_multiprocessors;
	uint8_t uuid[16];
	uint64_t memory_bytes;
};

struct sidecar_message {
	uint32_t log;
	uint32_t severity; /* enum gpu_log_severity */
	const char *text;
};

struct sidecar_log {
	uint64_t log_id;
	uint32_t pid, ppid;
	bool is_forked;
	uint64_t start_ns;
	uint32_t cupti_version, driver_version;
	char comm[16];
	bool is_ended; /* has its GPU_LOG_END: the process ended in order */
	bool is_cut; /* a broken or half block follows what was read */
	bool tells_graph_nodes; /* graph_nodes has those that were made */
	uint32_t events; /* GPU_LOG_EVENT_BIT()s that were asked for */
	uint32_t kinds; /* GPU_LOG_KIND_BIT()s that were recorded */
	uint64_t nr_launches; /* of GPU_LOG_END */
	uint64_t nr_lost[8]; /* by enum gpu_log_loss_kind */
	uint64_t nr_kernels;
	/* Of a job's processes, if it is of one */
	bool has_rank;
	uint32_t rank;
	uint32_t local_rank; /* on its host; UINT32_MAX: not known */
	uint32_t nr_ranks; /* 0: not known */
	/* Of a log of a merged recording; else NULL and 0 */
	const char *host; /* where it was recorded; NULL: not known */
	uint32_t origin_pid; /* that it had there; pid may be another, to be unique */
	uint64_t pid_namespace; /* inode of the one that pids are in; 0: not known */
};

struct sidecar_api {
	uint32_t log, api;
	const char *name;
};

/* A call of a launching API function; one within another has the same correlation id. */
struct sidecar_api_call {
	uint32_t log, api;
	uint64_t correlation_id;
	uint64_t start_ns, end_ns; /* 0: unknown */
	uint32_t tid; /* as its process sees it */
};

/* Where a graph's node comes from (gpu_log.h); in the order they were told. */
struct sidecar_graph_node {
	uint32_t log;
	uint32_t origin; /* enum gpu_log_node_origin, but for GPU_LOG_NODE_NONE */
	uint64_t node, original;
	uint64_t correlation_id;
};

/* What the program says it is doing (gpu_log.h); a thread's are in their order. */
struct sidecar_nvtx {
	uint32_t log;
	uint32_t operation; /* enum gpu_log_nvtx_operation */
	uint64_t time_ns;
	uint64_t range; /* of start and end */
	uint32_t tid; /* as its process sees it */
	const char *domain, *name; /* "": none */
};

/* A piece of what a JIT compiler says of its code (struct gpu_log_jit) */
struct sidecar_jit {
	uint32_t log;
	uint32_t kind; /* enum gpu_log_jit_kind */
	uint64_t offset; /* in the file */
	uint32_t nr_bytes; /* at most GPU_LOG_JIT_MAX_BYTES */
	uint32_t nr_deflated_bytes;
	const void *deflated;
};

/* A function of Python's */
struct sidecar_python {
	uint32_t log, code;
	const char *name; /* "py::NAME:FILE", as CPython's perf maps have it */
	const char *file;
	uint32_t first_line; /* 0: it has none */
};

/* What the recorder added; all 0 in a file that has no block of it. */
struct sidecar_recorder {
	bool is_there;
	uint64_t nr_launches, nr_lost_ring, nr_lost_stack;
	uint64_t realtime_ns, monotonic_ns;
	/* As gpu_log_recorder has them; 0 in recordings of older versions */
	uint64_t nr_lost_log, nr_unreadable, nr_missing;
	uint64_t nr_records, nr_records_cut;
	bool has_others;
	uint64_t nr_over_limit, stopped_after_ns, nr_bytes_cut, nr_records_over_limit;
	uint64_t nr_lost_sideband;
	/* Of record --overwrite: what of before this time is not here; 0: all is */
	uint64_t kept_from_ns, nr_cut_launches, nr_cut_records;
};

/* What an id of a log's stands for */
struct sidecar_id {
	uint32_t id; /* first: key */
	uint32_t index; /* in shapes */
};

/* Those of a log's shapes and operations, by id; see sidecar/ids.h */
struct sidecar_ids {
	struct sidecar_id *shapes, *operations;
	uint32_t nr_shapes, nr_operations;
};

/* Part of the file, with records of one log; places are as in sidecar/activities.h */
struct sidecar_block {
	uint64_t first, end; /* the first activity's place; behind the last one */
	uint32_t log;
};

struct sidecar {
	uint64_t session;
	struct sidecar_log *logs;
	struct sidecar_ids *ids; /* of each log */
	size_t nr_logs;
	struct sidecar_shape *shapes;
	size_t nr_shapes;
	struct sidecar_block *blocks; /* those with activities, as they stand */
	size_t nr_blocks;
	/* Of all kinds, as they stand; NULL unless sidecar__list_activities() was called */
	struct sidecar_activity *activities;
	size_t nr_activities;
	size_t nr_activities_without_time;
	struct sidecar_device *devices;
	size_t nr_devices;
	struct sidecar_api *apis;
	size_t nr_apis;
	struct sidecar_python *pythons;
	size_t nr_pythons;
	struct sidecar_api_call *api_calls;
	size_t nr_api_calls;
	struct sidecar_message *messages;
	size_t nr_messages;
	struct sidecar_graph_node *graph_nodes;
	size_t nr_graph_nodes;
	struct sidecar_nvtx *nvtx;
	size_t nr_nvtx;
	struct sidecar_jit *jits; /* those of a log in its order */
	size_t nr_jits;
	struct sidecar_recorder recorder;
	struct sidecar_file *file; /* what the strings point into; private */
};

/**
 * sidecar__open - read a perf.data.gpu, or a single log
 * @path: the file
 * @ret:  released by sidecar__close(); written on success only
 *
 * A file that is cut or damaged is read as far as it is whole: logs say so
 * (is_cut) and a warning is printed. Blocks behind the damage are looked for.
 *
 * Return: 0 or a negative errno, printed: those of open(2), -EINVAL if not a
 * single block of the file is whole, -ENOTSUP a later version of the format,
 * -EXDEV blocks of two different recordings in one file, -ENOMEM.
 */
int sidecar__open(const char *path, struct sidecar **ret);
/* The same of a file that is open: @fd stays the caller's (-1: open @name). */
int sidecar__open_fd(int fd, const char *name, struct sidecar **ret);
void sidecar__close(struct sidecar *sidecar); /* NULL is fine */

/* The whole file, as long as the sidecar */
const void *sidecar__file(const struct sidecar *sidecar, size_t *ret_bytes);

/* Name of an API function in a log; NULL if the log doesn't have it. */
const char *sidecar__api_name(const struct sidecar *sidecar, uint32_t log, uint32_t api);

/* A Python function of a log, by its code's id; NULL if the log doesn't have it. */
const struct sidecar_python *sidecar__python(const struct sidecar *sidecar, uint32_t log,
					     uint32_t code);

#endif
