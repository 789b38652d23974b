// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/proc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a line is the one, and where its value starts */
static const char *find_value(const char *line, const char *key)
{
	size_t bytes;

	if (!key)
		return line;
	bytes = strlen(key);
	if (strncmp(line, key, bytes))
		return NULL;
	line += bytes;
	line += strspn(line, " \t");
	if (*line != ':')
		return NULL;
	return line + 1 + strspn(line + 1, " \t");
}

static int read_value(const char *path, const char *key, char *ret, size_t size)
{
	const char *value = NULL;
	char *line = NULL;
	size_t line_size = 0;
	FILE *stream;
	int err;

	stream = fopen(path, "re");
	if (!stream)
		return -errno;
	errno = 0;
	while (!value && getline(&line, &line_size, stream) > 0)
		value = find_value(line, key);
	if (value)
		snprintf(ret, size, "%.*s", (int)strcspn(value, "\n"), value);
	err = value ? 0 : errno ? -errno : -ENODATA;
	free(line);
	fclose(stream);
	return err;
}

int proc__read_line(const char *path, char *ret, size_t size)
{
	return read_value(path, NULL, ret, size);
}

int proc__read_value(const char *path, const char *key, char *ret, size_t size)
{
	return read_value(path, key, ret, size);
}
