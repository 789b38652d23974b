// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/ring.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/ring_size.h"
#include "util/log.h"

/* Without -m. Copied stacks are 8 KiB a launch: 16 MiB last for 2,000 launches. */
#define DEFAULT_RING_BYTES (4u << 20)
#define STACKS_RING_BYTES  (16u << 20)

struct ring {
	struct perf_buffer *buffer;
	ring_handler_fn *handle;
	void *ctx;
	int err; /* of the handler; libbpf keeps only that there was one */
};

static enum bpf_perf_event_ret take_event(void *ctx, int cpu,
					  struct perf_event_header *event)
{
	struct ring *ring = ctx;

	(void)cpu;
	if (event->type != PERF_RECORD_SAMPLE)
		return LIBBPF_PERF_EVENT_CONT;
	ring->err = ring->handle(ring->ctx, event);
	return ring->err ? LIBBPF_PERF_EVENT_ERROR : LIBBPF_PERF_EVENT_CONT;
}

static size_t default_pages(const struct perf_event_attr *attr)
{
	size_t bytes = attr->sample_stack_user ? STACKS_RING_BYTES : DEFAULT_RING_BYTES;

	return ring_size__fit(bytes) / (size_t)sysconf(_SC_PAGESIZE);
}

static int open_buffer(struct ring *ring, int map_fd, const struct perf_event_attr *attr,
		       size_t nr_pages)
{
	struct perf_event_attr watermarked = *attr;
	size_t bytes = nr_pages * (size_t)sysconf(_SC_PAGESIZE);

	watermarked.watermark = 1;
	watermarked.wakeup_watermark = (uint32_t)(bytes / 4);
	ring->buffer = perf_buffer__new_raw(map_fd, nr_pages, &watermarked, take_event,
					    ring, NULL);
	return ring->buffer ? 0 : -errno;
}

int ring__open(int map_fd, const struct perf_event_attr *attr, size_t nr_pages,
	       ring_handler_fn *handle, void *ctx, struct ring **ret,
	       struct failure *failure)
{
	bool is_asked_for = nr_pages;
	struct ring *ring;
	int err;

	ring = calloc(1, sizeof(*ring));
	if (!ring)
		return failure__set(failure, -ENOMEM, NULL, "no memory for ring buffers");
	ring->handle = handle;
	ring->ctx = ctx;
	if (!is_asked_for)
		nr_pages = default_pages(attr);
	err = open_buffer(ring, map_fd, attr, nr_pages);
	/* Locked memory is limited for who has CAP_BPF and CAP_PERFMON alone. */
	while ((err == -EPERM || err == -ENOMEM) && !is_asked_for && nr_pages > 16) {
		nr_pages /= 2;
		err = open_buffer(ring, map_fd, attr, nr_pages);
	}
	if (err) {
		free(ring);
		return failure__set(failure, err,
				    "try a smaller -m, or raise "
				    "kernel.perf_event_mlock_kb",
				    "can't make ring buffers of %zu pages for each CPU: "
				    "%s",
				    nr_pages, strerror(-err));
	}
	pr_debug("rings of %zu pages for each CPU", nr_pages);
	*ret = ring;
	return 0;
}

int ring__fd(const struct ring *ring)
{
	return perf_buffer__epoll_fd(ring->buffer);
}

int ring__drain(struct ring *ring)
{
	int err;

	ring->err = 0;
	err = perf_buffer__consume(ring->buffer);
	return ring->err ? ring->err : err;
}

void ring__close(struct ring *ring)
{
	if (!ring)
		return;
	perf_buffer__free(ring->buffer);
	free(ring);
}
