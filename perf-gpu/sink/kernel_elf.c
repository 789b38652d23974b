// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The names, each once, and the file's life: it is written to a temporary file in
 * its folder (sink/elf_image.c says what) and renamed.
 *
 * One thread.
 */
#include "sink/kernel_elf.h"

#include <errno.h>
#include <libiberty/hashtab.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sink/elf_image.h"
#include "util/failure.h"
#include "util/log.h"
#include "util/owner.h"
#include "util/temporary.h"

#define FILE_NAME "[GPU_Kernel]"
#define MAX_NAMES (KERNEL_ELF_MAP_BYTES / ELF_IMAGE_SYMBOL_BYTES)

struct elf_name {
	uint32_t index;
	char text[];
};

struct kernel_elf {
	char *directory; /* absolute */
	char *path, *temp_path;
	int fd; /* of the temporary file; -1: none */
	char *made_directory; /* by us, as it was named; NULL: it was there */
	bool is_made, is_committed;
	bool has_old; /* the file that was there has temp_path's name */
	htab_t by_text; /* of struct elf_name */
	struct elf_name **names;
	size_t nr_names, nr_allocated;
};

/* Names */

static hashval_t hash_name(const void *entry)
{
	return htab_hash_string(((const struct elf_name *)entry)->text);
}

static int name_equals(const void *entry, const void *text)
{
	return !strcmp(((const struct elf_name *)entry)->text, text);
}

static int kernel_elf__add_name(struct kernel_elf *elf, const char *text, void **slot)
{
	size_t text_bytes = strlen(text) + 1;
	struct elf_name **names, *name;

	if (elf->nr_names == elf->nr_allocated) {
		size_t nr = elf->nr_allocated ? 2 * elf->nr_allocated : 64;

		names = reallocarray(elf->names, nr, sizeof(*names));
		if (!names)
			return -ENOMEM;
		elf->names = names;
		elf->nr_allocated = nr;
	}
	name = malloc(sizeof(*name) + text_bytes);
	if (!name)
		return -ENOMEM;
	name->index = (uint32_t)elf->nr_names;
	memcpy(name->text, text, text_bytes);
	elf->names[elf->nr_names++] = name;
	*slot = name;
	return 0;
}

int kernel_elf__address(struct kernel_elf *elf, const char *name, uint64_t *ret)
{
	hashval_t hash = htab_hash_string(name);
	const struct elf_name *found = htab_find_with_hash(elf->by_text, name, hash);
	void **slot;

	if (!found) {
		if (elf->nr_names == MAX_NAMES) {
			pr_err("%s: there is room for %llu different names, and there "
			       "are more: --names=short makes them fewer",
			       elf->path, MAX_NAMES);
			return -E2BIG;
		}
		slot = htab_find_slot_with_hash(elf->by_text, name, hash, INSERT);
		if (!slot || kernel_elf__add_name(elf, name, slot)) {
			pr_err("no memory for the names in %s", elf->path);
			return -ENOMEM;
		}
		found = *slot;
	}
	*ret = KERNEL_ELF_MAP_ADDRESS + (uint64_t)found->index * ELF_IMAGE_SYMBOL_BYTES +
	       ELF_IMAGE_SYMBOL_BYTES / 2;
	return 0;
}

/* Making and removing */

static int kernel_elf__make_directory(struct kernel_elf *elf, const char *directory)
{
	int err = temporary__make_folder(directory);

	if (!err) {
		elf->made_directory = strdup(directory);
		if (!elf->made_directory) {
			temporary__remove_folder(directory);
			err = -ENOMEM;
		}
	} else if (err == -EEXIST) {
		err = owner__is_trap(directory) ? -ELOOP : 0;
	}
	if (!err) {
		elf->directory = realpath(directory, NULL);
		if (elf->directory)
			return 0;
		err = -errno;
	}
	pr_err("cannot make the folder %s for the kernels' names: %s, choose another "
	       "place with -o",
	       directory, strerror(-err));
	return err;
}

