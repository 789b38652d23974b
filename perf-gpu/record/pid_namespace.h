/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERF_GPU_RECORD_PID_NAMESPACE_H
#define PERF_GPU_RECORD_PID_NAMESPACE_H

#include <stdint.h>

/* As BPF wants it; all 0: the initial one, or not known */
struct pid_namespace {
	uint64_t dev, ino;
};

/* That of this process. */
void pid_namespace__find(struct pid_namespace *ret);

#endif
