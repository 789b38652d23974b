// SPDX-License-Identifier: GPL-2.0-or-later
/* CUPTI's times as CLOCK_MONOTONIC (cupti_inject/cupti_clock.c) */
#include "unit.h"

#include "../../cupti_inject/cupti_clock.h"

#define DISTANCE 1700000000000000000ull /* about what CLOCK_REALTIME is ahead */
#define SECOND	 1000000000ull

static CUpti_TimestampCallbackFunc callback;
static uint64_t ahead_ns = DISTANCE;

static CUptiResult CUPTIAPI register_callback(CUpti_TimestampCallbackFunc function)
{
	callback = function;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI get_timestamp(uint64_t *ret)
{
	*ret = cupti_clock__now() + ahead_ns;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI fail(uint64_t *ret)
{
	(void)ret;
	return CUPTI_ERROR_UNKNOWN;
}

static CUptiResult begin(const struct cupti_table *table)
{
	const char *what = "";
	CUptiResult result = cupti_clock__begin(table, &what);

	CHECK(*what);
	return result;
}

TEST(cupti_asks_for_the_time)
{
	const struct cupti_table table = {
		.cuptiActivityRegisterTimestampCallback = register_callback,
		.cuptiGetTimestamp = get_timestamp,
	};
	uint64_t before = cupti_clock__now();

	CHECK_EQ(begin(&table), CUPTI_SUCCESS);
	CHECK(callback() >= before);
	CHECK(callback() <= cupti_clock__now());
	cupti_clock__measure();
	CHECK_EQ(cupti_clock__convert(5), 5);
}

TEST(or_has_a_clock_of_its_own)
{
	const struct cupti_table table = {.cuptiGetTimestamp = get_timestamp};
	uint64_t now = cupti_clock__now(), start, end;

	CHECK_EQ(begin(&table), CUPTI_SUCCESS);
	start = cupti_clock__convert(now + DISTANCE);
	end = cupti_clock__convert(now + DISTANCE + 77);
	CHECK_EQ(end - start, 77);
	CHECK(start < now + SECOND && start + SECOND > now);
	CHECK_EQ(cupti_clock__convert(0), 0);
}

TEST(which_somebody_sets)
{
	const struct cupti_table table = {.cuptiGetTimestamp = get_timestamp};
	uint64_t now, converted;

	CHECK_EQ(begin(&table), CUPTI_SUCCESS);
	ahead_ns -= 3600 * SECOND;
	cupti_clock__measure();
	now = cupti_clock__now();
	converted = cupti_clock__convert(now + ahead_ns);
	CHECK(converted < now + SECOND && converted + SECOND > now);
}

TEST(or_none)
{
	const struct cupti_table none = {}, broken = {.cuptiGetTimestamp = fail};

	CHECK_EQ(begin(&none), CUPTI_ERROR_NOT_COMPATIBLE);
	CHECK_EQ(begin(&broken), CUPTI_ERROR_UNKNOWN);
}
