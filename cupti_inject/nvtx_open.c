// SPDX-License-Identifier: GPL-2.0-or-later
#include "nvtx_open.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "no_cancel.h"
#include "nvtx_abi.h"
#include "nvtx_names.h"

/* In the ids that the program gets: others count from 1, or use addresses. */
#define OWN_ID_BITS (0x7067ull << 48)

/* Of a name; longer ones are allocated */
#define SHORT_NAME_BYTES 48

struct range {
	const char *domain;
	char *longer; /* the name, if it is too long for the other */
	bool has_name;
	char name[SHORT_NAME_BYTES];
};

/*
 * A thread's. Its mutex is of everything from told on; the thread has it for as
 * long as it changes something, and who begins or stops recording.
 */
struct thread_ranges {
	struct thread_ranges *next, *previous; /* under list_mutex */
	uint32_t tid;
	volatile bool
		is_busy; /* the thread is in here: a signal handler is to keep out */
	int cancel_state;
	pthread_mutex_t mutex;
	struct log *told; /* knows what is open; NULL: none does */
	bool is_too_deep_told;
	size_t nr, capacity;
	size_t nr_left_out; /* innermost, above NVTX_MAX_THREAD_RANGES */
	struct range *open; /* outermost first */
};

/* One of the process's; in a list of those whose ids have the same hash, last first */
struct process_range {
	struct process_range *next;
	uint64_t id; /* the program's */
	uint64_t log_id;
	struct range range;
};

#define NR_LISTS 1024

static struct {
	pthread_mutex_t mutex; /* of what follows */
	struct log *told; /* as a thread's */
	bool is_too_many_told;
	size_t nr;
	uint64_t newest_log_id;
	struct process_range *lists[NR_LISTS];
} process = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static _Atomic(struct log *) recording_log; /* NULL: nothing is recorded */
static atomic_uint_fast64_t newest_id;

/* Before any other of the mutexes here */
static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct thread_ranges *first_thread;

static pthread_key_t end_key; /* whose destructor ends a thread's */
static bool has_end_key;
static pthread_once_t end_key_once = PTHREAD_ONCE_INIT;

/* Not in the static TLS block: where that is full, we would not be loaded. */
static _Thread_local struct thread_ranges *mine;
static _Thread_local volatile bool is_creating;

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* --- one range ------------------------------------------------------------------------ */

static void range__init(struct range *range, const char *domain, const char *name)
{
	size_t bytes;

	range->domain = domain;
	range->longer = NULL;
	range->has_name = name && *name;
	if (!range->has_name)
		return;
	bytes = strlen(name) + 1;
	if (bytes > sizeof(range->name))
		range->longer = malloc(bytes);
	if (range->longer)
		memcpy(range->longer, name, bytes);
	else
		memcpy(range->name, name,
		       bytes < sizeof(range->name) ? bytes : sizeof(range->name));
	range->name[sizeof(range->name) - 1] = '\0';
}

static const char *range__name(const struct range *range)
{
	if (!range->has_name)
		return NULL;
	return range->longer ? range->longer : range->name;
}

static bool range__is_of(const struct range *range, const char *domain)
{
	return range->domain == domain ||
	       (range->domain && domain && !strcmp(range->domain, domain));
}

static void tell(struct log *log, enum gpu_log_nvtx_operation operation, uint32_t tid,
		 const char *domain, const char *name, uint64_t id)
{
	struct gpu_log_nvtx record = {
		.operation = operation,
		.time_ns = now_ns(),
		.range = id,
		.tid = tid,
	};

	log__nvtx(log, domain && *domain ? domain : NULL, name && *name ? name : NULL,
		  &record);
}

/* --- threads -------------------------------------------------------------------------- */

static void thread__end_in_log(struct thread_ranges *thread)
{
	for (size_t i = thread->nr; i > 0; i--)
		tell(thread->told, GPU_LOG_NVTX_POP, thread->tid,
		     thread->open[i - 1].domain, NULL, 0);
	thread->told = NULL;
}

