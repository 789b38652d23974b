// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/recording.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/archive.h"
#include "perfdata/mapping.h"
#include "perfdata/reader.h"
#include "util/log.h"

__attribute__((format(printf, 1, 2))) static char *format(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	return text;
}

/* An archive is unpacked; of a perf.data the descriptor is kept. */
static int open_file(const char *path, struct recording *recording)
{
	int fd = perfdata_mapping__open_file(path), is_archive, err = 0;

	if (fd < 0)
		return fd;
	is_archive = archive_file__is_open_one(fd);
	if (is_archive < 0) {
		err = is_archive;
		pr_err("cannot read %s: %s", path, strerror(-err));
	} else if (is_archive) {
		err = archive_file__open(fd, path, &recording->archive);
	} else {
		recording->perfdata_fd = fd;
		recording->is_file_open = true;
		return 0;
	}
	close(fd);
	return err;
}

static void close_file(struct recording *recording)
{
	if (!recording->is_file_open)
		return;
	close(recording->perfdata_fd);
	recording->is_file_open = false;
	recording->perfdata_fd = -1;
}

int recording__open(const char *path, const char *sidecar_path, struct recording *ret)
{
	struct recording recording = {.perfdata_fd = -1, .sidecar_fd = -1};
	bool is_stdin = !strcmp(path, RECORDING_STDIN);
	int err = is_stdin ? 0 : open_file(path, &recording);

	if (err)
		return err;
	recording.perfdata_name =
		is_stdin ? strdup("standard input")
			 : format(recording.archive ? ARCHIVE_PERFDATA " of %s" : "%s",
				  path);
	if (sidecar_path)
		recording.sidecar_name = strdup(sidecar_path);
	else if (recording.archive)
		recording.sidecar_name = format(ARCHIVE_SIDECAR " of %s", path);
	else
		recording.sidecar_name = format("%s.gpu", is_stdin ? "perf.data" : path);
	if (!recording.perfdata_name || !recording.sidecar_name) {
		pr_err("no memory to read %s", path);
		recording__close(&recording);
		return -ENOMEM;
	}
	if (is_stdin)
		recording.perfdata_fd = STDIN_FILENO;
	if (recording.archive)
		recording.perfdata_fd = archive_file__perfdata(recording.archive);
	if (recording.archive && !sidecar_path)
		recording.sidecar_fd = archive_file__sidecar(recording.archive);
	*ret = recording;
	return 0;
}

void recording__close(struct recording *recording)
{
	close_file(recording);
	archive_file__close(recording->archive);
	free(recording->sidecar_name);
	free(recording->perfdata_name);
	*recording = (struct recording){0};
}

/* It is mapped then: of hundreds that are merged, none is to stay open. */
int recording__open_perfdata(struct recording *recording, struct perfdata_reader **ret)
{
	int err = perfdata_reader__open_fd(recording->perfdata_fd,
					   recording->perfdata_name, ret);

	close_file(recording);
	return err;
}

int recording__open_sidecar(const struct recording *recording, struct sidecar **ret)
{
	return sidecar__open_fd(recording->sidecar_fd, recording->sidecar_name, ret);
}

int recording__open_sidecar_file(const struct recording *recording,
				 struct sidecar_file **ret)
{
	const char *name = recording->sidecar_name;

	return recording->sidecar_fd < 0
		       ? sidecar_file__open(name, ret)
		       : sidecar_file__open_fd(recording->sidecar_fd, name, ret);
}

const struct symbol_store *recording__symbols(const struct recording *recording)
{
	return recording->archive ? archive_file__symbols(recording->archive) : NULL;
}
