/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERF_GPU_TESTS_FAULT_LOG_H
#define PERF_GPU_TESTS_FAULT_LOG_H

/*
 * Wait until the injected library has written what the GPU did, as it does once a second:
 * this process's log has so many kernels, and, before them, their launches. Not for ever;
 * at once if nobody records.
 */
void fault_log__wait(unsigned long nr_kernels);

/* The same, until the log has this text in its first megabyte, as a message has. */
void fault_log__wait_for(const char *text);

#endif
