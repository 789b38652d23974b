// SPDX-License-Identifier: GPL-2.0-or-later
#include "cupti_gaps.h"

#include "record_layout.h"

/*
 * By NVIDIA's release notes, and by which functions there are. What costs nothing but
 * speed is told, too, if it can be felt.
 */
static const struct {
	uint32_t from, before; /* cuptiGetVersion() */
	const char *text;
} gaps[] = {
	{0, CUPTI_OF_CUDA_11_1,
	 "the numbers of graphs are made of their nodes' (CUDA 11.1's CUPTI has them)"},
	{0, CUPTI_OF_CUDA_11_2,
	 "gpu-alloc can't be recorded (CUDA 11.2's CUPTI is the first that can)"},
	{0, CUPTI_OF_CUDA_11_6,
	 "times are shifted from CLOCK_REALTIME, once a flush: who sets the clock "
	 "meanwhile "
	 "shifts them on the time line (CUDA 11.6's CUPTI asks for the time)"},
	{0, CUPTI_OF_CUDA_12_5,
	 "--probe api records all API calls, not those alone that launch: it is slower "
	 "(CUDA "
	 "12.5's CUPTI chooses)"},
	{0, CUPTI_OF_CUDA_13_0,
	 "nodes of an executable graph that cudaGraphExecUpdate changes keep the stacks "
	 "that "
	 "they had (CUDA 13.0's CUPTI tells of updates)"},
	{0, CUPTI_OF_CUDA_13_0,
	 "another profiler that has CUPTI can't be asked for its name (CUDA 13.0's CUPTI "
	 "knows it)"},
	{CUPTI_OF_CUDA_13_0, CUPTI_OF_CUDA_13_0 + 1,
	 "gpu-sync lacks cudaDeviceSynchronize and cuCtxSynchronize (mended in CUDA 13.0 "
	 "Update 1)"},
	{CUPTI_NEWEST_KNOWN + 1, UINT32_MAX,
	 "it is newer than this perf-gpu knows (13.0 Update 1): its records are read as "
	 "far "
	 "as they have been alike since CUDA 11.0"},
};

const char *cupti_gaps__get(uint32_t version, size_t i)
{
	for (size_t gap = 0; gap < sizeof(gaps) / sizeof(*gaps); gap++)
		if (version >= gaps[gap].from && version < gaps[gap].before && !i--)
			return gaps[gap].text;
	return NULL;
}
