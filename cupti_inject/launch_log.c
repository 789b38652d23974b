// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two locks: `mutex` is held while a record is appended to the block `filling`,
 * `writing` while the block `full` is written. Who holds the first may wait for the
 * second, never the other way round; and who holds either never for the process's log.
 */
#include "launch_log.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "block_file.h"
#include "intern.h"
#include "maps.h"
#include "marker.h"

/* Stacks are forgotten, and written again, when they take more: 100,000 of 40 frames. */
#define MAX_STACK_BYTES (32u << 20)

/*
 * A new stack with an address that isn't mapped has the mappings read, so often; then,
 * and when they can't be read, at most once in so long a time.
 */
#define MAX_VAIN_UPDATES      16
#define VAIN_UPDATE_PERIOD_NS 1000000000

struct launch_log {
	pthread_mutex_t mutex; /* of everything but the next four */
	pthread_mutex_t writing; /* of these */
	struct block_file *file; /* NULL: closed */
	int write_err; /* of the last write */
	struct block *full; /* to be written; NULL: none */
	struct block *filling;
	struct block *spare; /* NULL while it is `full` */
	uint64_t time_ns; /* what launches' times are counted from */
	uint64_t nr_lost; /* launches there was no room for */
	struct intern stacks;
	struct maps *maps; /* NULL in a forked child, whose launches have no frames */
	unsigned int nr_vain_updates;
	bool has_failed; /* the last update did */
	int untold_err; /* why it did, if the log doesn't say so yet */
	uint64_t updated_ns; /* when mappings were read */
	struct log *log; /* to say so */
	struct gpu_log_process process;
	struct gpu_log_namespace namespace;
	struct block
		*own_blocks; /* where the recorder hasn't them, too; NULL: not needed */
};

/* What is known of a thread: its id, and the id of the log that has its name. */
struct thread {
	uint32_t tid;
	uint64_t named_in;
	char comm[16];
};

static uint64_t monotonic_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* As log__is_others() in log.c has it */
static bool is_others(const struct launch_log *log)
{
	return !log->process.is_forked && fork_page__is_copy();
}

static void unlock(struct launch_log *log)
{
	if (!is_others(log))
		block__settle(log->filling);
	pthread_mutex_unlock(&log->mutex);
}

/* Write the full block, if there is one. With `writing` held. */
static int write_full(struct launch_log *log)
{
	int err;

	if (!log->full)
		return 0;
	if (!log->file || is_others(log))
		return -EBADF;
	err = block_file__write(log->file, log->full);
	log->write_err = err;
	if (err)
		return err;
	log->spare = log->full;
	log->full = NULL;
	return 0;
}

/* Go on with an empty block. With `mutex` held. 0, or -errno if none gets empty. */
static int switch_blocks(struct launch_log *log)
{
	int err;

	pthread_mutex_lock(&log->writing);
	err = write_full(log);
	if (!err) {
		block__settle(log->filling);
		log->full = log->filling;
		log->filling = log->spare;
		log->spare = NULL;
	}
	pthread_mutex_unlock(&log->writing);
	return err;
}

static void *reserve(struct launch_log *log, enum gpu_log_type type, size_t size)
{
	void *record;

	if (is_others(log))
		return NULL;
	record = block__reserve(log->filling, type, size);
	if (!record && !switch_blocks(log))
		record = block__reserve(log->filling, type, size);
	return record;
}

static int append(struct launch_log *log, enum gpu_log_type type, const void *record,
		  size_t size)
{
	struct gpu_log_record *to = reserve(log, type, size);

	if (!to)
		return -ENOSPC;
	memcpy(to + 1, (const struct gpu_log_record *)record + 1, size - sizeof(*to));
	return 0;
}

static int append_map(void *ctx, const struct map *map)
{
	struct launch_log *log = ctx;
	size_t nr_bytes = strnlen(map->path, GPU_LOG_MAX_STRING);
	struct gpu_log_map *to;

	to = reserve(log, GPU_LOG_MAP, sizeof(*to) + nr_bytes + 1);
	if (!to)
		return -ENOSPC;
	memcpy(&to->rec + 1, &map->record.rec + 1,
	       sizeof(map->record) - sizeof(map->record.rec));
	to->time_ns = log->updated_ns;
	to->nr_bytes = (uint32_t)nr_bytes;
	memcpy(to->path, map->path, nr_bytes);
	return 0;
}

