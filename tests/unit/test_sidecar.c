// SPDX-License-Identifier: GPL-2.0-or-later
/* What is read of GPU logs that are as they should be; others: test_sidecar_damage.c */
#include "sidecar_build.h"

TEST(every_record_is_read)
{
	struct log_build build = {.session = SESSION, .log_id = LOG_A};
	struct gpu_log_process process = {.pid = 5,
					  .ppid = 4,
					  .is_forked = 1,
					  .start_ns = 3,
					  .cupti_version = 130001,
					  .driver_version = 13000,
					  .comm = "python3"};
	struct gpu_log_shape shape = {.shape = 1,
				      .device = 1,
				      .context = 2,
				      .stream = 3,
				      .grid = {4, 5, 6},
				      .block = {7, 8, 9},
				      .registers_per_thread = 10,
				      .static_shared_bytes = 11,
				      .dynamic_shared_bytes = 12,
				      .graph = 13,
				      .graph_node = 1ull << 40};
	struct gpu_log_device device = {.device = 1,
					.compute_major = 9,
					.nr_multiprocessors = 132,
					.uuid = {1, 2, 3},
					.memory_bytes = 1ull << 37};
	struct gpu_log_context context = {.context = 2, .device = 1};
	struct gpu_log_loss loss = {.kind = GPU_LOG_LOSS_WRITE, .nr_records = 21};
	struct gpu_log_message message = {.severity = GPU_LOG_WARNING, .nr_bytes = 5};
	struct gpu_log_end end = {.nr_launches = 31, .nr_kernels = 1};
	struct gpu_log_recorder recorder = {
		.nr_launches = 41,
		.nr_lost_ring = 42,
		.nr_lost_stack = 43,
		.realtime_ns = 44,
		.monotonic_ns = 45,
		.kept_from_ns = 46,
		.nr_cut_launches = 47,
		.nr_cut_records = 48,
	};
	struct sidecar *sidecar;

	LOG_BUILD_ADD(&build, GPU_LOG_PROCESS, process);
	shape.name = log_build__string(&build, "_Z1kv");
	LOG_BUILD_ADD(&build, GPU_LOG_SHAPE, shape);
	device.name = log_build__string(&build, "H200");
	LOG_BUILD_ADD(&build, GPU_LOG_DEVICE, device);
	LOG_BUILD_ADD(&build, GPU_LOG_CONTEXT, context);
	log_build__api(&build, GPU_LOG_API_ID(2, 211), "cudaLaunchKernel");
	log_build__kernel(&build, 1, 1ull << 33, 1000, 3000);
	LOG_BUILD_ADD(&build, GPU_LOG_LOSS, loss);
	LOG_BUILD_ADD(&build, GPU_LOG_LOSS, loss);
	log_build__add(&build, GPU_LOG_MESSAGE, &message,
		       offsetof(struct gpu_log_message, text), "hello");
	LOG_BUILD_ADD(&build, GPU_LOG_END, end);
	log_build__end_block(&build);
	build.log_id = 0;
	LOG_BUILD_ADD(&build, GPU_LOG_RECORDER, recorder);
	log_build__end_block(&build);
	sidecar = read_whole(&build);

	CHECK_EQ(sidecar->session, SESSION);
	CHECK_EQ(sidecar->nr_logs, 1);
	CHECK_EQ(sidecar->logs[0].log_id, LOG_A);
	CHECK_EQ(sidecar->logs[0].pid, 5);
	CHECK_EQ(sidecar->logs[0].ppid, 4);
	CHECK(sidecar->logs[0].is_forked);
	CHECK_EQ(sidecar->logs[0].start_ns, 3);
	CHECK_EQ(sidecar->logs[0].cupti_version, 130001);
	CHECK_EQ(sidecar->logs[0].driver_version, 13000);
	CHECK_STR(sidecar->logs[0].comm, "python3");
	CHECK(sidecar->logs[0].is_ended);
	CHECK(!sidecar->logs[0].is_cut);
	CHECK_EQ(sidecar->logs[0].nr_launches, 31);
	CHECK_EQ(sidecar->logs[0].nr_kernels, 1);
	CHECK_EQ(sidecar->logs[0].nr_lost[GPU_LOG_LOSS_WRITE], 42);
	CHECK_EQ(sidecar->logs[0].nr_lost[GPU_LOG_LOSS_CUPTI_DROPPED], 0);

	CHECK_EQ(sidecar->nr_shapes, 1);
	CHECK_STR(sidecar->shapes[0].name, "_Z1kv");
	CHECK_EQ(sidecar->shapes[0].device, 1);
	CHECK_EQ(sidecar->shapes[0].context, 2);
	CHECK_EQ(sidecar->shapes[0].stream, 3);
	CHECK_EQ(sidecar->shapes[0].grid[2], 6);
	CHECK_EQ(sidecar->shapes[0].block[0], 7);
	CHECK_EQ(sidecar->shapes[0].registers_per_thread, 10);
	CHECK_EQ(sidecar->shapes[0].static_shared_bytes, 11);
	CHECK_EQ(sidecar->shapes[0].dynamic_shared_bytes, 12);
	CHECK_EQ(sidecar->shapes[0].graph, 13);
	CHECK_EQ(sidecar->shapes[0].graph_node, 1ull << 40);

	CHECK_EQ(sidecar->nr_activities, 1);
	CHECK_EQ(sidecar->activities[0].correlation_id, 1ull << 33);
	CHECK_EQ(sidecar->activities[0].start_ns, 1000);
	CHECK_EQ(sidecar->activities[0].end_ns, 3000);
	CHECK_EQ(sidecar->activities[0].shape, 0);
	CHECK_EQ(sidecar->activities[0].log, 0);

	CHECK_EQ(sidecar->nr_devices, 1);
	CHECK_STR(sidecar->devices[0].name, "H200");
	CHECK_EQ(sidecar->devices[0].nr_multiprocessors, 132);
	CHECK_EQ(sidecar->devices[0].uuid[2], 3);
	CHECK_EQ(sidecar->devices[0].memory_bytes, 1ull << 37);
	CHECK_EQ(sidecar->nr_messages, 1);
	CHECK_EQ(sidecar->messages[0].severity, GPU_LOG_WARNING);
	CHECK_STR(sidecar->messages[0].text, "hello");
	CHECK_STR(sidecar__api_name(sidecar, 0, GPU_LOG_API_ID(2, 211)),
		  "cudaLaunchKernel");
	CHECK(sidecar__api_name(sidecar, 0, GPU_LOG_API_ID(1, 211)) == NULL);
	CHECK(sidecar__api_name(sidecar, 1, GPU_LOG_API_ID(2, 211)) == NULL);

	CHECK(sidecar->recorder.is_there);
	CHECK_EQ(sidecar->recorder.nr_launches, 41);
	CHECK_EQ(sidecar->recorder.nr_lost_ring, 42);
	CHECK_EQ(sidecar->recorder.nr_lost_stack, 43);
	CHECK_EQ(sidecar->recorder.realtime_ns, 44);
	CHECK_EQ(sidecar->recorder.monotonic_ns, 45);
	CHECK_EQ(sidecar->recorder.kept_from_ns, 46);
	CHECK_EQ(sidecar->recorder.nr_cut_launches, 47);
	CHECK_EQ(sidecar->recorder.nr_cut_records, 48);
	sidecar__close(sidecar);
}

