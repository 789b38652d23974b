/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What plugins.c and its plugins know of each other */
#ifndef PERF_GPU_TESTS_PLUGIN_H
#define PERF_GPU_TESTS_PLUGIN_H

typedef void plugin_launch_fn(unsigned long nr_launches);
typedef void plugin_fn(plugin_launch_fn *launch, unsigned long nr_launches);

#endif
