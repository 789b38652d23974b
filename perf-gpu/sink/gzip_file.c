// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pieces go round in a ring:
 *
 *   filled by the caller ── deflated by a worker ── written by the caller ── filled ...
 *
 * The caller waits only where the ring is full: then for the oldest piece.
 */
#include "sink/gzip_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "util/thread.h"

/*
 * Large enough that what begins anew with each piece makes no difference to the size
 * (0.1 % of a profile), small enough that all threads have some.
 */
#define PIECE_BYTES (256u << 10)
#define MAX_WORKERS 4
#define NR_PIECES   (2 * MAX_WORKERS)

/* zlib's numbers: no header of its own, the largest window; a stream's state */
#define RAW_WINDOW_BITS (-15)
#define MEMORY_LEVEL	8

enum piece_state {
	PIECE_IS_FREE, /* the caller's, as where it is being filled */
	PIECE_IS_FULL, /* a worker's */
	PIECE_IS_DEFLATED, /* the caller's */
};

struct piece {
	enum piece_state state;
	bool is_last, has_failed;
	size_t nr_bytes, nr_deflated, capacity;
	uint32_t crc32;
	unsigned char bytes[PIECE_BYTES];
	unsigned char *deflated;
};

struct gzip_file {
	struct out_file *out;
	pthread_mutex_t lock; /* over states and the next three */
	pthread_cond_t changed;
	uint64_t nr_taken; /* by workers */
	uint64_t nr_full; /* handed over to them */
	bool is_over;
	uint64_t nr_written; /* of the caller's, as all below */
	size_t nr_bytes; /* in the piece that is filled */
	uint64_t nr_all_bytes;
	uint32_t crc32;
	bool has_failed;
	pthread_t workers[MAX_WORKERS];
	size_t nr_workers;
	struct piece pieces[NR_PIECES];
};

/* --- the workers' part ------------------------------------------------------------------- */

static bool deflate_piece(z_stream *stream, struct piece *piece)
{
	int flush = piece->is_last ? Z_FINISH : Z_SYNC_FLUSH, status;
	/* What a flush adds isn't in the bound. */
	size_t bound = deflateBound(stream, piece->nr_bytes) + 16;

	if (deflateReset(stream) != Z_OK)
		return false;
	if (bound > piece->capacity) {
		free(piece->deflated);
		piece->deflated = malloc(bound);
		piece->capacity = piece->deflated ? bound : 0;
		if (!piece->deflated)
			return false;
	}
	piece->crc32 = (uint32_t)crc32_z(0, piece->bytes, piece->nr_bytes);
	stream->next_in = piece->bytes;
	stream->avail_in = (uInt)piece->nr_bytes;
	stream->next_out = piece->deflated;
	stream->avail_out = (uInt)piece->capacity;
	status = deflate(stream, flush);
	piece->nr_deflated = piece->capacity - stream->avail_out;
	return status == (piece->is_last ? Z_STREAM_END : Z_OK) && !stream->avail_in;
}

static void *work(void *data)
{
	struct gzip_file *file = data;
	z_stream stream = {.next_in = NULL};
	bool can_deflate =
		deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, RAW_WINDOW_BITS,
			     MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;

	pthread_mutex_lock(&file->lock);
	for (;;) {
		struct piece *piece;

		while (file->nr_taken == file->nr_full && !file->is_over)
			pthread_cond_wait(&file->changed, &file->lock);
		if (file->nr_taken == file->nr_full)
			break;
		piece = &file->pieces[file->nr_taken++ % NR_PIECES];
		pthread_mutex_unlock(&file->lock);
		piece->has_failed = !can_deflate || !deflate_piece(&stream, piece);
		pthread_mutex_lock(&file->lock);
		piece->state = PIECE_IS_DEFLATED;
		pthread_cond_broadcast(&file->changed);
	}
	pthread_mutex_unlock(&file->lock);
	if (can_deflate)
		deflateEnd(&stream);
	return NULL;
}

/* --- the caller's ------------------------------------------------------------------------ */

static size_t count_workers(void)
{
	long nr = sysconf(_SC_NPROCESSORS_ONLN);

	return nr < 1 ? 1 : nr > MAX_WORKERS ? MAX_WORKERS : (size_t)nr;
}

