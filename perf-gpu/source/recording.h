/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two files of a recording, wherever they are: perf.data with its sidecar beside it, or
 * both in an archive, with files that have symbols. One thread.
 */
#ifndef PERF_GPU_SOURCE_RECORDING_H
#define PERF_GPU_SOURCE_RECORDING_H

#include "perfdata/reader.h"
#include "sidecar/blocks.h"
#include "sidecar/sidecar.h"
#include "symbol/symbol_store.h"

struct archive_file;

/* The name that stands for standard input, as with perf; its sidecar is perf.data.gpu */
#define RECORDING_STDIN "-"

struct recording {
	/* For messages; in an archive, "perf.data of x.tar.zst" */
	char *perfdata_name, *sidecar_name;
	struct archive_file *archive; /* NULL: they are files of these names */
	int perfdata_fd, sidecar_fd; /* -1: open the name */
	bool is_file_open; /* perfdata_fd is to be closed; else it is the archive's */
};

/**
 * recording__open - find the files of a recording; an archive is unpacked
 * @path: of perf.data, or of an archive; RECORDING_STDIN
 * @sidecar_path: NULL: beside perf.data, or in the archive
 * @ret:  released by recording__close(), before which nothing of it may be closed but what
 *        the functions below open; written on success only
 *
 * Return: 0 or a negative errno, printed: -ENOMEM, those of perfdata_mapping__open_file() and
 * archive_file__open().
 */
int recording__open(const char *path, const char *sidecar_path, struct recording *ret);
void recording__close(struct recording *recording); /* all zero is fine */

/* As the functions that they are named after; perf.data once */
int recording__open_perfdata(struct recording *recording, struct perfdata_reader **ret);
int recording__open_sidecar(const struct recording *recording, struct sidecar **ret);
int recording__open_sidecar_file(const struct recording *recording,
				 struct sidecar_file **ret);

/* The files with symbols of an archive, as long as the recording; NULL: there are none. */
const struct symbol_store *recording__symbols(const struct recording *recording);

#endif
