// SPDX-License-Identifier: GPL-2.0-or-later
/* What becomes of each record, event by event. */
#include <stdlib.h>
#include <string.h>

#include "gpu_log.h"
#include "join/calls.h"
#include "join/faults.h"
#include "join/leaks.h"
#include "join/occurrences.h"
#include "unit.h"

#define NR(array)  (sizeof(array) / sizeof(*(array)))
#define BIT(event) GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_##event)
#define ALL	   (GPU_LOG_EVENT_BIT(GPU_LOG_NR_EVENTS) - 1)

static struct sidecar_log logs[2];

enum {
	KERNEL,
	COPY,
	MEMSET,
	STREAM_SYNC,
	STREAM_WAIT,
	ALLOC,
	FREE,
	ALLOC_STATIC,
	HTOD,
	DTOH,
	CPU_PAGE,
	KERNEL_OF_1,
	HTOD_OF_NONE,
	ALLOC_OF_OTHER,
	OF_LATER,
};

static struct sidecar_shape shapes[] = {
	[KERNEL] = {.kind = GPU_LOG_KIND_KERNEL, .name = "k"},
	[COPY] = {.kind = GPU_LOG_KIND_MEMCPY, .name = ""},
	[MEMSET] = {.kind = GPU_LOG_KIND_MEMSET, .name = ""},
	[STREAM_SYNC] = {.kind = GPU_LOG_KIND_SYNC, .what = GPU_LOG_SYNC_STREAM},
	[STREAM_WAIT] = {.kind = GPU_LOG_KIND_SYNC,
			 .what = GPU_LOG_SYNC_STREAM_WAIT_EVENT},
	[ALLOC] = {.kind = GPU_LOG_KIND_MEMORY, .what = GPU_LOG_ALLOCATED},
	[FREE] = {.kind = GPU_LOG_KIND_MEMORY, .what = GPU_LOG_FREED},
	[ALLOC_STATIC] = {.kind = GPU_LOG_KIND_MEMORY,
			  .what = GPU_LOG_ALLOCATED,
			  .dst_kind = GPU_LOG_MEMORY_DEVICE_STATIC},
	[HTOD] = {.kind = GPU_LOG_KIND_FAULT, .what = GPU_LOG_FAULT_HTOD},
	[DTOH] = {.kind = GPU_LOG_KIND_FAULT, .what = GPU_LOG_FAULT_DTOH},
	[CPU_PAGE] = {.kind = GPU_LOG_KIND_FAULT, .what = GPU_LOG_FAULT_CPU_PAGE},
	[KERNEL_OF_1] = {.kind = GPU_LOG_KIND_KERNEL, .name = "k", .device = 1},
	[HTOD_OF_NONE] = {.kind = GPU_LOG_KIND_FAULT,
			  .what = GPU_LOG_FAULT_HTOD,
			  .device = GPU_LOG_NO_DEVICE,
			  .src_device = GPU_LOG_NO_DEVICE,
			  .dst_device = 1},
	[ALLOC_OF_OTHER] = {.log = 1,
			    .kind = GPU_LOG_KIND_MEMORY,
			    .what = GPU_LOG_ALLOCATED},
	[OF_LATER] = {.kind = 99},
};

static struct sidecar_activity on(uint32_t shape, uint64_t id, uint64_t start_ns,
				  uint64_t end_ns, uint64_t bytes)
{
	return (struct sidecar_activity){.log = shapes[shape].log,
					 .shape = shape,
					 .correlation_id = id,
					 .start_ns = start_ns,
					 .end_ns = end_ns,
					 .bytes = bytes};
}

static struct sidecar_activity memory(uint32_t shape, uint64_t id, uint64_t time_ns,
				      uint64_t address, uint64_t bytes)
{
	return on(shape, id, time_ns, address, bytes);
}

static struct sidecar make_sidecar(struct sidecar_activity *activities, size_t nr,
				   struct sidecar_api_call *calls, size_t nr_calls)
{
	return (struct sidecar){
		.logs = logs,
		.nr_logs = NR(logs),
		.shapes = shapes,
		.nr_shapes = NR(shapes),
		.activities = activities,
		.nr_activities = nr,
		.api_calls = calls,
		.nr_api_calls = nr_calls,
	};
}

static struct occurrences find(const struct sidecar *sidecar, uint32_t events,
			       enum event_weight weight)
{
	struct occurrences found = {0};

	CHECK_EQ(occurrences__find(sidecar, events, weight, false, &found), 0);
	return found;
}

