/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CUPTI's records of launching API calls, in the place of callbacks: with --probe api,
 * launches are told by probes on the API, which know nothing of CUPTI's ids, and are
 * joined by thread and time. For that nobody subscribes to CUPTI, so another can.
 */
#ifndef PERF_GPU_INJECT_API_RECORDS_H
#define PERF_GPU_INJECT_API_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti_table.h"
#include "log.h"

/**
 * api_records__enable - switch the records of functions on or off
 * @log:   kept; receives the records' functions' names
 * @events, @kinds: those of functions that are wanted for these: api_name__is_wanted()
 *
 * A CUPTI that can't do it for single functions gives records of all calls, of which the
 * others are passed over.
 *
 * Return: how many functions, 0 if none could be switched.
 */
unsigned int api_records__enable(const struct cupti_table *cupti, struct log *log,
				 uint32_t events, uint32_t kinds, bool on);

/* Write a record into the log. From any thread. */
void api_records__take(const CUpti_ActivityAPI *call);

#endif
