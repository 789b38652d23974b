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
static int perf_map__read_text(int fd, size_t size, char **ret)
{
	char *text = malloc(size + 1);
	size_t nr_read = 0;
	ssize_t n;

	if (!text)
		return -ENOMEM;
	while (nr_read < size && (n = read(fd, text + nr_read, size - nr_read)) != 0) {
		if (n < 0 && errno != EINTR) {
			int err = -errno;

			free(text);
			return err;
		}
		nr_read += n > 0 ? (size_t)n : 0;
	}
	text[nr_read] = '\0';
	*ret = text;
	return 0;
}

static bool is_of_origin(const struct stat *st, const struct perf_map_origin *origin)
{
	uint64_t written_ns =
		(uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;

	return st->st_uid == origin->uid && written_ns <= origin->end_ns;
}

int perf_map__open(const char *path, const struct perf_map_origin *origin,
		   struct perf_map **ret)
{
	/* /tmp is everybody's: no links, and nothing that open(2) would wait on. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct perf_map *map = calloc(1, sizeof(*map));
	struct stat st;
	int err;

	if (fd < 0 || fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	else if (!is_of_origin(&st, origin))
		err = -ESTALE;
	else if (!map)
		err = -ENOMEM;
	else
		err = perf_map__read_text(fd,
					  (uint64_t)st.st_size < PERF_MAP_MAX_BYTES
						  ? (size_t)st.st_size
						  : PERF_MAP_MAX_BYTES,
					  &map->text);
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
	if (fd >= 0)
		close(fd);
	perf_map__close(map);
	return err;
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
