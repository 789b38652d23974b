// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files are known by their paths alone: of two builds that had one path, both are shown
 * if one is used.
 */
#include "source/used_files.h"

#include <errno.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "perfdata/format.h"
#include "symbol/machine.h"
#include "util/hash_index.h"

struct program {
	uint32_t pid; /* first: key */
	uint32_t nr_execs; /* as of its first mapping */
};

/* Callchains whose files are known: 500 leave each other alone */
#define NR_SEEN (1u << 13)

/* Files whose paths are there, of which most callchains have a few */
#define NR_ADDED 256

/*
 * Pages that are known to be of files whose paths are there: a program has some hundreds that
 * its callchains go through
 */
#define NR_PAGES   1024
#define PAGE_BYTES 4096

struct seen_page {
	uint64_t epoch; /* machine__nr_map_changes() */
	uint64_t page; /* an address / PAGE_BYTES */
	uint32_t pid;
	bool is_there;
};

struct seen_chain {
	uint64_t epoch; /* machine__nr_map_changes() */
	uint64_t chain; /* its number; 0: none */
	uint32_t pid;
};

struct used_files {
	struct machine *machine;
	/* Roots of tsearch(3) trees */
	void *paths;
	void *programs;
	bool has_copied_stacks; /* which can go through anything */
	uint64_t last_launch_ns,
		last_change_ns; /* times: of any launch, of a map change */
	bool is_out_of_order;
	const struct dso
		*added[NR_ADDED]; /* by hash: who is here needn't be looked for */
	struct seen_chain seen[NR_SEEN];
	struct seen_page pages[NR_PAGES];
};

