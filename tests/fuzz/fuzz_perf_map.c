// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perf maps of any content. At the edges of every line's range, the symbol that
 * is found must be that of the last line that covers it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "symbol/perf_map.h"
#include "util/log.h"

/* Each is held against all. */
#define MAX_LINES 256

struct line {
	uint64_t start, bytes;
	const char *name;
};

/* A perf map is no link, so it is a real file. */
static char path[] = "/tmp/test-perf-gpu-map-XXXXXX";
static int map_fd = -1;

static void remove_file(void)
{
	unlink(path);
}

static void write_file(const uint8_t *data, size_t size)
{
	if (map_fd < 0) {
		map_fd = mkstemp(path);
		atexit(remove_file);
	}
	if (map_fd < 0 || ftruncate(map_fd, 0) ||
	    pwrite(map_fd, data, size, 0) != (ssize_t)size)
		abort();
}

/* "1f 0x20 name", by hand: two numbers of up to 16 digits. */
static int parse_number(const char **text, uint64_t *ret)
{
	static const char digits[] = "00112233445566778899aAbBcCdDeEfF";
	const char *at = *text, *digit;
	uint64_t value = 0;
	int nr_digits = 0;

	if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X') && at[2] &&
	    strchr(digits, at[2]))
		at += 2;
	for (; *at && (digit = strchr(digits, *at)); at++, nr_digits++) {
		if (value >> 60)
			return -1;
		value = value << 4 | (uint64_t)(digit - digits) / 2;
	}
	if (!nr_digits || *at != ' ')
		return -1;
	*text = at + 1;
	*ret = value;
	return 0;
}

static size_t parse(char *text, struct line *lines)
{
	size_t nr = 0;
	char *line;

	while (nr < MAX_LINES && (line = strsep(&text, "\n"))) {
		const char *at = line;

		if (!parse_number(&at, &lines[nr].start) &&
		    !parse_number(&at, &lines[nr].bytes) && *at &&
		    lines[nr].start <= UINT64_MAX - lines[nr].bytes) {
			lines[nr].name = at;
			nr++;
		}
	}
	/* With more, a later line may be right that isn't known here. */
	return text ? 0 : nr;
}

static void check(struct perf_map *map, const struct line *lines, size_t nr,
		  uint64_t address)
{
	const struct symbol *symbol = perf_map__find(map, address);
	const struct line *last = NULL;

	for (size_t i = 0; i < nr; i++)
		if (lines[i].start <= address &&
		    address - lines[i].start < lines[i].bytes)
			last = &lines[i];
	if (!symbol != !last)
		abort();
	if (symbol && (symbol->start > address || symbol->end <= address ||
		       strcmp(symbol->name, last->name) != 0 || !*symbol->demangled))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* What is behind a NUL is no text, but the same to both. */
	char *text = strndup((const char *)data, size);
	struct line lines[MAX_LINES];
	const struct perf_map_origin origin = {.uid = getuid(), .end_ns = UINT64_MAX};
	struct perf_map *map = NULL;
	size_t nr;

	if (!text)
		abort();
	write_file(data, size);
	log_verbosity = -1;
	if (perf_map__open(path, &origin, &map))
		abort();
	nr = parse(text, lines);
	for (size_t i = 0; i < nr; i++) {
		uint64_t start = lines[i].start, end = start + lines[i].bytes;

		check(map, lines, nr, start);
		check(map, lines, nr, start - 1);
		check(map, lines, nr, end);
		check(map, lines, nr, end - 1);
	}
	perf_map__close(map);
	free(text);
	return 0;
}
