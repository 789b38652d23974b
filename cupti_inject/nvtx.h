/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NVTX: what the program says that it is doing, by NVIDIA's header, becomes
 * GPU_LOG_NVTX records. This library is NVTX's tool in the process, too
 * (InitializeInjectionNvtx2(), by NVTX_INJECTION64_PATH), if the recorder, who sets
 * that, wants NVTX; what is beside it:
 *
 *   PERF_GPU_NVTX_NEXT  the tool that the user had there. It is initialized as NVTX would
 *                       do it, and gets every call that it has a function for; what
 *                       that returns is what the program gets.
 *   a tool that is linked into the program (InitializeInjectionNvtx2_fnptr): the same, if
 *                       the program isn't stripped. NVTX itself calls none once there
 *                       is a path, and hides it.
 *
 * A process has several copies of NVTX, in libraries; each is taken over.
 */
#ifndef PERF_GPU_INJECT_NVTX_H
#define PERF_GPU_INJECT_NVTX_H

#include "log.h"

/**
 * nvtx__switch - record what comes, and what is open, or nothing any more
 *
 * For one thread at a time, as recording.c has it. If NVTX is another tool's, which the
 * program has chosen, the log tells.
 */
void nvtx__switch(struct log *log, bool on);

#endif
