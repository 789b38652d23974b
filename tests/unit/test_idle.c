// SPDX-License-Identifier: GPL-2.0-or-later
/* When GPUs had nothing to do, which GPUs there are, and who is charged. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_log.h"
#include "join/idle.h"
#include "unit.h"

/* Two processes, each with a shape of its own for a kind and a device */
static struct sidecar_log logs[] = {{.start_ns = 100}, {.start_ns = 50}};

#define SHAPE(the_log, the_kind, the_device)                                   \
	{                                                                      \
		.log = (the_log), .kind = GPU_LOG_KIND_##the_kind, .name = "", \
		.device = (the_device)                                         \
	}

static struct sidecar_shape shapes[] = {
	SHAPE(0, KERNEL, 0),
	SHAPE(0, MEMCPY, 0),
	SHAPE(0, MEMSET, 0),
	SHAPE(0, KERNEL, 1),
	SHAPE(1, KERNEL, 0),
	SHAPE(0, SYNC, 0),
	SHAPE(0, MEMCPY, GPU_LOG_NO_DEVICE),
	SHAPE(0, FAULT, 0),
};

enum { KERNEL, COPY, MEMSET, KERNEL_OF_1, KERNEL_OF_OTHER, SYNC, COPY_OF_NONE, FAULT };

static struct sidecar_activity on(uint32_t shape, uint64_t id, uint64_t start_ns,
				  uint64_t end_ns)
{
	return (struct sidecar_activity){.log = shapes[shape].log,
					 .shape = shape,
					 .correlation_id = id,
					 .start_ns = start_ns,
					 .end_ns = end_ns};
}

#define NR(array) (sizeof(array) / sizeof(*(array)))

struct result {
	struct devices *devices;
	struct idle idle;
};

static struct result find_idle(struct sidecar_activity *activities, size_t nr,
			       struct sidecar_device *devices, size_t nr_devices)
{
	const struct sidecar sidecar = {
		.logs = logs,
		.nr_logs = NR(logs),
		.shapes = shapes,
		.nr_shapes = NR(shapes),
		.activities = activities,
		.nr_activities = nr,
		.devices = devices,
		.nr_devices = nr_devices,
	};
	struct result result = {0};

	CHECK_EQ(devices__new(&sidecar, &result.devices), 0);
	CHECK_EQ(idle__find(&sidecar, result.devices, &result.idle), 0);
	return result;
}

static void release(struct result *result)
{
	idle__release(&result->idle);
	devices__delete(result->devices);
}

static const struct idle_gpu *gpu_of(const struct result *result, uint32_t log,
				     uint32_t device)
{
	ssize_t gpu = devices__find(result->devices, log, device);

	CHECK(gpu >= 0);
	return &result->idle.gpus[gpu];
}

#define CHECK_GAP(result, nr, start, end, which)                           \
	do {                                                               \
		CHECK((nr) < (result)->idle.nr_gaps);                      \
		CHECK_EQ((result)->idle.gaps[nr].start_ns, (start));       \
		CHECK_EQ((result)->idle.gaps[nr].end_ns, (end));           \
		CHECK_EQ((result)->idle.gaps[nr].activity, (size_t)which); \
	} while (0)

TEST(gap_is_charged_to_what_ended_it)
{
	struct sidecar_activity activities[] = {
		on(KERNEL, 3, 7000, 7500),
		on(KERNEL, 1, 1000, 2000),
		on(COPY, 2, 2600, 3000),
	};
	struct result result = find_idle(activities, NR(activities), NULL, 0);
	const struct idle_gpu *gpu = gpu_of(&result, 0, 0);

	CHECK_EQ(result.idle.nr_gaps, 2);
	CHECK_GAP(&result, 0, 2000, 2600, 2);
	CHECK_GAP(&result, 1, 3000, 7000, 0);
	CHECK_EQ(gpu->nr_activities, 3);
	CHECK_EQ(gpu->first_ns, 1000);
	CHECK_EQ(gpu->last_ns, 7500);
	CHECK_EQ(gpu->busy_ns, 1900);
	CHECK_EQ(gpu->idle_ns, 4600);
	CHECK_EQ(gpu->nr_gaps, 2);
	CHECK_EQ(gpu->begin_ns, 100);
	release(&result);
}

