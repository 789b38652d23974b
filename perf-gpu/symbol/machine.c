// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replays the side-band of a perf.data into address spaces and thread names.
 *
 *   machine ── processes by pid ── maps
 *      ├────── threads by (pid, tid) ── name
 *      └────── dsos by path ── dso, one for all processes; anonymous memory has
 *               and build id   one per process, since its names come from there
 *
 * Nothing is dropped on EXIT: samples of the last moments may follow, and who
 * gets the pid next begins with FORK, which replaces the maps.
 *
 * One thread.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "perfdata/format.h"
#include "perfdata/mmap2.h"
#include "symbol/machine.h"
#include "symbol/symbol_files.h"
#include "util/hash_index.h"

struct process {
	uint32_t pid; /* first: key */
	uint32_t nr_execs;
	struct maps *maps; /* NULL: none */
	const struct dso *program; /* NULL: not known */
};

struct thread {
	uint32_t pid, tid; /* first: key */
	char *comm;
};

struct dso_node {
	const char *path; /* first: key */
	uint32_t pid; /* 0: of every process */
	struct build_id id; /* none: not known */
	struct dso *dso;
};

/*
 * Maps that were found a short while ago, by process and page: a walk down two trees takes
 * eight times as long, and who looks at a callchain asks for each of its addresses.
 */
#define NR_FOUND  256
#define PAGE_BITS 12

struct found_map {
	uint64_t nr_map_changes; /* as of which it was found; until the next it stays */
	uint32_t pid;
	const struct map *map; /* NULL: none */
};

struct machine {
	struct symbol_files *files;
	struct found_map *found;
	uint64_t nr_map_changes, nr_comm_changes;
	/* Roots of tsearch(3) trees. */
	void *processes;
	void *threads;
	void *dsos;
};

/* The bodies of the records that matter (linux/perf_event.h). */
struct record_mmap {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	char filename[];
};

struct record_comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

struct record_fork {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

_Static_assert(sizeof(struct record_mmap) == 40, "perf_event.h");
_Static_assert(sizeof(struct record_comm) == 16, "perf_event.h");
_Static_assert(sizeof(struct record_fork) == 32, "perf_event.h");

static int compare_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int process__compare(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return compare_u32(x->pid, y->pid);
}

static int thread__compare(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;
	int order = compare_u32(x->pid, y->pid);

	return order ? order : compare_u32(x->tid, y->tid);
}

static int dso_node__compare(const void *a, const void *b)
{
	const struct dso_node *x = a, *y = b;
	int order = compare_u32(x->pid, y->pid);

	order = order ? order : strcmp(x->path, y->path);
	return order ? order : memcmp(x->id.bytes, y->id.bytes, sizeof(x->id.bytes));
}

static void process__delete(void *node)
{
	struct process *process = node;

	maps__put(process->maps);
	free(process);
}

static void thread__delete(void *node)
{
	struct thread *thread = node;

	free(thread->comm);
	free(thread);
}

static void dso_node__delete(void *node)
{
	struct dso_node *dso_node = node;

	dso__delete(dso_node->dso);
	free(dso_node);
}

int machine__new(const char *symfs, struct machine **ret)
{
	struct machine *machine = calloc(1, sizeof(*machine));

	if (machine)
		machine->found = calloc(NR_FOUND, sizeof(*machine->found));
	if (!machine || !machine->found || symbol_files__new(symfs, &machine->files)) {
		machine__delete(machine);
		return -ENOMEM;
	}
	*ret = machine;
	return 0;
}

void machine__delete(struct machine *machine)
{
	if (!machine)
		return;
	tdestroy(machine->processes, process__delete);
	tdestroy(machine->threads, thread__delete);
	tdestroy(machine->dsos, dso_node__delete);
	symbol_files__delete(machine->files);
	free(machine->found);
	free(machine);
}

void machine__set_store(struct machine *machine, const struct symbol_store *store)
{
	symbol_files__set_store(machine->files, store);
}

int machine__set_build_id(struct machine *machine, const char *path,
			  const struct build_id *id)
{
	return symbol_files__set_build_id(machine->files, path, id);
}

void machine__set_origin(struct machine *machine, const struct perf_map_origin *origin)
{
	symbol_files__set_origin(machine->files, origin);
}

struct dso_visitor {
	int (*visit)(struct dso *dso, void *context);
	void *context;
	int ret;
};

static void visit_dso(const void *node, VISIT order, void *closure)
{
	const struct dso_node *dso_node = *(struct dso_node *const *)node;
	struct dso_visitor *visitor = closure;

	if ((order == postorder || order == leaf) && !visitor->ret)
		visitor->ret = visitor->visit(dso_node->dso, visitor->context);
}

int machine__for_each_dso(const struct machine *machine,
			  int (*visit)(struct dso *dso, void *context), void *context)
{
	struct dso_visitor visitor = {.visit = visit, .context = context};

	twalk_r(machine->dsos, visit_dso, &visitor);
	return visitor.ret;
}

size_t machine__nr_stale_files(const struct machine *machine)
{
	return symbol_files__nr_stale(machine->files);
}

/* Finding and making what the records name */

static struct process *machine__find_process(const struct machine *machine, uint32_t pid)
{
	struct process key = {.pid = pid};
	struct process **node = tfind(&key, &machine->processes, process__compare);

