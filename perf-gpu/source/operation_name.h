/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a copy, a memset, a wait, an allocation or a migration is called, in CUDA's own
 * words: "HtoD pageable", "stream", "device async". One thread.
 */
#ifndef PERF_GPU_SOURCE_OPERATION_NAME_H
#define PERF_GPU_SOURCE_OPERATION_NAME_H

#include <stddef.h>

#include "sidecar/sidecar.h"

/**
 * operation_name__write - describe what a shape stands for
 * @shape: of no kernel
 * @bytes: room at @ret; what is longer is cut
 *
 *   copy        the direction; then the kind of the host's memory (of both, where they
 *               differ), "managed" if either is, the devices of a copy between two
 *   memset      the kind of memory
 *   wait        stream, event or context
 *   allocation  the kind of memory; "async" if it is of a stream's order; the
 *               variable's name, if there is one
 *   migration   the direction; the devices of one between two
 *
 * What CUPTI doesn't know is left out, and what only a later one knows is "unknown".
 */
void operation_name__write(const struct sidecar_shape *shape, char *ret, size_t bytes);

#endif
