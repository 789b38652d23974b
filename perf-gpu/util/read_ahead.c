// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A ring of batches. Both sides count the batches that they are done with; the thread is
 * ahead by no more than there are, less the one that the caller has. Who has to wait for the
 * other does so until half of the ring is full, so that they don't wake each other for every
 * batch.
 */
#include "util/read_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "util/thread.h"

/* Enough for both sides to take turns at being slow; what is in them should stay in caches */
#define NR_BATCHES 8

struct batch {
	void *items;
	size_t nr;
};

struct read_ahead {
	struct read_ahead_input input;
	struct batch batches[NR_BATCHES];
	bool has_batch; /* the caller has one */
	bool has_thread;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	/* Under the mutex: the batch number i is batches[i % NR_BATCHES]. */
	uint64_t nr_filled, nr_done;
	bool is_over; /* there is no item behind those that are filled */
	bool is_ending;
};

static struct batch *batch_at(struct read_ahead *ahead, uint64_t i)
{
	return &ahead->batches[i % NR_BATCHES];
}

static void fill(struct read_ahead *ahead, struct batch *batch)
{
	batch->nr = ahead->input.fill(ahead->input.data, batch->items);
}

static uint64_t nr_waiting(const struct read_ahead *ahead)
{
	return ahead->nr_filled - ahead->nr_done;
}

/* The thread, where all batches are filled */
static void wait_for_room(struct read_ahead *ahead)
{
	if (nr_waiting(ahead) < NR_BATCHES)
		return;
	while (nr_waiting(ahead) > NR_BATCHES / 2 && !ahead->is_ending)
		pthread_cond_wait(&ahead->changed, &ahead->mutex);
}

/* The caller, where none is */
static void wait_for_batches(struct read_ahead *ahead)
{
	if (nr_waiting(ahead))
		return;
	while (nr_waiting(ahead) < NR_BATCHES / 2 && !ahead->is_over)
		pthread_cond_wait(&ahead->changed, &ahead->mutex);
}

static void *run(void *data)
{
	struct read_ahead *ahead = data;

	pthread_mutex_lock(&ahead->mutex);
	while (!ahead->is_over) {
		struct batch *batch = batch_at(ahead, ahead->nr_filled);

		wait_for_room(ahead);
		if (ahead->is_ending)
			break;
		pthread_mutex_unlock(&ahead->mutex);
		fill(ahead, batch);
		pthread_mutex_lock(&ahead->mutex);
		if (batch->nr)
			ahead->nr_filled++;
		else
			ahead->is_over = true;
		if (nr_waiting(ahead) == NR_BATCHES / 2 || ahead->is_over)
			pthread_cond_broadcast(&ahead->changed);
	}
	pthread_mutex_unlock(&ahead->mutex);
	return NULL;
}

int read_ahead__new(const struct read_ahead_input *input, struct read_ahead **ret)
{
	struct read_ahead *ahead = calloc(1, sizeof(*ahead));

	if (!ahead)
		return -ENOMEM;
	ahead->input = *input;
	pthread_mutex_init(&ahead->mutex, NULL);
	pthread_cond_init(&ahead->changed, NULL);
	for (size_t i = 0; i < NR_BATCHES; i++) {
		ahead->batches[i].items = malloc(input->batch_bytes);
		if (!ahead->batches[i].items) {
			read_ahead__delete(ahead);
			return -ENOMEM;
		}
	}
	ahead->has_thread = !thread__start(&ahead->thread, run, ahead);
	*ret = ahead;
	return 0;
}

/* The next that the thread has filled; NULL: there is none more. */
static struct batch *take_batch(struct read_ahead *ahead)
{
	struct batch *batch = NULL;

	pthread_mutex_lock(&ahead->mutex);
	if (ahead->has_batch) {
		ahead->nr_done++;
		if (nr_waiting(ahead) == NR_BATCHES / 2)
			pthread_cond_broadcast(&ahead->changed);
	}
	wait_for_batches(ahead);
	if (nr_waiting(ahead))
		batch = batch_at(ahead, ahead->nr_done);
	pthread_mutex_unlock(&ahead->mutex);
	return batch;
}

static struct batch *fill_batch(struct read_ahead *ahead)
{
	struct batch *batch = &ahead->batches[0];

	if (!ahead->is_over)
		fill(ahead, batch);
	ahead->is_over |= !batch->nr;
	return ahead->is_over ? NULL : batch;
}

void *read_ahead__next(struct read_ahead *ahead, size_t *ret_nr)
{
	struct batch *batch = ahead->has_thread ? take_batch(ahead) : fill_batch(ahead);

	ahead->has_batch = batch;
	if (!batch)
		return NULL;
	*ret_nr = batch->nr;
	return batch->items;
}

void read_ahead__delete(struct read_ahead *ahead)
{
	if (!ahead)
		return;
	if (ahead->has_thread) {
		pthread_mutex_lock(&ahead->mutex);
		ahead->is_ending = true;
		pthread_cond_broadcast(&ahead->changed);
		pthread_mutex_unlock(&ahead->mutex);
		pthread_join(ahead->thread, NULL);
	}
	pthread_cond_destroy(&ahead->changed);
	pthread_mutex_destroy(&ahead->mutex);
	for (size_t i = 0; i < NR_BATCHES; i++)
		free(ahead->batches[i].items);
	free(ahead);
}
