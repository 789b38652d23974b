// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/write_behind.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/thread.h"

struct write_behind {
	int fd;
	unsigned char *buffers[2];
	unsigned int filled; /* index of the caller's */
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	/* Under the mutex */
	const unsigned char *data; /* to be written, or being written; NULL: nothing */
	size_t bytes;
	bool is_ending;
	int err;
};

static int write_all(int fd, const unsigned char *data, size_t bytes)
{
	while (bytes) {
		ssize_t written = write(fd, data, bytes);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? -errno : -EIO;
		data += written;
		bytes -= (size_t)written;
	}
	return 0;
}

static void *run(void *data)
{
	struct write_behind *behind = data;
	int err;

	pthread_mutex_lock(&behind->mutex);
	for (;;) {
		while (!behind->data && !behind->is_ending)
			pthread_cond_wait(&behind->changed, &behind->mutex);
		if (behind->is_ending)
			break;
		pthread_mutex_unlock(&behind->mutex);
		err = write_all(behind->fd, behind->data, behind->bytes);
		pthread_mutex_lock(&behind->mutex);
		behind->err = err;
		behind->data = NULL;
		pthread_cond_broadcast(&behind->changed);
	}
	pthread_mutex_unlock(&behind->mutex);
	return NULL;
}

static void release(struct write_behind *behind)
{
	pthread_cond_destroy(&behind->changed);
	pthread_mutex_destroy(&behind->mutex);
	free(behind->buffers[0]);
	free(behind->buffers[1]);
	free(behind);
}

int write_behind__new(int fd, size_t bytes, struct write_behind **ret)
{
	struct write_behind *behind = calloc(1, sizeof(*behind));
	int err = -ENOMEM;

	if (!behind)
		return -ENOMEM;
	behind->fd = fd;
	pthread_mutex_init(&behind->mutex, NULL);
	pthread_cond_init(&behind->changed, NULL);
	behind->buffers[0] = malloc(bytes);
	behind->buffers[1] = malloc(bytes);
	if (behind->buffers[0] && behind->buffers[1])
		err = thread__start(&behind->thread, run, behind);
	if (err) {
		release(behind);
		return err;
	}
	*ret = behind;
	return 0;
}

unsigned char *write_behind__buffer(struct write_behind *behind)
{
	return behind->buffers[behind->filled];
}

static int wait_until_written(struct write_behind *behind)
{
	while (behind->data)
		pthread_cond_wait(&behind->changed, &behind->mutex);
	return behind->err;
}

int write_behind__put(struct write_behind *behind, size_t bytes)
{
	int err;

	pthread_mutex_lock(&behind->mutex);
	err = wait_until_written(behind);
	if (!err && bytes) {
		behind->data = behind->buffers[behind->filled];
		behind->bytes = bytes;
		behind->filled = !behind->filled;
		pthread_cond_broadcast(&behind->changed);
	}
	pthread_mutex_unlock(&behind->mutex);
	return err;
}

int write_behind__drain(struct write_behind *behind)
{
	int err;

	pthread_mutex_lock(&behind->mutex);
	err = wait_until_written(behind);
	pthread_mutex_unlock(&behind->mutex);
	return err;
}

void write_behind__delete(struct write_behind *behind)
{
	if (!behind)
		return;
	pthread_mutex_lock(&behind->mutex);
	behind->is_ending = true;
	pthread_cond_broadcast(&behind->changed);
	pthread_mutex_unlock(&behind->mutex);
	pthread_join(behind->thread, NULL);
	release(behind);
}
