/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --max-size: how large a recording may become, with what processes write into their logs,
 * which may be anything. One thread.
 */
#ifndef PERF_GPU_RECORD_SIZE_LIMIT_H
#define PERF_GPU_RECORD_SIZE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "record/spool.h"

struct size_limit {
	uint64_t max_bytes; /* 0: there is none */
	/* of the function below */
	uint64_t next_look_ns; /* CLOCK_MONOTONIC */
	uint64_t reached_ns; /* when it was reached; 0: it isn't */
	uint64_t log_bytes; /* in the logs by then */
};

/**
 * size_limit__is_reached - look, if it was not just done
 * @perfdata_bytes: that are written
 * @spool:          with the logs
 */
bool size_limit__is_reached(struct size_limit *limit, uint64_t perfdata_bytes,
			    const struct spool *spool);

/*
 * How much may be taken of the logs: what was there when it was reached, and a little that
 * was on its way. UINT64_MAX: all.
 */
uint64_t size_limit__log_bytes(const struct size_limit *limit);

#endif
