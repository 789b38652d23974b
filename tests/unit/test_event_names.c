// SPDX-License-Identifier: GPL-2.0-or-later
/* Leaves of stacks, and which events of a recording are shown. */
#include <errno.h>
#include <string.h>

#include "gpu_log.h"
#include "source/chosen_events.h"
#include "source/event_names.h"
#include "source/operation_name.h"
#include "unit.h"
#include "util/log.h"

#define BIT(event) GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_##event)

static void check_name(struct sidecar_shape shape, const char *wanted)
{
	char text[64];

	if (!shape.name)
		shape.name = "";
	operation_name__write(&shape, text, sizeof(text));
	CHECK_STR(text, wanted);
}

#define COPY(the_what, src, dst)                                                    \
	(struct sidecar_shape)                                                      \
	{                                                                           \
		.kind = GPU_LOG_KIND_MEMCPY, .what = (the_what), .src_kind = (src), \
		.dst_kind = (dst)                                                   \
	}

TEST(copies_have_their_direction_and_the_host_s_memory)
{
	check_name(COPY(1, GPU_LOG_MEMORY_PAGEABLE, GPU_LOG_MEMORY_DEVICE),
		   "HtoD pageable");
	check_name(COPY(1, GPU_LOG_MEMORY_PINNED, GPU_LOG_MEMORY_DEVICE), "HtoD pinned");
	check_name(COPY(2, GPU_LOG_MEMORY_DEVICE, GPU_LOG_MEMORY_PAGEABLE),
		   "DtoH pageable");
	check_name(COPY(3, GPU_LOG_MEMORY_PINNED, GPU_LOG_MEMORY_ARRAY), "HtoA pinned");
	check_name(COPY(4, GPU_LOG_MEMORY_ARRAY, GPU_LOG_MEMORY_PINNED), "AtoH pinned");
	check_name(COPY(5, GPU_LOG_MEMORY_ARRAY, GPU_LOG_MEMORY_ARRAY), "AtoA");
	check_name(COPY(6, GPU_LOG_MEMORY_ARRAY, GPU_LOG_MEMORY_DEVICE), "AtoD");
	check_name(COPY(7, GPU_LOG_MEMORY_DEVICE, GPU_LOG_MEMORY_ARRAY), "DtoA");
	check_name(COPY(8, GPU_LOG_MEMORY_DEVICE, GPU_LOG_MEMORY_DEVICE), "DtoD");
	check_name(COPY(9, GPU_LOG_MEMORY_PINNED, GPU_LOG_MEMORY_PINNED), "HtoH pinned");
	check_name(COPY(9, GPU_LOG_MEMORY_PINNED, GPU_LOG_MEMORY_PAGEABLE),
		   "HtoH pinned to pageable");
	check_name(COPY(9, GPU_LOG_MEMORY_UNKNOWN, GPU_LOG_MEMORY_PAGEABLE),
		   "HtoH pageable");
	check_name(COPY(1, GPU_LOG_MEMORY_UNKNOWN, GPU_LOG_MEMORY_DEVICE), "HtoD");
	check_name(COPY(1, 99, GPU_LOG_MEMORY_DEVICE), "HtoD");
	check_name(COPY(77, 0, 0), "unknown");
}

TEST(managed_memory_is_said_of_any_side)
{
	check_name(COPY(1, GPU_LOG_MEMORY_MANAGED, GPU_LOG_MEMORY_DEVICE),
		   "HtoD managed");
	check_name(COPY(8, GPU_LOG_MEMORY_DEVICE, GPU_LOG_MEMORY_MANAGED_STATIC),
		   "DtoD managed");
	check_name(COPY(2, GPU_LOG_MEMORY_MANAGED, GPU_LOG_MEMORY_PAGEABLE),
		   "DtoH managed");
}

TEST(copies_between_devices_name_them)
{
	struct sidecar_shape shape =
		COPY(10, GPU_LOG_MEMORY_DEVICE, GPU_LOG_MEMORY_DEVICE);

	shape.src_device = 0;
	shape.dst_device = 3;
	check_name(shape, "PtoP GPU0 to GPU3");
	shape.dst_device = GPU_LOG_NO_DEVICE;
	check_name(shape, "PtoP");
}

