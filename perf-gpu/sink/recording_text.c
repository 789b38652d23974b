// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/recording_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "join/devices.h"
#include "perfdata/cursor.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"

#define NS_PER_S	  1000000000ull
#define MAX_COMMAND_BYTES 300 /* two or three lines of a window */

static void separate(FILE *text)
{
	if (ftell(text) > 0)
		fputs(" · ", text);
}

/* As a shell takes it */
static void write_argument(FILE *text, const char *argument)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";

	if (*argument && !argument[strspn(argument, plain)]) {
		fputs(argument, text);
		return;
	}
	fputc('\'', text);
	for (; *argument; argument++)
		if (*argument == '\'')
			fputs("'\\''", text);
		else
			fputc(*argument, text);
	fputc('\'', text);
}

/* All of it; a file may say that it had no arguments. */
static void write_arguments(FILE *text, struct perfdata_cursor cursor)
{
	uint32_t nr = perfdata_cursor__u32(&cursor);
	const char *argument;

	for (uint32_t i = 0; i < nr && ftell(text) <= MAX_COMMAND_BYTES; i++) {
		argument = perfdata_cursor__string(&cursor);
		if (!argument)
			return;
		if (i)
			fputc(' ', text);
		write_argument(text, argument);
	}
}

static int write_command(FILE *text, const struct perfdata_reader *reader)
{
	char *command = NULL;
	size_t nr_bytes = 0, nr;
	const void *data;
	FILE *whole;

	if (!perfdata_reader__feature(reader, HEADER_CMDLINE, &data, &nr_bytes))
		return 0;
	whole = open_memstream(&command, &nr);
	if (!whole)
		return -ENOMEM;
	write_arguments(whole, perfdata_cursor__new(data, nr_bytes));
	if (fclose(whole)) {
		int err = -errno;

		free(command);
		return err;
	}
	if (nr > MAX_COMMAND_BYTES) {
		nr = MAX_COMMAND_BYTES;
		while (nr && (command[nr] & 0xc0) == 0x80)
			nr--; /* not in the middle of a character */
		command[nr] = '\0';
		fprintf(text, "%s…", command);
	} else {
		fputs(command, text);
	}
	free(command);
	return 0;
}

static void write_date(FILE *text, uint64_t realtime_ns)
{
	time_t time = (time_t)(realtime_ns / NS_PER_S);
	char date[64];
	struct tm tm;

	if (!realtime_ns || !gmtime_r(&time, &tm) ||
	    !strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &tm))
		return;
	separate(text);
	fputs(date, text);
}

/* NULL or "": it is not known */
static const char *gpu_name(const struct devices *devices, size_t gpu)
{
	const struct sidecar_device *device = devices__description(devices, gpu);

	return device ? device->name : NULL;
}

static bool is_same(const struct devices *devices, size_t gpu, const char *name)
{
	const char *other = gpu_name(devices, gpu);

	return other && !strcmp(other, name);
}

/* Those of a name are counted where the first of them is. */
static int write_gpus(FILE *text, const struct sidecar *sidecar)
{
	struct devices *devices;
	int err = devices__new(sidecar, &devices);

	if (err)
		return err;
	for (size_t gpu = 0; gpu < devices__nr(devices); gpu++) {
		const char *name = gpu_name(devices, gpu);
		size_t first = 0, nr = 1;

		if (!name || !*name)
			continue;
		while (!is_same(devices, first, name))
			first++;
		if (first < gpu)
			continue;
		for (size_t i = gpu + 1; i < devices__nr(devices); i++)
			nr += is_same(devices, i, name);
		separate(text);
		if (nr > 1)
			fprintf(text, "%zu × ", nr);
		fputs(name, text);
	}
	devices__delete(devices);
	return 0;
}

int recording_text(const struct sink_input *input, char **ret)
{
	const char *host =
		perfdata_reader__feature_string(input->reader, HEADER_HOSTNAME);
	char *line = NULL;
	size_t nr_bytes;
	FILE *text = open_memstream(&line, &nr_bytes);
	int err;

	if (!text)
		return -ENOMEM;
	err = write_command(text, input->reader);
	if (host && *host) {
		separate(text);
		fputs(host, text);
	}
	write_date(text, input->sidecar->recorder.realtime_ns);
	if (!err)
		err = write_gpus(text, input->sidecar);
	if (fclose(text))
		err = -errno;
	if (err)
		free(line);
	else
		*ret = line;
	return err;
}
