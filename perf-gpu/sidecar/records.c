// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads records: what they say goes into the sidecar's tables, with the ids of
 * the log made pointers and indexes.
 *
 * Invariant: an id is looked up only among those that its log has defined. They are
 * defined in ascending order, mostly without gaps: any other definition breaks the format.
 *
 * One thread.
 */
#include "sidecar/records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sidecar/activities.h"
#include "sidecar/ids.h"
#include "sidecar/table.h"
#include "util/gpu_log_cursor.h"
#include "util/sum.h"

#define NR_ITEMS(array) (sizeof(array) / sizeof(*(array)))

/* What an id stands for; "" for 0. -EINVAL if the log hasn't defined it. */
static int log_reader__string(const struct log_reader *log, uint32_t id, const char **ret)
{
	const struct log_string *string = NULL;

	if (id) {
		string = ids__find(log->strings, log->nr_strings, sizeof(*string), id);
		if (!string)
			return -EINVAL;
	}
	*ret = string ? string->text : "";
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
	struct log_string *strings;

	(void)sidecar;
	if (!text ||
	    string->id <= (from->nr_strings ? from->strings[from->nr_strings - 1].id : 0))
		return -EINVAL;
	strings = table__grow(from->strings, from->nr_strings, sizeof(*strings));
	if (!strings)
		return -ENOMEM;
	from->strings = strings;
	from->strings[from->nr_strings++] =
		(struct log_string){.id = string->id, .text = text};
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

/* A new shape, and what the log calls it: @id, at the end of its @ids. */
static int add_shape(struct sidecar *sidecar, struct sidecar_id **ids, uint32_t *nr_ids,
		     uint32_t id, const struct sidecar_shape *new)
{
	struct sidecar_shape *place;
	struct sidecar_id *grown;

	if (sidecar->nr_shapes >= UINT32_MAX)
		return -EINVAL;
	grown = table__grow(*ids, *nr_ids, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	*ids = grown;
	place = TABLE_APPEND(sidecar->shapes, sidecar->nr_shapes);
	if (!place)
		return -ENOMEM;
	*place = *new;
	grown[(*nr_ids)++] = (struct sidecar_id){
		.id = id, .index = (uint32_t)(sidecar->nr_shapes - 1)};
	return 0;
}

static int take_shape(struct sidecar *sidecar, struct log_reader *from,
		      const struct gpu_log_record *record)
{
	const struct gpu_log_shape *shape = (const void *)record;
	struct sidecar_ids *ids = &sidecar->ids[from->log];
	struct sidecar_shape new = {
		.log = from->log,
		.kind = GPU_LOG_KIND_KERNEL,
		.src_device = GPU_LOG_NO_DEVICE,
		.dst_device = GPU_LOG_NO_DEVICE,
		.device = shape->device,
		.context = shape->context,
		.stream = shape->stream,
		.registers_per_thread = shape->registers_per_thread,
		.static_shared_bytes = shape->static_shared_bytes,
		.dynamic_shared_bytes = shape->dynamic_shared_bytes,
		.graph = shape->graph,
		.graph_node = shape->graph_node,
	};

	if (log_reader__string(from, shape->name, &new.name) ||
	    !ids__is_next(ids->shapes, ids->nr_shapes, shape->shape))
		return -EINVAL;
	memcpy(new.grid, shape->grid, sizeof(new.grid));
	memcpy(new.block, shape->block, sizeof(new.block));
	return add_shape(sidecar, &ids->shapes, &ids->nr_shapes, shape->shape, &new);
}

static int take_operation(struct sidecar *sidecar, struct log_reader *from,
			  const struct gpu_log_record *record)
{
	const struct gpu_log_operation *operation = (const void *)record;
	struct sidecar_ids *ids = &sidecar->ids[from->log];
	struct sidecar_shape new = {
		.log = from->log,
		.kind = operation->kind,
		.what = operation->what,
		.src_kind = operation->src_kind,
		.dst_kind = operation->dst_kind,
		.is_async = operation->is_async,
		.device = operation->device,
		.context = operation->context,
		.stream = operation->stream,
		.src_device = operation->src_device,
		.dst_device = operation->dst_device,
		.graph = operation->graph,
		.graph_node = operation->graph_node,
	};

	/* What is a kernel has a shape. */
	if (log_reader__string(from, operation->name, &new.name) ||
	    !ids__is_next(ids->operations, ids->nr_operations, operation->operation) ||
	    operation->kind == GPU_LOG_KIND_KERNEL)
		return -EINVAL;
	return add_shape(sidecar, &ids->operations, &ids->nr_operations,
			 operation->operation, &new);
}

static bool has_time(const struct sidecar *sidecar,
		     const struct sidecar_activity *activity)
{
	if (sidecar->shapes[activity->shape].kind == GPU_LOG_KIND_KERNEL)
		return gpu_log_has_duration(activity->start_ns, activity->end_ns);
	return activity->start_ns;
}

/* Only counted: it is read again from where it stands (sidecar/activities.h). */
static int take_activity(struct sidecar *sidecar, struct log_reader *from,
			 const struct gpu_log_record *record)
{
	struct sidecar_activity activity;

	if (sidecar__decode(sidecar, from->log, record, &activity))
		return -EINVAL;
	sidecar->nr_activities++;
	sidecar->nr_activities_without_time += !has_time(sidecar, &activity);
	if (record->type == GPU_LOG_KERNEL)
		sidecar->logs[from->log].nr_kernels++;
	return 0;
}

static int take_events(struct sidecar *sidecar, struct log_reader *from,
		       const struct gpu_log_record *record)
{
	const struct gpu_log_events *events = (const void *)record;

	sidecar->logs[from->log].events = events->events;
	sidecar->logs[from->log].kinds = events->kinds;
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
	    code->code <= from->newest_python)
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
	from->newest_python = code->code;
	return 0;
}

static int take_nvtx(struct sidecar *sidecar, struct log_reader *from,
		     const struct gpu_log_record *record)
{
	const struct gpu_log_nvtx *nvtx = (const void *)record;
	struct sidecar_nvtx *place, new = {
					    .log = from->log,
					    .operation = nvtx->operation,
					    .time_ns = nvtx->time_ns,
					    .range = nvtx->range,
					    .tid = nvtx->tid,
				    };

	if (log_reader__string(from, nvtx->domain, &new.domain) ||
	    log_reader__string(from, nvtx->name, &new.name))
		return -EINVAL;
	place = TABLE_APPEND(sidecar->nvtx, sidecar->nr_nvtx);
	if (!place)
		return -ENOMEM;
	*place = new;
	return 0;
}

static int take_rank(struct sidecar *sidecar, struct log_reader *from,
		     const struct gpu_log_record *record)
{
	const struct gpu_log_rank *rank = (const void *)record;
	struct sidecar_log *log = &sidecar->logs[from->log];

	log->has_rank = true;
	log->rank = rank->rank;
	log->local_rank = rank->local_rank;
	log->nr_ranks = rank->nr_ranks;
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

static int take_namespace(struct sidecar *sidecar, struct log_reader *from,
			  const struct gpu_log_record *record)
{
	const struct gpu_log_namespace *namespace = (const void *)record;

	sidecar->logs[from->log].pid_namespace = namespace->pid_namespace;
	return 0;
}

static int take_origin(struct sidecar *sidecar, struct log_reader *from,
		       const struct gpu_log_record *record)
{
	const struct gpu_log_origin *origin = (const void *)record;
	const char *host = gpu_log_record__text(record, origin->host, origin->nr_bytes);
	struct sidecar_log *log = &sidecar->logs[from->log];

	if (!host)
		return -EINVAL;
	log->host = *host ? host : NULL;
	log->origin_pid = origin->pid;
	return 0;
}

static int take_recorder(struct sidecar *sidecar, struct log_reader *from,
			 const struct gpu_log_record *record)
{
	struct gpu_log_recorder recorder = {};

	(void)from;
	memcpy(&recorder, record,
	       record->size < sizeof(recorder) ? record->size : sizeof(recorder));
	sidecar->recorder = (struct sidecar_recorder){
		.is_there = true,
		.nr_launches = recorder.nr_launches,
		.nr_lost_ring = recorder.nr_lost_ring,
		.nr_lost_stack = recorder.nr_lost_stack,
		.realtime_ns = recorder.realtime_ns,
		.monotonic_ns = recorder.monotonic_ns,
		.nr_lost_log = recorder.nr_lost_log,
		.nr_unreadable = recorder.nr_unreadable,
		.nr_missing = recorder.nr_missing,
		.nr_records = recorder.nr_records,
		.nr_records_cut = recorder.nr_records_cut,
		.has_others = recorder.has_others,
		.nr_over_limit = recorder.nr_over_limit,
		.stopped_after_ns = recorder.stopped_after_ns,
		.nr_bytes_cut = recorder.nr_bytes_cut,
		.nr_records_over_limit = recorder.nr_records_over_limit,
		.nr_lost_sideband = recorder.nr_lost_sideband,
		.kept_from_ns = recorder.kept_from_ns,
		.nr_cut_launches = recorder.nr_cut_launches,
		.nr_cut_records = recorder.nr_cut_records,
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
	[GPU_LOG_KERNEL] = {sizeof(struct gpu_log_kernel), take_activity},
	[GPU_LOG_LOSS] = {sizeof(struct gpu_log_loss), take_loss},
	[GPU_LOG_MESSAGE] = {sizeof(struct gpu_log_message), take_message},
	[GPU_LOG_JIT] = {sizeof(struct gpu_log_jit), take_jit},
	[GPU_LOG_PYTHON_CODE] = {sizeof(struct gpu_log_python_code), take_python_code},
	[GPU_LOG_END] = {GPU_LOG_END_MIN_BYTES, take_end},
	[GPU_LOG_EVENTS] = {sizeof(struct gpu_log_events), take_events},
	[GPU_LOG_OPERATION] = {sizeof(struct gpu_log_operation), take_operation},
	[GPU_LOG_ACTIVITY] = {sizeof(struct gpu_log_activity), take_activity},
	[GPU_LOG_MEMORY] = {sizeof(struct gpu_log_memory), take_activity},
	[GPU_LOG_GRAPH_NODE] = {sizeof(struct gpu_log_graph_node), take_graph_node},
	[GPU_LOG_NVTX] = {sizeof(struct gpu_log_nvtx), take_nvtx},
	[GPU_LOG_RANK] = {sizeof(struct gpu_log_rank), take_rank},
	[GPU_LOG_NAMESPACE] = {sizeof(struct gpu_log_namespace), take_namespace},
	[GPU_LOG_ORIGIN] = {sizeof(struct gpu_log_origin), take_origin},
};

/* The recorder's own block says nothing of any process. */
static const struct record_type recorder_types[] = {
	[GPU_LOG_RECORDER] = {GPU_LOG_RECORDER_MIN_BYTES, take_recorder},
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

/* Where in the file, in the units of sidecar/activities.h */
static uint64_t place_of(const struct sidecar *sidecar, const void *record)
{
	return (uint64_t)((const unsigned char *)record - sidecar->file->data) / 8;
}

static int add_block(struct sidecar *sidecar, const struct sidecar_block *new)
{
	struct sidecar_block *place;

	if (new->first == new->end)
		return 0;
	place = TABLE_APPEND(sidecar->blocks, sidecar->nr_blocks);
	if (!place)
		return -ENOMEM;
	*place = *new;
	return 0;
}

int log_reader__take_block(struct log_reader *log, struct sidecar *sidecar,
			   const struct gpu_log_block *block)
{
	struct gpu_log_cursor cursor =
		gpu_log_cursor__new(block + 1, block->payload_bytes);
	struct sidecar_block activities = {.log = log ? log->log : 0};
	const struct gpu_log_record *record;
	size_t nr_before = sidecar->nr_activities;
	int err;

	while ((err = gpu_log_cursor__next(&cursor, &record)) > 0) {
		err = take_record(sidecar, log, record);
		if (err)
			break;
		if (sidecar->nr_activities == nr_before)
			continue;
		nr_before = sidecar->nr_activities;
		if (!activities.end)
			activities.first = place_of(sidecar, record);
		activities.end = place_of(sidecar, cursor.at);
	}
	return add_block(sidecar, &activities) ? -ENOMEM : err;
}

void log_reader__delete(struct log_reader *log)
{
	if (!log)
		return;
	free(log->strings);
	free(log);
}
