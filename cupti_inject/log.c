// SPDX-License-Identifier: GPL-2.0-or-later
#include "log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "block_file.h"
#include "intern.h"
#include "marker.h"
#include "process_facts.h"
#include "tally.h"

#define MESSAGE_BYTES 1024
/* Of strings, and of all else, that are known by an id */
#define MAX_KEY_BYTES (16u << 20)

struct log {
	uint64_t id; /* of now */
	pthread_mutex_t mutex; /* of everything below */
	struct block_file *file; /* NULL: closed */
	bool is_stuck; /* the last write failed: no other try before the next flush */
	int write_err; /* why; 0: it didn't */
	void (*flush_first)(void *ctx); /* before each block; NULL: nothing is */
	void *flush_ctx;
	uint64_t nr_kernels;
	uint64_t nr_records; /* of types that are counted */
	uint64_t nr_lost[GPU_LOG_LOSS_UNFINISHED + 1];
	struct intern strings;
	struct intern shapes;
	struct intern operations;
	struct intern codes; /* of Python */
	struct gpu_log_process process;
	struct gpu_log_namespace namespace;
	struct tally
		tally; /* its launches are counted by any thread, without the mutex */
	struct block *block; /* the recorder's, too, if the tally is */
	struct block *own_block; /* else this one; NULL: it wasn't needed */
};

/*
 * A forked child has its parent's block, of which it must keep its hands off: its own log is
 * another one.
 */
static bool log__is_others(const struct log *log)
{
	return !log->process.is_forked && fork_page__is_copy();
}

static void log__lock(struct log *log)
{
	pthread_mutex_lock(&log->mutex);
}

static void log__unlock(struct log *log)
{
	if (!log__is_others(log))
		block__settle(log->block);
	pthread_mutex_unlock(&log->mutex);
}

/* Write the block. 0 or -errno, after which it is kept. */
static int log__write_block(struct log *log)
{
	int err;

	if (log->is_stuck)
		return -EAGAIN;
	if (!log->file || log__is_others(log))
		return -EBADF;
	if (log->flush_first && log->block->header.payload_bytes)
		log->flush_first(log->flush_ctx);
	err = block_file__write(log->file, log->block);
	log->is_stuck = err;
	log->write_err = err;
	return err;
}

/*
 * Room for a record of SIZE bytes, with its header filled in and the rest 0.
 * NULL if there is none: the block is full and can't be written.
 */
static void *log__reserve(struct log *log, enum gpu_log_type type, size_t size)
{
	void *record;

	if (log__is_others(log))
		return NULL;
	record = block__reserve(log->block, type, size);
	if (!record && !log__write_block(log))
		record = block__reserve(log->block, type, size);
	return record;
}

static int log__append(struct log *log, enum gpu_log_type type, void *record, size_t size)
{
	struct gpu_log_record *to = log__reserve(log, type, size);

	if (!to)
		return -ENOSPC;
	memcpy(to + 1, (struct gpu_log_record *)record + 1, size - sizeof(*to));
	return 0;
}

/* There is no room for a record that counts. */
static void log__note_lost(struct log *log)
{
	if (log__is_others(log))
		return;
	tally__add_records(&log->tally, 1);
	log->nr_lost[log->is_stuck ? GPU_LOG_LOSS_WRITE : GPU_LOG_LOSS_NO_MEMORY]++;
}

static void log__note_written(struct log *log)
{
	tally__add_records(&log->tally, 1);
	log->nr_records++;
}

/* One that counts. 0 or -ENOSPC, after which it is a lost one. */
static int log__append_counted(struct log *log, enum gpu_log_type type, void *record,
			       size_t size)
{
	int err = log__append(log, type, record, size);

	if (err)
		log__note_lost(log);
	else
		log__note_written(log);
	return err;
}