static int compare_paths(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int compare_pids(const void *a, const void *b)
{
	const struct program *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

int used_files__new(struct used_files **ret)
{
	struct used_files *files = calloc(1, sizeof(*files));

	if (!files || machine__new(NULL, &files->machine)) {
		free(files);
		return -ENOMEM;
	}
	*ret = files;
	return 0;
}

void used_files__delete(struct used_files *files)
{
	if (!files)
		return;
	machine__delete(files->machine);
	tdestroy(files->paths, free);
	tdestroy(files->programs, free);
	free(files);
}

bool used_files__are_in_order(const struct used_files *files)
{
	return !files->is_out_of_order;
}

/* Of an MMAP2 record of code, whose path ends within it; else NULL */
static const char *mapped_path(const struct perf_event_header *record)
{
	const struct perfdata_mmap2 *mmap2 = (const void *)record;

	if (record->type != PERF_RECORD_MMAP2 || record->size <= sizeof(*mmap2) ||
	    !(mmap2->prot & PROT_EXEC) ||
	    !memchr(mmap2->path, '\0', record->size - sizeof(*mmap2)))
		return NULL;
	return mmap2->path;
}

static int used_files__add_path(struct used_files *files, const char *path)
{
	char *copy;

	if (tfind(path, &files->paths, compare_paths))
		return 0;
	copy = strdup(path);
	if (copy && tsearch(copy, &files->paths, compare_paths))
		return 0;
	free(copy);
	return -ENOMEM;
}

/* The first mapping behind an exec is the program's own. */
static int used_files__note_program(struct used_files *files, uint32_t pid,
				    const char *path)
{
	uint32_t nr_execs = machine__nr_execs(files->machine, pid);
	struct program key = {.pid = pid}, *program, **found;

	found = tfind(&key, &files->programs, compare_pids);
	if (found && (*found)->nr_execs == nr_execs)
		return 0;
	if (found) {
		(*found)->nr_execs = nr_execs;
		return used_files__add_path(files, path);
	}
	program = malloc(sizeof(*program));
	if (!program)
		return -ENOMEM;
	*program = (struct program){.pid = pid, .nr_execs = nr_execs};
	if (!tsearch(program, &files->programs, compare_pids)) {
		free(program);
		return -ENOMEM;
	}
	return used_files__add_path(files, path);
}

int used_files__add_record(struct used_files *files,
			   const struct perf_event_header *record, uint64_t time_ns)
{
	const struct perfdata_mmap2 *mmap2 = (const void *)record;
	uint64_t epoch = machine__nr_map_changes(files->machine);
	const char *path = mapped_path(record);
	int err = machine__process(files->machine, record);

	if (err)
		return err == -EINVAL ? 0 : err;
	if (machine__nr_map_changes(files->machine) != epoch) {
		files->is_out_of_order |= time_ns < files->last_launch_ns ||
					  time_ns < files->last_change_ns;
		files->last_change_ns = time_ns;
	}
	return path ? used_files__note_program(files, mmap2->pid, path) : 0;
}

static int used_files__add_map(struct used_files *files, const struct map *map)
{
	const struct dso **added;

	if (!map)
		return 0;
	added = &files->added[hash__mix(0, (uintptr_t)map->dso) % NR_ADDED];
	if (*added == map->dso)
		return 0;
	*added = map->dso;
	return used_files__add_path(files, dso__path(map->dso));
}

/* Was a callchain here a short while ago? If not, it is remembered. */
static bool used_files__has_seen(struct used_files *files, uint32_t pid, uint64_t chain)
{
	uint64_t epoch = machine__nr_map_changes(files->machine);
	struct seen_chain *seen = &files->seen[(chain + hash__mix(0, pid)) % NR_SEEN];

	if (chain && seen->chain == chain && seen->pid == pid && seen->epoch == epoch)
		return true;
	*seen = (struct seen_chain){.epoch = epoch, .chain = chain, .pid = pid};
	return false;
}

static struct seen_page *page_of(struct used_files *files, uint32_t pid, uint64_t address)
{
	return &files->pages[((address / PAGE_BYTES) ^ hash__mix(0, pid)) % NR_PAGES];
}

/* Is all of the page that an address is in, and not at its beginning, of such a file? */
static bool used_files__knows_page(struct used_files *files, uint32_t pid,
				   uint64_t address, uint64_t epoch)
{
	const struct seen_page *page = page_of(files, pid, address);

	return page->page == address / PAGE_BYTES && page->is_there && page->pid == pid &&
	       page->epoch == epoch && address % PAGE_BYTES;
}

/* The file of a map, which is there, is. */
static void used_files__note_page(struct used_files *files, uint32_t pid,
				  const struct map *map, uint64_t address, uint64_t epoch)
{
	uint64_t page = address / PAGE_BYTES;

	if (map->start <= page * PAGE_BYTES && map->end - page * PAGE_BYTES >= PAGE_BYTES)
		*page_of(files, pid, address) = (struct seen_page){
			.epoch = epoch, .page = page, .pid = pid, .is_there = true};
}

static int used_files__add_address(struct used_files *files, uint32_t pid, uint64_t ip,
				   uint64_t epoch)
{
	/* A return address belongs to the call before it, others to themselves. */
	const struct map *map = machine__find_map(files->machine, pid, ip - 1);

	if (used_files__add_map(files, map))
		return -ENOMEM;
	if (map && ip < map->end) {
		used_files__note_page(files, pid, map, ip - 1, epoch);
		return 0;
	}
	return used_files__add_map(files, machine__find_map(files->machine, pid, ip));
}

int used_files__add_launch(struct used_files *files, const struct launch_sample *sample,
			   uint64_t chain)
{
	uint64_t epoch = machine__nr_map_changes(files->machine);

	files->is_out_of_order |= sample->time_ns < files->last_change_ns;
	if (sample->time_ns > files->last_launch_ns)
		files->last_launch_ns = sample->time_ns;
	files->has_copied_stacks |= sample->user_state_bytes > 0;
	if (used_files__has_seen(files, sample->pid, chain))
		return 0;
	for (uint64_t i = 0; i < sample->nr_ips; i++)
		if (!used_files__knows_page(files, sample->pid, sample->ips[i], epoch) &&
		    used_files__add_address(files, sample->pid, sample->ips[i], epoch))
			return -ENOMEM;
	return 0;
}

bool used_files__wants(const struct used_files *files,
		       const struct perf_event_header *record)
{
	const char *path = mapped_path(record);

	return !path || files->has_copied_stacks || dso__is_anonymous(path) ||
	       tfind(path, &files->paths, compare_paths);
}