TEST(calls_are_read_with_their_times)
{
	struct log_build build = {.session = SESSION, .log_id = LOG_A};
	const struct gpu_log_api_call told[] = {
		{.api = 3,
		 .correlation_id = 1ull << 33,
		 .start_ns = 5,
		 .end_ns = 6,
		 .tid = 7},
		{.api = 4, .correlation_id = 8, .start_ns = 9, .end_ns = 8},
		{.api = 4, .correlation_id = 9, .end_ns = 8},
	};
	struct sidecar *sidecar;

	log_build__process(&build, 1, "a");
	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++)
		LOG_BUILD_ADD(&build, GPU_LOG_API_CALL, told[i]);
	log_build__end_block(&build);
	sidecar = read_whole(&build);

	CHECK_EQ(sidecar->nr_api_calls, 3);
	CHECK_EQ(sidecar->api_calls[0].log, 0);
	CHECK_EQ(sidecar->api_calls[0].api, 3);
	CHECK_EQ(sidecar->api_calls[0].correlation_id, 1ull << 33);
	CHECK_EQ(sidecar->api_calls[0].start_ns, 5);
	CHECK_EQ(sidecar->api_calls[0].end_ns, 6);
	CHECK_EQ(sidecar->api_calls[0].tid, 7);
	/* What ends before it starts, or never started, has no time. */
	for (size_t i = 1; i < 3; i++)
		CHECK(!sidecar->api_calls[i].start_ns && !sidecar->api_calls[i].end_ns);
	sidecar__close(sidecar);
}