	return node ? *node : NULL;
}

static struct process *machine__get_process(struct machine *machine, uint32_t pid)
{
	struct process *process = machine__find_process(machine, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	if (!tsearch(process, &machine->processes, process__compare)) {
		free(process);
		return NULL;
	}
	return process;
}

static struct thread *machine__find_thread(const struct machine *machine, uint32_t pid,
					   uint32_t tid)
{
	struct thread key = {.pid = pid, .tid = tid};
	struct thread **node = tfind(&key, &machine->threads, thread__compare);

	return node ? *node : NULL;
}

/* @comm may be the thread's present name. */
static int machine__set_comm(struct machine *machine, uint32_t pid, uint32_t tid,
			     const char *comm)
{
	struct thread *thread = machine__find_thread(machine, pid, tid);
	char *copy = strdup(comm);

	if (!copy)
		return -ENOMEM;
	machine->nr_comm_changes++;
	if (thread) {
		free(thread->comm);
		thread->comm = copy;
		return 0;
	}
	thread = calloc(1, sizeof(*thread));
	if (!thread) {
		free(copy);
		return -ENOMEM;
	}
	*thread = (struct thread){.pid = pid, .tid = tid, .comm = copy};
	if (!tsearch(thread, &machine->threads, thread__compare)) {
		thread__delete(thread);
		return -ENOMEM;
	}
	return 0;
}

/* @id: of the record; none: what is known of the path counts */
static int machine__get_dso(struct machine *machine, const char *path, uint32_t pid,
			    struct build_id id, struct dso **ret)
{
	struct dso_node key = {.path = path, .pid = dso__is_anonymous(path) ? pid : 0};
	const size_t path_bytes = strlen(path) + 1;
	struct dso_node **found, *node;

