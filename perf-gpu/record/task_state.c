// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A forked process has copies of its parent's records, with its own pid: the parent may be
 * another program by the time that they are written, or gone.
 */
#include "record/task_state.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/format.h"
#include "perfdata/sample.h"
#include "util/array.h"

/* vm.max_map_count's default: a process with more makes them up, or has unmapped some. */
#define MAX_MAPS 65530

/* Of the kernel's records; perf.data's format has only MMAP2 */
struct comm_event {
	struct perf_event_header header;
	uint32_t pid, tid;
};

/* FORK and EXIT */
struct task_event {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
};

struct waiting_task {
	uint64_t time_ns;
	size_t sequence; /* in which it came */
	struct perf_event_header *event;
};

struct thread {
	uint32_t tid;
	struct comm_event *comm; /* NULL: not known */
};

struct process {
	uint32_t pid; /* first: key */
	bool has_left; /* its first thread has */
	struct thread *threads;
	size_t nr_threads, threads_capacity;
	struct perfdata_mmap2 **maps; /* in their order */
	size_t nr_maps, maps_capacity;
};

static int compare_processes(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void *copy_event(struct task_state *state, const void *event)
{
	const struct perf_event_header *header = event;
	void *copy;

	copy = state->nr_bytes + header->size <= TASK_STATE_MAX_BYTES
		       ? malloc(header->size)
		       : NULL;
	if (!copy) {
		state->nr_forgotten++;
		return NULL;
	}
	state->nr_bytes += header->size;
	return memcpy(copy, event, header->size);
}

static void free_event(struct task_state *state, void *event)
{
	const struct perf_event_header *header = event;

	if (!event)
		return;
	state->nr_bytes -= header->size;
	free(event);
}

static struct process *find_process(const struct task_state *state, uint32_t pid)
{
	const struct process key = {.pid = pid};
	struct process **found = tfind(&key, &state->processes, compare_processes);

	return found ? *found : NULL;
}

static struct process *add_process(struct task_state *state, uint32_t pid)
{
	struct process *process = find_process(state, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (process) {
		process->pid = pid;
		if (tsearch(process, &state->processes, compare_processes))
			return process;
		free(process);
	}
	state->nr_forgotten++;
	return NULL;
}

static void drop_maps(struct task_state *state, struct process *process)
{
	for (size_t i = 0; i < process->nr_maps; i++)
		free_event(state, process->maps[i]);
	process->nr_maps = 0;
}

static void drop_threads(struct task_state *state, struct process *process)
{
	for (size_t i = 0; i < process->nr_threads; i++)
		free_event(state, process->threads[i].comm);
	process->nr_threads = 0;
}

static void drop_process(struct task_state *state, struct process *process)
{
	tdelete(process, &state->processes, compare_processes);
	drop_maps(state, process);
	drop_threads(state, process);
	free(process->maps);
	free(process->threads);
	free(process);
}

static struct thread *find_thread(struct process *process, uint32_t tid)
{
	for (size_t i = 0; i < process->nr_threads; i++)
		if (process->threads[i].tid == tid)
			return &process->threads[i];
	return NULL;
}

static struct thread *add_thread(struct task_state *state, struct process *process,
				 uint32_t tid)
{
	struct thread *thread = find_thread(process, tid);

	if (thread)
		return thread;
	if (array__grow(&process->threads, process->nr_threads,
			&process->threads_capacity, sizeof(*thread))) {
		state->nr_forgotten++;
		return NULL;
	}
	thread = &process->threads[process->nr_threads++];
	*thread = (struct thread){.tid = tid};
	return thread;
}

static void take_comm(struct task_state *state, const struct comm_event *event)
{
	struct process *process = add_process(state, event->pid);
	struct thread *thread;

	if (!process)
		return;
	/* Another program, which has nothing of the one before */
	if (event->header.misc & PERF_RECORD_MISC_COMM_EXEC) {
		drop_maps(state, process);
		drop_threads(state, process);
		process->has_left = false;
	}
	thread = add_thread(state, process, event->tid);
	if (!thread)
		return;
	free_event(state, thread->comm);
	thread->comm = copy_event(state, event);
}

/* The copy becomes the process's, if there is room. */
static void add_map(struct task_state *state, struct process *process,
		    struct perfdata_mmap2 *copy)
{
	if (!array__grow(&process->maps, process->nr_maps, &process->maps_capacity,
			 sizeof(copy))) {
		process->maps[process->nr_maps++] = copy;
		return;
	}
	free_event(state, copy);
	state->nr_forgotten++;
}

/* A mapping replaces those whose place it takes. */
static void take_map(struct task_state *state, const struct perfdata_mmap2 *event)
{
	struct process *process = add_process(state, event->pid);
	struct perfdata_mmap2 *copy;
	size_t nr = 0;

	if (!process)
		return;
	for (size_t i = 0; i < process->nr_maps; i++) {
		struct perfdata_mmap2 *map = process->maps[i];

		if (map->addr >= event->addr &&
		    map->addr + map->bytes <= event->addr + event->bytes)
			free_event(state, map);
		else
			process->maps[nr++] = map;
	}
	if (nr == MAX_MAPS) {
		free_event(state, process->maps[0]);
		memmove(process->maps, process->maps + 1, --nr * sizeof(*process->maps));
		state->nr_forgotten++;
	}
	process->nr_maps = nr;
	copy = copy_event(state, event);
	if (copy)
		add_map(state, process, copy);
}

/* Make a record that of another task, in its sample_id too. */
static void change_task(const struct task_state *state, struct perf_event_header *event,
			uint32_t pid, uint32_t tid)
{
	unsigned char trailer[64];
	struct perfdata_sample id;
	size_t bytes;

	((struct comm_event *)event)->pid = pid;
	((struct comm_event *)event)->tid = tid;
	if (perfdata_sample__parse_id(state->attr, event, &id))
		return;
	id.pid = pid;
	id.tid = tid;
	bytes = perfdata_sample__write_id(state->attr, &id, trailer);
	if (bytes <= event->size)
		memcpy((char *)event + event->size - bytes, trailer, bytes);
}

static void copy_comm(struct task_state *state, struct process *from, uint32_t from_tid,
		      struct process *to, uint32_t tid)
{
	struct thread *source = find_thread(from, from_tid), *thread;
	struct comm_event *copy;

	if (!source || !source->comm)
		return;
	copy = copy_event(state, source->comm);
	thread = copy ? add_thread(state, to, tid) : NULL;
	if (!thread) {
		free_event(state, copy);
		return;
	}
	/* It has executed nothing. */
	copy->header.misc &= (uint16_t)~PERF_RECORD_MISC_COMM_EXEC;
	change_task(state, &copy->header, to->pid, tid);
	free_event(state, thread->comm);
	thread->comm = copy;
}

static void copy_maps(struct task_state *state, const struct process *from,
		      struct process *to)
{
	for (size_t i = 0; i < from->nr_maps; i++) {
		struct perfdata_mmap2 *copy = copy_event(state, from->maps[i]);

		if (!copy)
			continue;
		change_task(state, &copy->header, to->pid, to->pid);
		add_map(state, to, copy);
	}
}

static void take_fork(struct task_state *state, const struct task_event *event)
{
	struct process *parent = find_process(state, event->ppid), *child;

	if (event->pid == event->ppid) {
		if (parent)
			copy_comm(state, parent, event->ptid, parent, event->tid);
		return;
	}
	child = find_process(state, event->pid);
	/* Of an earlier process with its pid */
	if (child)
		drop_process(state, child);
	child = add_process(state, event->pid);
	if (!child || !parent)
		return;
	copy_comm(state, parent, event->ptid, child, event->tid);
	copy_maps(state, parent, child);
}

static void take_exit(struct task_state *state, const struct task_event *event)
{
	struct process *process = find_process(state, event->pid);
	struct thread *thread;

	if (!process)
		return;
	thread = find_thread(process, event->tid);
	if (thread) {
		free_event(state, thread->comm);
		*thread = process->threads[--process->nr_threads];
	}
	process->has_left |= event->tid == event->pid;
	if (process->has_left && !process->nr_threads)
		drop_process(state, process);
}

/* In the order of time */
static void apply(struct task_state *state, const struct perf_event_header *event)
{
	switch (event->type) {
	case PERF_RECORD_COMM:
		if (event->size >= sizeof(struct comm_event))
			take_comm(state, (const void *)event);
		break;
	case PERF_RECORD_MMAP2:
		if (event->size >= sizeof(struct perfdata_mmap2))
			take_map(state, (const void *)event);
		break;
	case PERF_RECORD_FORK:
		if (event->size >= sizeof(struct task_event))
			take_fork(state, (const void *)event);
		break;
	case PERF_RECORD_EXIT:
		if (event->size >= sizeof(struct task_event))
			take_exit(state, (const void *)event);
		break;
	default:
		break;
	}
}

void task_state__take(struct task_state *state, const struct perf_event_header *event,
		      uint64_t time_ns)
{
	struct perf_event_header *copy = copy_event(state, event);

	if (!copy)
		return;
	if (array__grow(&state->waiting, state->nr_waiting, &state->waiting_capacity,
			sizeof(*state->waiting))) {
		free_event(state, copy);
		state->nr_forgotten++;
		return;
	}
	state->waiting[state->nr_waiting] = (struct waiting_task){
		.time_ns = time_ns, .sequence = state->nr_waiting, .event = copy};
	state->nr_waiting++;
}

static int compare_waiting(const void *a, const void *b)
{
	const struct waiting_task *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

void task_state__settle(struct task_state *state, uint64_t time_ns)
{
	size_t nr = 0;

	if (!state->nr_waiting)
		return;
	qsort(state->waiting, state->nr_waiting, sizeof(*state->waiting),
	      compare_waiting);
	for (; nr < state->nr_waiting && state->waiting[nr].time_ns < time_ns; nr++) {
		apply(state, state->waiting[nr].event);
		free_event(state, state->waiting[nr].event);
	}
	state->nr_waiting -= nr;
	memmove(state->waiting, state->waiting + nr,
		state->nr_waiting * sizeof(*state->waiting));
	for (size_t i = 0; i < state->nr_waiting; i++)
		state->waiting[i].sequence = i;
}

struct walk {
	int (*write)(void *ctx, const struct perf_event_header *event);
	void *ctx;
	int err;
};

static void write_process(const void *node, VISIT visit, void *closure)
{
	const struct process *process = *(struct process *const *)node;
	struct walk *walk = closure;

	if (visit != postorder && visit != leaf)
		return;
	for (size_t i = 0; i < process->nr_threads && !walk->err; i++)
		if (process->threads[i].comm)
			walk->err =
				walk->write(walk->ctx, &process->threads[i].comm->header);
	for (size_t i = 0; i < process->nr_maps && !walk->err; i++)
		walk->err = walk->write(walk->ctx, &process->maps[i]->header);
}

int task_state__write(const struct task_state *state,
		      int (*write)(void *ctx, const struct perf_event_header *event),
		      void *ctx)
{
	struct walk walk = {.write = write, .ctx = ctx};

	twalk_r(state->processes, write_process, &walk);
	for (size_t i = 0; i < state->nr_waiting && !walk.err; i++)
		walk.err = write(ctx, state->waiting[i].event);
	return walk.err;
}

void task_state__release(struct task_state *state)
{
	while (state->processes)
		drop_process(state, *(struct process **)state->processes);
	for (size_t i = 0; i < state->nr_waiting; i++)
		free_event(state, state->waiting[i].event);
	free(state->waiting);
	state->waiting = NULL;
	state->nr_waiting = state->waiting_capacity = 0;
}
