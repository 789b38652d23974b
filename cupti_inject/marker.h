/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The launch marker: a function that does nothing, called once per launch, for
 * the recorder to put its uprobe on.
 *
 * There are two, because of the kernel, on x86-64 (marker_code.h):
 *   perf_gpu_launch         starts with the 5-byte nop, which Linux 6.18 turns
 *                           into a call: a quarter of the cost of a trap
 *   perf_gpu_launch_forked  starts with the 1-byte nop, which older kernels
 *                           emulate, and which works after a fork
 * On aarch64 both are the same. In a forked child, Linux 6.18 leaves the call instruction in the page but
 * not the trampoline it calls: the first marker would be a SIGSEGV. So a child
 * made by fork or a raw clone must take the second, and is told by a page that
 * the kernel wipes on fork (pthread_atfork doesn't see a raw clone).
 *
 * Both carry the SDT note perf_gpu:launch, for bpftrace and perf probe.
 */
#ifndef PERF_GPU_INJECT_MARKER_H
#define PERF_GPU_INJECT_MARKER_H

#include <stdbool.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

/**
 * perf_gpu_launch - the process is about to launch work on a GPU
 * @session:        of the recording
 * @log_id:         of the process's log
 * @correlation_id: of the launch, 64 bits wide
 * @api:            GPU_LOG_API_ID() of the API function
 * @frames:         return addresses, leaf first; NULL if nr_frames is 0
 * @nr_frames:      how many
 */
EXPORT void perf_gpu_launch(uint64_t session, uint64_t log_id, uint64_t correlation_id,
			    uint32_t api, const uint64_t *frames, uint64_t nr_frames);
EXPORT void perf_gpu_launch_forked(uint64_t session, uint64_t log_id,
				   uint64_t correlation_id, uint32_t api,
				   const uint64_t *frames, uint64_t nr_frames);

/**
 * marker__tell_no_log - the process is not recorded, and has no log to say so in
 * @session: of the recording
 * @err:     negative errno of opening the log
 *
 * Hits a marker as log 0, with the errno as the correlation id.
 */
void marker__tell_no_log(uint64_t session, int err);

/**
 * marker__tell_taken - the process can't tell of launches: probes on the API are to be set
 * @session: of the recording
 * @log_id:  of the process's log
 *
 * The recorder answers by a file beside the log, GPU_LOG_PROBED_SUFFIX.
 */
void marker__tell_taken(uint64_t session, uint64_t log_id);

/**
 * fork_page__init - from here on, children can be told from this process
 *
 * Call before the first marker; the first call counts. Return: 0 or a negative errno, after which
 * every process counts as forked.
 */
int fork_page__init(void);

/* Is this a forked copy of the process that called fork_page__init()? */
bool fork_page__is_forked(void);

/* Likewise; but before the call, no process counts as one. */
bool fork_page__is_copy(void);

#endif
