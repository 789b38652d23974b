// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables as nsys export --type=sqlite has them (nsys_tables.c), so that queries which were
 * written for those run:
 *
 *   kernels, copies, memsets, waits    a row each; correlationId and globalPid lead to
 *   calls (..._RUNTIME)                a row for each that put work on a GPU; where they
 *                                      weren't recorded, for each launch, without a length
 *   stacks (CUDA_CALLCHAINS)           callchainId of calls leads to their frames, 0 being
 *                                      the innermost
 *
 * globalTid is the process << 24 | the thread, globalPid that with thread 0. Devices are
 * numbers that are unique in the recording. Times are those of CLOCK_MONOTONIC.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_log.h"
#include "join/devices.h"
#include "sink/export.h"
#include "sink/nsys_database.h"
#include "sink/nsys_machine.h"
#include "sink/nsys_nvtx.h"
#include "sink/stack_fold.h"
#include "sink/utf8_text.h"
#include "symbol/demangle.h"
#include "util/array.h"
#include "util/gpu_events.h"
#include "util/hash_index.h"
#include "util/log.h"

/* A kernel's names, in StringIds */
struct kernel_names {
	bool is_known;
	int64_t mangled, full, brief;
};

struct nsys {
	struct sink sink; /* first: what ops get is this */
	struct nsys_database *database;
	const struct sidecar *sidecar;
	const struct machine *machine;
	bool has_calls;
	struct frame_names *names;
	struct stack_fold *fold;
	struct frame_names *strings; /* ids are those of StringIds */
	uint64_t
		*threads; /* those that ThreadNames has: pid, and tid in the lower half */
	size_t nr_threads, nr_allocated_threads;
	struct hash_index threads_index;
	/* The function that RUNTIME's last row is of: its name's address, which stays */
	const char *last_api;
	int64_t last_api_string;
	struct devices *devices;
	uint32_t *callchains; /* by node of fold: id in CUDA_CALLCHAINS; 0: none yet */
	size_t nr_nodes; /* that there is room for */
	uint32_t nr_callchains;
	struct kernel_names *kernels; /* by shape */
	uint32_t *pids; /* by log: as the recorder saw it */
	uint64_t last_launch; /* the key that RUNTIME has a row of */
	uint64_t first_ns, last_ns; /* of all rows with times, but NVTX's */
};

static int no_memory(void)
{
	pr_err("no memory to write the database; fewer events (-e) need less");
	return -ENOMEM;
}

/* --- strings and stacks -------------------------------------------------------------------- */

static int string_of(struct nsys *nsys, const char *text, int64_t *ret)
{
	size_t nr = frame_names__nr(nsys->strings);
	const struct frame_name *name;
	struct nsys_value row[2];
	char *copy;
	int err;

	if (frame_names__get(nsys->strings, text, NULL, FRAME_CLASS_NATIVE, &name))
		return no_memory();
	*ret = name->id;
	if (name->id < nr)
		return 0;
	copy = utf8_text__copy(text);
	if (!copy)
		return no_memory();
	row[0] = NSYS_NUMBER(name->id);
	row[1] = NSYS_TEXT(copy);
	err = nsys_database__add(nsys->database, NSYS_STRINGS, row);
	free(copy);
	return err;
}

static int add_frame(struct nsys *nsys, int64_t callchain, const struct frame_name *name,
		     int64_t depth)
{
	int64_t symbol, module = NSYS_NULL;
	int err = string_of(nsys, name->text, &symbol);

	if (!err && name->file)
		err = string_of(nsys, name->file, &module);
	if (err)
		return err;
	return nsys_database__add(nsys->database, NSYS_CALLCHAINS,
				  (const struct nsys_value[]){
					  NSYS_NUMBER(callchain),
					  NSYS_NUMBER(symbol),
					  NSYS_NUMBER(module),
					  NSYS_NUMBER(*name->text == '[' &&
						      name->class == FRAME_CLASS_NATIVE),
					  NSYS_NUMBER(depth),
				  });
}

