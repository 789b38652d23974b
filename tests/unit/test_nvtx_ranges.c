// SPDX-License-Identifier: GPL-2.0-or-later
/* Which NVTX ranges are open at a time: join/nvtx_ranges.c */
#include "unit.h"

#include "gpu_log.h"
#include "join/nvtx_ranges.h"

#define PUSH(t, thread, in, what)                                                \
	{                                                                        \
		.operation = GPU_LOG_NVTX_PUSH, .time_ns = (t), .tid = (thread), \
		.domain = (in), .name = (what)                                   \
	}
#define POP(t, thread, in)                                                      \
	{                                                                       \
		.operation = GPU_LOG_NVTX_POP, .time_ns = (t), .tid = (thread), \
		.domain = (in), .name = ""                                      \
	}
#define START(t, thread, id, what)                                                \
	{                                                                         \
		.operation = GPU_LOG_NVTX_START, .time_ns = (t), .tid = (thread), \
		.range = (id), .domain = "", .name = (what)                       \
	}
#define END(t, thread, id)                                                      \
	{                                                                       \
		.operation = GPU_LOG_NVTX_END, .time_ns = (t), .tid = (thread), \
		.range = (id), .domain = "", .name = ""                         \
	}

static struct sidecar sidecar;

#define NEW(told_)                                                   \
	({                                                           \
		struct nvtx_ranges *new_ = NULL;                     \
                                                                     \
		sidecar = (struct sidecar){                          \
			.nvtx = (told_),                             \
			.nr_nvtx = sizeof(told_) / sizeof(*(told_)), \
		};                                                   \
		CHECK_EQ(nvtx_ranges__new(&sidecar, &new_), 0);      \
		new_;                                                \
	})

/* Domain and name of each, outermost first: "mine:a b" */
static const char *at(struct nvtx_ranges *ranges, uint32_t log, uint32_t tid,
		      uint64_t time_ns)
{
	static char text[4096];
	const struct sidecar_nvtx *const *open;
	ssize_t nr = nvtx_ranges__at(ranges, log, tid, time_ns, &open);
	size_t used = 0;

	CHECK(nr >= 0);
	*text = '\0';
	for (ssize_t i = 0; i < nr; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s%s",
					 i ? " " : "", open[i]->domain,
					 *open[i]->domain ? ":" : "", open[i]->name);
	return text;
}

TEST(threads_have_their_own)
{
	struct sidecar_nvtx told[] = {
		PUSH(10, 1, "", "a"), PUSH(20, 2, "", "x"), PUSH(30, 1, "", "b"),
		POP(40, 2, ""),	      POP(50, 1, ""),	    POP(60, 1, ""),
	};
	struct nvtx_ranges *ranges = NEW(told);

	CHECK_STR(at(ranges, 0, 1, 9), "");
	CHECK_STR(at(ranges, 0, 1, 10), "a");
	CHECK_STR(at(ranges, 0, 2, 20), "x");
	CHECK_STR(at(ranges, 0, 1, 30), "a b");
	CHECK_STR(at(ranges, 0, 2, 39), "x");
	CHECK_STR(at(ranges, 0, 2, 40), "");
	CHECK_STR(at(ranges, 0, 3, 40), "");
	CHECK_STR(at(ranges, 1, 1, 45), ""); /* another process's thread */
	CHECK_STR(at(ranges, 0, 1, 50), "a");
	CHECK_STR(at(ranges, 0, 1, 60), "");
	nvtx_ranges__delete(ranges);
}

TEST(started_ranges_are_of_the_whole_process)
{
	struct sidecar_nvtx told[] = {
		PUSH(5, 2, "", "t"), START(10, 1, 7, "r"), START(20, 2, 8, "s"),
		END(30, 3, 7),	     END(40, 1, 8),
	};
	struct nvtx_ranges *ranges = NEW(told);

	CHECK_STR(at(ranges, 0, 2, 10), "r t");
	CHECK_STR(at(ranges, 0, 1, 20), "r s");
	CHECK_STR(at(ranges, 0, 99, 20), "r s");
	CHECK_STR(at(ranges, 1, 1, 20), "");
	CHECK_STR(at(ranges, 0, 1, 30), "s");
	CHECK_STR(at(ranges, 0, 2, 50), "t");
	nvtx_ranges__delete(ranges);
}

TEST(a_pop_ends_the_innermost_of_its_domain)
{
	struct sidecar_nvtx told[] = {
		PUSH(10, 1, "m", "a"), PUSH(20, 1, "l", "b"), PUSH(30, 1, "m", "c"),
		POP(40, 1, "l"),       POP(50, 1, "m"),	      POP(60, 1, "m"),
	};
	struct nvtx_ranges *ranges = NEW(told);

	CHECK_STR(at(ranges, 0, 1, 30), "m:a l:b m:c");
	CHECK_STR(at(ranges, 0, 1, 40), "m:a m:c");
	CHECK_STR(at(ranges, 0, 1, 50), "m:a");
	CHECK_STR(at(ranges, 0, 1, 60), "");
	nvtx_ranges__delete(ranges);
}

TEST(what_is_unbalanced_does_no_harm)
{
	struct sidecar_nvtx told[] = {
		POP(10, 1, ""),
		END(10, 1, 3),
		PUSH(20, 1, "", "a"),
		POP(30, 1, "m"),
		END(30, 1, 9),
		START(40, 1, 9, "r"),
		START(41, 1, 9, "q"),
		END(50, 1, 9),
		{.operation = 77, .time_ns = 55},
		{.operation = GPU_LOG_NVTX_MARK,
		 .time_ns = 55,
		 .tid = 1,
		 .domain = "",
		 .name = "m"},
	};
	struct nvtx_ranges *ranges = NEW(told);

	CHECK_STR(at(ranges, 0, 1, 30), "a");
	CHECK_STR(at(ranges, 0, 1, 45), "r q a");
	CHECK_STR(at(ranges, 0, 1, 50), "r a");
	CHECK_STR(at(ranges, 0, 1, UINT64_MAX), "r a");
	nvtx_ranges__delete(ranges);
}

TEST(logs_are_in_any_order_and_times_may_be_the_same)
{
	struct sidecar_nvtx told[] = {
		PUSH(30, 1, "", "late"), POP(30, 1, ""),       PUSH(30, 1, "", "later"),
		START(10, 2, 1, "r"),	 PUSH(20, 2, "", "x"),
	};
	struct nvtx_ranges *ranges = NEW(told);

	told[3].log = told[4].log = 1;
	CHECK_STR(at(ranges, 1, 2, 20), "r x");
	CHECK_STR(at(ranges, 0, 1, 29), "");
	CHECK_STR(at(ranges, 0, 1, 30), "later");
	nvtx_ranges__delete(ranges);
}

TEST(no_more_than_the_library_has)
{
	static struct sidecar_nvtx told[3 * NVTX_RANGES_MAX_OF_THREAD];
	const struct sidecar_nvtx *const *open;
	struct nvtx_ranges *ranges;

	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++)
		told[i] = (struct sidecar_nvtx)PUSH(i, 1, "", "deep");
	ranges = NEW(told);
	CHECK_EQ(nvtx_ranges__at(ranges, 0, 1, UINT64_MAX, &open),
		 NVTX_RANGES_MAX_OF_THREAD);
	nvtx_ranges__delete(ranges);
}
