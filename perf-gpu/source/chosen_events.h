/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERF_GPU_SOURCE_CHOSEN_EVENTS_H
#define PERF_GPU_SOURCE_CHOSEN_EVENTS_H

#include <stdint.h>

#include "sidecar/sidecar.h"

/**
 * chosen_events__find - which events of a recording are to be shown
 * @text: -e; NULL: all that record was asked for, and CUPTI could record. With + and -
 *        it changes these.
 * @path: of the sidecar, for messages
 * @ret:  GPU_LOG_EVENT_BIT()s; written on success only
 *
 * An event can be had if all that it is made of was recorded, for itself or for another.
 *
 * Return: 0; -EINVAL, printed, for an event that can't be had, or that there isn't.
 */
int chosen_events__find(const struct sidecar *sidecar, const char *text, const char *path,
			uint32_t *ret);

#endif