static void thread__tell_open(struct thread_ranges *thread, struct log *log)
{
	for (size_t i = 0; i < thread->nr; i++)
		tell(log, GPU_LOG_NVTX_PUSH, thread->tid, thread->open[i].domain,
		     range__name(&thread->open[i]), 0);
	thread->told = log;
}

/*
 * With its mutex, before anything changes: the log that is to be told from here on has
 * to know what is open, and in one that isn't any more it ends. Whoever stops recording
 * comes here for each thread, and may find that it has been here itself.
 *
 * Return: the log, or NULL.
 */
static struct log *thread__look(struct thread_ranges *thread)
{
	struct log *log = atomic_load(&recording_log);

	if (thread->told && thread->told != log)
		thread__end_in_log(thread);
	if (log && !thread->told)
		thread__tell_open(thread, log);
	return log;
}

/* The thread ends; another may get its id. */
static void thread__end(void *arg)
{
	struct thread_ranges *thread = arg;
	int saved_errno = errno, cancel_state = no_cancel__begin();

	mine = NULL;
	pthread_mutex_lock(&list_mutex);
	if (thread->told)
		thread__end_in_log(thread);
	if (thread->next)
		thread->next->previous = thread->previous;
	if (thread->previous)
		thread->previous->next = thread->next;
	else
		first_thread = thread->next;
	pthread_mutex_unlock(&list_mutex);
	for (size_t i = 0; i < thread->nr; i++)
		free(thread->open[i].longer);
	free(thread->open);
	free(thread);
	no_cancel__end(cancel_state);
	errno = saved_errno;
}

static void create_end_key(void)
{
	has_end_key = !pthread_key_create(&end_key, thread__end);
}

static void list__add(struct thread_ranges *thread)
{
	pthread_mutex_lock(&list_mutex);
	thread->next = first_thread;
	if (first_thread)
		first_thread->previous = thread;
	first_thread = thread;
	pthread_mutex_unlock(&list_mutex);
}

static struct thread_ranges *thread__create(void)
{
	struct thread_ranges *thread = NULL;

	if (is_creating)
		return NULL;
	is_creating = true;
	pthread_once(&end_key_once, create_end_key);
	if (has_end_key)
		thread = calloc(1, sizeof(*thread));
	if (thread && pthread_setspecific(end_key, thread)) {
		free(thread);
		thread = NULL;
	}
	if (thread) {
		thread->tid = (uint32_t)gettid();
		pthread_mutex_init(&thread->mutex, NULL);
		list__add(thread);
		mine = thread;
	}
	is_creating = false;
	return thread;
}

/* NULL if this thread is in here already, or there is no memory. */
static struct thread_ranges *thread__enter(void)
{
	struct thread_ranges *thread = mine;
	int cancel_state;

	if (thread && thread->is_busy)
		return NULL;
	cancel_state = no_cancel__begin();
	if (!thread)
		thread = thread__create();
	if (!thread) {
		no_cancel__end(cancel_state);
		return NULL;
	}
	thread->is_busy = true;
	thread->cancel_state = cancel_state;
	return thread;
}

static void thread__leave(struct thread_ranges *thread)
{
	int cancel_state = thread->cancel_state;

	thread->is_busy = false;
	no_cancel__end(cancel_state);
}

static bool thread__grow(struct thread_ranges *thread)
{
	size_t capacity = thread->capacity ? thread->capacity * 2 : 16;
	struct range *open;

	if (thread->nr >= NVTX_MAX_THREAD_RANGES)
		return false;
	open = realloc(thread->open, capacity * sizeof(*open));
	if (!open)
		return false;
	thread->open = open;
	thread->capacity = capacity;
	return true;
}

/* With its mutex; a range that finds no room is counted, so that its end is known. */
static bool thread__push(struct thread_ranges *thread, const char *domain,
			 const char *name)
{
	if (thread->nr_left_out ||
	    (thread->nr == thread->capacity && !thread__grow(thread))) {
		thread->nr_left_out++;
		return false;
	}
	range__init(&thread->open[thread->nr++], domain, name);
	return true;
}