/* The number of a stack, which is put into its table if it isn't there */
static int callchain_of(struct nsys *nsys, uint32_t stack, int64_t *ret)
{
	int64_t depth = 0;
	int err = 0;

	*ret = NSYS_NULL;
	if (stack == STACK_FOLD_NO_NODE)
		return 0;
	if (stack >= nsys->nr_nodes) {
		size_t nr = 2 * (size_t)stack + 64;
		uint32_t *grown = reallocarray(nsys->callchains, nr, sizeof(*grown));

		if (!grown)
			return no_memory();
		memset(grown + nsys->nr_nodes, 0, (nr - nsys->nr_nodes) * sizeof(*grown));
		nsys->callchains = grown;
		nsys->nr_nodes = nr;
	}
	*ret = nsys->callchains[stack];
	if (*ret)
		return 0;
	*ret = nsys->callchains[stack] = ++nsys->nr_callchains;
	for (uint32_t node = stack; node != STACK_FOLD_NO_NODE && !err;
	     node = stack_fold__node(nsys->fold, node)->parent)
		err = add_frame(nsys, *ret, stack_fold__node(nsys->fold, node)->name,
				depth++);
	return err;
}

static bool has_thread(const struct nsys *nsys, uint64_t thread)
{
	struct hash_cursor cursor =
		hash_index__find(&nsys->threads_index, hash__mix(0, thread));
	uint32_t id;

	while (hash_index__next(&nsys->threads_index, &cursor, &id))
		if (nsys->threads[id] == thread)
			return true;
	return false;
}

/* Name a thread, once. */
static int add_thread(struct nsys *nsys, uint32_t pid, uint32_t tid)
{
	uint64_t thread = (uint64_t)pid << 32 | tid;
	int64_t name;
	int err;

	if (has_thread(nsys, thread))
		return 0;
	if (array__grow(&nsys->threads, nsys->nr_threads, &nsys->nr_allocated_threads,
			sizeof(*nsys->threads)) ||
	    hash_index__add(&nsys->threads_index, hash__mix(0, thread),
			    (uint32_t)nsys->nr_threads))
		return no_memory();
	nsys->threads[nsys->nr_threads++] = thread;
	err = string_of(nsys, machine__comm(nsys->machine, pid, tid), &name);
	if (err)
		return err;
	return nsys_database__add(nsys->database, NSYS_THREAD_NAMES,
				  (const struct nsys_value[]){
					  NSYS_NUMBER(name),
					  NSYS_NUMBER(10),
					  NSYS_NUMBER(nsys__global_id(pid, tid)),
				  });
}

/* --- rows of samples ------------------------------------------------------------------------ */

static int64_t device_of(const struct nsys *nsys, uint32_t log, uint32_t device)
{
	return nsys_machine__device(nsys->devices, log, device);
}

/* nsys' numbers are one less than CUPTI's, and its unknown is the last. */
static int64_t memory_kind(uint32_t kind)
{
	return kind ? kind - 1 : GPU_LOG_MEMORY_MANAGED_STATIC;
}

static void extend(struct nsys *nsys, uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns < nsys->first_ns)
		nsys->first_ns = start_ns;
	if (end_ns > nsys->last_ns)
		nsys->last_ns = end_ns;
}

/* The columns that most tables begin with. Return: how many there are */
static size_t add_place(struct nsys *nsys, const struct gpu_sample *sample,
			struct nsys_value *row)
{
	const struct sidecar_activity *activity = sample->activity;
	const struct sidecar_shape *shape = sample->shape;

	extend(nsys, activity->start_ns, activity->end_ns);
	row[0] = NSYS_NUMBER(activity->start_ns);
	row[1] = NSYS_NUMBER(activity->end_ns);
	row[2] = NSYS_NUMBER(device_of(nsys, shape->log, shape->device));
	row[3] = NSYS_NUMBER(shape->context);
	row[4] = NSYS_NUMBER(shape->stream);
	row[5] = NSYS_NUMBER(activity->correlation_id);
	row[6] = NSYS_NUMBER(nsys__global_id(sample->pid, 0));
	return 7;
}

static struct nsys_value graph_node(const struct sidecar_shape *shape)
{
	return shape->graph_node ? NSYS_NUMBER(shape->graph_node) : NSYS_NOTHING;
}

