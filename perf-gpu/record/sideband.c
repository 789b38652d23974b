// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/sideband.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <perf/core.h>
#include <perf/cpumap.h>
#include <perf/event.h>
#include <perf/evlist.h>
#include <perf/evsel.h>
#include <perf/mmap.h>
#include <perf/threadmap.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/ring_size.h"
#include "util/log.h"

/* About 3,000 mappings a CPU between two drains, 100 ms apart at most */
#define RING_BYTES ((size_t)512 << 10)
/*
 * Of all processes there are: a machine that builds something maps 3,000 files a second on
 * each CPU, and one with so much to do lets the recorder wait.
 */
#define RING_OF_ALL_BYTES ((size_t)2 << 20)

/* Linux 6.0 */
#define FORMAT_LOST (1u << 4)

struct sideband {
	struct perf_evlist *evlist;
	struct perf_evsel *evsel; /* the evlist's */
	struct perf_cpu_map *cpus;
	struct perf_thread_map *threads;
	sideband_handler_fn *handle;
	void *ctx;
	bool has_lost_count; /* to be read of each CPU's event */
	uint64_t nr_lost; /* by the kernel, as far as it has told so in the rings */
	uint64_t nr_too_large;
};

static int print_libperf(enum libperf_print_level level, const char *fmt, va_list args)
{
	return log__library(level >= LIBPERF_DEBUG ? 2 : 1, fmt, args);
}

static int make_evlist(struct sideband *sideband, pid_t pid,
		       const struct perf_event_attr *attr)
{
	struct perf_event_attr copy = *attr;
	struct perf_evsel *evsel;

	copy.watermark = 1;
	copy.wakeup_watermark = RING_BYTES / 4;
	sideband->evlist = perf_evlist__new();
	sideband->cpus = perf_cpu_map__new(NULL);
	sideband->threads = perf_thread_map__new_array(1, &pid);
	evsel = perf_evsel__new(&copy);
	if (!sideband->evlist || !sideband->cpus || !sideband->threads || !evsel) {
		perf_evsel__delete(evsel);
		return -ENOMEM;
	}
	sideband->evsel = evsel;
	perf_evlist__add(sideband->evlist, evsel);
	perf_evlist__set_maps(sideband->evlist, sideband->cpus, sideband->threads);
	return 0;
}

/* 0 or a negative errno */
static int open_event(struct sideband *sideband, pid_t pid,
		      const struct perf_event_attr *attr)
{
	int err = make_evlist(sideband, pid, attr);

	return err ? err : perf_evlist__open(sideband->evlist);
}

static void close_event(struct sideband *sideband)
{
	perf_evlist__delete(sideband->evlist);
	perf_thread_map__put(sideband->threads);
	perf_cpu_map__put(sideband->cpus);
	sideband->evlist = NULL;
	sideband->evsel = NULL;
	sideband->threads = NULL;
	sideband->cpus = NULL;
}

/* The same, with less where the kernel is too old for it */
static int open_fitting_event(struct sideband *sideband, pid_t pid,
			      const struct perf_event_attr *attr)
{
	struct perf_event_attr fitting = *attr;
	int err;

	fitting.read_format |= FORMAT_LOST;
	sideband->has_lost_count = true;
	err = open_event(sideband, pid, &fitting);
	if (err == -EINVAL) {
		close_event(sideband);
		fitting.read_format = attr->read_format;
		sideband->has_lost_count = false;
		err = open_event(sideband, pid, &fitting);
	}
	/* Linux before 5.12 */
	if (err == -EINVAL && attr->build_id) {
		close_event(sideband);
		fitting.build_id = 0;
		err = open_event(sideband, pid, &fitting);
	}
	return err;
}

/* libperf has -1 for every failure, and errno for its reason. */
static int map_rings(struct sideband *sideband, size_t bytes)
{
	int nr_pages = (int)(bytes / (size_t)sysconf(_SC_PAGESIZE));

	errno = 0;
	if (!perf_evlist__mmap(sideband->evlist, nr_pages))
		return 0;
	return errno ? -errno : -ENOMEM;
}

