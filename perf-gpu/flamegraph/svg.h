/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERF_GPU_FLAMEGRAPH_SVG_H
#define PERF_GPU_FLAMEGRAPH_SVG_H

#include <stdbool.h>

#include "flamegraph/flame.h"
#include "sink/out_file.h"

/**
 * flame_svg__write - a picture of FLAME_NEW that needs no scripts
 * @is_differential: colours tell what became of FLAME_OLD, not what a frame is
 * @file:            what failed there, out_file__error() tells
 *
 * One flame graph for each event, below one another. What a frame comes to is told by its
 * tooltip (<title>). Frames too narrow to be seen are left out; what they come to is in
 * their callers.
 *
 * Return: 0 or -ENOMEM.
 */
int flame_svg__write(const struct flame *flame, bool is_differential,
		     struct out_file *file);

#endif