static int thread__depth(const struct thread_ranges *thread, const char *domain)
{
	int depth = 0;

	for (size_t i = 0; i < thread->nr; i++)
		depth += range__is_of(&thread->open[i], domain);
	return depth;
}

static void thread__warn(struct thread_ranges *thread, struct log *log)
{
	if (thread->is_too_deep_told)
		return;
	thread->is_too_deep_told = true;
	log__message(log, GPU_LOG_WARNING,
		     "thread %u has more than %d NVTX ranges open at once: those within "
		     "are not recorded",
		     thread->tid, NVTX_MAX_THREAD_RANGES);
}

int nvtx_open__push(const char *domain, const char *name)
{
	struct thread_ranges *thread = thread__enter();
	struct log *log;
	int depth;

	if (!thread)
		return NVTX_ABI_NO_PUSH_POP;
	pthread_mutex_lock(&thread->mutex);
	log = thread__look(thread);
	depth = thread__depth(thread, domain);
	if (!thread__push(thread, domain, name))
		depth += (int)thread->nr_left_out - 1;
	else if (log)
		tell(log, GPU_LOG_NVTX_PUSH, thread->tid, domain, name, 0);
	if (log && thread->nr_left_out)
		thread__warn(thread, log);
	pthread_mutex_unlock(&thread->mutex);
	thread__leave(thread);
	return depth;
}

/* With its mutex. False: none of the domain is open. */
static bool thread__pop(struct thread_ranges *thread, const char *domain)
{
	size_t i = thread->nr;

	while (i && !range__is_of(&thread->open[i - 1], domain))
		i--;
	if (!i)
		return false;
	free(thread->open[i - 1].longer);
	memmove(&thread->open[i - 1], &thread->open[i],
		(thread->nr - i) * sizeof(*thread->open));
	thread->nr--;
	return true;
}

int nvtx_open__pop(const char *domain)
{
	struct thread_ranges *thread = thread__enter();
	struct log *log;
	int depth;

	if (!thread)
		return NVTX_ABI_NO_PUSH_POP;
	pthread_mutex_lock(&thread->mutex);
	log = thread__look(thread);
	if (thread->nr_left_out) {
		depth = thread__depth(thread, domain) + (int)--thread->nr_left_out;
	} else if (thread__pop(thread, domain)) {
		depth = thread__depth(thread, domain);
		if (log)
			tell(log, GPU_LOG_NVTX_POP, thread->tid, domain, NULL, 0);
	} else {
		depth = -1;
	}
	pthread_mutex_unlock(&thread->mutex);
	thread__leave(thread);
	return depth;
}

void nvtx_open__mark(const char *domain, const char *name)
{
	struct thread_ranges *thread;
	struct log *log;

	if (!atomic_load(&recording_log))
		return;
	thread = thread__enter();
	if (!thread)
		return;
	pthread_mutex_lock(&thread->mutex);
	log = atomic_load(&recording_log);
	if (log)
		tell(log, GPU_LOG_NVTX_MARK, thread->tid, domain, name, 0);
	pthread_mutex_unlock(&thread->mutex);
	thread__leave(thread);
}

/* --- the process ------------------------------------------------------------------------ */

uint64_t nvtx_open__new_id(void)
{
	return OWN_ID_BITS | (atomic_fetch_add(&newest_id, 1) + 1);
}

bool nvtx_open__is_own_id(uint64_t id)
{
	return id >> 48 == OWN_ID_BITS >> 48;
}

static struct process_range **process__list(uint64_t id)
{
	return &process.lists[(id * 0x9e3779b97f4a7c15u >> 32) % NR_LISTS];
}

static void process__tell_all(struct log *log, enum gpu_log_nvtx_operation operation,
			      uint32_t tid)
{
	for (size_t i = 0; i < NR_LISTS; i++)
		for (struct process_range *it = process.lists[i]; it; it = it->next)
			tell(log, operation, tid, it->range.domain,
			     operation == GPU_LOG_NVTX_START ? range__name(&it->range)
							     : NULL,
			     it->log_id);
}

/* As thread__look(); of thread @tid */
static struct log *process__look(uint32_t tid)
{
	struct log *log = atomic_load(&recording_log);

