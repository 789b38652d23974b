// SPDX-License-Identifier: GPL-2.0-or-later
/* The beginning of a part of a log: what the part needs, and no more */
#include <sys/stat.h>

#include "gpu_log_build.h"
#include "record/collection.h"
#include "record/log_state.h"
#include "sidecar/sidecar.h"
#include "unit.h"
#include "util/gpu_log_cursor.h"
#include "util/gpu_log_definitions.h"
#include "util/log.h"

#define SESSION 7
#define LOG	5

static struct log_build new_build(void)
{
	struct log_build build = {.session = SESSION, .log_id = LOG};

	log_verbosity = -1;
	log_build__process(&build, 4711, "app");
	return build;
}

/* All that is in @build, which is given up, becomes what was before. */
static void take(struct log_state *state, struct log_build *build)
{
	struct gpu_log_cursor cursor;
	const struct gpu_log_record *record;
	struct gpu_log_block *block;

	log_build__end_block(build);
	block = (struct gpu_log_block *)build->data;
	cursor = gpu_log_cursor__new(block + 1, block->payload_bytes);
	while (gpu_log_cursor__next(&cursor, &record) > 0)
		CHECK_EQ(log_state__take(state, record), 0);
	build->bytes = build->block = 0;
}

/* The part, which is what @build has by now, as who reads it sees it. */
static struct sidecar *read_part(const struct log_state *state, struct log_build *build)
{
	static struct block_builder builder;
	char dir[] = P_tmpdir "/perf-gpu-unit.XXXXXX", path[64];
	struct gpu_log_recorder recorder = {.nr_launches = 1};
	struct collection *collection;
	struct sidecar *sidecar;

	CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/part", dir);
	CHECK_EQ(collection__open(path, SESSION, &collection), 0);
	builder = (struct block_builder){.to = collection, .session = SESSION};
	CHECK_EQ(log_state__write(state, LOG, &builder), 0);
	CHECK_EQ(block_builder__flush(&builder), 0);
	log_build__end_block(build);
	CHECK_EQ(collection__add_block(collection, (struct gpu_log_block *)build->data),
		 0);
	CHECK_EQ(collection__add_recorder(collection, &recorder), 0);
	CHECK_EQ(collection__commit(collection), 0);
	collection__close(collection);
	CHECK_EQ(sidecar__open(path, &sidecar), 0);
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(rmdir(dir), 0);
	log_build__release(build);
	return sidecar;
}

TEST(a_part_has_the_names_of_before)
{
	struct log_build build = new_build();
	struct log_state state = {0};
	struct sidecar *sidecar;

	log_build__shape(&build, 1, "k1");
	log_build__kernel(&build, 1, 9, 5000, 6000);
	log_build__api(&build, 0x2000001, "cudaLaunchKernel");
	take(&state, &build);
	log_build__kernel(&build, 1, 10, 7000, 8000);
	sidecar = read_part(&state, &build);
	CHECK_EQ(sidecar->nr_logs, 1);
	CHECK_EQ(sidecar->logs[0].pid, 4711);
	CHECK(!sidecar->logs[0].is_cut);
	CHECK_EQ(sidecar->nr_activities, 1);
	CHECK_EQ(sidecar->nr_shapes, 1);
	CHECK_STR(sidecar->shapes[0].name, "k1");
	CHECK_STR(sidecar__api_name(sidecar, 0, 0x2000001), "cudaLaunchKernel");
	sidecar__close(sidecar);
	log_state__release(&state);
}

TEST(what_the_log_forgets_is_left_out)
{
	struct log_build build = new_build();
	struct gpu_log_forget forget;
	struct log_state state = {0};
	struct sidecar *sidecar;
	size_t nr_bytes;

	log_build__api(&build, 0x2000001, "cudaLaunchKernel");
	log_build__shape(&build, 1, "old");
	log_build__shape(&build, 2, "older");
	take(&state, &build);
	nr_bytes = state.nr_bytes;
	forget = (struct gpu_log_forget){
		.strings = build.nr_strings + 1, .shapes = 3, .operations = 1};
	LOG_BUILD_ADD(&build, GPU_LOG_FORGET, forget);
	take(&state, &build);
	CHECK(state.nr_bytes < nr_bytes);
	log_build__shape(&build, 3, "new");
	take(&state, &build);
	log_build__kernel(&build, 3, 10, 7000, 8000);
	sidecar = read_part(&state, &build);
	CHECK(!sidecar->logs[0].is_cut);
	CHECK_EQ(sidecar->nr_shapes, 1);
	CHECK_STR(sidecar->shapes[0].name, "new");
	CHECK_STR(sidecar__api_name(sidecar, 0, 0x2000001), "cudaLaunchKernel");
	sidecar__close(sidecar);
	log_state__release(&state);
}

static void nvtx(struct log_build *build, uint32_t operation, uint32_t tid,
		 uint64_t range, const char *name)
{
	struct gpu_log_nvtx record = {
		.operation = operation, .time_ns = 1, .tid = tid, .range = range};

	if (name)
		record.name = log_build__string(build, name);
	LOG_BUILD_ADD(build, GPU_LOG_NVTX, record);
}

