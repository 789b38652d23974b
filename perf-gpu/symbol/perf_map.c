// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perf maps: text, one line a function,
 *
 *   START SIZE NAME      both numbers hexadecimal, NAME to the end of the line
 *
 * appended to as code is compiled. Memory is used again, so where lines overlap
 * the later one is right. Anybody may have written the file: lines that don't
 * read as above are skipped.
 *
 * One thread.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/perf_map.h"
#include "symbol/symtab.h"
#include "util/log.h"

/* What follows is not read; a JavaScript server's map has about 50 MB. */
#define PERF_MAP_MAX_BYTES (1ul << 29)

struct perf_map {
	char *text; /* NUL-terminated; the names point into it */
	size_t nr_bytes; /* of the text; its newlines are NULs now */
	struct symtab symtab;
};

static int perf_map__parse_number(const char **cursor, uint64_t *ret)
{
	char *end;

	if (!isxdigit((unsigned char)**cursor))
		return -EINVAL;
	errno = 0;
	*ret = strtoull(*cursor, &end, 16);
	if (errno || *end != ' ')
		return -EINVAL;
	*cursor = end + 1;
	return 0;
}

int perf_map__parse_line(const char *line, struct symbol *ret)
{
	uint64_t start, bytes, end;

	if (perf_map__parse_number(&line, &start) ||
	    perf_map__parse_number(&line, &bytes) || !bytes ||
	    __builtin_add_overflow(start, bytes, &end) || !*line)
		return -EINVAL;
	*ret = (struct symbol){.start = start, .end = end, .name = line};
	return 0;
}

static int perf_map__parse(struct perf_map *map)
{
	char *cursor = map->text, *line;
	struct symbol symbol;

	while ((line = strsep(&cursor, "\n"))) {
		if (!perf_map__parse_line(line, &symbol) &&
		    symtab__add(&map->symtab, symbol.start, symbol.end, symbol.name))
			return -ENOMEM;
	}
	return symtab__finish(&map->symtab);
}

/* A process that still runs may be appending to the file. */
static int perf_map__read_text(struct perf_map *map, int fd, off_t file_bytes)
{
	size_t size = (uint64_t)file_bytes < PERF_MAP_MAX_BYTES ? (size_t)file_bytes
								: PERF_MAP_MAX_BYTES;
	size_t nr_read = 0;
	ssize_t n;

	map->text = malloc(size + 1);
	if (!map->text)
		return -ENOMEM;
	while (nr_read < size && (n = pread(fd, map->text + nr_read, size - nr_read,
					    (off_t)nr_read)) != 0) {
		if (n < 0 && errno != EINTR)
			return -errno;
		nr_read += n > 0 ? (size_t)n : 0;
	}
	map->text[nr_read] = '\0';
	map->nr_bytes = nr_read;
	return 0;
}

static bool is_of_origin(const struct stat *st, const struct perf_map_origin *origin)
{
	uint64_t written_ns =
		(uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;

	/* What root has recorded may be the user's behind sudo. */
	return (st->st_uid == origin->uid || !st->st_uid) && written_ns <= origin->end_ns;
}

/* @origin: NULL for any */
static int perf_map__open_fd(int fd, const char *path,
			     const struct perf_map_origin *origin, struct perf_map **ret)
{
	struct perf_map *map = calloc(1, sizeof(*map));
	struct stat st;
	int err;

	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	else if (origin && !is_of_origin(&st, origin))
		err = -ESTALE;
	else if (!map)
		err = -ENOMEM;
	else
		err = perf_map__read_text(map, fd, st.st_size);
	if (!err)
		err = perf_map__parse(map);
	if (err) {
		pr_debug("%s: no symbols: %s", path, strerror(-err));
		goto out;
	}
	pr_debug("%s: %zu symbols", path, map->symtab.nr_symbols);
	*ret = map;
	map = NULL;
out:
	perf_map__close(map);
	return err;
}

int perf_map__open(const char *path, const struct perf_map_origin *origin,
		   struct perf_map **ret)
{
	/* /tmp is everybody's: no links, and nothing that open(2) would wait on. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	int err;

	if (fd < 0) {
		err = -errno;
		pr_debug("%s: no symbols: %s", path, strerror(-err));
		return err;
	}
	err = perf_map__open_fd(fd, path, origin, ret);
	close(fd);
	return err;
}

int perf_map__open_stored(int fd, const char *path, struct perf_map **ret)
{
	return fd < 0 ? fd : perf_map__open_fd(fd, path, NULL, ret);
}

char *perf_map__text(const struct perf_map *map, size_t *ret_bytes)
{
	char *text = malloc(map->nr_bytes + 1);

	if (!text)
		return NULL;
	for (size_t i = 0; i < map->nr_bytes; i++)
		text[i] = map->text[i] ? map->text[i] : '\n';
	*ret_bytes = map->nr_bytes;
	return text;
}

void perf_map__close(struct perf_map *map)
{
	if (!map)
		return;
	symtab__release(&map->symtab);
	free(map->text);
	free(map);
}

const struct symbol *perf_map__find(struct perf_map *map, uint64_t address)
{
	return symtab__find(&map->symtab, address);
}