TEST(origins_of_graph_nodes_are_read_in_order)
{
	struct log_build build = {.session = SESSION, .log_id = LOG_A};
	const struct gpu_log_graph_node told[] = {
		{.origin = GPU_LOG_NODE_CLONED, .node = 2, .original = 1},
		{.origin = GPU_LOG_NODE_NONE},
		{.origin = GPU_LOG_NODE_CAPTURED,
		 .node = 1,
		 .correlation_id = 1ull << 33},
		{.origin = 77, .node = 9}, /* of a later writer */
		{.origin = GPU_LOG_NODE_UPDATED,
		 .node = 2,
		 .original = 3,
		 .correlation_id = 5},
	};
	struct sidecar *sidecar;

	log_build__process(&build, 1, "a");
	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++)
		LOG_BUILD_ADD(&build, GPU_LOG_GRAPH_NODE, told[i]);
	log_build__end_block(&build);
	build.log_id = LOG_B;
	log_build__process(&build, 2, "b");
	LOG_BUILD_ADD(&build, GPU_LOG_GRAPH_NODE, told[2]);
	log_build__end_block(&build);
	sidecar = read_whole(&build);

	CHECK(sidecar->logs[0].tells_graph_nodes);
	CHECK(!sidecar->logs[1].tells_graph_nodes);
	CHECK_EQ(sidecar->nr_graph_nodes, 4);
	CHECK_EQ(sidecar->graph_nodes[0].origin, GPU_LOG_NODE_CLONED);
	CHECK_EQ(sidecar->graph_nodes[0].node, 2);
	CHECK_EQ(sidecar->graph_nodes[0].original, 1);
	CHECK_EQ(sidecar->graph_nodes[1].origin, GPU_LOG_NODE_CAPTURED);
	CHECK_EQ(sidecar->graph_nodes[1].correlation_id, 1ull << 33);
	CHECK_EQ(sidecar->graph_nodes[2].origin, GPU_LOG_NODE_UPDATED);
	CHECK_EQ(sidecar->graph_nodes[2].log, 0);
	CHECK_EQ(sidecar->graph_nodes[3].log, 1);
	sidecar__close(sidecar);
}