TEST(ranges_that_are_open_are_there)
{
	struct log_build build = new_build();
	struct gpu_log_forget forget;
	struct log_state state = {0};
	struct sidecar *sidecar;

	nvtx(&build, GPU_LOG_NVTX_PUSH, 1, 0, "outer");
	nvtx(&build, GPU_LOG_NVTX_PUSH, 1, 0, "inner");
	nvtx(&build, GPU_LOG_NVTX_PUSH, 2, 0, "other thread");
	nvtx(&build, GPU_LOG_NVTX_START, 1, 77, "ended");
	nvtx(&build, GPU_LOG_NVTX_START, 1, 78, "not ended");
	nvtx(&build, GPU_LOG_NVTX_POP, 1, 0, NULL);
	nvtx(&build, GPU_LOG_NVTX_END, 2, 77, NULL);
	/* Their names aren't forgotten. */
	forget = (struct gpu_log_forget){.strings = build.nr_strings + 1};
	LOG_BUILD_ADD(&build, GPU_LOG_FORGET, forget);
	take(&state, &build);
	nvtx(&build, GPU_LOG_NVTX_POP, 1, 0, NULL);
	sidecar = read_part(&state, &build);
	CHECK(!sidecar->logs[0].is_cut);
	CHECK_EQ(sidecar->nr_nvtx, 4);
	CHECK_STR(sidecar->nvtx[0].name, "outer");
	CHECK_STR(sidecar->nvtx[1].name, "other thread");
	CHECK_STR(sidecar->nvtx[2].name, "not ended");
	sidecar__close(sidecar);
	log_state__release(&state);
}

/* Graphs that are made again and again */
TEST(memory_is_bounded)
{
	struct gpu_log_graph_node node = {
		.rec = {.type = GPU_LOG_GRAPH_NODE, .size = sizeof(node)},
		.origin = GPU_LOG_NODE_CLONED,
	};
	struct log_build build = new_build();
	struct log_state state = {0};

	take(&state, &build);
	log_build__release(&build);
	for (node.node = 2; node.node < (5u << 20); node.node++) {
		node.original = node.node - 1;
		CHECK_EQ(log_state__take(&state, &node.rec), 0);
	}
	CHECK(state.nr_bytes <= LOG_STATE_MAX_BYTES);
	CHECK(state.nr_forgotten);
	log_state__release(&state);
}

/* Nothing of it can be forgotten: to search for such once a record would take hours. */
TEST(a_log_full_of_definitions_is_given_up)
{
	struct {
		struct gpu_log_string string;
		char text[60];
	} record = {.string = {.rec = {.type = GPU_LOG_STRING, .size = sizeof(record)},
			       .nr_bytes = sizeof(record.text) - 1}};
	const uint32_t nr_fitting = LOG_STATE_MAX_BYTES / sizeof(record);
	const struct gpu_log_forget forget = {
		.rec = {.type = GPU_LOG_FORGET, .size = sizeof(forget)},
		.strings = nr_fitting / 2,
	};
	struct log_state state = {0};
	uint64_t nr_forgotten;

	for (record.string.id = 0; record.string.id < 2 * nr_fitting; record.string.id++)
		CHECK_EQ(log_state__take(&state, &record.string.rec), 0);
	CHECK_EQ(state.nr_forgotten, nr_fitting);
	/* What follows has room again. */
	CHECK_EQ(log_state__take(&state, &forget.rec), 0);
	nr_forgotten = state.nr_forgotten;
	CHECK_EQ(log_state__take(&state, &record.string.rec), 0);
	CHECK_EQ(state.nr_forgotten, nr_forgotten);
	log_state__release(&state);
}

/* A later part begins with what is true to the end, not with what has happened. */
TEST(what_has_happened_is_not_kept)
{
	static const uint16_t types[] = {
		GPU_LOG_KERNEL, GPU_LOG_ACTIVITY, GPU_LOG_MEMORY, GPU_LOG_API_CALL,
		GPU_LOG_LOSS,	GPU_LOG_END,	  GPU_LOG_FORGET, GPU_LOG_RECORDER,
		GPU_LOG_STACK,	GPU_LOG_TIME,	  GPU_LOG_LAUNCH, GPU_LOG_THREAD,
		GPU_LOG_MAP,	GPU_LOG_NVTX,
	};
	union {
		struct gpu_log_record head;
		struct gpu_log_recorder longest;
		struct gpu_log_nvtx nvtx;
	} record = {.head = {.size = sizeof(record)}};
	struct log_state state = {0};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		record.head.type = types[i];
		CHECK_EQ(log_state__take(&state, &record.head), 0);
		CHECK_EQ(state.nr_bytes, 0);
		CHECK(!gpu_log_record__is_definition(&record.head));
	}
	record.head.type = GPU_LOG_CONTEXT;
	CHECK_EQ(log_state__take(&state, &record.head), 0);
	CHECK_EQ(state.nr_bytes, sizeof(record));
	CHECK(gpu_log_record__is_definition(&record.head));
	/* Those that are open are kept by themselves. */
	record.nvtx = (struct gpu_log_nvtx){
		.rec = {.type = GPU_LOG_NVTX, .size = sizeof(record.nvtx)},
		.operation = GPU_LOG_NVTX_PUSH,
	};
	CHECK(gpu_log_record__is_definition(&record.head));
	record.head.size = sizeof(record.head);
	CHECK(!gpu_log_record__is_definition(&record.head));
	log_state__release(&state);
}

/* Of such, members that it hasn't got would be looked at when there is no room any more. */
TEST(records_that_are_too_short_are_not_kept)
{
	static const uint16_t types[] = {GPU_LOG_GRAPH_NODE, GPU_LOG_JIT,
					 GPU_LOG_STRING,     GPU_LOG_SHAPE,
					 GPU_LOG_API,	     GPU_LOG_PYTHON_CODE};
	struct log_state state = {0};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		const struct {
			struct gpu_log_record head;
			uint32_t pad;
		} record = {.head = {.type = types[i], .size = sizeof(record)}};

		CHECK_EQ(log_state__take(&state, &record.head), 0);
		CHECK_EQ(state.nr_bytes, 0);
	}
	log_state__release(&state);
}