/* All streams together; one within another, one after another without a gap */
TEST(work_is_the_union_of_all_streams)
{
	struct sidecar_activity activities[] = {
		on(KERNEL, 1, 1000, 5000), on(COPY, 2, 1500, 1600),
		on(MEMSET, 3, 4000, 6000), on(KERNEL, 4, 6000, 6500),
		on(KERNEL, 5, 6501, 6502),
	};
	struct result result = find_idle(activities, NR(activities), NULL, 0);

	CHECK_EQ(result.idle.nr_gaps, 1);
	CHECK_GAP(&result, 0, 6500, 6501, 4);
	CHECK_EQ(gpu_of(&result, 0, 0)->busy_ns, 5501);
	release(&result);
}

TEST(what_is_no_work_of_a_gpu_ends_no_gap)
{
	struct sidecar_activity activities[] = {
		on(KERNEL, 1, 1000, 2000),
		on(SYNC, 2, 1000, 8000),
		on(COPY_OF_NONE, 3, 2500, 2600),
		on(FAULT, 4, 2500, 2600),
		on(KERNEL, 5, 0, 0),
		on(KERNEL, 6, 9000, 9100),
	};
	struct result result = find_idle(activities, NR(activities), NULL, 0);

	CHECK_EQ(result.idle.nr_gaps, 1);
	CHECK_GAP(&result, 0, 2000, 9000, 5);
	CHECK_EQ(gpu_of(&result, 0, 0)->nr_activities, 2);
	release(&result);
}

TEST(of_those_that_begin_at_once_the_last_launched_has_the_gap)
{
	struct sidecar_activity activities[] = {
		on(KERNEL, 1, 1000, 2000),  on(KERNEL, 9, 3000, 3100),
		on(KERNEL, 12, 3000, 3900), on(COPY, 11, 3000, 5000),
		on(KERNEL, 20, 6000, 6000), /* of no length, but it ends the gap */
		on(KERNEL, 21, 6500, 6600),
	};
	struct result result = find_idle(activities, NR(activities), NULL, 0);

	CHECK_EQ(result.idle.nr_gaps, 3);
	CHECK_GAP(&result, 0, 2000, 3000, 2);
	CHECK_GAP(&result, 1, 5000, 6000, 4);
	CHECK_GAP(&result, 2, 6000, 6500, 5);
	release(&result);
}

/* Which of a graph's nodes, and of two processes', has no meaning, but is always the same. */
TEST(ties_are_broken_by_the_order_of_the_sidecar)
{
	struct sidecar_device devices[] = {{.log = 0, .uuid = {1}},
					   {.log = 1, .uuid = {1}}};
	struct sidecar_activity activities[] = {
		on(KERNEL, 1, 1000, 2000),	    on(KERNEL, 5, 3000, 3100),
		on(KERNEL, 5, 3000, 3200),	    on(KERNEL, 7, 4000, 4100),
		on(KERNEL_OF_OTHER, 2, 4000, 4100),
	};
	struct result result =
		find_idle(activities, NR(activities), devices, NR(devices));

	CHECK_EQ(result.idle.nr_gaps, 2);
	CHECK_GAP(&result, 0, 2000, 3000, 2);
	CHECK_GAP(&result, 1, 3200, 4000, 4);
	release(&result);
}

TEST(each_gpu_has_a_time_of_its_own)
{
	struct sidecar_activity activities[] = {
		on(KERNEL, 1, 1000, 2000),
		on(KERNEL_OF_1, 2, 1500, 3500),
		on(KERNEL, 3, 3000, 4000),
		on(KERNEL_OF_1, 4, 5500, 6000),
	};
	struct result result = find_idle(activities, NR(activities), NULL, 0);

	CHECK_EQ(result.idle.nr_gaps, 2);
	CHECK_EQ(gpu_of(&result, 0, 0)->idle_ns, 1000);
	CHECK_EQ(gpu_of(&result, 0, 1)->idle_ns, 2000);
	CHECK_EQ(gpu_of(&result, 0, 1)->first_ns, 1500);
	release(&result);
}

TEST(processes_on_one_gpu_share_its_time)
{
	struct sidecar_device devices[] = {
		{.log = 0, .device = 0, .uuid = {7}},
		{.log = 0, .device = 1, .uuid = {8}},
		{.log = 1, .device = 0, .uuid = {7}},
	};
	struct sidecar_activity activities[] = {
		on(KERNEL, 1, 1000, 2000),
		on(KERNEL_OF_OTHER, 1, 2500, 3000),
		on(KERNEL, 2, 3000, 4000),
	};
	struct result result =
		find_idle(activities, NR(activities), devices, NR(devices));

	CHECK_EQ(devices__nr(result.devices), 2);
	CHECK(gpu_of(&result, 0, 0) == gpu_of(&result, 1, 0));
	CHECK_EQ(result.idle.nr_gaps, 1);
	CHECK_GAP(&result, 0, 2000, 2500, 1);
	CHECK_EQ(gpu_of(&result, 1, 0)->begin_ns, 50);
	release(&result);
}

