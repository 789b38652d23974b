// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/build_ids.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfdata/feature.h"
#include "perfdata/format.h"

#define MAX_FILES 65536

struct build_ids {
	void *paths; /* tree of tsearch(3) */
	size_t nr_paths;
};

static int compare_paths(const void *a, const void *b)
{
	return strcmp(a, b);
}

int build_ids__new(struct build_ids **ret)
{
	struct build_ids *ids = calloc(1, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	*ret = ids;
	return 0;
}

void build_ids__add(struct build_ids *ids, const char *path)
{
	char *copy;

	if (path[0] != '/' || path[1] == '/' || ids->nr_paths == MAX_FILES ||
	    tfind(path, &ids->paths, compare_paths))
		return;
	copy = strdup(path);
	if (!copy)
		return;
	if (tsearch(copy, &ids->paths, compare_paths))
		ids->nr_paths++;
	else
		free(copy);
}

struct search {
	const char *end;
	const char *found;
};

static void look_at(const void *node, VISIT visit, void *closure)
{
	const char *path = *(const char *const *)node;
	struct search *search = closure;
	size_t length = strlen(path), end_length = strlen(search->end);

	if ((visit == leaf || visit == postorder) && length >= end_length &&
	    !strcmp(path + length - end_length, search->end))
		search->found = path;
}

const char *build_ids__find(const struct build_ids *ids, const char *end)
{
	struct search search = {.end = end};

	twalk_r(ids->paths, look_at, &search);
	return search.found;
}

/* Return: bytes written to @ret, 0 if there is no build id. */
static size_t read_build_id(const char *path, uint8_t *ret)
{
	const void *build_id;
	ssize_t bytes = 0;
	struct stat st;
	Elf *elf;
	int fd;

	/* Whatever is there now, opening it must not wait. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		/* Not mapped: a file that is cut meanwhile must not be a SIGBUS. */
		elf = elf_begin(fd, ELF_C_READ, NULL);
		if (elf)
			bytes = dwelf_elf_gnu_build_id(elf, &build_id);
		if (bytes > PERFDATA_BUILD_ID_MAX_BYTES)
			bytes = PERFDATA_BUILD_ID_MAX_BYTES;
		if (bytes > 0)
			memcpy(ret, build_id, (size_t)bytes);
		elf_end(elf);
	}
	close(fd);
	return bytes > 0 ? (size_t)bytes : 0;
}

static void add_entry(const void *node, VISIT visit, void *closure)
{
	const char *path = *(const char *const *)node;
	uint8_t build_id[PERFDATA_BUILD_ID_MAX_BYTES];
	size_t bytes;

	if (visit != leaf && visit != postorder)
		return;
	bytes = read_build_id(path, build_id);
	if (bytes)
		perfdata_feature__add_build_id(closure, PERF_RECORD_MISC_USER, build_id,
					       bytes, path);
}

void build_ids__read(const struct build_ids *ids, struct perfdata_buffer *table)
{
	elf_version(EV_CURRENT);
	twalk_r(ids->paths, add_entry, table);
}

void build_ids__delete(struct build_ids *ids)
{
	if (!ids)
		return;
	tdestroy(ids->paths, free);
	free(ids);
}
