// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ld.so.cache, as ldconfig of glibc 2.2 and later writes it (its own description:
 * sysdeps/generic/dl-cache.h). Before glibc 2.32 there is an older table in front of it, by
 * default:
 *
 *   [ "ld.so-1.7.0" pad u32 nr | nr * 12 bytes | padding to 8 ]
 *   "glibc-ld.so.cache1.1"  u32 nr_entries  u32 string_bytes  20 bytes
 *   nr_entries * { i32 flags  u32 name  u32 path  u32 os_version  u64 hwcap }
 *   strings                                 name, path: from the "glibc-..." on
 */
#include "library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch.h"

#define CACHE_PATH "/etc/ld.so.cache"
/* With 10,000 libraries it has a megabyte. */
#define MAX_CACHE_BYTES (64 << 20)

#define OLD_MAGIC	"ld.so-1.7.0"
#define OLD_ENTRY_BYTES 12
#define MAGIC		"glibc-ld.so.cache1.1"

struct cache_header {
	char magic[20];
	uint32_t nr_entries;
	uint32_t string_bytes;
	char pad[20];
};

struct cache_entry {
	int32_t flags;
	uint32_t name, path;
	uint32_t os_version;
	uint64_t hwcap;
};

void *library__open(const char *path)
{
	return path[0] == '/' ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static bool try_in(const char *folder, size_t folder_bytes, const char *name,
		   library_try_fn *try_it, void *ctx)
{
	bool is_over;
	char *path;

	if (!folder_bytes || folder[0] != '/' ||
	    asprintf(&path, "%.*s/%s", (int)folder_bytes, folder, name) < 0)
		return false;
	is_over = !access(path, R_OK) && try_it(ctx, path);
	free(path);
	return is_over;
}

static char *read_cache(size_t *ret_bytes)
{
	int fd = open(CACHE_PATH, O_RDONLY | O_CLOEXEC);
	char *data = NULL;
	struct stat st;
	ssize_t nr = 0;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_size > 0 && st.st_size <= MAX_CACHE_BYTES)
		data = malloc((size_t)st.st_size + 1);
	while (data && *ret_bytes < (size_t)st.st_size &&
	       (nr = read(fd, data + *ret_bytes, (size_t)st.st_size - *ret_bytes)) > 0)
		*ret_bytes += (size_t)nr;
	if (data)
		data[*ret_bytes] = '\0'; /* of the last string */
	close(fd);
	return data;
}

/* Where the newer table begins; @bytes if there is none */
static size_t find_table(const char *data, size_t bytes)
{
	size_t offset = sizeof(OLD_MAGIC) + sizeof(uint32_t);
	uint32_t nr;

	if (bytes < offset || memcmp(data, OLD_MAGIC, strlen(OLD_MAGIC)))
		return 0;
	memcpy(&nr, data + sizeof(OLD_MAGIC), sizeof(nr));
	offset += (size_t)nr * OLD_ENTRY_BYTES;
	return (offset + 7) & ~(size_t)7;
}

static bool search_cache(const char *name, library_try_fn *try_it, void *ctx)
{
	const struct cache_header *header;
	const struct cache_entry *entries;
	bool is_over = false;
	size_t bytes = 0, offset;
	char *data = read_cache(&bytes);

	offset = data ? find_table(data, bytes) : 0;
	if (!data || offset > bytes || bytes - offset < sizeof(*header))
		goto out;
	/* Allocated, and at a multiple of 8 */
	header = (const void *)(data + offset);
	entries = (const void *)(header + 1);
	bytes -= offset;
	if (memcmp(header->magic, MAGIC, sizeof(header->magic)) ||
	    header->nr_entries > (bytes - sizeof(*header)) / sizeof(*entries))
		goto out;
	for (uint32_t i = 0; i < header->nr_entries && !is_over; i++) {
		const struct cache_entry *entry = &entries[i];

		/* Those of glibc-hwcaps want to know what the CPU can; there is a plain one. */
		if (entry->flags != ARCH_LINKER_CACHE_FLAGS || entry->hwcap ||
		    entry->name >= bytes || entry->path >= bytes ||
		    strcmp((const char *)header + entry->name, name) != 0)
			continue;
		if (((const char *)header)[entry->path] == '/')
			is_over = try_it(ctx, (const char *)header + entry->path);
	}
out:
	free(data);
	return is_over;
}

bool library__search(const char *name, library_try_fn *try_it, void *ctx)
{
	/* Debian's loader has the first two, others' don't. */
	static const char *const folders[] = {"/lib/" ARCH_MULTIARCH,
					      "/usr/lib/" ARCH_MULTIARCH,
					      "/lib64",
					      "/usr/lib64",
					      "/lib",
					      "/usr/lib"};
	const char *at = secure_getenv("LD_LIBRARY_PATH");

	while (at && *at) {
		size_t bytes = strcspn(at, ":;");

		if (try_in(at, bytes, name, try_it, ctx))
			return true;
		at += bytes + (at[bytes] != '\0');
	}
	if (search_cache(name, try_it, ctx))
		return true;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (try_in(folders[i], strlen(folders[i]), name, try_it, ctx))
			return true;
	return false;
}