TEST(gpus_of_one_number_are_told_apart)
{
	struct sidecar_device devices[] = {
		{.log = 0, .device = 0, .uuid = {7}, .name = "first"},
		{.log = 1, .device = 0, .uuid = {8}, .name = "second"},
	};
	struct sidecar_activity activities[] = {
		on(KERNEL, 1, 1000, 2000),
		on(KERNEL_OF_OTHER, 1, 2500, 3000),
	};
	struct result result =
		find_idle(activities, NR(activities), devices, NR(devices));
	size_t second = (size_t)devices__find(result.devices, 1, 0);

	CHECK_EQ(result.idle.nr_gaps, 0);
	CHECK(gpu_of(&result, 0, 0) != gpu_of(&result, 1, 0));
	CHECK_STR(devices__description(result.devices, second)->name, "second");
	CHECK_EQ(devices__number(result.devices, second), 0);
	release(&result);
}

/* Without UUIDs nothing says that they are one. */
TEST(gpus_without_uuid_are_told_apart_by_process)
{
	struct sidecar_device devices[] = {{.log = 0}, {.log = 1}};
	struct sidecar_activity activities[] = {
		on(KERNEL, 1, 1000, 2000),
		on(KERNEL_OF_OTHER, 1, 2500, 3000),
	};
	struct result result =
		find_idle(activities, NR(activities), devices, NR(devices));

	CHECK_EQ(result.idle.nr_gaps, 0);
	CHECK(gpu_of(&result, 0, 0) != gpu_of(&result, 1, 0));
	release(&result);
}

TEST(nothing_has_no_gaps)
{
	struct result result = find_idle(NULL, 0, NULL, 0);

	CHECK_EQ(result.idle.nr_gaps, 0);
	CHECK_EQ(gpu_of(&result, 0, 0)->nr_activities, 0);
	CHECK_EQ(devices__find(result.devices, 1, 9), -ENOENT);
	release(&result);
}

/* Any activities: each GPU's time is conserved, as a bitmap of it says. */
TEST(busy_and_idle_are_all_of_the_time)
{
	enum { NR_ACTIVITIES = 3000, NR_NS = 20000 };
	static uint8_t is_busy[NR_NS + 200];
	struct sidecar_activity *activities = calloc(NR_ACTIVITIES, sizeof(*activities));
	uint64_t busy_ns = 0, first_ns = UINT64_MAX, last_ns = 0, idle_ns = 0;
	const struct idle_gpu *gpu;
	struct result result;

	CHECK(activities != NULL);
	srand(1);
	for (size_t i = 0; i < NR_ACTIVITIES; i++) {
		uint64_t start_ns = 1 + (uint64_t)rand() % NR_NS;
		uint64_t end_ns = start_ns + (uint64_t)rand() % 12;

		activities[i] = on((uint32_t)rand() % 3, i, start_ns, end_ns);
		memset(is_busy + start_ns, 1, end_ns - start_ns);
		first_ns = start_ns < first_ns ? start_ns : first_ns;
		last_ns = end_ns > last_ns ? end_ns : last_ns;
	}
	for (size_t i = 0; i < sizeof(is_busy); i++)
		busy_ns += is_busy[i];
	result = find_idle(activities, NR_ACTIVITIES, NULL, 0);
	gpu = gpu_of(&result, 0, 0);
	CHECK_EQ(gpu->busy_ns, busy_ns);
	CHECK_EQ(gpu->first_ns, first_ns);
	CHECK_EQ(gpu->last_ns, last_ns);
	CHECK_EQ(gpu->busy_ns + gpu->idle_ns, last_ns - first_ns);
	for (size_t i = 0; i < result.idle.nr_gaps; i++) {
		const struct idle_gap *gap = &result.idle.gaps[i];

		idle_ns += gap->end_ns - gap->start_ns;
		for (uint64_t ns = gap->start_ns; ns < gap->end_ns; ns++)
			CHECK(!is_busy[ns]);
		CHECK_EQ(activities[gap->activity].start_ns, gap->end_ns);
	}
	CHECK_EQ(idle_ns, gpu->idle_ns);
	CHECK(result.idle.nr_gaps > 100);
	release(&result);
	free(activities);
}
