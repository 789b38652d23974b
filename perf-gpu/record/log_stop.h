/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the recording of a log stops, with --max-size: of a block, what the GPU did for
 * later launches is taken out. Pure.
 */
#ifndef PERF_GPU_RECORD_LOG_STOP_H
#define PERF_GPU_RECORD_LOG_STOP_H

#include <stdint.h>

#include "gpu_log.h"
#include "record/launch_counts.h"

struct log_stop {
	const struct launch_counts *launches;
	/* When the first was left out: for what belongs to no launch, or to an unknown log */
	uint64_t time_ns;
};

/**
 * log_stop__apply - take out of a block what is behind the stop
 * @block: whole, with its payload behind it; stays so. One whose records don't fill it as
 *         they must is left alone.
 *
 * Return: how many records were taken out.
 */
uint64_t log_stop__apply(const struct log_stop *stop, struct gpu_log_block *block);

#endif
