// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What really was done, counted where it is done: the truth that a test compares a
 * recording with. Counted only if it is to be written.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

/* How often, how much and how long; what the script spoiled is counted there too. */
struct count {
	atomic_uint_fast64_t nr, bytes, ns;
	atomic_uint_fast64_t nr_dropped, dropped_ns, nr_unknown, unknown_ns;
};

struct device_count {
	struct count kernels;
	struct count copies[NR_DIRECTIONS][NR_MEMORY_KINDS][NR_MEMORY_KINDS];
	struct count memsets[NR_MEMORY_KINDS];
	struct count allocated[NR_MEMORY_KINDS], freed[NR_MEMORY_KINDS];
	struct count migrations[NR_COUNTERS];
};

static struct device_count devices[FAKE_MAX_DEVICES];
static struct count waits[NR_WAITS];

static void add(atomic_uint_fast64_t *to, uint64_t value)
{
	atomic_fetch_add_explicit(to, value, memory_order_relaxed);
}

static void count__add(struct count *count, uint64_t bytes, uint64_t ns)
{
	add(&count->nr, 1);
	add(&count->bytes, bytes);
	add(&count->ns, ns);
}

void truth__add_kernel(struct kernel_type *type, int device)
{
	if (!knobs.truth_path)
		return;
	add(&type->nr_runs, 1);
	count__add(&devices[device].kernels, 0, type->duration_ns);
}

void truth__add_copy(const struct fake_copy *copy)
{
	struct device_count *device = &devices[copy->device];
	struct count *count = copy->is_memset
				      ? &device->memsets[copy->dst_kind]
				      : &device->copies[copy->direction][copy->src_kind]
						       [copy->dst_kind];
	uint64_t ns = copy->end_ns - copy->start_ns;

	if (!knobs.truth_path)
		return;
	count__add(count, copy->bytes, ns);
	if (copy->fate == FAKE_FATE_DROPPED) {
		add(&count->nr_dropped, 1);
		add(&count->dropped_ns, ns);
	} else if (copy->fate == FAKE_FATE_UNKNOWN_TIME) {
		add(&count->nr_unknown, 1);
		add(&count->unknown_ns, ns);
	}
}

void truth__add_wait(enum wait which, uint64_t ns)
{
	if (knobs.truth_path)
		count__add(&waits[which], 0, ns);
}

void truth__add_memory(const struct fake_memory *memory)
{
	struct device_count *device = &devices[memory->device];

	if (knobs.truth_path)
		count__add(memory->operation ==
					   CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION
				   ? &device->allocated[memory->kind]
				   : &device->freed[memory->kind],
			   memory->bytes, 0);
}

void truth__add_migration(const struct fake_migration *migration, int device)
{
	if (knobs.truth_path)
		count__add(&devices[device].migrations[migration->kind], migration->value,
			   migration->end_ns - migration->start_ns);
}

static void print_type(struct kernel_type *type, void *out)
{
	uint64_t nr_runs = atomic_load(&type->nr_runs);
	uint64_t nr_dropped = atomic_load(&type->nr_dropped);
	uint64_t nr_unknown = atomic_load(&type->nr_unknown);

	if (nr_runs)
		fprintf(out,
			"%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
			"\t%" PRIu64 "\t%s\n",
			nr_runs, nr_runs * type->duration_ns, nr_dropped,
			nr_dropped * type->duration_ns, nr_unknown,
			nr_unknown * type->duration_ns, type->name);
}

/* "RUNS BYTES NS DROPPED DROPPED_NS UNKNOWN UNKNOWN_NS" */
static void print_count(FILE *out, struct count *count)
{
	fprintf(out,
		" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		" %" PRIu64 "\n",
		atomic_load(&count->nr), atomic_load(&count->bytes),
		atomic_load(&count->ns), atomic_load(&count->nr_dropped),
		atomic_load(&count->dropped_ns), atomic_load(&count->nr_unknown),
		atomic_load(&count->unknown_ns));
}

