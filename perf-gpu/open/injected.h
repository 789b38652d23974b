/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What inject makes of a recording, kept for viewers, and made anew when it is old. */
#ifndef PERF_GPU_OPEN_INJECTED_H
#define PERF_GPU_OPEN_INJECTED_H

#include <limits.h>

#include "source/source.h"

/**
 * injected__update - a perf.data that viewers read, of a recording as it is now
 * @options: the recording, and how to read it
 * @chosen:  what of @options changes the result, as text
 * @ret_path: absolute; written on success only
 *
 * It is NAME.gpu.data beside the recording NAME.data or, where the user can't write
 * that, in a folder of $XDG_CACHE_HOME/perf-gpu or ~/.cache/perf-gpu; of an archive it is
 * always there, with the archive's files that have symbols (source/symbol_folder.h) in
 * PATH.dso/symbols. It is written if PATH.dso/made-of doesn't say that it is what these files, this version and @chosen
 * make: the files count by number, size and time of the last change.
 *
 * Return: 0 or a negative errno, printed.
 */
int injected__update(const struct source_options *options, const char *chosen,
		     char ret_path[PATH_MAX]);

#endif
