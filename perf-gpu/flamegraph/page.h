/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERF_GPU_FLAMEGRAPH_PAGE_H
#define PERF_GPU_FLAMEGRAPH_PAGE_H

#include <stdbool.h>

#include "flamegraph/flame.h"
#include "sink/out_file.h"

/* Why this build has no page; NULL: it has it. */
const char *flame_page__why_not(void);

/**
 * flame_page__write - a page with everything in it, for a browser
 * @file:            what failed there, out_file__error() tells
 * @is_differential: FLAME_OLD is to be compared with
 *
 * Only if flame_page__why_not() is NULL. What the page reads is described in
 * flamegraph/page/tree.js.
 */
void flame_page__write(const struct flame *flame, bool is_differential,
		       struct out_file *file);

#endif
