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
	uint32_t tid; /* first: key */
	struct comm_event *comm; /* NULL: not known */
};

struct map {
	struct map *older, *newer; /* of the process's; NULL: there is none */
	struct perfdata_mmap2 *event;
};

struct process {
	uint32_t pid; /* first: key */
	bool has_left; /* its first thread has */
	void *threads; /* a tree of tsearch(3), by tid */
	struct map *oldest, *newest; /* a list, in the order in which they came */
	/*
	 * The same, the highest addresses first: the kernel gives out ever lower ones, so
	 * what is new comes at the end, mostly.
	 */
	struct map **by_address;
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

static void free_map(struct task_state *state, struct process *process, struct map *map)
{
	*(map->older ? &map->older->newer : &process->oldest) = map->newer;
	*(map->newer ? &map->newer->older : &process->newest) = map->older;
	free_event(state, map->event);
	free(map);
}

static void drop_maps(struct task_state *state, struct process *process)
{
	for (size_t i = 0; i < process->nr_maps; i++)
		free_map(state, process, process->by_address[i]);
	process->nr_maps = 0;
}

static int compare_threads(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void drop_thread(struct task_state *state, struct process *process,
			struct thread *thread)
{
	tdelete(thread, &process->threads, compare_threads);
	free_event(state, thread->comm);
	free(thread);
}

static void drop_threads(struct task_state *state, struct process *process)
{
	while (process->threads)
		drop_thread(state, process, *(struct thread **)process->threads);
}

static void drop_process(struct task_state *state, struct process *process)
{
	tdelete(process, &state->processes, compare_processes);
	drop_maps(state, process);
	drop_threads(state, process);
	free(process->by_address);
	free(process);
}

static struct thread *find_thread(const struct process *process, uint32_t tid)
{
	const struct thread key = {.tid = tid};
	struct thread **found = tfind(&key, &process->threads, compare_threads);

	return found ? *found : NULL;
}

static struct thread *add_thread(struct task_state *state, struct process *process,
				 uint32_t tid)
{
	struct thread *thread = find_thread(process, tid);

	if (thread)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (thread) {
		thread->tid = tid;
		if (tsearch(thread, &process->threads, compare_threads))
			return thread;
		free(thread);
	}
	state->nr_forgotten++;
	return NULL;
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

/* The first of the mappings that begin below an address */
static size_t find_below(const struct process *process, uint64_t address)
{
	size_t low = 0, high = process->nr_maps;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (process->by_address[middle]->event->addr >= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Those from @from up to @to are left out of the order by address. */
static void close_gap(struct process *process, size_t from, size_t to)
{
	memmove(&process->by_address[from], &process->by_address[to],
		(process->nr_maps - to) * sizeof(*process->by_address));
	process->nr_maps -= to - from;
}

static void drop_oldest(struct task_state *state, struct process *process)
{
	struct map *oldest = process->oldest;
	size_t at = find_below(process, oldest->event->addr);

	/* Of several that begin there, it is none or some before. */
	while (process->by_address[--at] != oldest)
		;
	close_gap(process, at, at + 1);
	free_map(state, process, oldest);
	state->nr_forgotten++;
}

static uint64_t end_of(const struct perfdata_mmap2 *event)
{
	return event->bytes > UINT64_MAX - event->addr ? UINT64_MAX
						       : event->addr + event->bytes;
}

/* A mapping replaces those whose place it takes. */
static void drop_covered(struct task_state *state, struct process *process,
			 const struct perfdata_mmap2 *event)
{
	const uint64_t end = end_of(event);
	const size_t first = find_below(process, end);
	const size_t last = find_below(process, event->addr);
	size_t to = first;

	for (size_t i = first; i < last; i++) {
		struct map *map = process->by_address[i];

		if (end_of(map->event) <= end)
			free_map(state, process, map);
		else
			process->by_address[to++] = map;
	}
	if (first < last)
		close_gap(process, to, last);
}

/* The copy becomes the process's, if there is room. */
static void add_map(struct task_state *state, struct process *process,
		    struct perfdata_mmap2 *copy)
{
	struct map *map = malloc(sizeof(*map));
	size_t at;

	if (!map || array__grow(&process->by_address, process->nr_maps,
				&process->maps_capacity, sizeof(map))) {
		free(map);
		free_event(state, copy);
		state->nr_forgotten++;
		return;
	}
	map->event = copy;
	map->newer = NULL;
	map->older = process->newest;
	*(map->older ? &map->older->newer : &process->oldest) = map;
	process->newest = map;
	at = find_below(process, copy->addr);
	memmove(&process->by_address[at + 1], &process->by_address[at],
		(process->nr_maps - at) * sizeof(map));
	process->by_address[at] = map;
	process->nr_maps++;
}

static void take_map(struct task_state *state, const struct perfdata_mmap2 *event)
{
	struct process *process = add_process(state, event->pid);
	struct perfdata_mmap2 *copy;

	if (!process)
		return;
	drop_covered(state, process, event);
	if (process->nr_maps == MAX_MAPS)
		drop_oldest(state, process);
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

static void copy_comm(struct task_state *state, const struct process *from,
		      uint32_t from_tid, struct process *to, uint32_t tid)
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
	for (const struct map *map = from->oldest; map; map = map->newer) {
		struct perfdata_mmap2 *copy = copy_event(state, map->event);

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
	if (thread)
		drop_thread(state, process, thread);
	process->has_left |= event->tid == event->pid;
	if (process->has_left && !process->threads)
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

static void write_thread(const void *node, VISIT visit, void *closure)
{
	const struct thread *thread = *(struct thread *const *)node;
	struct walk *walk = closure;

	if ((visit == postorder || visit == leaf) && thread->comm && !walk->err)
		walk->err = walk->write(walk->ctx, &thread->comm->header);
}

static void write_process(const void *node, VISIT visit, void *closure)
{
	const struct process *process = *(struct process *const *)node;
	struct walk *walk = closure;

	if (visit != postorder && visit != leaf)
		return;
	twalk_r(process->threads, write_thread, walk);
	for (const struct map *map = process->oldest; map && !walk->err; map = map->newer)
		walk->err = walk->write(walk->ctx, &map->event->header);
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
