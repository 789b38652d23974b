// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads records: what they say goes into the sidecar's tables, with the ids of
 * the log made pointers and indexes.
 *
 * Invariant: an id is looked up only among those that its log has defined. A log
 * counts them up from 1: any other definition breaks the format.
 *
 * One thread.
 */
#include "sidecar/records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sidecar/table.h"
#include "util/gpu_log_cursor.h"
#include "util/sum.h"

#define NR_ITEMS(array) (sizeof(array) / sizeof(*(array)))

/* What an id stands for; "" for 0. -EINVAL if the log hasn't defined it. */
static int log_reader__string(const struct log_reader *log, uint32_t id, const char **ret)
{
	if (id > log->nr_strings)
		return -EINVAL;
	*ret = id ? log->strings[id - 1] : "";
	return 0;
}

/* Records: 0, -EINVAL if the record breaks the format, -ENOMEM */

static int take_process(struct sidecar *sidecar, struct log_reader *from,
			const struct gpu_log_record *record)
{
	const struct gpu_log_process *process = (const void *)record;
	struct sidecar_log *log = &sidecar->logs[from->log];

	from->has_process = true;
	log->pid = process->pid;
	log->ppid = process->ppid;
	log->is_forked = process->is_forked;
	log->start_ns = process->start_ns;
	log->cupti_version = process->cupti_version;
	log->driver_version = process->driver_version;
	memcpy(log->comm, process->comm, sizeof(log->comm));
	log->comm[sizeof(log->comm) - 1] = '\0';
	return 0;
}

static int take_string(struct sidecar *sidecar, struct log_reader *from,
		       const struct gpu_log_record *record)
{
	const struct gpu_log_string *string = (const void *)record;
	const char *text = gpu_log_record__text(record, string->text, string->nr_bytes);
	const char **strings;

	(void)sidecar;
	if (!text || string->id != from->nr_strings + 1)
		return -EINVAL;
	strings = table__grow(from->strings, from->nr_strings, sizeof(*strings));
	if (!strings)
		return -ENOMEM;
	from->strings = strings;
	from->strings[from->nr_strings++] = text;
	return 0;
}

static int take_api(struct sidecar *sidecar, struct log_reader *from,
		    const struct gpu_log_record *record)
{
	const struct gpu_log_api *api = (const void *)record;
	struct sidecar_api new = {.log = from->log, .api = api->api}, *place;

	if (!api->name || log_reader__string(from, api->name, &new.name))
		return -EINVAL;
	place = TABLE_APPEND(sidecar->apis, sidecar->nr_apis);
	if (!place)
		return -ENOMEM;
	*place = new;
	return 0;
}

static int take_api_call(struct sidecar *sidecar, struct log_reader *from,
			 const struct gpu_log_record *record)
{
	const struct gpu_log_api_call *call = (const void *)record;
	bool has_time = call->start_ns && call->end_ns >= call->start_ns;
	struct sidecar_api_call *place;

	place = TABLE_APPEND(sidecar->api_calls, sidecar->nr_api_calls);
	if (!place)
		return -ENOMEM;
	*place = (struct sidecar_api_call){
		.log = from->log,
		.api = call->api,
		.correlation_id = call->correlation_id,
		.start_ns = has_time ? call->start_ns : 0,
		.end_ns = has_time ? call->end_ns : 0,
		.tid = call->tid,
	};
	return 0;
}

static int take_device(struct sidecar *sidecar, struct log_reader *from,
		       const struct gpu_log_record *record)
{
	const struct gpu_log_device *device = (const void *)record;
	struct sidecar_device *place,
		new = {
			.log = from->log,
			.device = device->device,
			.compute_major = device->compute_major,
			.compute_minor = device->compute_minor,
			.nr_multiprocessors = device->nr_multiprocessors,
			.memory_bytes = device->memory_bytes,
		};

	if (log_reader__string(from, device->name, &new.name))
		return -EINVAL;
	memcpy(new.uuid, device->uuid, sizeof(new.uuid));
	place = TABLE_APPEND(sidecar->devices, sidecar->nr_devices);
	if (!place)
		return -ENOMEM;
	*place = new;
	return 0;
}

