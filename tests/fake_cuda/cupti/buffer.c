// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records on their way to the client, through buffers that it gives and gets back.
 *
 * As in CUPTI 13 each thread that launches has a buffer of its own, a kernel has its
 * place in it from its launch on, and a buffer goes back when all its kernels have
 * ended: full ones from a worker thread, others by a flush. Buffers go back one at a
 * time, so that a flush also waits for what the worker has in hand.
 */
#include "cupti_state.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How often the worker looks for full buffers whose kernels have ended by now */
#define WORKER_PERIOD_MS 20

struct buffer {
	struct buffer *next;
	uint8_t *bytes;
	size_t size, used, nr_records, max_nr_records;
	uint64_t complete_ns;
};

/* A thread's buffers; reused by another when it has ended. */
struct outbox {
	struct outbox *next;
	atomic_bool is_taken;
	pthread_mutex_t mutex;
	struct buffer *current;
	struct buffer *full, **full_end;
};

static CUpti_BuffersCallbackRequestFunc request_buffer;
static CUpti_BuffersCallbackCompleteFunc complete_buffer;

static _Atomic(struct outbox *) outboxes;
static _Thread_local struct outbox *this_outbox;
static pthread_key_t outbox_key;
static pthread_once_t start_once = PTHREAD_ONCE_INIT;

/* Recursive: a client may flush within its callback. */
static pthread_mutex_t delivery_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static pthread_mutex_t worker_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t worker_wakeup;
static bool has_full;

static atomic_size_t nr_dropped;
static atomic_uint flush_period_ms;

void buffers__count_dropped(void)
{
	atomic_fetch_add(&nr_dropped, 1);
}

size_t buffers__take_dropped(void)
{
	return atomic_exchange(&nr_dropped, 0);
}

void buffers__set_period(uint32_t period_ms)
{
	atomic_store(&flush_period_ms, period_ms);
}

/* At a thread's end; should it launch after that, it takes one again. */
static void release_outbox(void *outbox)
{
	this_outbox = NULL;
	atomic_store(&((struct outbox *)outbox)->is_taken, false);
}

static struct outbox *outbox__take(void)
{
	struct outbox *outbox;
	bool is_taken;

	for (outbox = atomic_load(&outboxes); outbox; outbox = outbox->next) {
		is_taken = false;
		if (atomic_compare_exchange_strong(&outbox->is_taken, &is_taken, true))
			return outbox;
	}
	outbox = calloc(1, sizeof(*outbox));
	if (!outbox)
		return NULL;
	pthread_mutex_init(&outbox->mutex, NULL);
	outbox->full_end = &outbox->full;
	atomic_store(&outbox->is_taken, true);
	outbox->next = atomic_load(&outboxes);
	while (!atomic_compare_exchange_weak(&outboxes, &outbox->next, outbox))
		;
	return outbox;
}

static struct outbox *outbox__mine(void)
{
	if (!this_outbox) {
		this_outbox = outbox__take();
		if (this_outbox)
			pthread_setspecific(outbox_key, this_outbox);
	}
	return this_outbox;
}

static struct buffer *buffer__request(size_t least_bytes)
{
	struct buffer *buffer = calloc(1, sizeof(*buffer));

	if (!buffer)
		return NULL;
	request_buffer(&buffer->bytes, &buffer->size, &buffer->max_nr_records);
	if (!buffer->bytes || buffer->size < least_bytes) {
		free(buffer);
		return NULL;
	}
	return buffer;
}

static bool buffer__has_room(const struct buffer *buffer, size_t bytes)
{
	return buffer && buffer->size - buffer->used >= bytes &&
	       (!buffer->max_nr_records || buffer->nr_records < buffer->max_nr_records);
}

/* Under the outbox's mutex; does so whenever its owner's buffer is of no more use. */
static void outbox__retire_current(struct outbox *outbox)
{
	if (!outbox->current)
		return;
	*outbox->full_end = outbox->current;
	outbox->full_end = &outbox->current->next;
	outbox->current = NULL;
}

static void wake_worker(void)
{
	pthread_mutex_lock(&worker_mutex);
	has_full = true;
	pthread_cond_signal(&worker_wakeup);
	pthread_mutex_unlock(&worker_mutex);
}

