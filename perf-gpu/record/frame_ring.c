// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/frame_ring.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <perf/cpumap.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/ring_size.h"
#include "util/log.h"

/*
 * 100,000 launches a second with 40 frames are 56 MB/s on one CPU: 4 MiB last for 75 ms, and
 * the reader is woken after 20. Where there are few CPUs, rings are larger: on 2 of them, with
 * other programs at work and a disk that lets the reader wait, 4 MiB lost 40,000 of 30,000,000
 * launches, at 50,000 a second.
 */
#define MIN_DEFAULT_BYTES ((size_t)4 << 20)
#define MAX_DEFAULT_BYTES ((size_t)16 << 20)
#define LARGE_RINGS_BYTES ((size_t)128 << 20) /* all that are larger, together */
#define MAX_RING_BYTES	  (1u << 30)

struct frame_ring {
	struct ring_buffer *buffer;
	frame_handler_fn *handle;
	void *ctx;
	int err; /* of the handler */
	/* Of the maps; libbpf's epoll would forget a ring whose fd is closed. */
	int *fds;
	int nr_fds;
};

static int take_record(void *ctx, void *data, size_t bytes)
{
	struct frame_ring *ring = ctx;

	ring->err = ring->handle(ring->ctx, data, bytes);
	return ring->err;
}

static size_t default_bytes(void)
{
	size_t nr_cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	size_t bytes = MAX_DEFAULT_BYTES;

	while (bytes > MIN_DEFAULT_BYTES && bytes * nr_cpus > LARGE_RINGS_BYTES)
		bytes /= 2;
	return bytes;
}

uint32_t frame_ring__bytes(size_t nr_pages)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	if (nr_pages)
		return nr_pages < MAX_RING_BYTES / page_bytes
			       ? (uint32_t)(nr_pages * page_bytes)
			       : MAX_RING_BYTES;
	return (uint32_t)ring_size__fit(default_bytes());
}

/* One more ring, at its CPU's place in the map. */
static int add_ring(struct frame_ring *ring, int map_fd, int cpu, uint32_t bytes)
{
	int fd, err;

	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "frame_ring", 0, 0, bytes, NULL);
	if (fd < 0)
		return -errno;
	ring->fds[ring->nr_fds++] = fd;
	err = bpf_map_update_elem(map_fd, &cpu, &fd, BPF_ANY);
	if (err)
		return err;
	if (ring->buffer)
		return ring_buffer__add(ring->buffer, fd, take_record, ring);
	ring->buffer = ring_buffer__new(fd, take_record, ring, NULL);
	return ring->buffer ? 0 : -errno;
}

static int add_rings(struct frame_ring *ring, int map_fd, uint32_t bytes)
{
	struct perf_cpu_map *online = perf_cpu_map__new(NULL);
	struct perf_cpu cpu;
	int i, err = -ENOMEM;

	if (!online)
		return err;
	ring->fds = calloc((size_t)perf_cpu_map__nr(online), sizeof(*ring->fds));
	if (!ring->fds)
		goto out;
	perf_cpu_map__for_each_cpu (cpu, i, online) {
		err = add_ring(ring, map_fd, cpu.cpu, bytes);
		if (err)
			break;
	}
out:
	perf_cpu_map__put(online);
	return err;
}

int frame_ring__open(int map_fd, uint32_t bytes, frame_handler_fn *handle, void *ctx,
		     struct frame_ring **ret, struct failure *failure)
{
	struct frame_ring *ring;
	int err = -ENOMEM;

	ring = calloc(1, sizeof(*ring));
	if (!ring)
		goto out;
	ring->handle = handle;
	ring->ctx = ctx;
	err = add_rings(ring, map_fd, bytes);
	if (err)
		goto out;
	pr_debug("rings of %u KiB for each CPU", bytes >> 10);
	*ret = ring;
	return 0;
out:
	failure__set(failure, err, "try a smaller -m",
		     "can't make ring buffers of %u KiB for each CPU: %s", bytes >> 10,
		     strerror(-err));
	frame_ring__close(ring);
	return err;
}

int frame_ring__fd(const struct frame_ring *ring)
{
	return ring_buffer__epoll_fd(ring->buffer);
}

int frame_ring__drain(struct frame_ring *ring)
{
	int ret;

	ring->err = 0;
	ret = ring_buffer__consume(ring->buffer);
	return ring->err ? ring->err : ret < 0 ? ret : 0;
}

void frame_ring__close(struct frame_ring *ring)
{
	if (!ring)
		return;
	ring_buffer__free(ring->buffer);
	for (int i = 0; i < ring->nr_fds; i++)
		close(ring->fds[i]);
	free(ring->fds);
	free(ring);
}