static int take_shape(struct sidecar *sidecar, struct log_reader *from,
		      const struct gpu_log_record *record)
{
	const struct gpu_log_shape *shape = (const void *)record;
	struct sidecar_shape *place,
		new = {
			.log = from->log,
			.device = shape->device,
			.context = shape->context,
			.stream = shape->stream,
			.registers_per_thread = shape->registers_per_thread,
			.static_shared_bytes = shape->static_shared_bytes,
			.dynamic_shared_bytes = shape->dynamic_shared_bytes,
			.graph = shape->graph,
			.graph_node = shape->graph_node,
		};
	uint32_t *shapes;

	if (log_reader__string(from, shape->name, &new.name) ||
	    shape->shape != from->nr_shapes + 1 || sidecar->nr_shapes >= UINT32_MAX)
		return -EINVAL;
	memcpy(new.grid, shape->grid, sizeof(new.grid));
	memcpy(new.block, shape->block, sizeof(new.block));

	shapes = table__grow(from->shapes, from->nr_shapes, sizeof(*shapes));
	if (!shapes)
		return -ENOMEM;
	from->shapes = shapes;
	place = TABLE_APPEND(sidecar->shapes, sidecar->nr_shapes);
	if (!place)
		return -ENOMEM;
	*place = new;
	from->shapes[from->nr_shapes++] = (uint32_t)(sidecar->nr_shapes - 1);
	return 0;
}

static int take_kernel(struct sidecar *sidecar, struct log_reader *from,
		       const struct gpu_log_record *record)
{
	const struct gpu_log_kernel *kernel = (const void *)record;
	bool has_time = kernel->start_ns && kernel->end_ns >= kernel->start_ns;
	struct sidecar_kernel *place;

	if (!kernel->shape || kernel->shape > from->nr_shapes)
		return -EINVAL;
	place = TABLE_APPEND(sidecar->kernels, sidecar->nr_kernels);
	if (!place)
		return -ENOMEM;
	*place = (struct sidecar_kernel){
		.correlation_id = kernel->correlation_id,
		.start_ns = has_time ? kernel->start_ns : 0,
		.end_ns = has_time ? kernel->end_ns : 0,
		.log = from->log,
		.shape = from->shapes[kernel->shape - 1],
	};
	sidecar->logs[from->log].nr_kernels++;
	return 0;
}

static int take_loss(struct sidecar *sidecar, struct log_reader *from,
		     const struct gpu_log_record *record)
{
	const struct gpu_log_loss *loss = (const void *)record;
	struct sidecar_log *log = &sidecar->logs[from->log];
	/* A kind that only a later writer knows is counted as 0, which none is. */
	size_t kind = loss->kind < NR_ITEMS(log->nr_lost) ? loss->kind : 0;

	sum__add(&log->nr_lost[kind], loss->nr_records);
	return 0;
}

static int take_message(struct sidecar *sidecar, struct log_reader *from,
			const struct gpu_log_record *record)
{
	const struct gpu_log_message *message = (const void *)record;
	const char *text = gpu_log_record__text(record, message->text, message->nr_bytes);
	struct sidecar_message *place;

	if (!text)
		return -EINVAL;
	place = TABLE_APPEND(sidecar->messages, sidecar->nr_messages);
	if (!place)
		return -ENOMEM;
	*place = (struct sidecar_message){
		.log = from->log, .severity = message->severity, .text = text};
	return 0;
}

static int take_graph_node(struct sidecar *sidecar, struct log_reader *from,
			   const struct gpu_log_record *record)
{
	const struct gpu_log_graph_node *node = (const void *)record;
	struct sidecar_graph_node *place;

	switch (node->origin) {
	case GPU_LOG_NODE_NONE:
		sidecar->logs[from->log].tells_graph_nodes = true;
		return 0;
	case GPU_LOG_NODE_CAPTURED:
	case GPU_LOG_NODE_CLONED:
	case GPU_LOG_NODE_UPDATED:
		break;
	default:
		return 0; /* of a later writer */
	}
	place = TABLE_APPEND(sidecar->graph_nodes, sidecar->nr_graph_nodes);
	if (!place)
		return -ENOMEM;
	*place = (struct sidecar_graph_node){
		.log = from->log,
		.origin = node->origin,
		.node = node->node,
		.original = node->original,
		.correlation_id = node->correlation_id,
	};
	return 0;
}

static int take_jit(struct sidecar *sidecar, struct log_reader *from,
		    const struct gpu_log_record *record)
{
	const struct gpu_log_jit *jit = (const void *)record;
	struct sidecar_jit *place;

	if (jit->nr_deflated_bytes > record->size - sizeof(*jit) ||
	    jit->nr_bytes > GPU_LOG_JIT_MAX_BYTES)
		return -EINVAL;
	place = TABLE_APPEND(sidecar->jits, sidecar->nr_jits);
	if (!place)
		return -ENOMEM;
	*place = (struct sidecar_jit){
		.log = from->log,
		.kind = jit->kind,
		.offset = jit->offset,
		.nr_bytes = jit->nr_bytes,
		.nr_deflated_bytes = jit->nr_deflated_bytes,
		.deflated = jit->deflated,
	};
	return 0;
}

