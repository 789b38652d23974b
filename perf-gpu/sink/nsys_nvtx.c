// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An end ends the last range that is open of its list: that of a thread and a domain, or
 * the one range of a process that has its number.
 */
#include "sink/nsys_nvtx.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_log.h"
#include "util/hash_index.h"
#include "util/log.h"

#define NO_RANGE UINT32_MAX

/* Ranges that end in each other's order: a thread's of a domain, or a process's one */
struct open_list {
	uint32_t any; /* a range of it, by which it is known */
	uint32_t last; /* the one that was begun last, of those that are open */
};

/* A domain that a process has used */
struct used_domain {
	uint32_t log;
	int64_t id;
};

struct open_ranges {
	const struct nsys_nvtx_input *input;
	struct used_domain *domains;
	size_t nr_domains, nr_allocated_domains;
	struct hash_index domains_index;
	struct open_list *lists;
	size_t nr_lists, nr_allocated;
	struct hash_index index; /* of lists */
	uint32_t *
		before; /* by index in sidecar.nvtx, of begins: the one before in its list */
	bool *is_written; /* likewise */
};

static int no_memory(void)
{
	pr_err("no memory to write the database; fewer events (-e) need less");
	return -ENOMEM;
}

static bool is_of_process(const struct sidecar_nvtx *range)
{
	return range->operation == GPU_LOG_NVTX_START ||
	       range->operation == GPU_LOG_NVTX_END;
}

/* The same of a begin and its end */
static uint64_t hash_of(const struct sidecar_nvtx *range)
{
	uint64_t hash = hash__mix(1, range->log);

	if (is_of_process(range))
		return hash__mix(hash, range->range);
	return hash__mix(hash__mix(hash, range->tid), hash__text(range->domain));
}

static bool is_of_list(const struct sidecar_nvtx *a, const struct sidecar_nvtx *b)
{
	if (a->log != b->log || is_of_process(a) != is_of_process(b))
		return false;
	if (is_of_process(a))
		return a->range == b->range;
	return a->tid == b->tid && !strcmp(a->domain, b->domain);
}

/* The list that a range is of; NULL without memory */
static struct open_list *list_of(struct open_ranges *open, uint32_t id)
{
	const struct sidecar_nvtx *range = &open->input->sidecar->nvtx[id];
	struct hash_cursor cursor = hash_index__find(&open->index, hash_of(range));
	uint32_t at;

	while (hash_index__next(&open->index, &cursor, &at))
		if (is_of_list(&open->input->sidecar->nvtx[open->lists[at].any], range))
			return &open->lists[at];
	if (open->nr_lists == open->nr_allocated) {
		size_t nr = open->nr_lists ? 2 * open->nr_lists : 64;
		struct open_list *lists = reallocarray(open->lists, nr, sizeof(*lists));

		if (!lists)
			return NULL;
		open->lists = lists;
		open->nr_allocated = nr;
	}
	if (hash_index__add(&open->index, hash_of(range), (uint32_t)open->nr_lists))
		return NULL;
	open->lists[open->nr_lists] = (struct open_list){.any = id, .last = NO_RANGE};
	return &open->lists[open->nr_lists++];
}

static int64_t global_tid(const struct open_ranges *open,
			  const struct sidecar_nvtx *range)
{
	uint32_t pid = open->input->pids[range->log];
	uint32_t own = open->input->sidecar->logs[range->log].pid;
	uint32_t tid = range->tid + (pid > own ? pid - own : 0);

	return nsys__global_id(pid, tid);
}

static bool is_used(const struct open_ranges *open, uint64_t hash, uint32_t log,
		    int64_t id)
{
	struct hash_cursor cursor = hash_index__find(&open->domains_index, hash);
	uint32_t at;

	while (hash_index__next(&open->domains_index, &cursor, &at))
		if (open->domains[at].log == log && open->domains[at].id == id)
			return true;
	return false;
}

