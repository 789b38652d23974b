// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records on their way to the client, through buffers that it gives and gets back.
 *
 * As in CUPTI 13 each thread that launches has a buffer of its own; before, there is one
 * for all. A kernel has its place in it from its launch on, and a buffer goes back when
 * all its kernels have ended: full ones from a worker thread, others by a flush. Buffers
 * go back one at a time, so that a flush also waits for what the worker has in hand.
 */
#include "client.h"
#include "cupti_state.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How often the worker looks for full buffers whose kernels have ended by now */
#define WORKER_PERIOD_MS 20

struct buffer {
	struct buffer *next;
	uint8_t *bytes;
	size_t size, used, nr_records, max_nr_records;
	uint64_t complete_ns;
	bool is_late;
};

/* A thread's buffers; reused by another when it has ended. */
struct outbox {
	struct outbox *next;
	size_t client;
	atomic_bool is_taken;
	pthread_mutex_t mutex;
	struct buffer *current;
	struct buffer *full, **full_end;
};

/* Each for every client */
static _Atomic(struct outbox *) outboxes[MAX_CLIENTS];
static _Thread_local struct outbox *this_outbox[MAX_CLIENTS];
static pthread_key_t outbox_key;
static pthread_once_t start_once = PTHREAD_ONCE_INIT;

/* Recursive: a client may flush within its callback. */
static pthread_mutex_t delivery_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static pthread_mutex_t worker_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t worker_wakeup;
static bool has_full;

static atomic_uint flush_period_ms;

void buffers__count_dropped(const CUpti_Activity *record)
{
	for (size_t i = 0; i < MAX_CLIENTS; i++)
		if (client__wants(i, record))
			atomic_fetch_add(&clients[i].nr_dropped, 1);
}

void buffers__set_period(uint32_t period_ms)
{
	atomic_store(&flush_period_ms, period_ms);
}

/* At a thread's end; should it launch after that, it takes one again. */
static void release_outbox(void *own)
{
	struct outbox **outbox = own;

	for (size_t i = 0; i < MAX_CLIENTS; i++) {
		if (outbox[i])
			atomic_store(&outbox[i]->is_taken, false);
		outbox[i] = NULL;
	}
}

static struct outbox *outbox__take(size_t client)
{
	struct outbox *outbox;
	bool is_taken;

	for (outbox = atomic_load(&outboxes[client]); outbox; outbox = outbox->next) {
		is_taken = false;
		if (atomic_compare_exchange_strong(&outbox->is_taken, &is_taken, true))
			return outbox;
	}
	outbox = calloc(1, sizeof(*outbox));
	if (!outbox)
		return NULL;
	pthread_mutex_init(&outbox->mutex, NULL);
	outbox->client = client;
	outbox->full_end = &outbox->full;
	atomic_store(&outbox->is_taken, true);
	outbox->next = atomic_load(&outboxes[client]);
	while (!atomic_compare_exchange_weak(&outboxes[client], &outbox->next, outbox))
		;
	return outbox;
}

/* CUPTI before 13.0 has one for all threads; under the mutex then. */
static pthread_mutex_t common_mutex = PTHREAD_MUTEX_INITIALIZER;

static bool is_common(void)
{
	return version__played()->number < 130000;
}

static struct outbox *outbox__common(size_t client)
{
	static struct outbox *common[MAX_CLIENTS];

	if (!common[client])
		common[client] = outbox__take(client);
	return common[client];
}

static struct outbox *outbox__mine(size_t client)
{
	if (is_common())
		return outbox__common(client);
	if (!this_outbox[client]) {
		this_outbox[client] = outbox__take(client);
		if (this_outbox[client])
			pthread_setspecific(outbox_key, this_outbox);
	}
	return this_outbox[client];
}

static struct buffer *buffer__request(const struct client *client, size_t least_bytes)
{
	struct buffer *buffer = calloc(1, sizeof(*buffer));

	if (!buffer)
		return NULL;
	if (client->request_v2)
		client->request_v2(&buffer->bytes, &buffer->size, &buffer->max_nr_records,
				   NULL);
	else
		client->request(&buffer->bytes, &buffer->size, &buffer->max_nr_records);
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
	buffer = buffer__request(&clients[outbox->client], bytes);
	if (!buffer)
		return false;
	pthread_mutex_lock(&outbox->mutex);
	outbox->current = buffer;
	return true;
}