static int take_python_code(struct sidecar *sidecar, struct log_reader *from,
			    const struct gpu_log_record *record)
{
	const struct gpu_log_python_code *code = (const void *)record;
	struct sidecar_python *place, new = {
					      .log = from->log,
					      .code = code->code,
					      .first_line = code->first_line,
				      };
	const char *name;
	char *shown;

	if (log_reader__string(from, code->name, &name) ||
	    log_reader__string(from, code->file, &new.file) ||
	    code->code != from->nr_pythons + 1)
		return -EINVAL;
	if (asprintf(&shown, "py::%s:%s", name, new.file) < 0)
		return -ENOMEM;
	new.name = shown;
	place = TABLE_APPEND(sidecar->pythons, sidecar->nr_pythons);
	if (!place) {
		free(shown);
		return -ENOMEM;
	}
	*place = new;
	from->nr_pythons++;
	return 0;
}

static int take_end(struct sidecar *sidecar, struct log_reader *from,
		    const struct gpu_log_record *record)
{
	const struct gpu_log_end *end = (const void *)record;
	struct sidecar_log *log = &sidecar->logs[from->log];

	log->is_ended = true;
	log->nr_launches = end->nr_launches;
	return 0;
}

static int take_recorder(struct sidecar *sidecar, struct log_reader *from,
			 const struct gpu_log_record *record)
{
	const struct gpu_log_recorder *recorder = (const void *)record;

	(void)from;
	sidecar->recorder = (struct sidecar_recorder){
		.is_there = true,
		.nr_launches = recorder->nr_launches,
		.nr_lost_ring = recorder->nr_lost_ring,
		.nr_lost_stack = recorder->nr_lost_stack,
		.realtime_ns = recorder->realtime_ns,
		.monotonic_ns = recorder->monotonic_ns,
	};
	return 0;
}

struct record_type {
	size_t bytes; /* at least */
	int (*take)(struct sidecar *sidecar, struct log_reader *from,
		    const struct gpu_log_record *record);
};

static const struct record_type log_types[] = {
	[GPU_LOG_PROCESS] = {sizeof(struct gpu_log_process), take_process},
	[GPU_LOG_STRING] = {sizeof(struct gpu_log_string), take_string},
	[GPU_LOG_API] = {sizeof(struct gpu_log_api), take_api},
	[GPU_LOG_API_CALL] = {sizeof(struct gpu_log_api_call), take_api_call},
	[GPU_LOG_DEVICE] = {sizeof(struct gpu_log_device), take_device},
	[GPU_LOG_SHAPE] = {sizeof(struct gpu_log_shape), take_shape},
	[GPU_LOG_KERNEL] = {sizeof(struct gpu_log_kernel), take_kernel},
	[GPU_LOG_LOSS] = {sizeof(struct gpu_log_loss), take_loss},
	[GPU_LOG_MESSAGE] = {sizeof(struct gpu_log_message), take_message},
	[GPU_LOG_JIT] = {sizeof(struct gpu_log_jit), take_jit},
	[GPU_LOG_PYTHON_CODE] = {sizeof(struct gpu_log_python_code), take_python_code},
	[GPU_LOG_END] = {sizeof(struct gpu_log_end), take_end},
	[GPU_LOG_GRAPH_NODE] = {sizeof(struct gpu_log_graph_node), take_graph_node},
};

/* The recorder's own block says nothing of any process. */
static const struct record_type recorder_types[] = {
	[GPU_LOG_RECORDER] = {sizeof(struct gpu_log_recorder), take_recorder},
};

/* @from: NULL for the recorder's block */
static int take_record(struct sidecar *sidecar, struct log_reader *from,
		       const struct gpu_log_record *record)
{
	const struct record_type *types = from ? log_types : recorder_types;
	size_t nr_types = from ? NR_ITEMS(log_types) : NR_ITEMS(recorder_types);

	if (from && !from->has_process && record->type != GPU_LOG_PROCESS)
		return -EINVAL;
	if (record->type >= nr_types || !types[record->type].take)
		return 0; /* of a later writer, or of no use here */
	if (record->size < types[record->type].bytes)
		return -EINVAL;
	return types[record->type].take(sidecar, from, record);
}

int log_reader__take_block(struct log_reader *log, struct sidecar *sidecar,
			   const struct gpu_log_block *block)
{
	struct gpu_log_cursor cursor =
		gpu_log_cursor__new(block + 1, block->payload_bytes);
	const struct gpu_log_record *record;
	int err;

	while ((err = gpu_log_cursor__next(&cursor, &record)) > 0) {
		err = take_record(sidecar, log, record);
		if (err)
			break;
	}
	return err;
}

void log_reader__delete(struct log_reader *log)
{
	if (!log)
		return;
	free(log->strings);
	free(log->shapes);
	free(log);
}