/* The client is asked without a lock held: only the owner puts buffers in. */
static bool outbox__make_room(struct outbox *outbox, size_t bytes)
{
	struct buffer *buffer;
	bool was_full;

	pthread_mutex_lock(&outbox->mutex);
	if (buffer__has_room(outbox->current, bytes))
		return true;
	was_full = outbox->current;
	outbox__retire_current(outbox);
	pthread_mutex_unlock(&outbox->mutex);
	if (was_full)
		wake_worker();
	buffer = buffer__request(bytes);
	if (!buffer)
		return false;
	pthread_mutex_lock(&outbox->mutex);
	outbox->current = buffer;
	return true;
}

void buffers__add(const void *record, size_t bytes, uint64_t complete_ns)
{
	struct outbox *outbox = outbox__mine();
	struct buffer *buffer;

	if (!complete_buffer || !outbox || !outbox__make_room(outbox, bytes)) {
		buffers__count_dropped();
		return;
	}
	buffer = outbox->current;
	memcpy(buffer->bytes + buffer->used, record, bytes);
	buffer->used += bytes;
	buffer->nr_records++;
	if (buffer->complete_ns < complete_ns)
		buffer->complete_ns = complete_ns;
	pthread_mutex_unlock(&outbox->mutex);
}

static void buffer__deliver(struct buffer *buffer, bool is_complete)
{
	if (!is_complete) {
		CUpti_Activity *record = NULL;

		while (!cuptiActivityGetNextRecord(buffer->bytes, buffer->used, &record))
			record__interrupt(record);
	}
	complete_buffer(NULL, 0, buffer->bytes, buffer->size, buffer->used);
	free(buffer);
}

/* Take what goes out now; the rest stays, in order. */
static struct buffer *outbox__take_ready(struct outbox *outbox, uint64_t now, bool forced,
					 bool partly_filled)
{
	struct buffer *ready = NULL, **ready_end = &ready, **at;

	pthread_mutex_lock(&outbox->mutex);
	if (partly_filled && outbox->current && outbox->current->used &&
	    (forced || outbox->current->complete_ns <= now))
		outbox__retire_current(outbox);
	at = &outbox->full;
	while (*at) {
		struct buffer *buffer = *at;

		if (!forced && buffer->complete_ns > now) {
			at = &buffer->next;
			continue;
		}
		*at = buffer->next;
		buffer->next = NULL;
		*ready_end = buffer;
		ready_end = &buffer->next;
	}
	outbox->full_end = at;
	pthread_mutex_unlock(&outbox->mutex);
	return ready;
}

static void deliver(bool forced, bool partly_filled)
{
	uint64_t now = monotonic_ns();

	pthread_mutex_lock(&delivery_mutex);
	for (struct outbox *outbox = atomic_load(&outboxes); outbox;
	     outbox = outbox->next) {
		struct buffer *ready =
			outbox__take_ready(outbox, now, forced, partly_filled);

		while (ready) {
			struct buffer *next = ready->next;

			buffer__deliver(ready, ready->complete_ns <= now);
			ready = next;
		}
	}
	pthread_mutex_unlock(&delivery_mutex);
}

void buffers__flush(bool forced)
{
	deliver(forced, true);
}

static struct timespec worker_deadline(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_nsec += WORKER_PERIOD_MS * 1000000l;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

static void *work(void *unused)
{
	uint64_t flushed_ns = monotonic_ns(), period_ns;

	(void)unused;
	for (;;) {
		struct timespec deadline = worker_deadline();

		pthread_mutex_lock(&worker_mutex);
		if (!has_full)
			pthread_cond_timedwait(&worker_wakeup, &worker_mutex, &deadline);
		has_full = false;
		pthread_mutex_unlock(&worker_mutex);

		period_ns = (uint64_t)atomic_load(&flush_period_ms) * 1000000;
		if (period_ns && monotonic_ns() - flushed_ns >= period_ns) {
			flushed_ns = monotonic_ns();
			deliver(false, true);
		} else {
			deliver(false, false);
		}
	}
	return NULL;
}

/* The program's signals are for its own threads. */
static void start_worker(void)
{
	pthread_condattr_t attr;
	sigset_t all, before;
	pthread_t thread;

	pthread_key_create(&outbox_key, release_outbox);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&worker_wakeup, &attr);
	pthread_condattr_destroy(&attr);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_create(&thread, NULL, work, NULL))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void buffers__start(CUpti_BuffersCallbackRequestFunc requested,
		    CUpti_BuffersCallbackCompleteFunc completed)
{
	request_buffer = requested;
	complete_buffer = completed;
	pthread_once(&start_once, start_worker);
}
