// SPDX-License-Identifier: GPL-2.0-or-later
#include "jit_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* A third of level 6's time, and a fifth more in size */
#define DEFLATE_LEVEL 1
/* deflateBound() says 30 bytes more */
#define MAX_DEFLATED_BYTES (GPU_LOG_JIT_MAX_BYTES + 64)

_Static_assert(sizeof(struct gpu_log_jit) + MAX_DEFLATED_BYTES + 7 < UINT16_MAX,
	       "a record's size has 16 bits");

/* A longer name is cut: Java's, with all their parameters, are within it. */
#define MAX_NAME_BYTES 4000

#define JITDUMP_MAGIC	       0x4a695444u
#define JITDUMP_ARCH_TIMESTAMP 1u

struct jitdump_header {
	uint32_t magic;
	uint32_t version;
	uint32_t nr_bytes; /* of this header */
	uint32_t elf_machine;
	uint32_t pad;
	uint32_t pid;
	uint64_t time;
	uint64_t flags;
};

_Static_assert(sizeof(struct jitdump_header) == 40, "jitdump");

enum jitdump_type {
	JITDUMP_LOAD = 0,
	JITDUMP_MOVE = 1,
};

struct jitdump_record {
	uint32_t type;
	uint32_t nr_bytes; /* with this header */
	uint64_t time;
};

_Static_assert(sizeof(struct jitdump_record) == 16, "jitdump");

struct jitdump_load {
	struct jitdump_record record;
	uint32_t pid, tid;
	uint64_t address;
	uint64_t code_address;
	uint64_t code_bytes;
	uint64_t index;
	char name[]; /* NUL-terminated; the code follows */
};

_Static_assert(sizeof(struct jitdump_load) == 56, "jitdump");

struct jitdump_move {
	struct jitdump_record record;
	uint32_t pid, tid;
	uint64_t address;
	uint64_t old_address;
	uint64_t new_address;
	uint64_t code_bytes;
	uint64_t index;
};

_Static_assert(sizeof(struct jitdump_move) == 64, "jitdump");

/* One call of jit_file__read(). */
struct jit_reading {
	struct jit_file *file;
	int fd;
	jit_file_take_fn *take;
	void *ctx;
	z_stream deflater;
	/* The part of the file that is in memory */
	uint64_t window_offset;
	size_t window_bytes;
	unsigned char window[GPU_LOG_JIT_MAX_BYTES] __attribute__((aligned(8)));
	/* The piece that grows */
	size_t piece_bytes;
	unsigned char piece[GPU_LOG_JIT_MAX_BYTES] __attribute__((aligned(8)));
	unsigned char deflated[MAX_DEFLATED_BYTES];
};

/* Deflate and hand over. file->offset is of what follows the piece when this is done. */
static int hand_over(struct jit_reading *reading, const void *data, size_t bytes,
		     uint64_t next_offset)
{
	struct jit_file *file = reading->file;
	struct gpu_log_jit piece = {
		.kind = (uint32_t)file->kind,
		.offset = file->offset,
		.nr_bytes = (uint32_t)bytes,
	};
	z_stream *deflater = &reading->deflater;
	int err;

	if (file->nr_kept_bytes + bytes > JIT_FILE_MAX_BYTES)
		return -EFBIG;
	deflateReset(deflater);
	deflater->next_in = (unsigned char *)data;
	deflater->avail_in = (uInt)bytes;
	deflater->next_out = reading->deflated;
	deflater->avail_out = sizeof(reading->deflated);
	if (deflate(deflater, Z_FINISH) != Z_STREAM_END)
		return -ENOMEM;
	piece.nr_deflated_bytes = (uint32_t)deflater->total_out;
	err = reading->take(reading->ctx, &piece, reading->deflated);
	if (err)
		return err;
	file->nr_kept_bytes += bytes;
	file->offset = next_offset;
	return 0;
}

/* Return: how many bytes of the file are in the window, from its start on; or -errno. */
static ssize_t fill_window(struct jit_reading *reading, uint64_t offset)
{
	ssize_t nr;

	do {
		nr = pread(reading->fd, reading->window, sizeof(reading->window),
			   (off_t)offset);
	} while (nr < 0 && errno == EINTR);
	if (nr < 0)
		return -errno;
	reading->window_offset = offset;
	reading->window_bytes = (size_t)nr;
	return nr;
}

static int read_perf_map(struct jit_reading *reading, uint64_t file_bytes)
{
	struct jit_file *file = reading->file;
	ssize_t nr;
	int err;

	if (file_bytes < file->offset)
		file->offset = 0;
	while (file->offset < file_bytes) {
		nr = fill_window(reading, file->offset);
		if (nr <= 0)
			return (int)nr;
		err = hand_over(reading, reading->window, (size_t)nr,
				file->offset + (uint64_t)nr);
		if (err)
			return err;
	}
	return 0;
}

/* The bytes at an offset, NULL if the file has fewer; or *@ret_err. */
static const void *view(struct jit_reading *reading, uint64_t offset, size_t bytes,
			int *ret_err)
{
	ssize_t nr;

	*ret_err = 0;
	if (offset < reading->window_offset ||
	    offset + bytes > reading->window_offset + reading->window_bytes) {
		nr = fill_window(reading, offset);
		if (nr < 0)
			*ret_err = (int)nr;
		if (nr < (ssize_t)bytes)
			return NULL;
	}
	return reading->window + (offset - reading->window_offset);
}

