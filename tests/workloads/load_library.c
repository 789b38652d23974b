/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does with the injected library what the CUDA driver and NVTX do, and prints what the
 * process has by then that it hadn't before: mapped files and descriptors. Needs no CUDA; may
 * be set-uid.
 *
 *	load_library LIBRARY
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int initialize_fn(void);
typedef int initialize_nvtx_fn(void *get_table);

static int get_no_table(int module, void **ret_table, unsigned int *ret_size)
{
	(void)module;
	(void)ret_table;
	(void)ret_size;
	return 0;
}

static void print_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096], last[4096] = "";

	while (maps && fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/');

		if (!path)
			continue;
		path[strcspn(path, "\n")] = '\0';
		if (strcmp(path, last))
			printf("mapped %s\n", path);
		snprintf(last, sizeof(last), "%s", path);
	}
	if (maps)
		fclose(maps);
}

static void print_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	char path[4096];

	while (dir && (entry = readdir(dir))) {
		ssize_t nr =
			readlinkat(dirfd(dir), entry->d_name, path, sizeof(path) - 1);

		if (nr < 0 || atoi(entry->d_name) <= 2 ||
		    atoi(entry->d_name) == dirfd(dir))
			continue;
		path[nr] = '\0';
		printf("open %s\n", path);
	}
	if (dir)
		closedir(dir);
}

int main(int argc, char **argv)
{
	initialize_nvtx_fn *initialize_nvtx;
	initialize_fn *initialize;
	void *library;

	if (argc != 2)
		return 2;
	library = dlopen(argv[1], RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	initialize = (initialize_fn *)dlsym(library, "InitializeInjection");
	initialize_nvtx =
		(initialize_nvtx_fn *)dlsym(library, "InitializeInjectionNvtx2");
	if (!initialize || !initialize_nvtx)
		return 1;
	initialize();
	initialize_nvtx((void *)get_no_table);
	print_maps();
	print_descriptors();
	return 0;
}