/* Without mappings, launches are recorded all the same. */
static void update_maps(struct launch_log *log, uint64_t now_ns)
{
	int err;

	if (log->has_failed && now_ns - log->updated_ns < VAIN_UPDATE_PERIOD_NS)
		return;
	log->updated_ns = now_ns;
	err = maps__update(log->maps, append_map, log);
	if (err && !log->has_failed)
		log->untold_err = err;
	log->has_failed = err;
}

/* The address of a stack that is in no mapping as far as is known; else 0. */
static uint64_t find_unmapped(const struct launch_log *log,
			      const struct launch_stack *stack)
{
	for (uint32_t i = 0; i < stack->nr_frames; i++) {
		if (GPU_LOG_FRAME_KIND(stack->frames[i]) == GPU_LOG_FRAME_ADDRESS &&
		    !maps__has(log->maps, stack->frames[i]))
			return stack->frames[i];
	}
	return 0;
}

/* Code may have been made, or mapped without the dynamic linker, since the last look. */
static void map_frames(struct launch_log *log, const struct launch_stack *stack,
		       uint64_t now_ns)
{
	uint64_t address = find_unmapped(log, stack);

	if (!address || (log->nr_vain_updates >= MAX_VAIN_UPDATES &&
			 now_ns - log->updated_ns < VAIN_UPDATE_PERIOD_NS))
		return;
	update_maps(log, now_ns);
	if (!maps__has(log->maps, address))
		log->nr_vain_updates++;
}

/* Names change seldom: looked at with each new stack. */
static int name_thread(struct launch_log *log, struct thread *thread, uint64_t now_ns)
{
	struct gpu_log_thread record = {.tid = thread->tid, .time_ns = now_ns};
	int err;

	prctl(PR_GET_NAME, record.comm);
	record.comm[sizeof(record.comm) - 1] = '\0';
	if (thread->named_in == log__id(log->log) && !strcmp(record.comm, thread->comm))
		return 0;
	err = append(log, GPU_LOG_THREAD, &record, sizeof(record));
	if (err)
		return err;
	memcpy(thread->comm, record.comm, sizeof(thread->comm));
	thread->named_in = log__id(log->log);
	return 0;
}

/* Id of a stack, which is written if it is new; 0 if there is no room. */
static uint32_t stack_id(struct launch_log *log, struct thread *thread,
			 const struct launch_stack *stack, uint64_t hash, uint64_t now_ns)
{
	const size_t nr_bytes = offsetof(struct launch_stack, frames) +
				stack->nr_frames * sizeof(*stack->frames);
	struct gpu_log_stack *to;
	uint32_t id;

	id = intern__find_hashed(&log->stacks, hash, stack, nr_bytes);
	if (id)
		return id;
	if (log->stacks.nr_key_bytes > MAX_STACK_BYTES)
		intern__forget(&log->stacks);
	if (log->maps)
		map_frames(log, stack, now_ns);
	if (name_thread(log, thread, now_ns))
		return 0;
	to = reserve(log, GPU_LOG_STACK, offsetof(struct gpu_log_stack, tid) + nr_bytes);
	if (!to)
		return 0;
	to->stack = intern__next_id(&log->stacks);
	memcpy(&to->tid, stack, nr_bytes);
	return intern__add(&log->stacks, stack, nr_bytes);
}

/* The time from the last GPU_LOG_TIME, or from a new one. */
static int offset_time(struct launch_log *log, uint64_t now_ns, int32_t *ret)
{
	struct gpu_log_time record = {.time_ns = now_ns};
	int64_t offset_ns = (int64_t)(now_ns - log->time_ns);
	int err;

	if (offset_ns < INT32_MIN || offset_ns > INT32_MAX) {
		err = append(log, GPU_LOG_TIME, &record, sizeof(record));
		if (err)
			return err;
		log->time_ns = now_ns;
		offset_ns = 0;
	}
	*ret = (int32_t)offset_ns;
	return 0;
}