static int kernel_elf__make_file(struct kernel_elf *elf)
{
	struct stat st;
	int err;

	/* Else the rename at the end would fail. */
	if (!lstat(elf->path, &st) && S_ISDIR(st.st_mode)) {
		pr_err("cannot write %s: it is a folder, remove it", elf->path);
		return -EISDIR;
	}
	elf->fd = temporary__make(elf->temp_path);
	if (elf->fd < 0) {
		err = elf->fd;
		pr_err("cannot create a file in %s: %s, make that a folder to write to "
		       "or "
		       "choose another place with -o",
		       elf->directory, strerror(-err));
		return err;
	}
	elf->is_made = true;
	return 0;
}

int kernel_elf__new(const char *directory, struct kernel_elf **ret)
{
	struct kernel_elf *elf = calloc(1, sizeof(*elf));
	int err = -ENOMEM;

	if (!elf)
		goto no_memory;
	elf->fd = -1;
	elf->by_text = htab_try_create(64, hash_name, name_equals, NULL);
	if (!elf->by_text)
		goto no_memory;
	err = kernel_elf__make_directory(elf, directory);
	if (err)
		goto out;
	if (asprintf(&elf->path, "%s/" FILE_NAME, elf->directory) < 0) {
		elf->path = NULL;
		goto no_memory;
	}
	if (asprintf(&elf->temp_path, "%s/" FILE_NAME ".XXXXXX", elf->directory) < 0) {
		elf->temp_path = NULL;
		goto no_memory;
	}
	err = kernel_elf__make_file(elf);
	if (err)
		goto out;
	*ret = elf;
	return 0;

no_memory:
	err = -ENOMEM;
	pr_err("no memory for the kernels' names");
out:
	kernel_elf__delete(elf);
	return err;
}

void kernel_elf__delete(struct kernel_elf *elf)
{
	if (!elf)
		return;
	if (elf->fd >= 0)
		close(elf->fd);
	if (elf->is_made && (!elf->is_committed || elf->has_old))
		temporary__remove(elf->temp_path);
	if (elf->made_directory && !elf->is_committed)
		temporary__remove_folder(elf->made_directory);
	if (elf->by_text)
		htab_delete(elf->by_text);
	for (size_t i = 0; i < elf->nr_names; i++)
		free(elf->names[i]);
	free(elf->names);
	free(elf->temp_path);
	free(elf->path);
	free(elf->made_directory);
	free(elf->directory);
	free(elf);
}

const char *kernel_elf__path(const struct kernel_elf *elf)
{
	return elf->path;
}

int kernel_elf__write(struct kernel_elf *elf, const struct arch *arch,
		      uint8_t ret_build_id[ELF_IMAGE_BUILD_ID_BYTES])
{
	const char **names = calloc(elf->nr_names + 1, sizeof(*names));
	int err = -ENOMEM;

	if (names) {
		for (size_t i = 0; i < elf->nr_names; i++)
			names[i] = elf->names[i]->text;
		err = elf_image__write(elf->fd, arch, names, elf->nr_names, ret_build_id);
	}
	/* As of any file: what is written late fails here. */
	if (close(elf->fd) && !err)
		err = -errno;
	elf->fd = -1;
	if (err)
		pr_err("cannot write %s: %s%s", elf->path, strerror(-err),
		       failure__room(err));
	free(names);
	return err;
}

int kernel_elf__commit(struct kernel_elf *elf)
{
	int err = temporary__replace(elf->temp_path, elf->path, &elf->has_old);

	if (err) {
		pr_err("cannot write %s: %s%s", elf->path, strerror(-err),
		       failure__room(err));
		return err;
	}
	elf->is_committed = true;
	if (elf->made_directory)
		temporary__keep_folder(elf->made_directory);
	return 0;
}

void kernel_elf__take_back(struct kernel_elf *elf)
{
	if (!elf->is_committed)
		return;
	temporary__take_back(elf->temp_path, elf->path, elf->has_old);
	elf->is_committed = elf->has_old = false;
}