/* Id of a string, which is written if it is new. 0 if there is no room. */
static uint32_t log__string(struct log *log, const char *text)
{
	size_t nr_bytes = strnlen(text, GPU_LOG_MAX_STRING);
	struct gpu_log_string *string;
	uint32_t id;

	id = intern__find(&log->strings, text, nr_bytes);
	if (id)
		return id;
	string = log__reserve(log, GPU_LOG_STRING, sizeof(*string) + nr_bytes + 1);
	if (!string)
		return 0;
	string->id = intern__next_id(&log->strings);
	string->nr_bytes = (uint32_t)nr_bytes;
	memcpy(string->text, text, nr_bytes);
	return intern__add(&log->strings, text, nr_bytes);
}

/* What kernels are told apart by: the shape, and the name by its content. */
static uint32_t log__shape(struct log *log, const char *name, struct gpu_log_shape *shape)
{
	const size_t skip = offsetof(struct gpu_log_shape, name);
	const unsigned char *key = (const unsigned char *)shape + skip;
	uint32_t id;

	shape->name = log__string(log, name);
	if (!shape->name)
		return 0;
	id = intern__find(&log->shapes, key, sizeof(*shape) - skip);
	if (id)
		return id;
	shape->shape = intern__next_id(&log->shapes);
	if (log__append(log, GPU_LOG_SHAPE, shape, sizeof(*shape)))
		return 0;
	return intern__add(&log->shapes, key, sizeof(*shape) - skip);
}

/* The same of what isn't a kernel. NAME: of a variable, or NULL */
static uint32_t log__operation(struct log *log, const char *name,
			       struct gpu_log_operation *operation)
{
	const size_t skip = offsetof(struct gpu_log_operation, kind);
	const unsigned char *key = (const unsigned char *)operation + skip;
	uint32_t id;

	operation->name = name ? log__string(log, name) : 0;
	if (name && !operation->name)
		return 0;
	id = intern__find(&log->operations, key, sizeof(*operation) - skip);
	if (id)
		return id;
	operation->operation = intern__next_id(&log->operations);
	if (log__append(log, GPU_LOG_OPERATION, operation, sizeof(*operation)))
		return 0;
	return intern__add(&log->operations, key, sizeof(*operation) - skip);
}

/* What was written is not to be named by its id any more, but written anew. */
static void log__forget(struct log *log)
{
	intern__forget(&log->strings);
	intern__forget(&log->shapes);
	intern__forget(&log->operations);
	intern__forget(&log->codes);
}

/*
 * Programs number their NVTX ranges ("step 17"), and nodes of graphs that are made again
 * and again are other shapes each time, without end: what they are known by is forgotten
 * now and then, and written again when it is met again.
 */
static void log__bound_keys(struct log *log)
{
	struct gpu_log_forget forget;

	if (log->strings.nr_key_bytes + log->shapes.nr_key_bytes +
		    log->operations.nr_key_bytes + log->codes.nr_key_bytes <
	    MAX_KEY_BYTES)
		return;
	log__forget(log);
	forget = (struct gpu_log_forget){
		.strings = intern__next_id(&log->strings),
		.shapes = intern__next_id(&log->shapes),
		.operations = intern__next_id(&log->operations),
	};
	log__append(log, GPU_LOG_FORGET, &forget, sizeof(forget));
}

/* Loss records for what was counted. */
static void log__tell_losses(struct log *log)
{
	for (uint32_t kind = 1; kind <= GPU_LOG_LOSS_UNFINISHED; kind++) {
		struct gpu_log_loss loss = {.kind = kind,
					    .nr_records = log->nr_lost[kind]};

		if (!loss.nr_records)
			continue;
		if (log__append(log, GPU_LOG_LOSS, &loss, sizeof(loss)))
			return;
		log->nr_lost[kind] = 0;
	}
}

static void log__flush_locked(struct log *log)
{
	log->is_stuck = false;
	log__tell_losses(log);
	log__write_block(log);
}

/* Random, unique, never 0 */
static uint64_t make_id(void)
{
	struct timespec time;
	uint64_t id;

	do {
		if (getrandom(&id, sizeof(id), 0) >= 0)
			continue;
		clock_gettime(CLOCK_REALTIME, &time);
		id = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
		id ^= (uint64_t)getpid() << 40;
	} while (!id);
	return id;
}

