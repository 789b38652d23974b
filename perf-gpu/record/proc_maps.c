// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/proc_maps.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* @ret: with room for PATH_MAX. -EINVAL for what is no line of that file */
static int parse_line(char *line, struct gpu_log_map *ret)
{
	unsigned long start, end, offset, inode;
	unsigned int major, minor;
	char rights[5];
	size_t nr_bytes;
	int path = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &start, &end, rights, &offset,
		   &major, &minor, &inode, &path) < 7 ||
	    !path || end < start || strlen(rights) != 4)
		return -EINVAL;
	nr_bytes = strlen(line + path);
	if (nr_bytes >= PATH_MAX)
		return -ENAMETOOLONG;
	*ret = (struct gpu_log_map){
		.prot = (rights[0] == 'r' ? PROT_READ : 0u) |
			(rights[1] == 'w' ? PROT_WRITE : 0u) |
			(rights[2] == 'x' ? PROT_EXEC : 0u),
		.start = start,
		.bytes = end - start,
		.offset = offset,
		.inode = inode,
		.major = major,
		.minor = minor,
		.is_shared = rights[3] == 's',
		.nr_bytes = (uint32_t)nr_bytes,
	};
	memcpy(ret->path, line + path, nr_bytes + 1);
	return 0;
}

int proc_maps__read(pid_t pid, proc_map_handler_fn *handle, void *ctx)
{
	struct gpu_log_map *map = malloc(sizeof(*map) + PATH_MAX);
	size_t line_bytes = 0;
	char *line = NULL;
	char path[64];
	FILE *stream;
	int err = 0;

	if (!map)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	stream = fopen(path, "re");
	if (!stream) {
		err = -errno;
		free(map);
		return err;
	}
	errno = 0;
	while (!err && getline(&line, &line_bytes, stream) > 0) {
		if (!parse_line(line, map))
			err = handle(ctx, map);
		errno = 0;
	}
	if (!err && ferror(stream))
		err = errno ? -errno : -EIO;
	free(line);
	free(map);
	fclose(stream);
	return err;
}