static int demangled_of(struct nsys *nsys, const char *mangled, enum demangle_style style,
			int64_t *ret)
{
	char *name = demangle(*mangled ? mangled : "[unknown]", style);
	int err;

	if (!name)
		return no_memory();
	err = string_of(nsys, name, ret);
	free(name);
	return err;
}

static int find_names(struct nsys *nsys, const struct sidecar_shape *shape,
		      struct kernel_names *names)
{
	int err;

	if (names->is_known)
		return 0;
	err = string_of(nsys, shape->name, &names->mangled);
	if (!err)
		err = demangled_of(nsys, shape->name, DEMANGLE_FULL, &names->full);
	if (!err)
		err = demangled_of(nsys, shape->name, DEMANGLE_SHORT, &names->brief);
	names->is_known = !err;
	return err;
}

static int add_kernel(struct nsys *nsys, const struct gpu_sample *sample)
{
	const struct sidecar_shape *shape = sample->shape;
	struct kernel_names *names = &nsys->kernels[sample->activity->shape];
	struct nsys_value row[20];
	size_t nr = add_place(nsys, sample, row);
	int err = find_names(nsys, shape, names);

	if (err)
		return err;
	row[nr++] = NSYS_NUMBER(names->full);
	row[nr++] = NSYS_NUMBER(names->brief);
	row[nr++] = NSYS_NUMBER(names->mangled);
	row[nr++] = NSYS_NUMBER(shape->registers_per_thread);
	for (size_t i = 0; i < 3; i++)
		row[nr++] = NSYS_NUMBER(shape->grid[i]);
	for (size_t i = 0; i < 3; i++)
		row[nr++] = NSYS_NUMBER(shape->block[i]);
	row[nr++] = NSYS_NUMBER(shape->static_shared_bytes);
	row[nr++] = NSYS_NUMBER(shape->dynamic_shared_bytes);
	row[nr++] = graph_node(shape);
	return nsys_database__add(nsys->database, NSYS_KERNEL, row);
}

static struct nsys_value other_device(const struct nsys *nsys,
				      const struct sidecar_shape *shape, uint32_t device)
{
	return device == GPU_LOG_NO_DEVICE
		       ? NSYS_NOTHING
		       : NSYS_NUMBER(device_of(nsys, shape->log, device));
}

static int add_memcpy(struct nsys *nsys, const struct gpu_sample *sample)
{
	const struct sidecar_shape *shape = sample->shape;
	struct nsys_value row[14];
	size_t nr = add_place(nsys, sample, row);

	row[nr++] = NSYS_NUMBER(sample->activity->bytes);
	row[nr++] = NSYS_NUMBER(shape->what);
	row[nr++] = NSYS_NUMBER(memory_kind(shape->src_kind));
	row[nr++] = NSYS_NUMBER(memory_kind(shape->dst_kind));
	row[nr++] = other_device(nsys, shape, shape->src_device);
	row[nr++] = other_device(nsys, shape, shape->dst_device);
	row[nr++] = graph_node(shape);
	return nsys_database__add(nsys->database, NSYS_MEMCPY, row);
}

static int add_memset(struct nsys *nsys, const struct gpu_sample *sample)
{
	struct nsys_value row[10];
	size_t nr = add_place(nsys, sample, row);

	row[nr++] = NSYS_NUMBER(sample->activity->bytes);
	row[nr++] = graph_node(sample->shape);
	row[nr++] = NSYS_NUMBER(memory_kind(sample->shape->dst_kind));
	return nsys_database__add(nsys->database, NSYS_MEMSET, row);
}

static int add_sync(struct nsys *nsys, const struct gpu_sample *sample)
{
	struct nsys_value row[8];
	size_t nr = add_place(nsys, sample, row);

	row[nr++] = NSYS_NUMBER(sample->shape->what);
	return nsys_database__add(nsys->database, NSYS_SYNC, row);
}