	key.id = id.nr_bytes ? id : symbol_files__build_id(machine->files, path);
	found = tfind(&key, &machine->dsos, dso_node__compare);
	if (found) {
		*ret = (*found)->dso;
		return 0;
	}
	/* The key needs the path of the record, which dso__path() needn't be. */
	node = calloc(1, sizeof(*node) + path_bytes);
	if (!node)
		return -ENOMEM;
	node->path = memcpy(node + 1, path, path_bytes);
	node->pid = key.pid;
	node->id = key.id;
	if (dso__new(path, pid, machine->files, &node->id, &node->dso) ||
	    !tsearch(node, &machine->dsos, dso_node__compare)) {
		dso_node__delete(node);
		return -ENOMEM;
	}
	*ret = node->dso;
	return 0;
}

/* Records */

/* The string at the end of a record, or NULL if the record ends before it does. */
static const char *record__string(const struct perf_event_header *record, size_t offset)
{
	const char *string = (const char *)record + offset;

	if (record->size <= offset || !memchr(string, '\0', record->size - offset))
		return NULL;
	return string;
}

static int machine__add_map(struct machine *machine, const struct record_mmap *mmap,
			    const char *path, struct build_id id)
{
	struct map map = {.start = mmap->addr, .pgoff = mmap->pgoff};
	struct process *process;

	if (!path || __builtin_add_overflow(mmap->addr, mmap->len, &map.end))
		return -EINVAL;
	if (!mmap->len)
		return 0;
	/* The kernel gives anonymous memory any offset; dso.h wants the address. */
	if (dso__is_anonymous(path))
		map.pgoff = map.start;

	process = machine__get_process(machine, mmap->pid);
	if (!process || machine__get_dso(machine, path, mmap->pid, id, &map.dso))
		return -ENOMEM;
	machine->nr_map_changes++;
	if (!process->program && *path == '/' && !dso__is_anonymous(path))
		process->program = map.dso;
	return maps__insert(&process->maps, &map);
}

/* Maps of the kernel itself or of a guest are no process's. */
static bool record__is_user(const struct perf_event_header *record)
{
	uint16_t mode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_USER || mode == PERF_RECORD_MISC_CPUMODE_UNKNOWN;
}

static int machine__process_mmap(struct machine *machine,
				 const struct perf_event_header *record)
{
	const struct record_mmap *mmap = (const void *)record;

	if (record->size < sizeof(*mmap))
		return -EINVAL;
	if (!record__is_user(record) || record->misc & PERF_RECORD_MISC_MMAP_DATA)
		return 0;
	return machine__add_map(machine, mmap, record__string(record, sizeof(*mmap)),
				(struct build_id){0});
}

static int machine__process_mmap2(struct machine *machine,
				  const struct perf_event_header *record)
{
	const struct perfdata_mmap2 *mmap2 = (const void *)record;
	struct build_id id;

	if (record->size < sizeof(*mmap2))
		return -EINVAL;
	if (!record__is_user(record) || !(mmap2->prot & PROT_EXEC))
		return 0;
	id = build_id__make(mmap2->build_id, perfdata_mmap2__id_bytes(mmap2));
	/* The two begin alike. */
	return machine__add_map(machine, (const void *)record,
				record__string(record, sizeof(*mmap2)), id);
}

static int machine__process_comm(struct machine *machine,
				 const struct perf_event_header *record)
{
	const struct record_comm *comm = (const void *)record;
	const char *name = record__string(record, sizeof(*comm));
	struct process *process;

	if (!name)
		return -EINVAL;
	if (record->misc & PERF_RECORD_MISC_COMM_EXEC) {
		process = machine__get_process(machine, comm->pid);
		if (!process)
			return -ENOMEM;
		maps__put(process->maps);
		process->maps = NULL;
		process->program = NULL;
		process->nr_execs++;
		machine->nr_map_changes++;
	}
	return machine__set_comm(machine, comm->pid, comm->tid, name);
}

static int machine__process_fork(struct machine *machine,
				 const struct perf_event_header *record)
{
	const struct record_fork *fork = (const void *)record;
	struct process *child, *parent;

	if (record->size < sizeof(*fork))
		return -EINVAL;
	if (fork->pid != fork->ppid) {
		child = machine__find_process(machine, fork->pid);
		/* A pid that was somebody else's before. */
		if (child)
			child->nr_execs++;
		else
			child = machine__get_process(machine, fork->pid);
		if (!child)
			return -ENOMEM;
		maps__put(child->maps);
		child->maps = NULL;
		child->program = NULL;
		machine->nr_map_changes++;
		parent = machine__find_process(machine, fork->ppid);
		/* FORK_EXEC: made up by perf for what it found running. */
		if (parent && !(record->misc & PERF_RECORD_MISC_FORK_EXEC)) {
			child->maps = maps__share(parent->maps);
			child->program = parent->program;
		}
	}
	return machine__set_comm(machine, fork->pid, fork->tid,
				 machine__comm(machine, fork->ppid, fork->ptid));
}

int machine__process(struct machine *machine, const struct perf_event_header *record)
{
	switch (record->type) {
	case PERF_RECORD_MMAP:
		return machine__process_mmap(machine, record);
	case PERF_RECORD_MMAP2:
		return machine__process_mmap2(machine, record);
	case PERF_RECORD_COMM:
		return machine__process_comm(machine, record);
	case PERF_RECORD_FORK:
		return machine__process_fork(machine, record);
	default:
		return 0;
	}
}

/* Questions */

const struct map *machine__find_map(const struct machine *machine, uint32_t pid,
				    uint64_t ip)
{
	struct found_map *found =
		&machine->found[hash__mix(pid, ip >> PAGE_BITS) % NR_FOUND];
	const struct process *process;
	const struct map *map;

	/* None that is of the process overlaps with it. */
	if (found->map && found->pid == pid &&
	    found->nr_map_changes == machine->nr_map_changes && ip >= found->map->start &&
	    ip < found->map->end)
		return found->map;
	process = machine__find_process(machine, pid);
	map = process ? maps__find(process->maps, ip) : NULL;
	if (map)
		*found = (struct found_map){.nr_map_changes = machine->nr_map_changes,
					    .pid = pid,
					    .map = map};
	return map;
}

uint64_t machine__nr_map_changes(const struct machine *machine)
{
	return machine->nr_map_changes;
}

uint64_t machine__nr_comm_changes(const struct machine *machine)
{
	return machine->nr_comm_changes;
}

const char *machine__comm(const struct machine *machine, uint32_t pid, uint32_t tid)
{
	const struct thread *thread = machine__find_thread(machine, pid, tid);

	if (!thread || !*thread->comm)
		thread = machine__find_thread(machine, pid, pid);
	return thread ? thread->comm : "";
}

uint32_t machine__nr_execs(const struct machine *machine, uint32_t pid)
{
	const struct process *process = machine__find_process(machine, pid);

	return process ? process->nr_execs : 0;
}

const char *machine__program(const struct machine *machine, uint32_t pid)
{
	const struct process *process = machine__find_process(machine, pid);

	return process && process->program ? dso__path(process->program) : NULL;
}