#define OTHER(the_kind, the_what, dst)                                                 \
	(struct sidecar_shape)                                                         \
	{                                                                              \
		.kind = GPU_LOG_KIND_##the_kind, .what = (the_what), .dst_kind = (dst) \
	}

TEST(other_operations)
{
	struct sidecar_shape shape;

	check_name(OTHER(MEMSET, 0, GPU_LOG_MEMORY_DEVICE), "device");
	check_name(OTHER(MEMSET, 0, GPU_LOG_MEMORY_MANAGED), "managed");
	check_name(OTHER(MEMSET, 0, 50), "unknown");
	check_name(OTHER(SYNC, GPU_LOG_SYNC_STREAM, 0), "stream");
	check_name(OTHER(SYNC, GPU_LOG_SYNC_EVENT, 0), "event");
	check_name(OTHER(SYNC, GPU_LOG_SYNC_CONTEXT, 0), "context");
	check_name(OTHER(SYNC, 50, 0), "unknown");
	check_name(OTHER(MEMORY, GPU_LOG_ALLOCATED, GPU_LOG_MEMORY_PINNED), "pinned");
	check_name(OTHER(MEMORY, GPU_LOG_ALLOCATED, 50), "unknown");
	shape = OTHER(MEMORY, GPU_LOG_ALLOCATED, GPU_LOG_MEMORY_DEVICE);
	shape.is_async = 1;
	check_name(shape, "device async");
	shape = OTHER(MEMORY, GPU_LOG_ALLOCATED, GPU_LOG_MEMORY_DEVICE_STATIC);
	shape.name = "weights";
	check_name(shape, "device static weights");
	shape = OTHER(FAULT, GPU_LOG_FAULT_HTOD, 0);
	check_name(shape, "HtoD");
	shape = OTHER(FAULT, GPU_LOG_FAULT_DTOD, 0);
	shape.src_device = 2;
	shape.dst_device = 1;
	check_name(shape, "DtoD GPU2 to GPU1");
	check_name(OTHER(FAULT, 99, 0), "unknown");
}

TEST(leaves_begin_with_the_event_s)
{
	struct sidecar_api apis[] = {{.api = 7, .name = "cudaMemcpyAsync"}};
	struct sidecar_shape shapes[] = {
		{.kind = GPU_LOG_KIND_KERNEL, .name = "_Z6vecAddPf"},
		{.kind = GPU_LOG_KIND_SYNC, .what = GPU_LOG_SYNC_EVENT, .name = ""},
		{.kind = GPU_LOG_KIND_KERNEL, .name = ""},
	};
	const struct sidecar sidecar = {
		.apis = apis, .nr_apis = 1, .shapes = shapes, .nr_shapes = 3};
	const struct sidecar_activity kernel = {.shape = 0}, sync = {.shape = 1},
				      unnamed = {.shape = 2};
	const struct sidecar_api_call call = {.api = 7}, unknown = {.api = 8};
	const struct {
		struct occurrence occurrence;
		const char *name;
	} wanted[] = {
		{{.event = GPU_LOG_EVENT_KERNEL, .activity = &kernel},
		 "[GPU_Kernel]vecAdd(float*)"},
		{{.event = GPU_LOG_EVENT_QUEUE, .activity = &kernel},
		 "[GPU_Queue]vecAdd(float*)"},
		{{.event = GPU_LOG_EVENT_IDLE, .activity = &kernel}, "[GPU_Idle]"},
		{{.event = GPU_LOG_EVENT_IDLE, .activity = &sync}, "[GPU_Idle]"},
		{{.event = GPU_LOG_EVENT_SYNC, .activity = &sync}, "[GPU_Sync]event"},
		{{.event = GPU_LOG_EVENT_LAUNCH, .call = &call},
		 "[GPU_Launch]cudaMemcpyAsync"},
		{{.event = GPU_LOG_EVENT_LAUNCH, .call = &unknown},
		 "[GPU_Launch][unknown]"},
		{{.event = GPU_LOG_EVENT_KERNEL, .activity = &unnamed},
		 "[GPU_Kernel][unknown]"},
	};
	struct event_names names = {0};

	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
			CHECK_STR(event_names__get(&names, &sidecar,
						   &wanted[i].occurrence, DEMANGLE_FULL),
				  wanted[i].name);
	}
	CHECK(event_names__get(&names, &sidecar, &wanted[0].occurrence, DEMANGLE_FULL) ==
	      event_names__get(&names, &sidecar, &wanted[0].occurrence, DEMANGLE_FULL));
	event_names__release(&names);
}

