// SPDX-License-Identifier: GPL-2.0-or-later
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "intern.h"

/* A payload that the reader must take whole, and a tenth of a second of kernels */
#define PAYLOAD_BYTES (256u << 10)
#define MESSAGE_BYTES 1024
/*
 * Ours stays out of the low numbers: 0 to 2 the program may have closed and print
 * to all the same, and the next ones it may expect for files of its own.
 */
#define LOWEST_FD 100

struct log {
	pthread_mutex_t mutex; /* of everything below */
	char path[PATH_MAX + 64];
	int fd;
	dev_t dev; /* by these the file is known ... */
	ino_t ino;
	off_t file_bytes; /* of whole blocks in it */
	bool is_abandoned; /* the recorder has removed the file */
	bool is_stuck; /* the last write failed: no other try before the next flush */
	uint32_t payload_bytes;
	uint64_t nr_kernels;
	uint64_t nr_lost[GPU_LOG_LOSS_UNFINISHED + 1];
	struct intern strings;
	struct intern shapes;
	struct gpu_log_process process;
	/* What is written at once */
	struct gpu_log_block block;
	unsigned char payload[PAYLOAD_BYTES];
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/*
 * write(2) past RLIMIT_FSIZE raises SIGXFSZ, which would kill the target: it is
 * blocked around the write, and taken back if it was ours.
 */
static ssize_t write_quietly(int fd, const void *data, size_t bytes, off_t offset)
{
	sigset_t xfsz, before, pending;
	bool was_pending;
	ssize_t ret;
	int err;

	sigemptyset(&xfsz);
	sigaddset(&xfsz, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &xfsz, &before);
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGXFSZ);

	do {
		ret = pwrite(fd, data, bytes, offset);
	} while (ret < 0 && errno == EINTR);
	err = errno;

	if (ret < 0 && err == EFBIG && !was_pending) {
		const struct timespec at_once = {};

		sigtimedwait(&xfsz, NULL, &at_once);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = err;
	return ret;
}

static int open_file(const char *path, int flags)
{
	int low, fd, err;

	low = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
	if (low < 0)
		return -errno;
	fd = fcntl(low, F_DUPFD_CLOEXEC, LOWEST_FD);
	if (fd < 0) /* the process may have fewer */
		fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (fd < 0 && low > STDERR_FILENO)
		return low;
	err = fd < 0 ? -errno : 0;
	close(low);
	return err ? err : fd;
}

static bool is_file(const struct log *log, int fd, struct stat *st)
{
	return !fstat(fd, st) && st->st_dev == log->dev && st->st_ino == log->ino;
}

/*
 * A program may close every descriptor that it doesn't know, as daemons do, and
 * open a file of its own by the number of ours: that one isn't ours to write to.
 * Return: 0 or -errno; -ENOENT if the log is in no folder any more.
 */
static int log__find_file(struct log *log)
{
	struct stat st;

	if (!is_file(log, log->fd, &st)) {
		int fd = open_file(log->path, 0);

		if (fd < 0)
			return fd;
		if (!is_file(log, fd, &st)) {
			close(fd);
			return -ESTALE;
		}
		log->fd = fd;
	}
	return st.st_nlink ? 0 : -ENOENT;
}

/* Write the block, whole or not at all. 0 or -errno, after which it is kept. */
static int log__write_block(struct log *log)
{
	const size_t bytes = sizeof(log->block) + log->payload_bytes;
	const unsigned char *start = (const unsigned char *)&log->block;
	const size_t skip = offsetof(struct gpu_log_block, payload_bytes);
	ssize_t ret;
	int err;

	if (!log->payload_bytes)
		return 0;
	if (log->is_stuck)
		return -EAGAIN;
	log->block.payload_bytes = log->payload_bytes;
	log->block.crc32 = (uint32_t)crc32(0, start + skip, (uInt)(bytes - skip));

	err = log__find_file(log);
	log->is_abandoned = err == -ENOENT;
	if (err)
		goto out;
	ret = write_quietly(log->fd, &log->block, bytes, log->file_bytes);
	if (ret == (ssize_t)bytes) {
		log->file_bytes += ret;
		log->payload_bytes = 0;
		return 0;
	}
	err = ret < 0 ? -errno : -ENOSPC;
	/* The next try overwrites half a block; if none comes, it must not be there. */
	if (ret > 0 && ftruncate(log->fd, log->file_bytes))
		err = -errno;
out:
	log->is_stuck = true;
	return err;
}

/*
 * Room for a record of SIZE bytes, with its header filled in and the rest 0.
 * NULL if there is none: the block is full and can't be written.
 */
static void *log__reserve(struct log *log, enum gpu_log_type type, size_t size)
{
	struct gpu_log_record *record;

	size = (size + 7) & ~(size_t)7;
	if (log->payload_bytes + size > PAYLOAD_BYTES && log__write_block(log))
		return NULL;
	record = (struct gpu_log_record *)(log->payload + log->payload_bytes);
	memset(record, 0, size);
	record->type = (uint16_t)type;
	record->size = (uint16_t)size;
	log->payload_bytes += (uint32_t)size;
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

int log__open(const char *spool, uint64_t session, bool is_forked, struct log **ret)
{
	struct stat st;
	struct log *log;
	int err;

	log = calloc(1, sizeof(*log));
	if (!log)
		return -ENOMEM;
	pthread_mutex_init(&log->mutex, NULL);
	log->block.magic = GPU_LOG_MAGIC;
	log->block.version = GPU_LOG_VERSION;
	log->block.session = session;
	do {
		if (getrandom(&log->block.log_id, sizeof(log->block.log_id), 0) < 0)
			log->block.log_id = now_ns(CLOCK_REALTIME) ^ (uint64_t)getpid()
									     << 40;
	} while (!log->block.log_id);

	snprintf(log->path, sizeof(log->path), "%s/%d-%016llx.gpulog", spool,
		 (int)getpid(), (unsigned long long)log->block.log_id);
	log->fd = open_file(log->path, O_CREAT | O_EXCL);
	if (log->fd < 0 || fstat(log->fd, &st)) {
		err = log->fd < 0 ? log->fd : -errno;
		goto out;
	}
	log->dev = st.st_dev;
	log->ino = st.st_ino;

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
	*ret = log;
	return 0;
out:
	if (log->fd >= 0)
		close(log->fd);
	free(log);
	return err;
}

uint64_t log__id(const struct log *log)
{
	return log->block.log_id;
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
	is_abandoned = log->is_abandoned;
	pthread_mutex_unlock(&log->mutex);
	return is_abandoned;
}

void log__end(struct log *log, uint64_t nr_launches)
{
	struct gpu_log_end end = {.nr_launches = nr_launches};

	pthread_mutex_lock(&log->mutex);
	end.nr_kernels = log->nr_kernels;
	log->is_stuck = false;
	log__tell_losses(log);
	log__append(log, GPU_LOG_END, &end, sizeof(end));
	log__flush_locked(log);
	pthread_mutex_unlock(&log->mutex);
}