/* Where records gather, empty. 0 or -ENOMEM */
static int log__begin_block(struct log *log, uint64_t session)
{
	struct log_memory *memory = log__shared(log);

	if (memory) {
		block_file__note_in(log->file, &memory->files[LOG_MEMORY_LOG]);
	} else if (!log->own_block) {
		log->own_block = calloc(1, sizeof(*log->own_block));
		if (!log->own_block)
			return -ENOMEM;
	}
	log->block = memory ? &memory->block : log->own_block;
	block__init(log->block, session, log->id);
	block_file__begin(log->file, log->block);
	return 0;
}

/* A log that is closed: a file, and who this is. */
static int log__begin(struct log *log, const char *spool, uint64_t session,
		      bool is_forked)
{
	const uint64_t log_id = make_id();
	int err;

	err = block_file__open(spool, log_id, BLOCK_FILE_LOG, &log->file);
	if (err)
		return err;
	log->id = log_id;
	log->process = process_facts__process(is_forked);
	log->namespace = process_facts__namespace();
	tally__open(&log->tally, log_id);
	err = log__begin_block(log, session);
	if (err) {
		block_file__close(log->file);
		log->file = NULL;
		return err;
	}
	log__append(log, GPU_LOG_PROCESS, &log->process, sizeof(log->process));
	log__append(log, GPU_LOG_NAMESPACE, &log->namespace, sizeof(log->namespace));
	/* Now, so that a process that crashes at once is known by name. */
	log__write_block(log);
	return 0;
}

int log__open(const char *spool, uint64_t session, bool is_forked, struct log **ret)
{
	struct log *log;
	int err;

	log = calloc(1, sizeof(*log));
	if (!log)
		return -ENOMEM;
	err = log__begin(log, spool, session, is_forked);
	if (err) {
		free(log);
		return err;
	}
	pthread_mutex_init(&log->mutex, NULL);
	*ret = log;
	return 0;
}

int log__reopen(struct log *log, const char *spool, uint64_t session)
{
	int err;

	log__lock(log);
	log->is_stuck = false;
	log->nr_kernels = 0;
	log->nr_records = 0;
	memset(log->nr_lost, 0, sizeof(log->nr_lost));
	intern__clear(&log->strings);
	intern__clear(&log->shapes);
	intern__clear(&log->operations);
	intern__clear(&log->codes);
	err = log__begin(log, spool, session, false);
	log__unlock(log);
	return err;
}

void log__close(struct log *log)
{
	log__lock(log);
	block_file__close(log->file);
	log->file = NULL;
	log__unlock(log);
}

void log__write_behind(struct log *log, void (*flush)(void *ctx), void *ctx)
{
	log__lock(log);
	log->flush_first = flush;
	log->flush_ctx = ctx;
	log__unlock(log);
}

uint64_t log__id(const struct log *log)
{
	return log->id;
}

struct tally *log__tally(struct log *log)
{
	return &log->tally;
}

struct log_memory *log__shared(struct log *log)
{
	return log->process.is_forked || !log->tally.is_shared ? NULL : log->tally.memory;
}

void log__get_namespace(struct log *log, struct gpu_log_namespace *ret)
{
	log__lock(log);
	*ret = log->namespace;
	log__unlock(log);
}

void log__get_process(struct log *log, struct gpu_log_process *ret)
{
	log__lock(log);
	*ret = log->process;
	log__unlock(log);
}

void log__set_versions(struct log *log, uint32_t cupti, uint32_t driver)
{
	log__lock(log);
	log->process.cupti_version = cupti;
	log->process.driver_version = driver;
	log__append(log, GPU_LOG_PROCESS, &log->process, sizeof(log->process));
	log__unlock(log);
}

void log__kernel(struct log *log, const char *name, struct gpu_log_shape *shape,
		 uint64_t correlation_id, uint64_t start_ns, uint64_t end_ns)
{
	struct gpu_log_kernel kernel = {
		.correlation_id = correlation_id,
		.start_ns = start_ns,
		.end_ns = end_ns,
	};

	log__lock(log);
	log__bound_keys(log);
	kernel.shape = log__shape(log, name, shape);
	if (!kernel.shape)
		log__note_lost(log);
	else if (!log__append_counted(log, GPU_LOG_KERNEL, &kernel, sizeof(kernel)))
		log->nr_kernels++;
	log__unlock(log);
}

