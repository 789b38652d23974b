// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A ring of batches. Both sides count the batches that they are done with; the thread is
 * ahead by no more than there are, less the one that the caller has.
 */
#include "util/read_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "util/thread.h"

/* Enough for both sides to take turns at being slow; what is in them should stay in caches */
#define NR_BATCHES 4

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

static void *run(void *data)
{
	struct read_ahead *ahead = data;

	pthread_mutex_lock(&ahead->mutex);
	while (!ahead->is_over) {
		struct batch *batch = batch_at(ahead, ahead->nr_filled);

		while (ahead->nr_filled - ahead->nr_done == NR_BATCHES &&
		       !ahead->is_ending)
			pthread_cond_wait(&ahead->changed, &ahead->mutex);
		if (ahead->is_ending)
			break;
		pthread_mutex_unlock(&ahead->mutex);
		fill(ahead, batch);
		pthread_mutex_lock(&ahead->mutex);
		if (batch->nr)
			ahead->nr_filled++;
		else
			ahead->is_over = true;
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

/* Wait until the thread has filled a batch; NULL: there is none more. */
static struct batch *wait_for_batch(struct read_ahead *ahead)
{
	struct batch *batch = NULL;

	pthread_mutex_lock(&ahead->mutex);
	if (ahead->has_batch) {
		ahead->nr_done++;
		pthread_cond_broadcast(&ahead->changed);
	}
	while (ahead->nr_filled == ahead->nr_done && !ahead->is_over)
		pthread_cond_wait(&ahead->changed, &ahead->mutex);
	if (ahead->nr_filled > ahead->nr_done)
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
	struct batch *batch =
		ahead->has_thread ? wait_for_batch(ahead) : fill_batch(ahead);

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
