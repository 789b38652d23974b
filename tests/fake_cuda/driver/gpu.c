// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernels there are, by name, and how long each runs. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

/* What a kernel takes that the script doesn't name: the range is of short real ones. */
#define MIN_DURATION_NS 2000
#define MAX_DURATION_NS 50000

#define NR_BUCKETS 1024

struct duration {
	struct duration *next;
	uint64_t ns;
	char part[]; /* of the kernel's name */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct kernel_type *types[NR_BUCKETS];
static struct duration *durations;
static bool has_read_durations;

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint32_t hash_name(const char *name)
{
	uint32_t hash = 2166136261u;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 16777619u;
	return hash;
}

static struct duration *parse_duration(char *line)
{
	size_t len = strlen(line);
	struct duration *duration;
	char *number;

	while (len && isspace((unsigned char)line[len - 1]))
		line[--len] = 0;
	number = strrchr(line, ' ');
	if (!number || *line == '#')
		return NULL;
	*number++ = 0;
	duration = malloc(sizeof(*duration) + strlen(line) + 1);
	if (duration) {
		duration->ns = strtoull(number, NULL, 0);
		strcpy(duration->part, line);
	}
	return duration;
}

/* A script that can't be read would make every test that uses it meaningless. */
static void read_durations(void)
{
	struct duration **end = &durations;
	size_t size = 0;
	char *line = NULL;
	FILE *file;

	if (has_read_durations || !knobs.durations_path)
		return;
	has_read_durations = true;
	file = fopen(knobs.durations_path, "re");
	if (!file) {
		fprintf(stderr, "fake_cuda: FAKE_CUDA_DURATIONS=%s: %s\n",
			knobs.durations_path, strerror(errno));
		abort();
	}
	while (getline(&line, &size, file) > 0) {
		*end = parse_duration(line);
		if (*end) {
			(*end)->next = NULL;
			end = &(*end)->next;
		}
	}
	free(line);
	fclose(file);
}

/* The first line that fits; NULL if there is none. Under the mutex. */
static const struct duration *duration__find(const char *name, bool is_copy)
{
	const struct duration *duration;

	read_durations();
	for (duration = durations; duration; duration = duration->next)
		if (is_copy ? !strncmp(name, duration->part, strlen(duration->part))
			    : strstr(name, duration->part) != NULL)
			break;
	return duration;
}

static uint64_t duration_of(const char *name, uint32_t hash)
{
	const struct duration *duration = duration__find(name, false);

	return duration ? duration->ns
			: MIN_DURATION_NS + hash % (MAX_DURATION_NS - MIN_DURATION_NS);
}

bool script__copy_duration(const char *name, uint64_t *ret_ns)
{
	const struct duration *duration;

	pthread_mutex_lock(&mutex);
	duration = duration__find(name, true);
	pthread_mutex_unlock(&mutex);
	if (duration)
		*ret_ns = duration->ns;
	return duration;
}

static struct kernel_type *kernel_type__new(const char *name, uint32_t hash)
{
	struct kernel_type *type = calloc(1, sizeof(*type) + strlen(name) + 1);

	if (!type)
		return NULL;
	strcpy(type->name, name);
	type->hash = hash;
	type->duration_ns = duration_of(name, hash);
	type->migration = migration__find(name);
	type->registers = 16 + hash % 8 * 8;
	return type;
}

struct kernel_type *kernel_type__get(const char *name)
{
	uint32_t hash = hash_name(name);
	struct kernel_type **bucket = &types[hash % NR_BUCKETS], *type;

	pthread_mutex_lock(&mutex);
	for (type = *bucket; type; type = type->next)
		if (type->hash == hash && !strcmp(type->name, name))
			goto out;
	type = kernel_type__new(name, hash);
	if (type) {
		type->next = *bucket;
		*bucket = type;
	}
out:
	pthread_mutex_unlock(&mutex);
	return type;
}

void kernel_type__for_each(void (*call)(struct kernel_type *type, void *data), void *data)
{
	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < NR_BUCKETS; i++)
		for (struct kernel_type *type = types[i]; type; type = type->next)
			call(type, data);
	pthread_mutex_unlock(&mutex);
}
