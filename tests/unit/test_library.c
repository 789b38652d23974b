// SPDX-License-Identifier: GPL-2.0-or-later
/* Where libraries are looked for: library.c */
#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library.h"
#include "unit.h"

struct tried {
	char paths[8][256];
	size_t nr, end; /* of them, at which the search is over; 0: at none */
};

static bool try_it(void *ctx, const char *path)
{
	struct tried *tried = ctx;

	if (tried->nr < 8)
		snprintf(tried->paths[tried->nr], sizeof(tried->paths[0]), "%s", path);
	return ++tried->nr == tried->end;
}

TEST(the_c_library_is_found)
{
	struct tried tried = {.end = 1};
	void *handle;

	unsetenv("LD_LIBRARY_PATH");
	CHECK(library__search("libc.so.6", try_it, &tried));
	CHECK_EQ(tried.paths[0][0], '/');
	CHECK(strstr(tried.paths[0], "/libc.so.6") != NULL);
	handle = library__open(tried.paths[0]);
	/* The one that we have, of our kind of machine; sanitizers have their own printf(). */
	CHECK(handle &&
	      dlsym(handle, "gnu_get_libc_version") == (void *)gnu_get_libc_version);
	dlclose(handle);
}

TEST(what_is_nowhere_is_not_found)
{
	struct tried tried = {};

	CHECK(!library__search("libno-such-library.so.1", try_it, &tried));
	CHECK_EQ(tried.nr, 0);
}

TEST(only_absolute_folders_are_looked_into)
{
	static const char name[] = "libperf-gpu-test.so.9";
	char folder[] = "/tmp/test-library.XXXXXX", path[128], variable[256];
	struct tried tried = {};

	CHECK(mkdtemp(folder) != NULL);
	CHECK_EQ(chdir(folder), 0);
	CHECK_EQ(mkdir("sub", 0700), 0);
	fclose(fopen(name, "w"));
	snprintf(path, sizeof(path), "sub/%s", name);
	fclose(fopen(path, "w"));
	setenv("LD_LIBRARY_PATH", ":.:sub::./sub;../tmp:", 1);
	CHECK(!library__search(name, try_it, &tried));
	CHECK_EQ(tried.nr, 0);
	snprintf(variable, sizeof(variable), ":%s/none:%s/sub;.:%s:", folder, folder,
		 folder);
	setenv("LD_LIBRARY_PATH", variable, 1);
	CHECK(!library__search(name, try_it, &tried));
	CHECK_EQ(tried.nr, 2);
	snprintf(path, sizeof(path), "%s/sub/%s", folder, name);
	CHECK_STR(tried.paths[0], path);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	CHECK_STR(tried.paths[1], path);
	tried = (struct tried){.end = 1};
	CHECK(library__search(name, try_it, &tried));
	CHECK_EQ(tried.nr, 1);
	snprintf(path, sizeof(path), "sub/%s", name);
	CHECK_EQ(unlink(path) || unlink(name) || rmdir("sub") || rmdir(folder), 0);
}

TEST(no_relative_path_is_opened)
{
	CHECK(library__open("libc.so.6") == NULL);
	CHECK(library__open("./libc.so.6") == NULL);
	CHECK(library__open("") == NULL);
}
