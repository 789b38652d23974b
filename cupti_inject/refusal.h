/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What CUPTI doesn't record, in words. Stateless; any thread. */
#ifndef PERF_GPU_INJECT_REFUSAL_H
#define PERF_GPU_INJECT_REFUSAL_H

#include "activity.h"
#include "cupti_table.h"
#include "log.h"

/**
 * refusal__tell - messages to the user
 * @severity: GPU_LOG_ERROR if nothing else is recorded
 */
void refusal__tell(const struct activity_refusal *refusal, struct log *log,
		   const struct cupti_table *cupti, enum gpu_log_severity severity);

#endif
