// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/build_ids.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfdata/format.h"

#define MAX_FILES 65536

struct build_ids {
	void *paths; /* tree of tsearch(3) */
	size_t nr_paths;
};

struct table {
	FILE *stream;
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
	static const char padding[PERFDATA_STRING_ALIGN];
	const char *path = *(const char *const *)node;
	struct table *table = closure;
	struct perfdata_build_id entry = {.pid = -1};
	size_t path_bytes, padded_bytes;

	if (visit != leaf && visit != postorder)
		return;
	path_bytes = strlen(path) + 1;
	padded_bytes = (path_bytes + PERFDATA_STRING_ALIGN - 1) / PERFDATA_STRING_ALIGN *
		       PERFDATA_STRING_ALIGN;
	entry.id_bytes = (uint8_t)read_build_id(path, entry.id);
	if (!entry.id_bytes || padded_bytes > PATH_MAX)
		return;
	entry.header.type = PERFDATA_RECORD_HEADER_BUILD_ID;
	entry.header.misc = PERF_RECORD_MISC_USER | PERFDATA_MISC_BUILD_ID_SIZE;
	entry.header.size = (uint16_t)(sizeof(entry) + padded_bytes);
	fwrite(&entry, sizeof(entry), 1, table->stream);
	fwrite(path, path_bytes, 1, table->stream);
	fwrite(padding, padded_bytes - path_bytes, 1, table->stream);
}

int build_ids__table(const struct build_ids *ids, void **ret, size_t *ret_bytes)
{
	char *bytes = NULL;
	size_t nr_bytes;
	struct table table;

	elf_version(EV_CURRENT);
	table.stream = open_memstream(&bytes, &nr_bytes);
	if (!table.stream)
		return -ENOMEM;
	twalk_r(ids->paths, add_entry, &table);
	if (fclose(table.stream)) {
		free(bytes);
		return -ENOMEM;
	}
	if (!nr_bytes) {
		free(bytes);
		bytes = NULL;
	}
	*ret = bytes;
	*ret_bytes = nr_bytes;
	return 0;
}

void build_ids__delete(struct build_ids *ids)
{
	if (!ids)
		return;
	tdestroy(ids->paths, free);
	free(ids);
}
