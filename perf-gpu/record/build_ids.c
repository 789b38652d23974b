// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/build_ids.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfdata/feature.h"
#include "perfdata/format.h"

#define MAX_FILES 65536

/* The file may be anybody's: notes are small, or not to be read into memory. */
#define MAX_NOTES_BYTES (1u << 20)

struct mapped_file {
	const char *path; /* first: key */
	uint8_t id[PERFDATA_BUILD_ID_MAX_BYTES];
	size_t id_bytes; /* 0: the kernel didn't say */
};

struct build_ids {
	void *files; /* tree of tsearch(3) */
	size_t nr_files;
};

static int compare_paths(const void *a, const void *b)
{
	const struct mapped_file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

int build_ids__new(struct build_ids **ret)
{
	struct build_ids *ids = calloc(1, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	*ret = ids;
	return 0;
}

static struct mapped_file *build_ids__get(struct build_ids *ids, const char *path)
{
	struct mapped_file key = {.path = path}, *file, **found;
	const size_t path_bytes = strlen(path) + 1;

	found = tfind(&key, &ids->files, compare_paths);
	if (found)
		return *found;
	if (ids->nr_files == MAX_FILES)
		return NULL;
	file = calloc(1, sizeof(*file) + path_bytes);
	if (!file)
		return NULL;
	file->path = memcpy(file + 1, path, path_bytes);
	if (!tsearch(file, &ids->files, compare_paths)) {
		free(file);
		return NULL;
	}
	ids->nr_files++;
	return file;
}

void build_ids__add(struct build_ids *ids, const char *path, const uint8_t *id,
		    size_t id_bytes)
{
	struct mapped_file *file;

	if (path[0] != '/' || path[1] == '/')
		return;
	file = build_ids__get(ids, path);
	if (!file || !id_bytes || id_bytes > sizeof(file->id))
		return;
	memcpy(file->id, id, id_bytes);
	file->id_bytes = id_bytes;
}

struct search {
	const char *end;
	const char *found;
};

static void look_at(const void *node, VISIT visit, void *closure)
{
	const char *path = (*(struct mapped_file *const *)node)->path;
	struct search *search = closure;
	size_t length = strlen(path), end_length = strlen(search->end);

	if ((visit == leaf || visit == postorder) && length >= end_length &&
	    !strcmp(path + length - end_length, search->end))
		search->found = path;
}

const char *build_ids__find(const struct build_ids *ids, const char *end)
{
	struct search search = {.end = end};

	twalk_r(ids->files, look_at, &search);
	return search.found;
}

static bool has_sane_notes(Elf *elf)
{
	size_t nr_segments;
	GElf_Phdr segment;

	/* Without any, sections would be searched; what can be executed has some. */
	if (elf_getphdrnum(elf, &nr_segments) || !nr_segments)
		return false;
	for (size_t i = 0; i < nr_segments; i++)
		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_NOTE &&
		    segment.p_filesz > MAX_NOTES_BYTES)
			return false;
	return true;
}

/* Is it the kernel's name of memory, or a device? There is no file of it to have an id. */
static bool is_no_file(const char *path)
{
	static const char *const prefixes[] = {"/memfd:", "/SYSV", "/anon_hugepage",
					       "/dev/"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		if (!strncmp(path, prefixes[i], strlen(prefixes[i])))
			return true;
	}
	return false;
}

/* Return: bytes written to @ret, 0 if there is no build id, or a negative errno. */
static ssize_t read_build_id(const char *path, uint8_t *ret)
{
	const void *build_id;
	ssize_t bytes = 0;
	struct stat st;
	Elf *elf;
	int fd;

	/* Whatever is there now, opening it must not wait. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		/* Not mapped: a file that is cut meanwhile must not be a SIGBUS. */
		elf = elf_begin(fd, ELF_C_READ, NULL);
		if (elf && has_sane_notes(elf))
			bytes = dwelf_elf_gnu_build_id(elf, &build_id);
		if (bytes > PERFDATA_BUILD_ID_MAX_BYTES)
			bytes = PERFDATA_BUILD_ID_MAX_BYTES;
		if (bytes > 0)
			memcpy(ret, build_id, (size_t)bytes);
		elf_end(elf);
	}
	close(fd);
	return bytes > 0 ? bytes : 0;
}

struct table {
	struct perfdata_buffer *to;
	struct build_ids_unreadable unreadable;
};

static void add_entry(const void *node, VISIT visit, void *closure)
{
	struct mapped_file file = **(struct mapped_file *const *)node;
	struct table *table = closure;
	ssize_t bytes = (ssize_t)file.id_bytes;

	if (visit != leaf && visit != postorder)
		return;
	if (!bytes)
		bytes = read_build_id(file.path, file.id);
	if (bytes > 0)
		perfdata_feature__add_build_id(table->to, PERF_RECORD_MISC_USER, file.id,
					       (size_t)bytes, file.path);
	if (bytes >= 0 || is_no_file(file.path))
		return;
	if (!table->unreadable.nr++) {
		table->unreadable.path = file.path;
		table->unreadable.err = (int)bytes;
	}
}

void build_ids__read(const struct build_ids *ids, struct perfdata_buffer *table,
		     struct build_ids_unreadable *ret)
{
	struct table closure = {.to = table};

	elf_version(EV_CURRENT);
	twalk_r(ids->files, add_entry, &closure);
	*ret = closure.unreadable;
}

void build_ids__delete(struct build_ids *ids)
{
	if (!ids)
		return;
	tdestroy(ids->files, free);
	free(ids);
}
