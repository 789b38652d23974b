// SPDX-License-Identifier: GPL-2.0-or-later
#include "maps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "linker_counts.h"
#include "no_cancel.h"

/* A line has at most 73 characters, and a path in which \n takes four. */
#define LINE_BYTES (4 * PATH_MAX + 128)

/* What a mapping is known by; its path goes with the inode. */
struct known_map {
	uint64_t start, bytes, offset, inode;
	uint32_t major, minor;
};

struct known_maps {
	struct known_map *items; /* by address, as the kernel lists them */
	size_t nr, nr_allocated;
};

struct maps {
	struct known_maps known;
	struct known_maps next; /* being read */
	atomic_uint_fast64_t nr_changes; /* of the linker's, at the last update */
	char line[LINE_BYTES];
};

static uint64_t count_changes(void)
{
	struct linker_counts counts = linker_counts__get();

	return counts.nr_loads + counts.nr_closes;
}

int maps__new(struct maps **ret)
{
	struct maps *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return -ENOMEM;
	*ret = maps;
	return 0;
}

void maps__forget(struct maps *maps)
{
	maps->known.nr = 0;
	atomic_store_explicit(&maps->nr_changes, 0, memory_order_relaxed);
}

bool maps__have_changed(const struct maps *maps)
{
	return count_changes() !=
	       atomic_load_explicit(&maps->nr_changes, memory_order_relaxed);
}

/* The last mapping that starts at or below an address, or NULL. */
static const struct known_map *known_maps__find(const struct known_maps *known,
						uint64_t address)
{
	size_t low = 0, high = known->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (known->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &known->items[low - 1] : NULL;
}

bool maps__has(const struct maps *maps, uint64_t address)
{
	const struct known_map *map = known_maps__find(&maps->known, address);

	return map && address - map->start < map->bytes;
}

static int known_maps__add(struct known_maps *known, const struct known_map *map)
{
	if (known->nr == known->nr_allocated) {
		size_t nr = known->nr ? 2 * known->nr : 64;
		struct known_map *items = reallocarray(known->items, nr, sizeof(*items));

		if (!items)
			return -ENOMEM;
		known->items = items;
		known->nr_allocated = nr;
	}
	known->items[known->nr++] = *map;
	return 0;
}

/* 1: an executable mapping, 0: another one, -EINVAL: no line of /proc/PID/maps */
static int parse_line(char *line, struct map *ret)
{
	unsigned long start, end, offset, inode;
	unsigned int major, minor;
	char rights[5];
	int path;

	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &start, &end, rights, &offset,
		   &major, &minor, &inode, &path) < 7 ||
	    end < start)
		return -EINVAL;
	if (rights[2] != 'x')
		return 0;
	*ret = (struct map){
		.record = {.prot = PROT_EXEC | (rights[0] == 'r' ? PROT_READ : 0) |
				   (rights[1] == 'w' ? PROT_WRITE : 0),
			   .start = start,
			   .bytes = end - start,
			   .offset = offset,
			   .inode = inode,
			   .major = major,
			   .minor = minor,
			   .is_shared = rights[3] == 's'},
		.path = line + path,
	};
	return 1;
}

static int maps__take_line(struct maps *maps, map_handler_fn *handle, void *ctx)
{
	const struct known_map *before;
	struct known_map now;
	struct map map;
	int ret;

	ret = parse_line(maps->line, &map);
	if (ret <= 0)
		return ret;
	now = (struct known_map){
		.start = map.record.start,
		.bytes = map.record.bytes,
		.offset = map.record.offset,
		.inode = map.record.inode,
		.major = map.record.major,
		.minor = map.record.minor,
	};
	ret = known_maps__add(&maps->next, &now);
	if (ret)
		return ret;
	before = known_maps__find(&maps->known, now.start);
	if (!before || memcmp(before, &now, sizeof(now)))
		return handle(ctx, &map);
	return 0;
}

/* All whole lines of the buffer; what is left of the last moves to its start. */
static int maps__take_lines(struct maps *maps, char *buffer, size_t *nr_bytes,
			    map_handler_fn *handle, void *ctx)
{
	char *at = buffer, *end = buffer + *nr_bytes, *newline;

	while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
		size_t length = (size_t)(newline - at);
		int err;

		if (length < sizeof(maps->line)) {
			memcpy(maps->line, at, length);
			maps->line[length] = '\0';
			err = maps__take_line(maps, handle, ctx);
			if (err)
				return err;
		}
		at = newline + 1;
	}
	*nr_bytes = (size_t)(end - at);
	memmove(buffer, at, *nr_bytes);
	return 0;
}

static int maps__read(struct maps *maps, int fd, map_handler_fn *handle, void *ctx)
{
	const size_t size = 2 * LINE_BYTES;
	char *buffer = malloc(size);
	size_t nr_bytes = 0;
	ssize_t nr;
	int err = buffer ? 0 : -ENOMEM;

	while (!err) {
		nr = read(fd, buffer + nr_bytes, size - nr_bytes);
		if (nr < 0 && errno == EINTR)
			continue;
		if (nr <= 0) {
			err = nr < 0 ? -errno : 0;
			break;
		}
		nr_bytes += (size_t)nr;
		err = maps__take_lines(maps, buffer, &nr_bytes, handle, ctx);
		if (nr_bytes == size)
			err = -EINVAL;
	}
	free(buffer);
	return err;
}

static int update(struct maps *maps, map_handler_fn *handle, void *ctx)
{
	/* Before reading: what comes meanwhile is for the next time. */
	const uint64_t nr_changes = count_changes();
	struct known_maps before = maps->known;
	int fd, err;

	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	maps->next.nr = 0;
	err = maps__read(maps, fd, handle, ctx);
	close(fd);
	if (err)
		return err;
	maps->known = maps->next;
	maps->next = before;
	atomic_store_explicit(&maps->nr_changes, nr_changes, memory_order_relaxed);
	return 0;
}

int maps__update(struct maps *maps, map_handler_fn *handle, void *ctx)
{
	int cancel_state = no_cancel__begin();
	int err = update(maps, handle, ctx);

	no_cancel__end(cancel_state);
	return err;
}
