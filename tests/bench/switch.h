/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is measured, for programs that switch it on and off: a shared library, for C and
 * for Python's ctypes.
 *
 *   bare      nothing is switched: how far apart equal blocks are. Also what runs
 *             under another profiler.
 *   activity  CUPTI's kernel activity records alone: what any profiler that knows GPU
 *             times has to pay
 *   perf-gpu  under `perf-gpu record`: perf_gpu_resume() and perf_gpu_pause() of the
 *             injected library
 *
 * One thread. On failure the program is ended, with a line that says why.
 */
#ifndef PERF_GPU_BENCH_SWITCH_H
#define PERF_GPU_BENCH_SWITCH_H

#ifdef __cplusplus
extern "C" {
#endif

/* Before CUDA is initialized. */
void switch__prepare(const char *variant);

/* Behind CUDA's initialization, and any number of times. */
void switch__on(void);
void switch__off(void);

#ifdef __cplusplus
}
#endif

#endif