/* memoryOperationType 0: allocated */
static int add_alloc(struct nsys *nsys, const struct gpu_sample *sample)
{
	const struct sidecar_activity *activity = sample->activity;
	const struct sidecar_shape *shape = sample->shape;
	char *name = utf8_text__copy(shape->name);
	int err;

	if (!name)
		return no_memory();
	extend(nsys, activity->start_ns, activity->start_ns);
	err = nsys_database__add(
		nsys->database, NSYS_ALLOC,
		(const struct nsys_value[]){
			NSYS_NUMBER(activity->start_ns),
			NSYS_NUMBER(nsys__global_id(sample->pid, 0)),
			NSYS_NUMBER(device_of(nsys, shape->log, shape->device)),
			NSYS_NUMBER(shape->context),
			NSYS_NUMBER(activity->address),
			NSYS_NUMBER(activity->bytes),
			NSYS_NUMBER(memory_kind(shape->dst_kind)),
			NSYS_NUMBER(0),
			*name ? NSYS_TEXT(name) : NSYS_NOTHING,
			NSYS_NUMBER(activity->correlation_id),
			shape->is_async ? NSYS_NUMBER(shape->stream) : NSYS_NOTHING,
		});
	free(name);
	return err;
}

/* --- calls ------------------------------------------------------------------------------- */

static int api_string(struct nsys *nsys, const char *name, int64_t *ret)
{
	int err = 0;

	if (name != nsys->last_api)
		err = string_of(nsys, name, &nsys->last_api_string);
	nsys->last_api = err ? NULL : name;
	*ret = nsys->last_api_string;
	return err;
}

static int write_call(struct nsys *nsys, const struct gpu_sample *sample,
		      const char *name, uint32_t stack, uint64_t correlation_id,
		      uint64_t start_ns, uint64_t end_ns)
{
	int64_t text, callchain;
	int err = api_string(nsys, name, &text);

	if (!err)
		err = callchain_of(nsys, stack, &callchain);
	if (!err)
		err = add_thread(nsys, sample->pid, sample->tid);
	if (err)
		return err;
	extend(nsys, start_ns, end_ns);
	return nsys_database__add(
		nsys->database, NSYS_RUNTIME,
		(const struct nsys_value[]){
			NSYS_NUMBER(start_ns),
			NSYS_NUMBER(end_ns),
			NSYS_NUMBER(nsys__global_id(sample->pid, sample->tid)),
			NSYS_NUMBER(correlation_id),
			NSYS_NUMBER(text),
			NSYS_NUMBER(callchain),
		});
}

static int add_call(struct nsys *nsys, const struct gpu_sample *sample, uint32_t stack)
{
	const struct sidecar_api_call *call = sample->call;
	const char *name = sidecar__api_name(nsys->sidecar, call->log, call->api);

	return write_call(nsys, sample, name ? name : "[unknown]", stack,
			  call->correlation_id, call->start_ns, call->end_ns);
}

/* Once for all that a launch did */
static int add_launch(struct nsys *nsys, const struct gpu_sample *sample, uint32_t stack)
{
	const struct sidecar_activity *activity = sample->activity;
	uint64_t key = hash__mix(hash__mix(1, activity->log), activity->correlation_id);
	const char *name = NULL;

	if (nsys->has_calls || !sample->has_launch || key == nsys->last_launch)
		return 0;
	nsys->last_launch = key;
	if (sample->nr_frames > 1)
		name = sample->frames[1].name;
	return write_call(nsys, sample, name ? name : "[unknown]", stack,
			  activity->correlation_id, sample->time_ns, sample->time_ns);
}

static int add_activity(struct nsys *nsys, const struct gpu_sample *sample)
{
	switch (sample->event) {
	case GPU_LOG_EVENT_KERNEL:
		return add_kernel(nsys, sample);
	case GPU_LOG_EVENT_MEMCPY:
		return add_memcpy(nsys, sample);
	case GPU_LOG_EVENT_MEMSET:
		return add_memset(nsys, sample);
	case GPU_LOG_EVENT_SYNC:
		return add_sync(nsys, sample);
	default:
		return add_alloc(nsys, sample);
	}
}