/* One is enough. */
static int start_workers(struct gzip_file *file)
{
	size_t nr = count_workers();
	int err = 0;

	while (file->nr_workers < nr && !err) {
		err = thread__start(&file->workers[file->nr_workers], work, file);
		file->nr_workers += !err;
	}
	return file->nr_workers ? 0 : err;
}

int gzip_file__new(struct out_file *out, struct gzip_file **ret)
{
	/* A deflated file, of no time, made by Unix */
	static const unsigned char header[] = {0x1f, 0x8b, Z_DEFLATED, 0, 0,
					       0,    0,	   0,	       4, 3};
	struct gzip_file *file = calloc(1, sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	file->out = out;
	pthread_mutex_init(&file->lock, NULL);
	pthread_cond_init(&file->changed, NULL);
	err = start_workers(file);
	if (err) {
		gzip_file__delete(file);
		return err;
	}
	out_file__write(out, header, sizeof(header));
	*ret = file;
	return 0;
}

static void end_workers(struct gzip_file *file)
{
	pthread_mutex_lock(&file->lock);
	file->is_over = true;
	pthread_cond_broadcast(&file->changed);
	pthread_mutex_unlock(&file->lock);
	while (file->nr_workers)
		pthread_join(file->workers[--file->nr_workers], NULL);
}

void gzip_file__delete(struct gzip_file *file)
{
	if (!file)
		return;
	end_workers(file);
	for (size_t i = 0; i < NR_PIECES; i++)
		free(file->pieces[i].deflated);
	pthread_cond_destroy(&file->changed);
	pthread_mutex_destroy(&file->lock);
	free(file);
}

/* The oldest that isn't written yet, for which it waits */
static void write_piece(struct gzip_file *file)
{
	struct piece *piece = &file->pieces[file->nr_written++ % NR_PIECES];

	pthread_mutex_lock(&file->lock);
	while (piece->state != PIECE_IS_DEFLATED)
		pthread_cond_wait(&file->changed, &file->lock);
	pthread_mutex_unlock(&file->lock);
	file->has_failed |= piece->has_failed;
	if (!file->has_failed)
		out_file__write(file->out, piece->deflated, piece->nr_deflated);
	file->crc32 = (uint32_t)crc32_combine(file->crc32, piece->crc32,
					      (z_off_t)piece->nr_bytes);
	file->nr_all_bytes += piece->nr_bytes;
	piece->state = PIECE_IS_FREE;
}

static void hand_over(struct gzip_file *file, bool is_last)
{
	struct piece *piece = &file->pieces[file->nr_full % NR_PIECES];

	piece->nr_bytes = file->nr_bytes;
	piece->is_last = is_last;
	file->nr_bytes = 0;
	pthread_mutex_lock(&file->lock);
	piece->state = PIECE_IS_FULL;
	file->nr_full++;
	pthread_cond_broadcast(&file->changed);
	pthread_mutex_unlock(&file->lock);
	/* The next one is free, then. */
	if (file->nr_full - file->nr_written == NR_PIECES)
		write_piece(file);
}

void gzip_file__write(struct gzip_file *file, const void *bytes, size_t nr_bytes)
{
	const unsigned char *from = bytes;

	while (nr_bytes) {
		struct piece *piece = &file->pieces[file->nr_full % NR_PIECES];
		size_t nr = PIECE_BYTES - file->nr_bytes;

		nr = nr < nr_bytes ? nr : nr_bytes;
		memcpy(piece->bytes + file->nr_bytes, from, nr);
		file->nr_bytes += nr;
		from += nr;
		nr_bytes -= nr;
		if (file->nr_bytes == PIECE_BYTES)
			hand_over(file, false);
	}
}

static void write_u32(struct gzip_file *file, uint32_t number)
{
	for (unsigned int i = 0; i < 4; i++)
		out_file__char(file->out, (char)(number >> 8 * i));
}

int gzip_file__finish(struct gzip_file *file)
{
	hand_over(file, true);
	while (file->nr_written < file->nr_full)
		write_piece(file);
	write_u32(file, file->crc32);
	write_u32(file, (uint32_t)file->nr_all_bytes);
	return file->has_failed ? -ENOMEM : 0;
}
