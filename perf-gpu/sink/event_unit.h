/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What periods are of. Stateless; any thread. */
#ifndef PERF_GPU_SINK_EVENT_UNIT_H
#define PERF_GPU_SINK_EVENT_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "join/occurrences.h"

/* Are an event's periods bytes (else ns), as --weight says? */
bool event_unit__is_bytes(uint32_t event, enum event_weight weight);

/*
 * Have events (GPU_LOG_EVENT_BIT()s) one unit? If not, printed with what to do: sums of
 * bytes and ns are none.
 */
bool event_unit__is_common(uint32_t events, enum event_weight weight);

/* The first of some events: gpu-kernel, if it is among them. @events: not 0 */
uint32_t event_unit__first(uint32_t events);

#endif
