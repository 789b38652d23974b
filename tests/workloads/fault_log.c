// SPDX-License-Identifier: GPL-2.0-or-later
#include "fault_log.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu_log.h"

#define STEP_US	  10000
#define MAX_TRIES 12000

static unsigned int count_kernels_in_block(const unsigned char *payload, size_t nr_bytes)
{
	unsigned int nr_kernels = 0;
	size_t at = 0;

	while (at + sizeof(struct gpu_log_record) <= nr_bytes) {
		const struct gpu_log_record *record = (const void *)(payload + at);

		nr_kernels += record->type == GPU_LOG_KERNEL;
		at += record->size ? record->size : nr_bytes;
	}
	return nr_kernels;
}

static unsigned int count_kernels_in_file(FILE *file)
{
	static unsigned char payload[GPU_LOG_MAX_PAYLOAD] __attribute__((aligned(8)));
	struct gpu_log_block block;
	unsigned int nr_kernels = 0;

	while (fread(&block, sizeof(block), 1, file) == 1 &&
	       block.payload_bytes <= sizeof(payload) &&
	       fread(payload, 1, block.payload_bytes, file) == block.payload_bytes)
		nr_kernels += count_kernels_in_block(payload, block.payload_bytes);
	return nr_kernels;
}

/* Calls @look with each log of this process's that can be seen; the sum of what it returns */
static unsigned int look_into_logs(const char *spool, unsigned int (*look)(FILE *file))
{
	unsigned int sum = 0;
	struct dirent *entry;
	char path[4096], pid[16];
	DIR *dir = opendir(spool);

	if (!dir)
		return 0;
	snprintf(pid, sizeof(pid), "%d-", (int)getpid());
	while ((entry = readdir(dir))) {
		const char *suffix = strrchr(entry->d_name, '.');
		FILE *file;

		if (strncmp(entry->d_name, pid, strlen(pid)) || !suffix ||
		    strcmp(suffix, ".gpulog"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", spool, entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		sum += look(file);
		fclose(file);
	}
	closedir(dir);
	return sum;
}

void fault_log__wait(unsigned long nr_kernels)
{
	const char *spool = getenv("PERF_GPU_SPOOL");

	for (int i = 0; spool && i < MAX_TRIES &&
			look_into_logs(spool, count_kernels_in_file) < nr_kernels;
	     i++)
		usleep(STEP_US);
}

static const char *wanted_text;

static unsigned int has_text(FILE *file)
{
	static char bytes[1 << 20];
	size_t nr_bytes = fread(bytes, 1, sizeof(bytes), file);

	return memmem(bytes, nr_bytes, wanted_text, strlen(wanted_text)) != NULL;
}

void fault_log__wait_for(const char *text)
{
	const char *spool = getenv("PERF_GPU_SPOOL");

	wanted_text = text;
	for (int i = 0; spool && i < MAX_TRIES && !look_into_logs(spool, has_text); i++)
		usleep(STEP_US);
}