TEST(nvtx_and_ranks_are_read)
{
	struct log_build build = {.session = SESSION, .log_id = LOG_A};
	struct gpu_log_nvtx nvtx = {
		.operation = GPU_LOG_NVTX_START,
		.time_ns = 1000,
		.range = 5,
		.tid = 77,
		.domain = 1,
		.name = 2,
	};
	const struct gpu_log_rank rank = {
		.rank = 3, .local_rank = UINT32_MAX, .nr_ranks = 8, .source = 3};
	struct sidecar *sidecar;

	log_build__process(&build, 1, "a");
	log_build__string(&build, "mine");
	log_build__string(&build, "step");
	log_build__string(&build, "RANK");
	LOG_BUILD_ADD(&build, GPU_LOG_RANK, rank);
	LOG_BUILD_ADD(&build, GPU_LOG_NVTX, nvtx);
	nvtx.domain = nvtx.name = 0;
	LOG_BUILD_ADD(&build, GPU_LOG_NVTX, nvtx);
	nvtx.name = 4; /* that nobody has defined: the log ends there */
	LOG_BUILD_ADD(&build, GPU_LOG_NVTX, nvtx);
	LOG_BUILD_ADD(&build, GPU_LOG_NVTX, nvtx);
	log_build__end_block(&build);
	build.log_id = LOG_B;
	build.nr_strings = 0;
	log_build__process(&build, 2, "b");
	log_build__end_block(&build);
	sidecar = read_whole(&build);

	CHECK(sidecar->logs[0].has_rank);
	CHECK_EQ(sidecar->logs[0].rank, 3);
	CHECK_EQ(sidecar->logs[0].local_rank, UINT32_MAX);
	CHECK_EQ(sidecar->logs[0].nr_ranks, 8);
	CHECK(!sidecar->logs[1].has_rank);
	CHECK_EQ(sidecar->nr_nvtx, 2);
	CHECK_EQ(sidecar->nvtx[0].log, 0);
	CHECK_EQ(sidecar->nvtx[0].operation, GPU_LOG_NVTX_START);
	CHECK_EQ(sidecar->nvtx[0].time_ns, 1000);
	CHECK_EQ(sidecar->nvtx[0].range, 5);
	CHECK_EQ(sidecar->nvtx[0].tid, 77);
	CHECK_STR(sidecar->nvtx[0].domain, "mine");
	CHECK_STR(sidecar->nvtx[0].name, "step");
	CHECK_STR(sidecar->nvtx[1].domain, "");
	CHECK_STR(sidecar->nvtx[1].name, "");
	sidecar__close(sidecar);
}

/* Ids are a log's own, and its blocks may come between those of another. */
TEST(logs_may_interleave)
{
	struct log_build build = {.session = SESSION, .log_id = LOG_A};
	struct sidecar *sidecar;

	log_build__process(&build, 1, "a");
	log_build__shape(&build, 1, "ka");
	log_build__end_block(&build);

	build.log_id = LOG_B;
	build.nr_strings = 0;
	log_build__process(&build, 2, "b");
	log_build__string(&build, "unused");
	log_build__shape(&build, 1, "kb");
	log_build__end_block(&build);

	build.log_id = LOG_A;
	log_build__kernel(&build, 1, 1, 10, 20);
	log_build__end_block(&build);
	build.log_id = LOG_B;
	log_build__kernel(&build, 1, 1, 10, 20);
	log_build__end_block(&build);
	sidecar = read_whole(&build);

	CHECK_EQ(sidecar->nr_logs, 2);
	CHECK_EQ(sidecar->nr_activities, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct sidecar_activity *kernel = &sidecar->activities[i];

		CHECK_EQ(kernel->log, i);
		CHECK_EQ(sidecar->shapes[kernel->shape].log, i);
		CHECK_STR(sidecar->shapes[kernel->shape].name, i ? "kb" : "ka");
		CHECK(!sidecar->logs[i].is_cut);
	}
	sidecar__close(sidecar);
}

TEST(times_that_cannot_be_are_unknown)
{
	static const uint64_t times[][2] = {
		{0, 0}, {0, 10}, {10, 0}, {10, 9}, {UINT64_MAX, 1}};
	struct log_build build = small_log();
	struct sidecar *sidecar;

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		log_build__kernel(&build, 1, i, times[i][0], times[i][1]);
	log_build__kernel(&build, 1, 99, 10, 10);
	log_build__end_block(&build);
	sidecar = read_whole(&build);
	CHECK_EQ(sidecar->nr_activities, 7);
	for (size_t i = 1; i < 6; i++) {
		CHECK_EQ(sidecar->activities[i].start_ns, 0);
		CHECK_EQ(sidecar->activities[i].end_ns, 0);
	}
	CHECK_EQ(sidecar->activities[6].start_ns, 10);
	sidecar__close(sidecar);
}