static void print_copies(FILE *out, int i)
{
	struct device_count *device = &devices[i];

	for (int d = 0; d < NR_DIRECTIONS; d++) {
		for (int from = 0; from < NR_MEMORY_KINDS; from++) {
			for (int to = 0; to < NR_MEMORY_KINDS; to++) {
				struct count *count = &device->copies[d][from][to];

				if (!atomic_load(&count->nr))
					continue;
				fprintf(out, "# memcpy %d %s %s %s", i,
					direction_names[d], memory_kind_names[from],
					memory_kind_names[to]);
				print_count(out, count);
			}
		}
	}
	for (int kind = 0; kind < NR_MEMORY_KINDS; kind++) {
		if (!atomic_load(&device->memsets[kind].nr))
			continue;
		fprintf(out, "# memset %d %s", i, memory_kind_names[kind]);
		print_count(out, &device->memsets[kind]);
	}
}

static void print_memory(FILE *out, int i)
{
	struct device_count *device = &devices[i];

	for (int kind = 0; kind < NR_MEMORY_KINDS; kind++) {
		uint64_t nr = atomic_load(&device->allocated[kind].nr);
		uint64_t bytes = atomic_load(&device->allocated[kind].bytes);
		uint64_t nr_freed = atomic_load(&device->freed[kind].nr);
		uint64_t freed = atomic_load(&device->freed[kind].bytes);

		if (nr)
			fprintf(out,
				"# alloc %d %s %" PRIu64 " %" PRIu64 " %" PRIu64
				" %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
				i, memory_kind_names[kind], nr, bytes, nr_freed, freed,
				nr - nr_freed, bytes - freed);
	}
	for (int kind = 0; kind < NR_COUNTERS; kind++) {
		struct count *count = &device->migrations[kind];

		if (atomic_load(&count->nr))
			fprintf(out,
				"# migration %d %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
				i, counter_names[kind], atomic_load(&count->nr),
				atomic_load(&count->bytes), atomic_load(&count->ns));
	}
}

static void print_device(FILE *out, int i)
{
	struct count *kernels = &devices[i].kernels;
	struct fake_device_info info;
	char uuid[64];

	if (!device__info(i, &info))
		return;
	uuid__print(&info.uuid, uuid);
	fprintf(out, "# device %d %s %" PRIu64 " %" PRIu64 "\n", i, uuid,
		atomic_load(&kernels->nr), atomic_load(&kernels->ns));
	print_copies(out, i);
	print_memory(out, i);
}

static void print_waits(FILE *out)
{
	static const char *const names[NR_WAITS] = {
		[WAIT_EVENT] = "event",
		[WAIT_STREAM_WAIT_EVENT] = "stream-wait-event",
		[WAIT_STREAM] = "stream",
		[WAIT_CONTEXT] = "context",
		[WAIT_EVENT_QUERY] = "event-query",
		[WAIT_STREAM_QUERY] = "stream-query",
	};

	for (int i = 0; i < NR_WAITS; i++)
		if (atomic_load(&waits[i].nr))
			fprintf(out, "# sync %s %" PRIu64 " %" PRIu64 "\n", names[i],
				atomic_load(&waits[i].nr), atomic_load(&waits[i].ns));
}

/* What CUPTI is to record, and to call for, as the process ends */
static void print_left(FILE *out)
{
	unsigned int nr_callbacks = 0;

	for (int kind = 0; kind < CUPTI_ACTIVITY_KIND_COUNT; kind++)
		if (atomic_load(&tools.wants_kind[kind]))
			fprintf(out, "# left kind %d\n", kind);
	for (int domain = 0; domain < CUPTI_CB_DOMAIN_SIZE; domain++)
		for (int id = 0; id < FAKE_MAX_CBIDS; id++)
			nr_callbacks += atomic_load(&tools.wants[domain][id]) ||
					atomic_load(&tools.wants_records[domain][id]);
	if (nr_callbacks)
		fprintf(out, "# left callbacks %u\n", nr_callbacks);
}

void truth__write(void)
{
	char *text = NULL;
	size_t size;
	FILE *out;
	int fd;

	if (!knobs.truth_path)
		return;
	out = open_memstream(&text, &size);
	if (!out)
		return;
	fprintf(out, "# pid %d\n", (int)getpid());
	kernel_type__for_each(print_type, out);
	for (int i = 0; i < FAKE_MAX_DEVICES; i++)
		print_device(out, i);
	print_waits(out);
	print_left(out);
	fclose(out);
	/* In one piece, for processes that end at the same time. */
	fd = open(knobs.truth_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, size) != (ssize_t)size)
		fprintf(stderr, "fake_cuda: FAKE_CUDA_TRUTH=%s: %s\n", knobs.truth_path,
			strerror(errno));
	if (fd >= 0)
		close(fd);
	free(text);
}
