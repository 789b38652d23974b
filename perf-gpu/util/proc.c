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

int proc__read_environment(pid_t pid, const char *name, char *ret, size_t size)
{
	const size_t name_bytes = strlen(name);
	char path[64], *variable = NULL;
	size_t variable_size = 0;
	int err = -ENODATA;
	FILE *stream;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	stream = fopen(path, "re");
	if (!stream)
		return -errno;
	while (err && getdelim(&variable, &variable_size, '\0', stream) > 0) {
		if (strncmp(variable, name, name_bytes) || variable[name_bytes] != '=')
			continue;
		snprintf(ret, size, "%s", variable + name_bytes + 1);
		err = 0;
	}
	free(variable);
	fclose(stream);
	return err;
}
