/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who this process is, for the beginning of its log. Any thread. */
#ifndef PERF_GPU_INJECT_PROCESS_FACTS_H
#define PERF_GPU_INJECT_PROCESS_FACTS_H

#include <stdbool.h>

#include "gpu_log.h"

/* As it is now; versions of CUPTI and of the driver are not known yet. */
struct gpu_log_process process_facts__process(bool is_forked);

/* In which pid namespace that is so; 0 if /proc isn't there to say */
struct gpu_log_namespace process_facts__namespace(void);

#endif
