// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/parse.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* strtoull(3) takes blanks and a minus sign, which no size has. */
static int parse_number(const char *text, char **ret_end, unsigned long long *ret)
{
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	*ret = strtoull(text, ret_end, 10);
	return -errno;
}

int parse__call_graph(const char *text, struct stack_config *ret)
{
	enum call_graph call_graph;
	uint32_t dwarf_bytes = CALL_GRAPH_DWARF_BYTES;
	unsigned long long bytes;
	char *end;

	if (!strcmp(text, "unwind")) {
		call_graph = CALL_GRAPH_UNWIND;
	} else if (!strcmp(text, "fp")) {
		call_graph = CALL_GRAPH_FP;
	} else if (!strcmp(text, "dwarf")) {
		call_graph = CALL_GRAPH_DWARF;
	} else if (!strncmp(text, "dwarf,", 6)) {
		call_graph = CALL_GRAPH_DWARF;
		if (parse_number(text + 6, &end, &bytes) || *end || !bytes ||
		    bytes > CALL_GRAPH_MAX_DWARF_BYTES)
			return -ERANGE;
		dwarf_bytes = (uint32_t)((bytes + 7) / 8 * 8);
	} else {
		return -EINVAL;
	}
	ret->call_graph = call_graph;
	ret->dwarf_bytes = dwarf_bytes;
	return 0;
}

int parse__max_stack(const char *text, unsigned int *ret)
{
	unsigned long long nr;
	char *end;
	int err;

	err = parse_number(text, &end, &nr);
	if (err)
		return err;
	if (*end)
		return -EINVAL;
	if (!nr || nr > MAX_STACK_FRAMES)
		return -ERANGE;
	*ret = (unsigned int)nr;
	return 0;
}

/* Which of the words is it? -EINVAL if none. */
static int find_word(const char *text, const char *const *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (words[i] && !strcmp(text, words[i]))
			return (int)i;
	}
	return -EINVAL;
}

#define FIND_WORD(text, words) find_word(text, words, sizeof(words) / sizeof(*(words)))

int parse__python(const char *text, enum python_frames *ret)
{
	static const char *const words[] = {
		[PYTHON_WALK] = "walk",
		[PYTHON_TRAMPOLINE] = "trampoline",
		[PYTHON_OFF] = "off",
	};
	int found = FIND_WORD(text, words);

	if (found < 0)
		return found;
	*ret = (enum python_frames)found;
	return 0;
}

int parse__probe(const char *text, enum launch_probe *ret)
{
	static const char *const words[] = {
		[LAUNCH_PROBE_MARKER] = "marker",
		[LAUNCH_PROBE_API] = "api",
		[LAUNCH_PROBE_NONE] = "none",
	};
	int found = FIND_WORD(text, words);

	if (found < 0)
		return found;
	*ret = (enum launch_probe)found;
	return 0;
}

int parse__capture_range(const char *text, bool *ret)
{
	static const char *const words[] = {"none", "cudaProfilerApi"};
	int found = FIND_WORD(text, words);

	if (found < 0)
		return found;
	*ret = found;
	return 0;
}

int parse__stacks(const char *text, enum stacks *ret)
{
	static const char *const words[] = {
		[STACKS_AUTO] = "auto",
		[STACKS_UPROBE] = "uprobe",
		[STACKS_PROCESS] = "process",
	};
	int found = FIND_WORD(text, words);

	if (found < 0)
		return found;
	*ret = (enum stacks)found;
	return 0;
}

/* Of "B", "K", "M" or "G", else 0 */
static unsigned long long unit_bytes(const char *unit)
{
	static const char units[] = "BKMG";
	const char *found = *unit ? strchr(units, toupper((unsigned char)*unit)) : NULL;

	if (!found || unit[1])
		return 0;
	return 1ull << (10 * (found - units));
}

int parse__mmap_pages(const char *text, size_t page_bytes, size_t *ret_pages)
{
	unsigned long long nr, unit = page_bytes;
	size_t pages = 1;
	char *end;
	int err;

	err = parse_number(text, &end, &nr);
	if (err)
		return err;
	if (*end)
		unit = unit_bytes(end);
	if (!unit || !nr)
		return -EINVAL;
	if (nr > PARSE_MAX_RING_BYTES / unit)
		return -ERANGE;
	while (pages * page_bytes < nr * unit)
		pages *= 2;
	*ret_pages = pages;
	return 0;
}

int parse__max_size(const char *text, uint64_t *ret_bytes)
{
	unsigned long long nr, unit;
	char *end;
	int err;

	err = parse_number(text, &end, &nr);
	if (err)
		return err;
	unit = unit_bytes(end);
	if (!unit)
		return -EINVAL;
	if (!nr || nr > INT64_MAX / unit)
		return -ERANGE;
	*ret_bytes = nr * unit;
	return 0;
}

int parse__delay(const char *text, int *ret_ms)
{
	unsigned long long ms;
	char *end;
	int err;

	if (!strcmp(text, "-1")) {
		*ret_ms = -1;
		return 0;
	}
	err = parse_number(text, &end, &ms);
	if (err)
		return err;
	if (*end)
		return -EINVAL;
	if (ms > INT_MAX)
		return -ERANGE;
	*ret_ms = (int)ms;
	return 0;
}

int parse__duration(const char *text, uint64_t *ret_ms)
{
	static const struct {
		const char *name;
		uint64_t ms;
	} units[] = {{"", 1000},   {"s", 1000},	   {"ms", 1},
		     {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
	const uint64_t max_ms = 366ull * 86400000;
	unsigned long long nr;
	char *end;
	int err;

	err = parse_number(text, &end, &nr);
	if (err)
		return err;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(end, units[i].name) != 0)
			continue;
		if (!nr || nr > max_ms / units[i].ms)
			return -ERANGE;
		*ret_ms = nr * units[i].ms;
		return 0;
	}
	return -EINVAL;
}

/* Numbers and commas by turns. Each number takes two characters at least. */
int parse__pids(const char *text, pid_t **ret_pids, size_t *ret_nr)
{
	pid_t *pids = calloc(strlen(text) / 2 + 1, sizeof(*pids));
	unsigned long long pid;
	size_t nr = 0;
	char *end;
	int err;

	if (!pids)
		return -ENOMEM;
	for (;;) {
		err = parse_number(text, &end, &pid);
		if (!err && (!pid || pid > INT_MAX))
			err = -ERANGE;
		if (err)
			break;
		pids[nr++] = (pid_t)pid;
		if (!*end)
			break;
		if (*end != ',') {
			err = -EINVAL;
			break;
		}
		text = end + 1;
	}
	if (err) {
		free(pids);
		return err;
	}
	*ret_pids = pids;
	*ret_nr = nr;
	return 0;
}