TEST(an_id_is_defined_once)
{
	struct log_build build = {.session = SESSION, .log_id = LOG_A};
	struct sidecar *sidecar;

	log_build__process(&build, 1, "a");
	log_build__shape(&build, 1, "k");
	log_build__shape(&build, 1, "l");
	log_build__end_block(&build);
	sidecar = read_whole(&build);
	CHECK(sidecar->logs[0].is_cut);
	CHECK_EQ(sidecar->nr_shapes, 1);
	sidecar__close(sidecar);
}

TEST(what_a_later_writer_adds_is_skipped)
{
	struct {
		struct gpu_log_kernel kernel;
		uint64_t more;
	} longer = {
		.kernel = {.shape = 1, .correlation_id = 8, .start_ns = 1, .end_ns = 3}};
	struct gpu_log_loss loss = {.kind = 1234, .nr_records = UINT64_MAX};
	struct log_build build = small_log();
	uint64_t unknown[4] = {0};
	struct sidecar *sidecar;

	LOG_BUILD_ADD(&build, (enum gpu_log_type)500, unknown);
	LOG_BUILD_ADD(&build, GPU_LOG_KERNEL, longer);
	LOG_BUILD_ADD(&build, GPU_LOG_LOSS, loss);
	LOG_BUILD_ADD(&build, GPU_LOG_LOSS, loss);
	log_build__end_block(&build);
	sidecar = read_whole(&build);
	CHECK_EQ(sidecar->nr_activities, 2);
	CHECK_EQ(sidecar->activities[1].correlation_id, 8);
	CHECK_EQ(sidecar->logs[0].nr_lost[0], UINT64_MAX);
	CHECK(!sidecar->logs[0].is_cut);
	sidecar__close(sidecar);
}

TEST(tables_grow)
{
	enum { NR_BLOCKS = 100, NR_KERNELS = 1000 };
	struct log_build build = small_log();
	struct sidecar *sidecar;

	for (uint32_t i = 0; i < NR_BLOCKS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "kernel%u", i + 2);
		log_build__shape(&build, i + 2, name);
		for (uint64_t k = 0; k < NR_KERNELS; k++)
			log_build__kernel(&build, i + 2, k, k + 1, k + 2);
		log_build__end_block(&build);
	}
	sidecar = read_whole(&build);
	CHECK_EQ(sidecar->nr_activities, NR_BLOCKS * NR_KERNELS + 1);
	CHECK_EQ(sidecar->nr_shapes, NR_BLOCKS + 1);
	for (size_t i = 1; i < sidecar->nr_activities; i++) {
		CHECK_EQ(sidecar->activities[i].shape, 1 + (i - 1) / NR_KERNELS);
		CHECK_EQ(sidecar->activities[i].correlation_id, (i - 1) % NR_KERNELS);
	}
	CHECK_STR(sidecar->shapes[NR_BLOCKS].name, "kernel101");
	sidecar__close(sidecar);
}

TEST(python_functions_are_found_by_log_and_id)
{
	struct gpu_log_python_code code = {.code = 1, .first_line = 7};
	struct log_build build = small_log();
	const struct sidecar_python *python;
	struct sidecar *sidecar;

	code.name = log_build__string(&build, "A.f");
	code.file = log_build__string(&build, "/a.py");
	LOG_BUILD_ADD(&build, GPU_LOG_PYTHON_CODE, code);
	code = (struct gpu_log_python_code){.code = 2};
	LOG_BUILD_ADD(&build, GPU_LOG_PYTHON_CODE, code);
	log_build__end_block(&build);
	sidecar = read_whole(&build);
	python = sidecar__python(sidecar, 0, 1);
	CHECK(python);
	CHECK_STR(python->name, "py::A.f:/a.py");
	CHECK_STR(python->file, "/a.py");
	CHECK_EQ(python->first_line, 7);
	CHECK_STR(sidecar__python(sidecar, 0, 2)->name, "py:::");
	CHECK(!sidecar__python(sidecar, 0, 3));
	CHECK(!sidecar__python(sidecar, 1, 1));
	sidecar__close(sidecar);
}