void log__activity(struct log *log, struct gpu_log_operation *operation,
		   struct gpu_log_activity *activity)
{
	log__lock(log);
	log__bound_keys(log);
	activity->operation = log__operation(log, NULL, operation);
	if (!activity->operation)
		log__note_lost(log);
	else
		log__append_counted(log, GPU_LOG_ACTIVITY, activity, sizeof(*activity));
	log__unlock(log);
}

void log__memory(struct log *log, const char *name, struct gpu_log_operation *operation,
		 struct gpu_log_memory *memory)
{
	log__lock(log);
	log__bound_keys(log);
	memory->operation = log__operation(log, name, operation);
	if (!memory->operation)
		log__note_lost(log);
	else
		log__append_counted(log, GPU_LOG_MEMORY, memory, sizeof(*memory));
	log__unlock(log);
}

void log__events(struct log *log, uint32_t events, uint32_t kinds)
{
	struct gpu_log_events record = {.events = events, .kinds = kinds};

	log__lock(log);
	log__append(log, GPU_LOG_EVENTS, &record, sizeof(record));
	log__unlock(log);
}

int log__api(struct log *log, uint32_t api, const char *name, uint32_t kinds)
{
	struct gpu_log_api record = {.api = api, .kinds = kinds};
	int err = -ENOSPC;

	log__lock(log);
	record.name = log__string(log, name);
	if (record.name)
		err = log__append(log, GPU_LOG_API, &record, sizeof(record));
	log__unlock(log);
	return err;
}

uint32_t log__python_code(struct log *log, const char *name, const char *file,
			  uint32_t first_line)
{
	struct gpu_log_python_code record = {.first_line = first_line};
	const size_t skip = offsetof(struct gpu_log_python_code, name);
	const unsigned char *key = (const unsigned char *)&record + skip;

	log__lock(log);
	record.name = log__string(log, name);
	record.file = log__string(log, file);
	if (!record.name || !record.file)
		goto out;
	record.code = intern__find(&log->codes, key, sizeof(record) - skip);
	if (record.code)
		goto out;
	record.code = intern__next_id(&log->codes);
	if (log__append(log, GPU_LOG_PYTHON_CODE, &record, sizeof(record)))
		record.code = 0;
	else
		record.code = intern__add(&log->codes, key, sizeof(record) - skip);
out:
	log__unlock(log);
	return record.name && record.file ? record.code : 0;
}

void log__api_call(struct log *log, struct gpu_log_api_call *call)
{
	log__lock(log);
	log__append_counted(log, GPU_LOG_API_CALL, call, sizeof(*call));
	log__unlock(log);
}

void log__device(struct log *log, const char *name, struct gpu_log_device *device)
{
	log__lock(log);
	device->name = log__string(log, name);
	log__append(log, GPU_LOG_DEVICE, device, sizeof(*device));
	log__unlock(log);
}

void log__context(struct log *log, struct gpu_log_context *context)
{
	log__lock(log);
	log__append(log, GPU_LOG_CONTEXT, context, sizeof(*context));
	log__unlock(log);
}

/* 0 for no string, and if there is no room */
static uint32_t log__string_or_none(struct log *log, const char *text)
{
	return text ? log__string(log, text) : 0;
}

void log__nvtx(struct log *log, const char *domain, const char *name,
	       struct gpu_log_nvtx *nvtx)
{
	log__lock(log);
	log__bound_keys(log);
	nvtx->domain = log__string_or_none(log, domain);
	nvtx->name = log__string_or_none(log, name);
	log__append_counted(log, GPU_LOG_NVTX, nvtx, sizeof(*nvtx));
	log__unlock(log);
}