/* All of one event, as "id:period id:period", in the order they were found */
static const char *list(const struct occurrences *found, enum gpu_log_event event)
{
	static char text[1024];
	uint64_t sum = 0, nr = 0;
	size_t length = 0;

	*text = '\0';
	for (size_t i = 0; i < found->nr; i++) {
		const struct occurrence *item = &found->items[i];

		if (item->event != event)
			continue;
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "%s%llu:%llu", length ? " " : "",
					   (unsigned long long)item->correlation_id,
					   (unsigned long long)item->period);
		sum += item->period;
		nr++;
	}
	CHECK_EQ(found->totals[event].nr, nr);
	CHECK_EQ(found->totals[event].period, sum);
	return text;
}

TEST(each_kind_is_an_event_s)
{
	struct sidecar_activity activities[] = {
		on(KERNEL, 1, 100, 150, 0),	 on(COPY, 2, 200, 260, 4096),
		on(MEMSET, 3, 300, 370, 512),	 on(STREAM_SYNC, 4, 400, 480, 0),
		on(STREAM_WAIT, 5, 400, 490, 0), memory(ALLOC, 6, 500, 0x1000, 77),
		memory(FREE, 7, 600, 0x1000, 0), on(HTOD, 0, 700, 710, 65536),
		on(OF_LATER, 8, 800, 900, 1),
	};
	struct sidecar sidecar = make_sidecar(activities, NR(activities), NULL, 0);
	struct occurrences found = find(&sidecar, ALL, EVENT_WEIGHT_DEFAULT);

	CHECK_STR(list(&found, GPU_LOG_EVENT_KERNEL), "1:50");
	CHECK_STR(list(&found, GPU_LOG_EVENT_MEMCPY), "2:60");
	CHECK_STR(list(&found, GPU_LOG_EVENT_MEMSET), "3:70");
	CHECK_STR(list(&found, GPU_LOG_EVENT_SYNC), "4:80");
	CHECK_STR(list(&found, GPU_LOG_EVENT_ALLOC), "6:77");
	CHECK_STR(list(&found, GPU_LOG_EVENT_FAULT), "0:65536");
	CHECK_STR(list(&found, GPU_LOG_EVENT_LAUNCH), "");
	CHECK_STR(list(&found, GPU_LOG_EVENT_IDLE), "2:50 3:40");
	CHECK_EQ(found.totals[GPU_LOG_EVENT_MEMCPY].bytes, 4096);
	CHECK_EQ(found.totals[GPU_LOG_EVENT_MEMCPY].ns, 60);
	occurrences__release(&found);

	found = find(&sidecar, BIT(SYNC) | BIT(MEMSET), EVENT_WEIGHT_DEFAULT);
	CHECK_EQ(found.nr, 2);
	occurrences__release(&found);
}

TEST(weight_is_of_what_has_bytes_and_time)
{
	struct sidecar_activity activities[] = {
		on(KERNEL, 1, 100, 150, 0),   on(COPY, 2, 200, 260, 4096),
		on(COPY, 3, 0, 0, 100),	      on(MEMSET, 4, 300, 370, 512),
		on(HTOD, 0, 700, 710, 65536), on(STREAM_SYNC, 5, 400, 480, 0),
	};
	struct sidecar sidecar = make_sidecar(activities, NR(activities), NULL, 0);
	struct occurrences found = find(&sidecar, ALL, EVENT_WEIGHT_BYTES);

	CHECK_STR(list(&found, GPU_LOG_EVENT_KERNEL), "1:50");
	CHECK_STR(list(&found, GPU_LOG_EVENT_MEMCPY), "2:4096 3:100");
	CHECK_EQ(found.totals[GPU_LOG_EVENT_MEMCPY].nr_empty, 0);
	CHECK_STR(list(&found, GPU_LOG_EVENT_MEMSET), "4:512");
	CHECK_STR(list(&found, GPU_LOG_EVENT_SYNC), "5:80");
	CHECK_STR(list(&found, GPU_LOG_EVENT_FAULT), "0:65536");
	occurrences__release(&found);

	found = find(&sidecar, ALL, EVENT_WEIGHT_NS);
	CHECK_STR(list(&found, GPU_LOG_EVENT_MEMCPY), "2:60 3:0");
	CHECK_EQ(found.totals[GPU_LOG_EVENT_MEMCPY].nr_empty, 1);
	CHECK_EQ(found.totals[GPU_LOG_EVENT_MEMCPY].bytes, 4196);
	CHECK_STR(list(&found, GPU_LOG_EVENT_FAULT), "0:10");
	occurrences__release(&found);
}