static int read_header(struct jit_reading *reading)
{
	const struct jitdump_header *at;
	struct jitdump_header header;
	int err;

	at = view(reading, 0, sizeof(header), &err);
	if (!at)
		return err ? err : -ENODATA;
	memcpy(&header, at, sizeof(header));
	if (header.magic != JITDUMP_MAGIC || header.nr_bytes < sizeof(header))
		return -EINVAL;
	reading->file->has_no_time = header.flags & JITDUMP_ARCH_TIMESTAMP;
	reading->file->offset = header.nr_bytes;
	return 0;
}

/* Into the piece, which is handed over before if it has no room. */
static int add_code(struct jit_reading *reading, struct gpu_log_jit_code *code,
		    const char *name, uint64_t record_offset)
{
	size_t bytes = (sizeof(*code) + code->nr_bytes + 1 + 7) & ~(size_t)7;
	unsigned char *to;
	int err;

	if (bytes > sizeof(reading->piece) - reading->piece_bytes) {
		err = hand_over(reading, reading->piece, reading->piece_bytes,
				record_offset);
		if (err)
			return err;
		reading->piece_bytes = 0;
	}
	if (reading->file->has_no_time)
		code->time_ns = 0;
	to = reading->piece + reading->piece_bytes;
	memset(to, 0, bytes);
	memcpy(to, code, sizeof(*code));
	memcpy(to + sizeof(*code), name, code->nr_bytes);
	reading->piece_bytes += bytes;
	return 0;
}

/* @record, of which @seen_bytes are in memory */
static int take_load(struct jit_reading *reading, const void *record, size_t seen_bytes,
		     uint64_t offset)
{
	struct jitdump_load load;
	struct gpu_log_jit_code code;
	const char *name = (const char *)record + sizeof(load);

	if (seen_bytes <= sizeof(load))
		return -EINVAL;
	memcpy(&load, record, sizeof(load));
	code = (struct gpu_log_jit_code){
		.time_ns = load.record.time,
		.address = load.code_address,
		.bytes = load.code_bytes,
		.index = load.index,
		.nr_bytes = (uint32_t)strnlen(name, seen_bytes - sizeof(load)),
	};
	return add_code(reading, &code, name, offset);
}

static int take_move(struct jit_reading *reading, const void *record, size_t seen_bytes,
		     uint64_t offset)
{
	struct jitdump_move move;
	struct gpu_log_jit_code code;

	if (seen_bytes < sizeof(move))
		return -EINVAL;
	memcpy(&move, record, sizeof(move));
	code = (struct gpu_log_jit_code){
		.time_ns = move.record.time,
		.address = move.new_address,
		.bytes = move.code_bytes,
		.index = move.index,
		.is_moved = 1,
	};
	return add_code(reading, &code, "", offset);
}

/* Return: 1 if there was a record, which ends at *@offset; 0 if not yet; or -errno. */
static int read_record(struct jit_reading *reading, uint64_t *offset, uint64_t file_bytes)
{
	const size_t max_bytes = sizeof(struct jitdump_load) + MAX_NAME_BYTES;
	struct jitdump_record head;
	const void *record;
	size_t seen_bytes;
	int err;

	record = view(reading, *offset, sizeof(head), &err);
	if (!record)
		return err;
	memcpy(&head, record, sizeof(head));
	if (head.nr_bytes < sizeof(head))
		return -EINVAL;
	if (file_bytes - *offset < head.nr_bytes)
		return 0;
	if (head.type == JITDUMP_LOAD || head.type == JITDUMP_MOVE) {
		seen_bytes = head.nr_bytes < max_bytes ? head.nr_bytes : max_bytes;
		record = view(reading, *offset, seen_bytes, &err);
		if (!record)
			return err;
		err = head.type == JITDUMP_LOAD
			      ? take_load(reading, record, seen_bytes, *offset)
			      : take_move(reading, record, seen_bytes, *offset);
		if (err)
			return err;
	}
	*offset += head.nr_bytes;
	return 1;
}

static int read_jitdump(struct jit_reading *reading, uint64_t file_bytes)
{
	struct jit_file *file = reading->file;
	uint64_t offset;
	int ret;

	if (!file->offset) {
		ret = read_header(reading);
		if (ret)
			return ret == -ENODATA ? 0 : ret;
	}
	offset = file->offset;
	do {
		ret = file_bytes > offset ? read_record(reading, &offset, file_bytes) : 0;
	} while (ret > 0);
	if (reading->piece_bytes) {
		int err =
			hand_over(reading, reading->piece, reading->piece_bytes, offset);

		return err ? err : ret;
	}
	file->offset = offset; /* records of other types */
	return ret;
}

int jit_file__read(struct jit_file *file, int fd, jit_file_take_fn *take, void *ctx)
{
	struct jit_reading *reading;
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((uint64_t)st.st_size == file->offset)
		return 0;
	reading = malloc(sizeof(*reading));
	if (!reading)
		return -ENOMEM;
	memset(&reading->deflater, 0, sizeof(reading->deflater));
	if (deflateInit(&reading->deflater, DEFLATE_LEVEL) != Z_OK) {
		free(reading);
		return -ENOMEM;
	}
	reading->file = file;
	reading->fd = fd;
	reading->take = take;
	reading->ctx = ctx;
	reading->window_bytes = 0;
	reading->window_offset = 0;
	reading->piece_bytes = 0;
	err = file->kind == GPU_LOG_JIT_PERF_MAP
		      ? read_perf_map(reading, (uint64_t)st.st_size)
		      : read_jitdump(reading, (uint64_t)st.st_size);
	deflateEnd(&reading->deflater);
	free(reading);
	return err;
}