/* Events that are shown of two processes, of which each has recorded something */
static uint32_t choose(uint32_t events, uint32_t kinds, const char *text, int wanted_err)
{
	struct sidecar_log logs[] = {{.events = BIT(KERNEL), .kinds = 1}, {0}};
	const struct sidecar sidecar = {.logs = logs, .nr_logs = 2};
	uint32_t chosen = 0;

	logs[1].events = events;
	logs[1].kinds = kinds;
	log_verbosity = -1;
	CHECK_EQ(chosen_events__find(&sidecar, text, "perf.data.gpu", &chosen),
		 wanted_err);
	return chosen;
}

TEST(default_is_what_was_recorded)
{
	const uint32_t all = GPU_LOG_DEFAULT_EVENTS;

	CHECK_EQ(choose(0, 0, NULL, 0), BIT(KERNEL));
	CHECK_EQ(choose(all, gpu_log_kinds_of(all), NULL, 0), all);
	CHECK_EQ(choose(BIT(QUEUE), gpu_log_kinds_of(BIT(QUEUE)), NULL, 0),
		 BIT(KERNEL) | BIT(QUEUE));
	/* CUPTI couldn't */
	CHECK_EQ(choose(BIT(SYNC) | BIT(MEMCPY), gpu_log_kinds_of(BIT(MEMCPY)), NULL, 0),
		 BIT(KERNEL) | BIT(MEMCPY));
}

TEST(some_can_be_chosen)
{
	const uint32_t kinds = gpu_log_kinds_of(GPU_LOG_DEFAULT_EVENTS);

	CHECK_EQ(choose(GPU_LOG_DEFAULT_EVENTS, kinds, "gpu-memcpy", 0), BIT(MEMCPY));
	CHECK_EQ(choose(GPU_LOG_DEFAULT_EVENTS, kinds, "-gpu-memcpy", 0),
		 BIT(KERNEL) | BIT(MEMSET));
	/* made of what there is, though it wasn't asked for */
	CHECK_EQ(choose(GPU_LOG_DEFAULT_EVENTS, kinds, "+gpu-idle", 0),
		 GPU_LOG_DEFAULT_EVENTS | BIT(IDLE));
	choose(GPU_LOG_DEFAULT_EVENTS, kinds, "gpu-queue", -EINVAL);
	choose(GPU_LOG_DEFAULT_EVENTS, kinds, "gpu-kernel,gpu-alloc", -EINVAL);
	choose(GPU_LOG_DEFAULT_EVENTS, kinds, "all", -EINVAL);
	choose(0, 0, "gpu-idle", -EINVAL); /* of a recording with kernels alone */
	choose(BIT(SYNC), 0, "gpu-sync", -EINVAL);
}

/* Of record --probe api */
TEST(calls_of_an_older_recording_can_be_shown)
{
	struct sidecar_log log = {.events = BIT(KERNEL), .kinds = 1};
	struct sidecar_api_call call = {0};
	const struct sidecar sidecar = {
		.logs = &log, .nr_logs = 1, .api_calls = &call, .nr_api_calls = 1};
	uint32_t chosen = 0;

	CHECK_EQ(chosen_events__find(&sidecar, NULL, "", &chosen), 0);
	CHECK_EQ(chosen, BIT(KERNEL));
	CHECK_EQ(chosen_events__find(&sidecar, "gpu-queue,gpu-launch", "", &chosen), 0);
	CHECK_EQ(chosen, BIT(QUEUE) | BIT(LAUNCH));
}