static int append_launch(struct launch_log *log, uint64_t key, struct thread *thread,
			 const struct launch_stack *stack, uint64_t hash, uint64_t now_ns)
{
	struct gpu_log_launch launch = {.correlation_id = key,
					.cpu = (uint32_t)sched_getcpu()};
	int err;

	/* It may have the id, and the stacks, of one that has ended. */
	if (thread->named_in != log__id(log->log)) {
		err = name_thread(log, thread, now_ns);
		if (err)
			return err;
	}
	launch.stack = stack_id(log, thread, stack, hash, now_ns);
	if (!launch.stack)
		return -ENOSPC;
	err = offset_time(log, now_ns, &launch.offset_ns);
	if (err)
		return err;
	return append(log, GPU_LOG_LAUNCH, &launch, sizeof(launch));
}

/* This thread, of this process: a forked child inherits its parent's. */
static struct thread *current_thread(struct thread *forked)
{
	static _Thread_local struct thread thread;

	if (fork_page__is_forked()) {
		*forked = (struct thread){.tid = (uint32_t)gettid()};
		return forked;
	}
	if (!thread.tid)
		thread.tid = (uint32_t)gettid();
	return &thread;
}

void launch_log__launch(struct launch_log *log, uint64_t key, struct launch_stack *stack)
{
	const size_t nr_bytes = offsetof(struct launch_stack, frames) +
				stack->nr_frames * sizeof(*stack->frames);
	struct thread forked, *thread = current_thread(&forked);
	bool have_maps_changed = log->maps && maps__have_changed(log->maps);
	uint64_t now_ns, hash;
	int untold_err;

	stack->tid = thread->tid;
	stack->pad = 0;
	hash = intern__hash(stack, nr_bytes);
	pthread_mutex_lock(&log->mutex);
	/* With the lock: later than all that was told of mappings so far. */
	now_ns = monotonic_ns();
	if (have_maps_changed && maps__have_changed(log->maps))
		update_maps(log, now_ns);
	if (append_launch(log, key, thread, stack, hash, now_ns))
		log->nr_lost++;
	untold_err = log->untold_err;
	log->untold_err = 0;
	unlock(log);
	if (untold_err)
		log__message(log->log, GPU_LOG_WARNING,
			     "can't tell what /proc/self/maps has: %s: what was loaded "
			     "since has no names",
			     strerror(-untold_err));
}

/* What a log begins with */
static void append_process(struct launch_log *log)
{
	append(log, GPU_LOG_PROCESS, &log->process, sizeof(log->process));
	append(log, GPU_LOG_NAMESPACE, &log->namespace, sizeof(log->namespace));
}

/* Two, which the recorder has, too, if it can be; NULL: there is no memory for them. */
static struct block *find_blocks(struct launch_log *launches)
{
	struct log_memory *memory = log__shared(launches->log);

	if (memory) {
		block_file__note_in(launches->file,
				    &memory->files[LOG_MEMORY_LAUNCH_LOG]);
		return memory->launch_blocks;
	}
	if (!launches->own_blocks)
		launches->own_blocks =
			calloc(LOG_MEMORY_LAUNCH_BLOCKS, sizeof(*launches->own_blocks));
	return launches->own_blocks;
}

/* A log that is closed, and whose locks are held or not yet there. */
static int begin(struct launch_log *launches, const char *spool, uint64_t session)
{
	const uint64_t log_id = log__id(launches->log);
	struct block *blocks;
	int err;

	err = block_file__open(spool, log_id, BLOCK_FILE_LAUNCH_LOG, &launches->file);
	if (err)
		return err;
	blocks = find_blocks(launches);
	if (!blocks) {
		block_file__close(launches->file);
		launches->file = NULL;
		return -ENOMEM;
	}
	for (int i = 0; i < LOG_MEMORY_LAUNCH_BLOCKS; i++) {
		block__init(&blocks[i], session, log_id);
		block_file__begin(launches->file, &blocks[i]);
	}
	launches->filling = &blocks[0];
	launches->spare = &blocks[1];
	launches->full = NULL;
	launches->time_ns = 0;
	append_process(launches);
	return 0;
}

static void flush(void *log)
{
	launch_log__flush(log);
}

int launch_log__open(const char *spool, uint64_t session, struct log *log,
		     struct launch_log **ret)
{
	struct launch_log *launches;
	int err;