TEST(kernels_wait_from_the_end_of_their_call)
{
	struct sidecar_api_call calls[] = {
		/* the driver's within the runtime's */
		{.correlation_id = 1, .api = 2, .start_ns = 12, .end_ns = 18},
		{.correlation_id = 1, .api = 1, .start_ns = 10, .end_ns = 20},
		{.correlation_id = 2, .start_ns = 30, .end_ns = 60},
		{.correlation_id = 4, .start_ns = 0, .end_ns = 0},
		{.log = 1, .correlation_id = 3, .start_ns = 30, .end_ns = 40},
	};
	struct sidecar_activity activities[] = {
		on(KERNEL, 1, 100, 150, 0), on(KERNEL, 1, 200, 250, 0), /* a graph */
		on(KERNEL, 2, 50, 55, 0), /* began before the call was over */
		on(KERNEL, 3, 300, 350, 0), /* no call of its log */
		on(KERNEL, 4, 400, 450, 0), on(KERNEL, 2, 0, 0, 0),
	};
	struct sidecar sidecar =
		make_sidecar(activities, NR(activities), calls, NR(calls));
	struct occurrences found = find(&sidecar, ALL, EVENT_WEIGHT_DEFAULT);

	CHECK_STR(list(&found, GPU_LOG_EVENT_QUEUE), "1:80 1:180");
	CHECK_EQ(found.nr_without_call, 3);
	CHECK_STR(list(&found, GPU_LOG_EVENT_LAUNCH), "1:10 2:30 4:0 3:10");
	CHECK_EQ(found.totals[GPU_LOG_EVENT_LAUNCH].nr_empty, 1);
	for (size_t i = 0; i < found.nr; i++)
		if (found.items[i].event == GPU_LOG_EVENT_LAUNCH &&
		    found.items[i].correlation_id == 1)
			CHECK_EQ(found.items[i].call->api, 1);
	occurrences__release(&found);
}

static const char *leaks_of(const struct sidecar *sidecar, uint64_t *nr_unknown_frees)
{
	static char text[256];
	struct leaks leaks = {0};

	CHECK_EQ(leaks__find(sidecar, &leaks), 0);
	*text = '\0';
	for (size_t i = 0; i < sidecar->nr_activities; i++)
		if (leaks.is_leak[i])
			snprintf(text + strlen(text), sizeof(text) - strlen(text),
				 " %llu",
				 (unsigned long long)sidecar->activities[i]
					 .correlation_id);
	*nr_unknown_frees = leaks.nr_unknown_frees;
	leaks__release(&leaks);
	return text;
}

TEST(leaks_are_what_was_never_freed)
{
	struct sidecar_activity activities[] = {
		memory(FREE, 6, 300, 0x1000, 0), /* logs are a little out of order */
		memory(ALLOC, 1, 100, 0x1000, 10),
		memory(ALLOC, 2, 100, 0x2000, 20), /* never */
		memory(ALLOC, 3, 400, 0x1000, 30), /* at the same place, never */
		memory(ALLOC, 4, 400, 0x3000, 40), /* replaced: was freed unseen */
		memory(ALLOC, 5, 500, 0x3000, 50),
		memory(FREE, 7, 600, 0x3000, 0),
		memory(FREE, 8, 700, 0x4000, 0), /* was there before */
		memory(FREE, 9, 701, 0x3000, 0), /* twice */
		memory(ALLOC_OF_OTHER, 10, 100, 0x1000, 60), /* another process */
		memory(ALLOC_STATIC, 11, 100, 0x5000, 70), /* nobody could free it */
		on(KERNEL, 12, 100, 0x2000, 0),
	};
	struct sidecar sidecar = make_sidecar(activities, NR(activities), NULL, 0);
	struct occurrences found = {0};
	uint64_t nr_unknown_frees;

	CHECK_STR(leaks_of(&sidecar, &nr_unknown_frees), " 2 3 10");
	CHECK_EQ(nr_unknown_frees, 2);

	CHECK_EQ(occurrences__find(&sidecar, BIT(ALLOC), EVENT_WEIGHT_DEFAULT, true,
				   &found),
		 0);
	CHECK_STR(list(&found, GPU_LOG_EVENT_ALLOC), "2:20 3:30 10:60");
	CHECK_EQ(found.nr_unknown_frees, 2);
	occurrences__release(&found);
	found = find(&sidecar, BIT(ALLOC), EVENT_WEIGHT_DEFAULT);
	CHECK_STR(list(&found, GPU_LOG_EVENT_ALLOC),
		  "1:10 2:20 3:30 4:40 5:50 10:60 11:70");
	occurrences__release(&found);
}

