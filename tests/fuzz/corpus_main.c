// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The main() of a fuzz target in `make check`: feeds it every file of a folder
 * once, and every beginning of a small one, and prints TAP. `make fuzz` links
 * libFuzzer's instead.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Up to here a file is tried cut at every byte */
#define CUT_BYTES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* The target gets an allocation of exactly the size, for the sanitizer's sake. */
static int feed(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	return 0;
}

static int feed_file(const char *path)
{
	uint8_t *data = NULL;
	long size;
	FILE *file;
	int err = 0;

	file = fopen(path, "rb");
	if (!file)
		return -errno;
	if (fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 ||
	    fseek(file, 0, SEEK_SET)) {
		err = -errno;
		goto out;
	}
	data = malloc((size_t)size + 1);
	if (!data) {
		err = -ENOMEM;
		goto out;
	}
	if (fread(data, 1, (size_t)size, file) != (size_t)size) {
		err = -EIO;
		goto out;
	}
	err = feed(data, (size_t)size);
	for (size_t cut = 0; !err && size <= CUT_BYTES && cut < (size_t)size; cut++)
		err = feed(data, cut);
out:
	free(data);
	fclose(file);
	return err;
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : "";
	struct dirent **entries;
	char path[PATH_MAX];
	int nr, err = 0;

	nr = scandir(folder, &entries, is_visible, alphasort);
	if (nr < 0) {
		printf("not ok 1 - corpus %s: %m\n1..1\n", folder);
		return 1;
	}
	for (int i = 0; i < nr && !err; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		/* Ahead of it: a crash tells nothing any more. */
		fprintf(stderr, "# %s\n", path);
		err = feed_file(path);
	}
	for (int i = 0; i < nr; i++)
		free(entries[i]);
	free(entries);
	if (err)
		printf("not ok 1 - %s: %s\n1..1\n", path, strerror(-err));
	else
		printf("%s 1 - %d inputs\n1..1\n", nr ? "ok" : "not ok", nr);
	return err || nr == 0;
}