	launches = calloc(1, sizeof(*launches));
	if (!launches)
		return -ENOMEM;
	launches->log = log;
	log__get_process(log, &launches->process);
	log__get_namespace(log, &launches->namespace);
	/* In a forked child, locks of the dynamic linker's may be held by nobody. */
	err = launches->process.is_forked ? 0 : maps__new(&launches->maps);
	if (!err)
		err = begin(launches, spool, session);
	if (err) {
		free(launches->maps);
		free(launches);
		return err;
	}
	pthread_mutex_init(&launches->mutex, NULL);
	pthread_mutex_init(&launches->writing, NULL);
	log__write_behind(log, flush, launches);
	*ret = launches;
	return 0;
}

int launch_log__reopen(struct launch_log *log, const char *spool, uint64_t session)
{
	struct gpu_log_namespace namespace;
	struct gpu_log_process process;
	int err;

	log__get_process(log->log, &process);
	log__get_namespace(log->log, &namespace);
	pthread_mutex_lock(&log->mutex);
	pthread_mutex_lock(&log->writing);
	log->process = process;
	log->namespace = namespace;
	log->nr_lost = 0;
	log->nr_vain_updates = 0;
	log->has_failed = false;
	log->untold_err = 0;
	maps__forget(log->maps);
	intern__clear(&log->stacks);
	err = begin(log, spool, session);
	pthread_mutex_unlock(&log->writing);
	unlock(log);
	return err;
}

void launch_log__close(struct launch_log *log)
{
	pthread_mutex_lock(&log->mutex);
	pthread_mutex_lock(&log->writing);
	block_file__close(log->file);
	log->file = NULL;
	intern__clear(&log->stacks);
	pthread_mutex_unlock(&log->writing);
	unlock(log);
}

static void tell_losses(struct launch_log *log)
{
	struct gpu_log_loss loss = {.kind = GPU_LOG_LOSS_LAUNCH,
				    .nr_records = log->nr_lost};

	if (log->nr_lost && !append(log, GPU_LOG_LOSS, &loss, sizeof(loss)))
		log->nr_lost = 0;
}

void launch_log__flush(struct launch_log *log)
{
	pthread_mutex_lock(&log->mutex);
	tell_losses(log);
	switch_blocks(log);
	unlock(log);

	pthread_mutex_lock(&log->writing);
	write_full(log);
	pthread_mutex_unlock(&log->writing);
}

static void drop_block(struct launch_log *log, struct block *block)
{
	const struct gpu_log_record *record = NULL;

	while ((record = block__next(block, record))) {
		const struct gpu_log_loss *loss = (const void *)record;

		if (record->type == GPU_LOG_LOSS)
			log->nr_lost += loss->nr_records;
		log->nr_lost += record->type == GPU_LOG_LAUNCH;
	}
	block__empty(block);
}

/*
 * What can't be written becomes a loss; a full disk mostly has the few bytes that tell
 * of it, in the file's last page. With `mutex` held.
 */
static void drop_unwritten(struct launch_log *log)
{
	pthread_mutex_lock(&log->writing);
	if (log->full) {
		drop_block(log, log->full);
		if (log->file) /* behind the other one */
			block_file__begin(log->file, log->full);
		log->spare = log->full;
		log->full = NULL;
		drop_block(log, log->filling);
		intern__forget(&log->stacks);
		log->time_ns = 0;
	}
	pthread_mutex_unlock(&log->writing);
	append_process(log);
}

/* 0, or -ENOSPC if there is no room for it */
static int append_end(struct launch_log *log, uint64_t nr_launches)
{
	struct gpu_log_end end = {.nr_launches = nr_launches};

	tell_losses(log);
	return append(log, GPU_LOG_END, &end, sizeof(end));
}

void launch_log__end(struct launch_log *log, uint64_t nr_launches)
{
	int err;

	pthread_mutex_lock(&log->mutex);
	err = append_end(log, nr_launches);
	unlock(log);
	launch_log__flush(log);

	pthread_mutex_lock(&log->mutex);
	if (log->full &&
	    (err || !log__shared(log->log) || block_file__is_full(log->write_err))) {
		drop_unwritten(log);
		append_end(log, nr_launches);
	}
	unlock(log);
	launch_log__flush(log);
}
