// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/size_limit.h"

#include "util/clock.h"
#include "util/sum.h"

/* To look takes longer the more processes there are: 1,000 logs are 1 ms. */
#define LOOK_INTERVAL_NS 50000000

/* What processes have still to write when they hear of it: of a second, at most */
#define MIN_REST_BYTES (1u << 20)

bool size_limit__is_reached(struct size_limit *limit, uint64_t perfdata_bytes,
			    const struct spool *spool)
{
	const uint64_t now = limit->max_bytes ? clock__now_ns() : 0;
	uint64_t bytes;

	if (limit->reached_ns)
		return true;
	if (!limit->max_bytes ||
	    (now < limit->next_look_ns && perfdata_bytes < limit->max_bytes))
		return false;
	limit->next_look_ns = now + LOOK_INTERVAL_NS;
	limit->log_bytes = bytes = spool__bytes(spool);
	sum__add(&bytes, perfdata_bytes);
	if (bytes < limit->max_bytes)
		return false;
	limit->reached_ns = now;
	return true;
}

uint64_t size_limit__log_bytes(const struct size_limit *limit)
{
	uint64_t bytes = limit->log_bytes;

	if (!limit->max_bytes)
		return UINT64_MAX;
	/* The end came first: what is there by now. */
	if (!limit->reached_ns)
		bytes = limit->max_bytes;
	/* Between two looks, a log can become of any size. */
	if (bytes > limit->max_bytes)
		bytes = limit->max_bytes;
	sum__add(&bytes, limit->max_bytes / 8 + MIN_REST_BYTES);
	return bytes;
}