void log__rank(struct log *log, const char *source, struct gpu_log_rank *rank)
{
	log__lock(log);
	rank->source = log__string(log, source);
	log__append(log, GPU_LOG_RANK, rank, sizeof(*rank));
	log__unlock(log);
}

void log__graph_node(struct log *log, struct gpu_log_graph_node *node)
{
	log__lock(log);
	log__append(log, GPU_LOG_GRAPH_NODE, node, sizeof(*node));
	log__unlock(log);
}

void log__count_lost(struct log *log, enum gpu_log_loss_kind kind, uint64_t nr)
{
	log__lock(log);
	log->nr_lost[kind] += nr;
	/* An unfinished one has a record, too. */
	if (kind != GPU_LOG_LOSS_UNFINISHED)
		tally__add_records(&log->tally, nr);
	log__unlock(log);
}

void log__message(struct log *log, enum gpu_log_severity severity, const char *fmt, ...)
{
	char text[MESSAGE_BYTES];
	struct gpu_log_message *message;
	size_t nr_bytes;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	nr_bytes = strlen(text);

	log__lock(log);
	/* As it is flushed anyway, what is full is to be written first, whatever failed before. */
	log->is_stuck = false;
	message = log__reserve(log, GPU_LOG_MESSAGE, sizeof(*message) + nr_bytes + 1);
	if (message) {
		message->severity = severity;
		message->nr_bytes = (uint32_t)nr_bytes;
		memcpy(message->text, text, nr_bytes);
	}
	log__flush_locked(log);
	log__unlock(log);
}

int log__jit(struct log *log, const struct gpu_log_jit *piece, const void *deflated)
{
	const size_t skip = sizeof(piece->rec);
	struct gpu_log_jit *record;

	log__lock(log);
	record = log__reserve(log, GPU_LOG_JIT,
			      sizeof(*record) + piece->nr_deflated_bytes);
	if (record) {
		memcpy((char *)record + skip, (const char *)piece + skip,
		       sizeof(*record) - skip);
		memcpy(record->deflated, deflated, piece->nr_deflated_bytes);
	}
	log__unlock(log);
	return record ? 0 : -ENOSPC;
}

void log__flush(struct log *log)
{
	log__lock(log);
	log__flush_locked(log);
	log__unlock(log);
}

bool log__is_abandoned(struct log *log)
{
	bool is_abandoned;

	log__lock(log);
	is_abandoned = log->file && block_file__is_abandoned(log->file);
	log__unlock(log);
	return is_abandoned;
}

/* The block can't be written: what is in it becomes a loss. */
static void log__drop_block(struct log *log)
{
	const struct gpu_log_record *record = NULL;

	while ((record = block__next(log->block, record))) {
		const struct gpu_log_loss *loss = (const void *)record;

		if (record->type == GPU_LOG_LOSS)
			log->nr_lost[loss->kind] += loss->nr_records;
		log->nr_lost[GPU_LOG_LOSS_WRITE] += gpu_log_is_counted(record->type);
		log->nr_kernels -= record->type == GPU_LOG_KERNEL;
		log->nr_records -= gpu_log_is_counted(record->type);
	}
	block__empty(log->block);
	log__forget(log);
}

/* 0, or -ENOSPC if there is no room for it */
static int log__append_end(struct log *log, uint64_t nr_launches)
{
	struct gpu_log_end end = {.nr_launches = nr_launches,
				  .nr_kernels = log->nr_kernels,
				  .nr_records = log->nr_records};
	int err;

	log->is_stuck = false;
	log__tell_losses(log);
	err = log__append(log, GPU_LOG_END, &end, sizeof(end));
	log__flush_locked(log);
	return err;
}

void log__end(struct log *log, uint64_t nr_launches)
{
	int err;

	log__lock(log);
	err = log__append_end(log, nr_launches);
	/* A full disk mostly has the few bytes that tell of it: in the file's last page. */
	if (log->block->header.payload_bytes &&
	    (err || !log__shared(log) || block_file__is_full(log->write_err))) {
		log__drop_block(log);
		log__append_end(log, nr_launches);
	}
	log__unlock(log);
}
