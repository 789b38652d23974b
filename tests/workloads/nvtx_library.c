/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library with its own copy of NVTX, as every library has that includes its header. */
#include <nvtx3/nvToolsExt.h>

__attribute__((visibility("default"))) void call_within_range(void (*within)(void));

void call_within_range(void (*within)(void))
{
	nvtxRangePushA("library");
	within();
	nvtxRangePop();
}