/* As the version has it: the beginning, or all with what nobody here knows behind it */
static void buffer__append(struct buffer *buffer, const void *record, size_t bytes)
{
	size_t known = record__known_bytes(((const CUpti_Activity *)record)->kind);
	uint8_t *to = buffer->bytes + buffer->used;

	if (bytes > known) {
		memset(to + known, version__played()->is_unknown ? 0xa5 : 0,
		       bytes - known);
		bytes = known;
	}
	memcpy(to, record, bytes);
}

/* Only one thread at a time may put records into an outbox. */
static void put(size_t client, const void *record, uint64_t complete_ns)
{
	size_t bytes = record_bytes(((const CUpti_Activity *)record)->kind);
	struct outbox *outbox;
	struct buffer *buffer;

	outbox = clients[client].complete || clients[client].complete_v2
			 ? outbox__mine(client)
			 : NULL;
	if (!outbox || !outbox__make_room(outbox, bytes)) {
		atomic_fetch_add(&clients[client].nr_dropped, 1);
		return;
	}
	buffer = outbox->current;
	buffer__append(buffer, record, bytes);
	buffer->used += bytes;
	buffer->nr_records++;
	if (complete_ns == COMPLETE_LATE)
		buffer->is_late = true;
	else if (buffer->complete_ns < complete_ns)
		buffer->complete_ns = complete_ns;
	pthread_mutex_unlock(&outbox->mutex);
}

static void add_for(size_t client, const void *record, uint64_t complete_ns)
{
	bool locks = is_common();

	if (locks)
		pthread_mutex_lock(&common_mutex);
	put(client, record, complete_ns);
	if (locks)
		pthread_mutex_unlock(&common_mutex);
}

void buffers__add(const void *record, uint64_t complete_ns)
{
	for (size_t i = 0; i < MAX_CLIENTS; i++)
		if (client__wants(i, record))
			add_for(i, record, complete_ns);
}

static void buffer__deliver(const struct client *client, struct buffer *buffer,
			    bool is_complete)
{
	if (!is_complete) {
		CUpti_Activity *record = NULL;

		while (!record__next(buffer->bytes, buffer->used, &record))
			record__interrupt(record);
	}
	if (client->complete_v2)
		client->complete_v2(buffer->bytes, buffer->size, buffer->used, NULL);
	else
		client->complete(NULL, 0, buffer->bytes, buffer->size, buffer->used);
	free(buffer);
}

static bool buffer__is_complete(const struct buffer *buffer, uint64_t now)
{
	if (buffer->is_late && access(driver_tools()->knobs->late_until, F_OK))
		return false;
	return buffer->complete_ns <= now;
}

/* Take what goes out now; the rest stays, in order. */
static struct buffer *outbox__take_ready(struct outbox *outbox, uint64_t now, bool forced,
					 bool partly_filled)
{
	struct buffer *ready = NULL, **ready_end = &ready, **at;

	pthread_mutex_lock(&outbox->mutex);
	if (partly_filled && outbox->current && outbox->current->used &&
	    (forced || buffer__is_complete(outbox->current, now)))
		outbox__retire_current(outbox);
	at = &outbox->full;
	while (*at) {
		struct buffer *buffer = *at;

		if (!forced && !buffer__is_complete(buffer, now)) {
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

static void deliver_to(size_t client, uint64_t now, bool forced, bool partly_filled)
{
	for (struct outbox *outbox = atomic_load(&outboxes[client]); outbox;
	     outbox = outbox->next) {
		struct buffer *ready =
			outbox__take_ready(outbox, now, forced, partly_filled);

		while (ready) {
			struct buffer *next = ready->next;

			buffer__deliver(&clients[client], ready,
					buffer__is_complete(ready, now));
			ready = next;
		}
	}
}

static void deliver(bool forced, bool partly_filled)
{
	uint64_t now = monotonic_ns();

	pthread_mutex_lock(&delivery_mutex);
	for (size_t i = 0; i < MAX_CLIENTS; i++)
		deliver_to(i, now, forced, partly_filled);
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

void buffers__start(void)
{
	pthread_once(&start_once, start_worker);
}
