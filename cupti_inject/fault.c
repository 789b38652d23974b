// SPDX-License-Identifier: GPL-2.0-or-later
#include "fault.h"

#include <stdbool.h>

/* One by one: a device may have some and not others. */
static CUptiResult configure(const struct cupti_table *cupti, int kind)
{
	CUpti_ActivityUnifiedMemoryCounterConfig config = {
		.scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES,
		.kind = (CUpti_ActivityUnifiedMemoryCounterKind)kind,
		.enable = 1,
	};

	return cupti->cuptiActivityConfigureUnifiedMemoryCounter(&config, 1);
}

CUptiResult fault__configure(const struct cupti_table *cupti)
{
	CUptiResult first = CUPTI_SUCCESS;
	bool has_any = false;

	if (!cupti->cuptiActivityConfigureUnifiedMemoryCounter)
		return CUPTI_ERROR_NOT_COMPATIBLE;
	for (int kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;
	     kind < CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT; kind++) {
		CUptiResult result = configure(cupti, kind);

		has_any |= !result;
		if (!first)
			first = result;
	}
	return has_any ? CUPTI_SUCCESS : first;
}