static int open_and_map(struct sideband *sideband, pid_t pid,
			const struct perf_event_attr *attr, size_t ring_bytes,
			struct failure *failure)
{
	int err = open_fitting_event(sideband, pid, attr);

	if (err)
		return failure__set(
			failure, err,
			"see kernel.perf_event_paranoid, and whether this is a "
			"container that filters it",
			"can't open the side-band event on %s %d: perf_event_open: %s",
			pid < 0 ? "all processes," : "process", (int)pid, strerror(-err));
	err = map_rings(sideband, ring_bytes);
	if (err)
		failure__set(failure, err, "raise kernel.perf_event_mlock_kb",
			     "can't map the side-band rings: %s", strerror(-err));
	return err;
}

int sideband__open(pid_t pid, const struct perf_event_attr *attr,
		   sideband_handler_fn *handle, void *ctx, struct sideband **ret,
		   struct failure *failure)
{
	size_t bytes = pid < 0 ? ring_size__fit(RING_OF_ALL_BYTES) : RING_BYTES;
	struct sideband *sideband;
	struct failure why;
	int err;

	libperf_init(print_libperf);
	sideband = calloc(1, sizeof(*sideband));
	if (!sideband)
		return failure__set(failure, -ENOMEM, NULL,
				    "no memory for the side-band event");
	sideband->handle = handle;
	sideband->ctx = ctx;
	err = open_and_map(sideband, pid, attr, bytes, &why);
	/* Locked memory is limited for who has CAP_BPF and CAP_PERFMON alone. */
	while ((err == -EPERM || err == -ENOMEM) && bytes > RING_BYTES) {
		bytes /= 2;
		close_event(sideband);
		err = open_and_map(sideband, pid, attr, bytes, &why);
	}
	if (err) {
		sideband__close(sideband);
		*failure = why;
	} else {
		*ret = sideband;
	}
	return err;
}

static uint64_t lost_records(const union perf_event *event)
{
	return event->header.size >= sizeof(event->lost) ? event->lost.lost : 1;
}

/*
 * No perf_mmap__read_done(), which is for rings that overwrite: it would skip a
 * record that comes after the last look.
 */
static int drain_map(struct sideband *sideband, struct perf_mmap *map)
{
	const union perf_event *event;
	int err = 0;

	if (perf_mmap__read_init(map) < 0)
		return 0;
	while (!err && (event = perf_mmap__read_event(map))) {
		/* libperf copies no more than this of one that wraps around. */
		if (event->header.size > sizeof(*event))
			sideband->nr_too_large++;
		else if (event->header.type == PERF_RECORD_LOST)
			sideband->nr_lost += lost_records(event);
		else
			err = sideband->handle(sideband->ctx, &event->header);
		perf_mmap__consume(map);
	}
	return err;
}

int sideband__drain(struct sideband *sideband)
{
	struct perf_mmap *map;
	int err = 0;

	perf_evlist__for_each_mmap(sideband->evlist, map, false)
	{
		err = drain_map(sideband, map);
		if (err)
			break;
	}
	return err;
}

/*
 * By the kernel's own count: it tells of what was lost in a ring by a record in front of the
 * next one that finds room there, and that may never come.
 */
static uint64_t count_lost(const struct sideband *sideband)
{
	const int nr_cpus = perf_cpu_map__nr(sideband->cpus);
	uint64_t nr = 0;

	for (int cpu = 0; cpu < nr_cpus && sideband->has_lost_count; cpu++) {
		struct perf_counts_values count = {};

		if (!perf_evsel__read(sideband->evsel, cpu, 0, &count))
			nr += count.lost;
	}
	return nr;
}

uint64_t sideband__nr_lost(const struct sideband *sideband)
{
	const uint64_t nr = count_lost(sideband);

	return (nr > sideband->nr_lost ? nr : sideband->nr_lost) + sideband->nr_too_large;
}

void sideband__close(struct sideband *sideband)
{
	if (!sideband)
		return;
	close_event(sideband);
	free(sideband);
}