/* What happens at one time happens in the log's order. */
TEST(free_and_allocation_at_one_time)
{
	struct sidecar_activity activities[] = {
		memory(ALLOC, 1, 100, 0x1000, 10),
		memory(FREE, 2, 100, 0x1000, 0),
		memory(ALLOC, 3, 100, 0x1000, 10),
	};
	struct sidecar sidecar = make_sidecar(activities, NR(activities), NULL, 0);
	uint64_t nr_unknown_frees;

	CHECK_STR(leaks_of(&sidecar, &nr_unknown_frees), " 3");
	CHECK_EQ(nr_unknown_frees, 0);
}

TEST(migrations_are_of_the_kernel_that_ran)
{
	struct sidecar_activity activities[] = {
		on(KERNEL, 1, 1000, 9000, 0),
		on(KERNEL, 2, 2000, 3000, 0),
		on(KERNEL, 3, 2500, 2600, 0),
		on(KERNEL, 4, 4000, 5000, 0),
		on(KERNEL, 6, 6000, 7000, 0),
		on(KERNEL, 5, 6000, 7000, 0),
		on(KERNEL_OF_1, 7, 1000, 20000, 0),
		on(HTOD, 0, 999, 1500, 1), /* none yet */
		on(HTOD, 0, 1000, 1500, 2), /* at its start */
		on(HTOD, 0, 2550, 2560, 3), /* the last that began */
		on(HTOD, 0, 2600, 2700, 4), /* which is over: the one before */
		on(DTOH, 0, 3000, 3100, 5),
		on(HTOD, 0, 4500, 4501, 6),
		on(HTOD, 0, 6500, 6501, 7), /* at once: the last launched */
		on(HTOD, 0, 9000, 9001, 8), /* none any more */
		on(HTOD_OF_NONE, 0, 9000, 9001, 9), /* by where it goes */
		on(CPU_PAGE, 0, 9000, 9000, 12),
		on(CPU_PAGE, 0, 9001, 9001, 3),
	};
	struct sidecar sidecar = make_sidecar(activities, NR(activities), NULL, 0);
	struct occurrences found = find(&sidecar, BIT(FAULT), EVENT_WEIGHT_DEFAULT);

	CHECK_STR(list(&found, GPU_LOG_EVENT_FAULT),
		  "0:1 1:2 3:3 2:4 1:5 4:6 6:7 0:8 7:9");
	CHECK_EQ(found.nr_faults[GPU_LOG_FAULT_CPU_PAGE], 15);
	CHECK_EQ(found.nr_faults[GPU_LOG_FAULT_HTOD], 0);
	occurrences__release(&found);
}

/* As a search through all kernels has it, whatever their times */
TEST(migrations_of_many_kernels)
{
	enum {
		NR_KERNELS = 300,
		NR_MIGRATIONS = 300,
		NR_ALL = NR_KERNELS + NR_MIGRATIONS
	};
	struct sidecar_activity *activities = calloc(NR_ALL, sizeof(*activities));
	struct faults faults = {0};
	struct sidecar sidecar;

	CHECK(activities != NULL);
	srand(2);
	for (size_t i = 0; i < NR_ALL; i++) {
		uint64_t start_ns = 1 + (uint64_t)rand() % 5000;
		uint32_t shape = i < NR_KERNELS ? KERNEL : HTOD;

		activities[i] =
			on(shape, i, start_ns, start_ns + (uint64_t)rand() % 100, 1);
	}
	sidecar = make_sidecar(activities, NR_ALL, NULL, 0);
	CHECK_EQ(faults__find(&sidecar, &faults), 0);
	for (size_t i = NR_KERNELS; i < NR_ALL; i++) {
		const struct sidecar_activity *wanted = NULL;
		uint64_t at_ns = activities[i].start_ns;

		for (size_t k = 0; k < NR_KERNELS; k++)
			if (activities[k].start_ns <= at_ns &&
			    activities[k].end_ns > at_ns &&
			    (!wanted || activities[k].start_ns >= wanted->start_ns))
				wanted = &activities[k];
		CHECK(faults.kernels[i] == wanted);
	}
	faults__release(&faults);
	free(activities);
}

TEST(nothing_has_no_occurrences)
{
	struct sidecar sidecar = make_sidecar(NULL, 0, NULL, 0);
	struct occurrences found = find(&sidecar, ALL, EVENT_WEIGHT_DEFAULT);

	CHECK_EQ(found.nr, 0);
	occurrences__release(&found);
}