	if (process.told && process.told != log) {
		process__tell_all(process.told, GPU_LOG_NVTX_END, tid);
		process.told = NULL;
	}
	if (log && !process.told) {
		process__tell_all(log, GPU_LOG_NVTX_START, tid);
		process.told = log;
	}
	return log;
}

static void process__warn(struct log *log)
{
	if (process.is_too_many_told)
		return;
	process.is_too_many_told = true;
	log__message(log, GPU_LOG_WARNING,
		     "more than %d NVTX ranges are started and not ended: others are not "
		     "recorded",
		     NVTX_MAX_PROCESS_RANGES);
}

/* With its mutex; NULL if there is no room. */
static struct process_range *process__add(const char *domain, const char *name,
					  uint64_t id)
{
	struct process_range **list = process__list(id);
	struct process_range *added = NULL;

	if (process.nr < NVTX_MAX_PROCESS_RANGES)
		added = malloc(sizeof(*added));
	if (!added)
		return NULL;
	range__init(&added->range, domain, name);
	added->id = id;
	added->log_id = ++process.newest_log_id;
	added->next = *list;
	*list = added;
	process.nr++;
	return added;
}

void nvtx_open__start(const char *domain, const char *name, uint64_t id)
{
	struct thread_ranges *thread = thread__enter();
	struct process_range *added;
	struct log *log;

	if (!thread)
		return;
	pthread_mutex_lock(&process.mutex);
	log = process__look(thread->tid);
	added = process__add(domain, name, id);
	if (log && added)
		tell(log, GPU_LOG_NVTX_START, thread->tid, domain, name, added->log_id);
	else if (log)
		process__warn(log);
	pthread_mutex_unlock(&process.mutex);
	thread__leave(thread);
}

void nvtx_open__end(const char *domain, uint64_t id)
{
	struct thread_ranges *thread = thread__enter();
	struct process_range **place, *ended;
	struct log *log;

	if (!thread)
		return;
	pthread_mutex_lock(&process.mutex);
	log = process__look(thread->tid);
	place = process__list(id);
	while (*place && ((*place)->id != id || !range__is_of(&(*place)->range, domain)))
		place = &(*place)->next;
	ended = *place;
	if (ended) {
		*place = ended->next;
		process.nr--;
		if (log)
			tell(log, GPU_LOG_NVTX_END, thread->tid, domain, NULL,
			     ended->log_id);
		free(ended->range.longer);
		free(ended);
	}
	pthread_mutex_unlock(&process.mutex);
	thread__leave(thread);
}

/* --- recording ---------------------------------------------------------------------------- */

/* All look whether they are to be recorded. */
static void turn_to(struct log *log)
{
	int cancel_state = no_cancel__begin();

	atomic_store(&recording_log, log);
	pthread_mutex_lock(&list_mutex);
	for (struct thread_ranges *thread = first_thread; thread; thread = thread->next) {
		pthread_mutex_lock(&thread->mutex);
		thread__look(thread);
		pthread_mutex_unlock(&thread->mutex);
	}
	pthread_mutex_unlock(&list_mutex);
	pthread_mutex_lock(&process.mutex);
	process__look((uint32_t)gettid());
	pthread_mutex_unlock(&process.mutex);
	no_cancel__end(cancel_state);
}

void nvtx_open__record(struct log *log)
{
	turn_to(log);
}

void nvtx_open__stop(void)
{
	turn_to(NULL);
}

void nvtx_open__after_fork(void)
{
	const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	atomic_store(&recording_log, NULL);
	list_mutex = fresh;
	first_thread = mine;
	if (mine) {
		mine->next = mine->previous = NULL;
		mine->tid = (uint32_t)gettid();
		mine->told = NULL;
		mine->mutex = fresh;
	}
	/* Held: its owner, who isn't here, was changing what is in there. */
	if (pthread_mutex_trylock(&process.mutex)) {
		memset(process.lists, 0, sizeof(process.lists));
		process.nr = 0;
	}
	process.mutex = fresh;
	process.told = NULL;
}
