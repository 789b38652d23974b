/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes GPU logs (cupti_inject/gpu_log.h) for tests, also broken ones.
 *
 *	struct log_build build = {.session = 7, .log_id = 1};
 *
 *	log_build__process(&build, 4711, "app");
 *	log_build__shape(&build, 1, "_Z6vecAddPf");
 *	log_build__kernel(&build, 1, 100, 5000, 6000);
 *	log_build__end_block(&build);
 *	log_build__save(&build, path);
 *	log_build__release(&build);
 */
#ifndef PERF_GPU_TESTS_GPU_LOG_BUILD_H
#define PERF_GPU_TESTS_GPU_LOG_BUILD_H

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu_log.h"
#include "util/gpu_log_cursor.h"

struct log_build {
	uint64_t session, log_id; /* of the block that is ended next */
	unsigned char *data;
	size_t bytes, capacity;
	size_t block; /* where the block at hand begins */
	uint32_t nr_strings; /* set to 0 for another log */
};

/* @bytes more, all 0, behind the header of the block at hand */
__attribute__((unused)) static void *log_build__room(struct log_build *build,
						     size_t bytes)
{
	size_t old_bytes = build->bytes;

	if (build->bytes == build->block)
		build->bytes += sizeof(struct gpu_log_block);
	build->bytes += bytes;
	if (build->bytes > build->capacity) {
		build->capacity = 2 * build->bytes;
		build->data = realloc(build->data, build->capacity);
		if (!build->data)
			abort();
	}
	memset(build->data + old_bytes, 0, build->bytes - old_bytes);
	return build->data + build->bytes - bytes;
}

/* @record: @bytes of it, whose rec is filled in; @text follows if not NULL */
__attribute__((unused)) static void log_build__add(struct log_build *build,
						   enum gpu_log_type type,
						   const void *record, size_t bytes,
						   const char *text)
{
	size_t text_bytes = text ? strlen(text) + 1 : 0;
	size_t all_bytes = (bytes + text_bytes + 7) & ~(size_t)7;
	struct gpu_log_record rec = {.type = (uint16_t)type, .size = (uint16_t)all_bytes};
	unsigned char *to = log_build__room(build, all_bytes);

	memcpy(to, record, bytes);
	memcpy(to, &rec, sizeof(rec));
	if (text)
		memcpy(to + bytes, text, text_bytes);
}

#define LOG_BUILD_ADD(build, type, record) \
	log_build__add((build), (type), &(record), sizeof(record), NULL)

__attribute__((unused)) static void log_build__process(struct log_build *build,
						       uint32_t pid, const char *comm)
{
	struct gpu_log_process process = {.pid = pid, .ppid = 1, .start_ns = 1000};

	strncpy(process.comm, comm, sizeof(process.comm) - 1);
	LOG_BUILD_ADD(build, GPU_LOG_PROCESS, process);
}

/* Return: the string's id. */
__attribute__((unused)) static uint32_t log_build__string(struct log_build *build,
							  const char *text)
{
	struct gpu_log_string string = {.id = ++build->nr_strings,
					.nr_bytes = (uint32_t)strlen(text)};

	log_build__add(build, GPU_LOG_STRING, &string,
		       offsetof(struct gpu_log_string, text), text);
	return string.id;
}

__attribute__((unused)) static void log_build__shape(struct log_build *build, uint32_t id,
						     const char *name)
{
	struct gpu_log_shape shape = {.shape = id, .stream = 7, .grid = {2, 3, 4}};

	shape.name = log_build__string(build, name);
	LOG_BUILD_ADD(build, GPU_LOG_SHAPE, shape);
}

__attribute__((unused)) static void log_build__api(struct log_build *build, uint32_t api,
						   const char *name)
{
	struct gpu_log_api record = {.api = api};

	record.name = log_build__string(build, name);
	LOG_BUILD_ADD(build, GPU_LOG_API, record);
}

__attribute__((unused)) static void log_build__kernel(struct log_build *build,
						      uint32_t shape,
						      uint64_t correlation_id,
						      uint64_t start_ns, uint64_t end_ns)
{
	struct gpu_log_kernel kernel = {.shape = shape,
					.correlation_id = correlation_id,
					.start_ns = start_ns,
					.end_ns = end_ns};

	LOG_BUILD_ADD(build, GPU_LOG_KERNEL, kernel);
}

__attribute__((unused)) static void log_build__end_block_of(struct log_build *build,
							    uint32_t version)
{
	struct gpu_log_block block = {
		.magic = GPU_LOG_MAGIC,
		.version = version,
		.log_id = build->log_id,
		.session = build->session,
	};
	unsigned char *start;

	log_build__room(build, 0);
	start = build->data + build->block;
	block.payload_bytes = (uint32_t)(build->bytes - build->block - sizeof(block));
	memcpy(start, &block, sizeof(block));
	block.crc32 = gpu_log_block__crc32((const void *)start);
	memcpy(start, &block, sizeof(block));
	build->block = build->bytes;
}

__attribute__((unused)) static void log_build__end_block(struct log_build *build)
{
	log_build__end_block_of(build, GPU_LOG_VERSION);
}

/* A stack for log_build__launch() */
__attribute__((unused)) static void log_build__stack(struct log_build *build, uint32_t id,
						     uint32_t tid, uint32_t api,
						     const uint64_t *frames,
						     uint32_t nr_frames)
{
	struct {
		struct gpu_log_stack stack;
		uint64_t frames[256];
	} record = {
		.stack = {.stack = id, .tid = tid, .api = api, .nr_frames = nr_frames}};

	memcpy(record.frames, frames, nr_frames * sizeof(*frames));
	log_build__add(build, GPU_LOG_STACK, &record,
		       sizeof(record.stack) + nr_frames * sizeof(*frames), NULL);
}

__attribute__((unused)) static void log_build__launch(struct log_build *build,
						      uint32_t stack,
						      uint64_t correlation_id,
						      int32_t offset_ns)
{
	struct gpu_log_launch launch = {.stack = stack,
					.correlation_id = correlation_id,
					.offset_ns = offset_ns,
					.cpu = 1};

	LOG_BUILD_ADD(build, GPU_LOG_LAUNCH, launch);
}

__attribute__((unused)) static void log_build__map(struct log_build *build,
						   uint64_t time_ns, uint64_t start,
						   const char *path)
{
	struct gpu_log_map map = {.prot = 5,
				  .time_ns = time_ns,
				  .start = start,
				  .bytes = 0x1000,
				  .nr_bytes = (uint32_t)strlen(path)};

	log_build__add(build, GPU_LOG_MAP, &map, offsetof(struct gpu_log_map, path),
		       path);
}

__attribute__((unused)) static void log_build__thread(struct log_build *build,
						      uint64_t time_ns, uint32_t tid,
						      const char *comm)
{
	struct gpu_log_thread thread = {.tid = tid, .time_ns = time_ns};

	/* A name of 16 letters and more doesn't end, as it should. */
	memcpy(thread.comm, comm, strnlen(comm, sizeof(thread.comm)));
	LOG_BUILD_ADD(build, GPU_LOG_THREAD, thread);
}

/* To @path, whatever is there; 0 or -1. */
__attribute__((unused)) static int log_build__save(const struct log_build *build,
						   const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t written;

	if (fd < 0)
		return -1;
	written = write(fd, build->data, build->bytes);
	close(fd);
	return written == (ssize_t)build->bytes ? 0 : -1;
}

__attribute__((unused)) static void log_build__release(struct log_build *build)
{
	free(build->data);
	*build = (struct log_build){0};
}

#endif
