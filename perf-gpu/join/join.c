// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernels, sorted by their key (log, correlation id): a launch's are a range
 * of the array, found by binary search.
 *
 * Invariant: a kernel is either announced, as all others of its key then are,
 * and join__launch()'s, or it isn't, and join__rest()'s. So neither of them can
 * hand out what the other does, whoever is asked first.
 */
#include "join/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct log_index {
	uint64_t log_id;
	uint32_t log; /* index in sidecar.logs */
};

enum kernel_state {
	KERNEL_IS_REST, /* no launch has been announced */
	KERNEL_IS_ANNOUNCED,
	KERNEL_IS_TAKEN, /* said of the first of a range only */
};

struct join {
	const struct sidecar_kernel *kernels;
	size_t nr_kernels;
	uint8_t *states; /* enum kernel_state, one for each kernel */
	struct log_index *logs; /* by log_id */
	size_t nr_logs;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_logs(const void *a, const void *b)
{
	const struct log_index *x = a, *y = b;

	return compare_u64(x->log_id, y->log_id);
}

static int compare_keys(const struct sidecar_kernel *a, const struct sidecar_kernel *b)
{
	if (a->log != b->log)
		return a->log < b->log ? -1 : 1;
	return compare_u64(a->correlation_id, b->correlation_id);
}

static int compare_kernels(const void *a, const void *b)
{
	const struct sidecar_kernel *x = a, *y = b;
	int order = compare_keys(x, y);

	if (!order)
		order = compare_u64(x->start_ns, y->start_ns);
	/* Whatever qsort() does with equals, the output must be the same again. */
	if (!order)
		order = compare_u64(x->end_ns, y->end_ns);
	return order ? order : compare_u64(x->shape, y->shape);
}

int join__new(struct sidecar *sidecar, struct join **ret)
{
	struct join *join = calloc(1, sizeof(*join));

	if (!join)
		return -ENOMEM;
	join->kernels = sidecar->kernels;
	join->nr_kernels = sidecar->nr_kernels;
	join->nr_logs = sidecar->nr_logs;
	/* One more: calloc(0) may give NULL. */
	join->states = calloc(join->nr_kernels + 1, sizeof(*join->states));
	join->logs = calloc(join->nr_logs + 1, sizeof(*join->logs));
	if (!join->states || !join->logs) {
		join__delete(join);
		return -ENOMEM;
	}

	for (size_t i = 0; i < join->nr_logs; i++)
		join->logs[i] = (struct log_index){.log_id = sidecar->logs[i].log_id,
						   .log = (uint32_t)i};
	qsort(join->logs, join->nr_logs, sizeof(*join->logs), compare_logs);
	if (sidecar->nr_kernels)
		qsort(sidecar->kernels, sidecar->nr_kernels, sizeof(*sidecar->kernels),
		      compare_kernels);
	*ret = join;
	return 0;
}

void join__delete(struct join *join)
{
	if (!join)
		return;
	free(join->states);
	free(join->logs);
	free(join);
}

int join__find_log(const struct join *join, uint64_t log_id)
{
	const struct log_index key = {.log_id = log_id};
	const struct log_index *found;

	found = bsearch(&key, join->logs, join->nr_logs, sizeof(*join->logs),
			compare_logs);
	return found ? (int)found->log : -ENOENT;
}

/* Index of the first kernel with the key; nr_kernels if there is none. */
static size_t join__find(const struct join *join, uint64_t log_id,
			 uint64_t correlation_id)
{
	struct sidecar_kernel key = {.correlation_id = correlation_id};
	size_t low = 0, high = join->nr_kernels;
	int log = join__find_log(join, log_id);

	if (log < 0)
		return join->nr_kernels;
	key.log = (uint32_t)log;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_keys(&join->kernels[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < join->nr_kernels && compare_keys(&join->kernels[low], &key))
		return join->nr_kernels;
	return low;
}

/* How many kernels have the key of the @first of them. */
static size_t join__count(const struct join *join, size_t first)
{
	size_t behind = first + 1;

	while (behind < join->nr_kernels &&
	       !compare_keys(&join->kernels[behind], &join->kernels[first]))
		behind++;
	return behind - first;
}

void join__announce(struct join *join, uint64_t log_id, uint64_t correlation_id)
{
	size_t first = join__find(join, log_id, correlation_id);

	if (first < join->nr_kernels && join->states[first] == KERNEL_IS_REST)
		memset(&join->states[first], KERNEL_IS_ANNOUNCED,
		       join__count(join, first));
}

size_t join__launch(struct join *join, uint64_t log_id, uint64_t correlation_id,
		    const struct sidecar_kernel **ret_kernels)
{
	size_t first = join__find(join, log_id, correlation_id);

	if (first == join->nr_kernels || join->states[first] != KERNEL_IS_ANNOUNCED)
		return 0;
	join->states[first] = KERNEL_IS_TAKEN;
	*ret_kernels = &join->kernels[first];
	return join__count(join, first);
}

const struct sidecar_kernel *join__rest(struct join *join, size_t *cursor)
{
	while (*cursor < join->nr_kernels) {
		size_t i = (*cursor)++;

		if (join->states[i] == KERNEL_IS_REST)
			return &join->kernels[i];
	}
	return NULL;
}
