/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Header features of a perf.data that is made of another. One thread. */
#ifndef PERF_GPU_SINK_PERFDATA_FEATURES_H
#define PERF_GPU_SINK_PERFDATA_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

#include "perfdata/reader.h"
#include "perfdata/writer.h"

/**
 * perfdata_features__copy - copy what is still true
 * @keep_tracing: there still are tracepoints, whose formats TRACING_DATA has
 *
 * hotspot needs HOSTNAME and CMDLINE: without them it runs out of memory.
 *
 * Return: 0 or -ENOMEM, not printed.
 */
int perfdata_features__copy(struct perfdata_writer *to,
			    const struct perfdata_reader *from, bool keep_tracing);

/**
 * perfdata_features__add_build_id - BUILD_ID: what @from has, and one more
 * @path: the file's name, as in its MMAP2 records
 *
 * Return: 0 or -ENOMEM, not printed.
 */
int perfdata_features__add_build_id(struct perfdata_writer *to,
				    const struct perfdata_reader *from, const char *path,
				    const void *id, size_t id_bytes);

#endif
