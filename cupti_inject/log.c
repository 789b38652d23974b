// SPDX-License-Identifier: GPL-2.0-or-later
#include "log.h"

#include <errno.h>
#include <fcntl.h>
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

#define MESSAGE_BYTES 1024

struct log {
	pthread_mutex_t mutex; /* of everything below */
	struct block_file *file; /* NULL: closed */
	bool is_stuck; /* the last write failed: no other try before the next flush */
	uint64_t nr_kernels;
	uint64_t nr_lost[GPU_LOG_LOSS_UNFINISHED + 1];
	struct intern strings;
	struct intern shapes;
	struct intern codes; /* of Python */
	struct gpu_log_process process;
	struct block block;
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Write the block. 0 or -errno, after which it is kept. */
static int log__write_block(struct log *log)
{
	int err;

	if (log->is_stuck)
		return -EAGAIN;
	if (!log->file)
		return -EBADF;
	err = block_file__write(log->file, &log->block);
	log->is_stuck = err;
	return err;
}

/*
 * Room for a record of SIZE bytes, with its header filled in and the rest 0.
 * NULL if there is none: the block is full and can't be written.
 */
static void *log__reserve(struct log *log, enum gpu_log_type type, size_t size)
{
	void *record = block__reserve(&log->block, type, size);

	if (!record && !log__write_block(log))
		record = block__reserve(&log->block, type, size);
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

/* The process's name, which is its main thread's; "" if /proc doesn't say. */
static void read_comm(char *comm, size_t size)
{
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return;
	len = read(fd, comm, size - 1);
	comm[len > 0 ? len : 0] = 0;
	comm[strcspn(comm, "\n")] = 0;
	close(fd);
}

/* Random, unique, never 0 */
static uint64_t make_id(void)
{
	uint64_t id;

	do {
		if (getrandom(&id, sizeof(id), 0) < 0)
			id = now_ns(CLOCK_REALTIME) ^ (uint64_t)getpid() << 40;
	} while (!id);
	return id;
}

/* A log that is closed: a file, and who this is. */
static int log__begin(struct log *log, const char *spool, uint64_t session,
		      bool is_forked)
{
	const uint64_t log_id = make_id();
	int err;

	err = block_file__open(spool, log_id, ".gpulog", &log->file);
	if (err)
		return err;
	block__init(&log->block, session, log_id);
	log->process = (struct gpu_log_process){
		.pid = (uint32_t)getpid(),
		.ppid = (uint32_t)getppid(),
		.is_forked = is_forked,
		.start_ns = now_ns(CLOCK_MONOTONIC),
	};
	read_comm(log->process.comm, sizeof(log->process.comm));
	log__append(log, GPU_LOG_PROCESS, &log->process, sizeof(log->process));
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

	pthread_mutex_lock(&log->mutex);
	log->is_stuck = false;
	log->nr_kernels = 0;
	memset(log->nr_lost, 0, sizeof(log->nr_lost));
	intern__clear(&log->strings);
	intern__clear(&log->shapes);
	err = log__begin(log, spool, session, false);
	pthread_mutex_unlock(&log->mutex);
	return err;
}

void log__close(struct log *log)
{
	pthread_mutex_lock(&log->mutex);
	block_file__close(log->file);
	log->file = NULL;
	pthread_mutex_unlock(&log->mutex);
}

uint64_t log__id(const struct log *log)
{
	return log->block.header.log_id;
}

void log__get_process(struct log *log, struct gpu_log_process *ret)
{
	pthread_mutex_lock(&log->mutex);
	*ret = log->process;
	pthread_mutex_unlock(&log->mutex);
}

void log__set_versions(struct log *log, uint32_t cupti, uint32_t driver)
{
	pthread_mutex_lock(&log->mutex);
	log->process.cupti_version = cupti;
	log->process.driver_version = driver;
	log__append(log, GPU_LOG_PROCESS, &log->process, sizeof(log->process));
	pthread_mutex_unlock(&log->mutex);
}

void log__kernel(struct log *log, const char *name, struct gpu_log_shape *shape,
		 uint64_t correlation_id, uint64_t start_ns, uint64_t end_ns)
{
	struct gpu_log_kernel kernel = {
		.correlation_id = correlation_id,
		.start_ns = start_ns,
		.end_ns = end_ns,
	};

	pthread_mutex_lock(&log->mutex);
	kernel.shape = log__shape(log, name, shape);
	if (kernel.shape && !log__append(log, GPU_LOG_KERNEL, &kernel, sizeof(kernel)))
		log->nr_kernels++;
	else
		log->nr_lost[log->is_stuck ? GPU_LOG_LOSS_WRITE
					   : GPU_LOG_LOSS_NO_MEMORY]++;
	pthread_mutex_unlock(&log->mutex);
}

void log__api(struct log *log, uint32_t api, const char *name)
{
	struct gpu_log_api record = {.api = api};

	pthread_mutex_lock(&log->mutex);
	record.name = log__string(log, name);
	if (record.name)
		log__append(log, GPU_LOG_API, &record, sizeof(record));
	pthread_mutex_unlock(&log->mutex);
}

uint32_t log__python_code(struct log *log, const char *name, const char *file,
			  uint32_t first_line)
{
	struct gpu_log_python_code record = {.first_line = first_line};
	const size_t skip = offsetof(struct gpu_log_python_code, name);
	const unsigned char *key = (const unsigned char *)&record + skip;

	pthread_mutex_lock(&log->mutex);
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
	pthread_mutex_unlock(&log->mutex);
	return record.name && record.file ? record.code : 0;
}

void log__api_call(struct log *log, struct gpu_log_api_call *call)
{
	pthread_mutex_lock(&log->mutex);
	log__append(log, GPU_LOG_API_CALL, call, sizeof(*call));
	pthread_mutex_unlock(&log->mutex);
}

void log__device(struct log *log, const char *name, struct gpu_log_device *device)
{
	pthread_mutex_lock(&log->mutex);
	device->name = log__string(log, name);
	log__append(log, GPU_LOG_DEVICE, device, sizeof(*device));
	pthread_mutex_unlock(&log->mutex);
}

void log__context(struct log *log, struct gpu_log_context *context)
{
	pthread_mutex_lock(&log->mutex);
	log__append(log, GPU_LOG_CONTEXT, context, sizeof(*context));
	pthread_mutex_unlock(&log->mutex);
}

void log__graph_node(struct log *log, struct gpu_log_graph_node *node)
{
	pthread_mutex_lock(&log->mutex);
	log__append(log, GPU_LOG_GRAPH_NODE, node, sizeof(*node));
	pthread_mutex_unlock(&log->mutex);
}

void log__count_lost(struct log *log, enum gpu_log_loss_kind kind, uint64_t nr)
{
	pthread_mutex_lock(&log->mutex);
	log->nr_lost[kind] += nr;
	pthread_mutex_unlock(&log->mutex);
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

	pthread_mutex_lock(&log->mutex);
	message = log__reserve(log, GPU_LOG_MESSAGE, sizeof(*message) + nr_bytes + 1);
	if (message) {
		message->severity = severity;
		message->nr_bytes = (uint32_t)nr_bytes;
		memcpy(message->text, text, nr_bytes);
	}
	log__flush_locked(log);
	pthread_mutex_unlock(&log->mutex);
}

int log__jit(struct log *log, const struct gpu_log_jit *piece, const void *deflated)
{
	const size_t skip = sizeof(piece->rec);
	struct gpu_log_jit *record;

	pthread_mutex_lock(&log->mutex);
	record = log__reserve(log, GPU_LOG_JIT,
			      sizeof(*record) + piece->nr_deflated_bytes);
	if (record) {
		memcpy((char *)record + skip, (const char *)piece + skip,
		       sizeof(*record) - skip);
		memcpy(record->deflated, deflated, piece->nr_deflated_bytes);
	}
	pthread_mutex_unlock(&log->mutex);
	return record ? 0 : -ENOSPC;
}

void log__flush(struct log *log)
{
	pthread_mutex_lock(&log->mutex);
	log__flush_locked(log);
	pthread_mutex_unlock(&log->mutex);
}

bool log__is_abandoned(struct log *log)
{
	bool is_abandoned;

	pthread_mutex_lock(&log->mutex);
	is_abandoned = log->file && block_file__is_abandoned(log->file);
	pthread_mutex_unlock(&log->mutex);
	return is_abandoned;
}

/* The block can't be written: what is in it becomes a loss. */
static void log__drop_block(struct log *log)
{
	const struct gpu_log_record *record = NULL;

	while ((record = block__next(&log->block, record))) {
		const struct gpu_log_loss *loss = (const void *)record;

		if (record->type == GPU_LOG_LOSS)
			log->nr_lost[loss->kind] += loss->nr_records;
		if (record->type != GPU_LOG_KERNEL)
			continue;
		log->nr_lost[GPU_LOG_LOSS_WRITE]++;
		log->nr_kernels--;
	}
	log->block.header.payload_bytes = 0;
	intern__forget(&log->strings);
	intern__forget(&log->shapes);
	intern__forget(&log->codes);
}

static void log__append_end(struct log *log, uint64_t nr_launches)
{
	struct gpu_log_end end = {.nr_launches = nr_launches,
				  .nr_kernels = log->nr_kernels};

	log->is_stuck = false;
	log__tell_losses(log);
	log__append(log, GPU_LOG_END, &end, sizeof(end));
	log__flush_locked(log);
}

void log__end(struct log *log, uint64_t nr_launches)
{
	pthread_mutex_lock(&log->mutex);
	log__append_end(log, nr_launches);
	/* A full disk mostly has the few bytes that tell of it: in the file's last page. */
	if (log->block.header.payload_bytes) {
		log__drop_block(log);
		log__append_end(log, nr_launches);
	}
	pthread_mutex_unlock(&log->mutex);
}