static int nsys__sample(struct sink *sink, const struct gpu_sample *sample)
{
	struct nsys *nsys = (struct nsys *)sink;
	uint32_t log = sample->call ? sample->call->log : sample->activity->log;
	uint32_t stack;
	int err;

	nsys->pids[log] = sample->pid;
	if (sample->event == GPU_LOG_EVENT_QUEUE || sample->event == GPU_LOG_EVENT_IDLE ||
	    sample->event == GPU_LOG_EVENT_FAULT)
		return 0; /* nsys has no table of these */
	if (stack_fold__stack(nsys->fold, sample, NULL, &stack))
		return no_memory();
	if (sample->event == GPU_LOG_EVENT_LAUNCH)
		return add_call(nsys, sample, stack);
	err = add_activity(nsys, sample);
	return err ? err : add_launch(nsys, sample, stack);
}

/* --- the end ----------------------------------------------------------------------------- */

static int find_string(void *data, const char *text, int64_t *ret)
{
	return string_of(data, text, ret);
}

static int nsys__finish(struct sink *sink)
{
	struct nsys *nsys = (struct nsys *)sink;
	const struct nsys_nvtx_input nvtx = {
		.sidecar = nsys->sidecar,
		.pids = nsys->pids,
		.database = nsys->database,
		.find_string = find_string,
		.data = nsys,
	};
	const struct nsys_machine_input machine = {
		.sidecar = nsys->sidecar,
		.machine = nsys->machine,
		.devices = nsys->devices,
		.pids = nsys->pids,
		.database = nsys->database,
		.first_ns = nsys->first_ns,
		.last_ns = nsys->last_ns,
	};
	int err = nsys_machine__add(&machine);

	if (!err)
		err = nsys_nvtx__add(&nvtx);
	return err ? err : nsys_database__finish(nsys->database);
}

/* --- the sink -------------------------------------------------------------------------- */

static int nsys__start(struct sink *sink, const struct sink_input *input)
{
	struct nsys *nsys = (struct nsys *)sink;
	const struct sink_input nothing = {.machine = NULL};
	size_t nr_logs = input->sidecar->nr_logs;
	int64_t empty;

	nsys->sidecar = input->sidecar;
	nsys->machine = input->machine;
	nsys->has_calls = input->events & GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_LAUNCH);
	nsys->pids = calloc(nr_logs ? nr_logs : 1, sizeof(*nsys->pids));
	nsys->kernels = calloc(input->sidecar->nr_shapes + 1, sizeof(*nsys->kernels));
	if (!nsys->pids || !nsys->kernels || frame_names__new(input, &nsys->names) ||
	    stack_fold__new(nsys->names, &nsys->fold) ||
	    frame_names__new(&nothing, &nsys->strings) ||
	    devices__new(input->sidecar, &nsys->devices))
		return no_memory();
	for (size_t i = 0; i < nr_logs; i++)
		nsys->pids[i] = input->sidecar->logs[i].pid;
	return string_of(nsys, "", &empty);
}

static void nsys__delete(struct sink *sink)
{
	struct nsys *nsys = (struct nsys *)sink;

	if (!nsys)
		return;
	nsys_database__close(nsys->database);
	devices__delete(nsys->devices);
	stack_fold__delete(nsys->fold);
	frame_names__delete(nsys->names);
	frame_names__delete(nsys->strings);
	free(nsys->threads);
	hash_index__release(&nsys->threads_index);
	free(nsys->callchains);
	free(nsys->kernels);
	free(nsys->pids);
	free(nsys);
}

int sink_nsys_sqlite__new(const struct export_options *options, struct sink **ret)
{
	static const struct sink_ops ops = {
		.start = nsys__start,
		.sample = nsys__sample,
		.finish = nsys__finish,
		.delete = nsys__delete,
	};
	struct nsys *nsys = calloc(1, sizeof(*nsys));
	int err;

	if (!nsys)
		return no_memory();
	nsys->sink.ops = &ops;
	nsys->first_ns = UINT64_MAX;
	err = nsys_database__open(options->path, &nsys->database);
	if (err) {
		free(nsys);
		return err;
	}
	*ret = &nsys->sink;
	return 0;
}