/* A row that tells the name of a range's domain, where its process first uses it */
static int write_domain(struct open_ranges *open, const struct sidecar_nvtx *range,
			int64_t id)
{
	uint64_t hash = hash__mix(hash__mix(1, range->log), (uint64_t)id);

	if (is_used(open, hash, range->log, id))
		return 0;
	if (open->nr_domains == open->nr_allocated_domains) {
		size_t nr = open->nr_domains ? 2 * open->nr_domains : 16;
		struct used_domain *domains =
			reallocarray(open->domains, nr, sizeof(*domains));

		if (!domains)
			return no_memory();
		open->domains = domains;
		open->nr_allocated_domains = nr;
	}
	if (hash_index__add(&open->domains_index, hash, (uint32_t)open->nr_domains))
		return no_memory();
	open->domains[open->nr_domains++] =
		(struct used_domain){.log = range->log, .id = id};
	return nsys_database__add(open->input->database, NSYS_NVTX,
				  (const struct nsys_value[]){
					  NSYS_NUMBER(range->time_ns),
					  NSYS_NOTHING,
					  NSYS_NUMBER(NSYS_NVTX_DOMAIN),
					  NSYS_NOTHING,
					  NSYS_NOTHING,
					  NSYS_NUMBER(global_tid(open, range)),
					  NSYS_NOTHING,
					  NSYS_NUMBER(id), /* its name's number */
					  NSYS_NUMBER(id),
				  });
}

/* @end: NULL: there is none */
static int write_range(struct open_ranges *open, const struct sidecar_nvtx *begin,
		       const struct sidecar_nvtx *end)
{
	const struct nsys_nvtx_input *input = open->input;
	bool is_mark = begin->operation == GPU_LOG_NVTX_MARK;
	int64_t type = is_mark		      ? NSYS_NVTX_MARK
		       : is_of_process(begin) ? NSYS_NVTX_START_END
					      : NSYS_NVTX_PUSH_POP;
	int64_t text, domain = 0;
	int err = input->find_string(input->data, begin->name, &text);

	/* A domain has no number of its own here, but its name's; 0 is the default's. */
	if (!err && *begin->domain)
		err = input->find_string(input->data, begin->domain, &domain);
	if (!err && domain)
		err = write_domain(open, begin, domain);
	if (err)
		return err;
	return nsys_database__add(
		input->database, NSYS_NVTX,
		(const struct nsys_value[]){
			NSYS_NUMBER(begin->time_ns),
			end ? NSYS_NUMBER(end->time_ns) : NSYS_NOTHING,
			NSYS_NUMBER(type),
			begin->range ? NSYS_NUMBER(begin->range) : NSYS_NOTHING,
			NSYS_NOTHING,
			NSYS_NUMBER(global_tid(open, begin)),
			end && is_of_process(end) ? NSYS_NUMBER(global_tid(open, end))
						  : NSYS_NOTHING,
			NSYS_NUMBER(text),
			NSYS_NUMBER(domain),
		});
}

static int take(struct open_ranges *open, uint32_t id)
{
	const struct sidecar_nvtx *range = &open->input->sidecar->nvtx[id];
	struct open_list *list;
	uint32_t begin;

	open->is_written[id] = true;
	if (range->operation == GPU_LOG_NVTX_MARK)
		return write_range(open, range, NULL);
	list = list_of(open, id);
	if (!list)
		return no_memory();
	if (range->operation == GPU_LOG_NVTX_PUSH ||
	    range->operation == GPU_LOG_NVTX_START) {
		open->is_written[id] = false;
		open->before[id] = list->last;
		list->last = id;
		return 0;
	}
	begin = list->last;
	if (begin == NO_RANGE)
		return 0;
	list->last = open->before[begin];
	open->is_written[begin] = true;
	return write_range(open, &open->input->sidecar->nvtx[begin], range);
}

int nsys_nvtx__add(const struct nsys_nvtx_input *input)
{
	const struct sidecar *sidecar = input->sidecar;
	struct open_ranges open = {.input = input};
	size_t nr = sidecar->nr_nvtx < NO_RANGE ? sidecar->nr_nvtx : NO_RANGE;
	int err = 0;

	open.is_written = calloc(nr + 1, sizeof(*open.is_written));
	open.before = calloc(nr + 1, sizeof(*open.before));
	if (!open.is_written || !open.before)
		err = no_memory();
	for (uint32_t i = 0; i < nr && !err; i++)
		err = take(&open, i);
	for (uint32_t i = 0; i < nr && !err; i++)
		if (!open.is_written[i])
			err = write_range(&open, &sidecar->nvtx[i], NULL);
	hash_index__release(&open.domains_index);
	free(open.domains);
	hash_index__release(&open.index);
	free(open.lists);
	free(open.before);
	free(open.is_written);
	return err;
}
