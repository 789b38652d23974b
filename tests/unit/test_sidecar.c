// SPDX-License-Identifier: GPL-2.0-or-later
/* What is read of GPU logs: whole, damaged, cut, and against the format. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "gpu_log_build.h"
#include "sidecar/sidecar.h"
#include "unit.h"
#include "util/log.h"

enum { SESSION = 77, LOG_A = 100, LOG_B = 50 };

/* What sidecar__open() makes of the bytes, which are released. */
static int read_build(struct log_build *build, struct sidecar **ret)
{
	int fd = memfd_create("log", MFD_CLOEXEC), err;
	char path[64];

	CHECK(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK_EQ(log_build__save(build, path), 0);
	log_verbosity = -1;
	err = sidecar__open(path, ret);
	close(fd);
	log_build__release(build);
	return err;
}

static struct sidecar *read_whole(struct log_build *build)
{
	struct sidecar *sidecar = NULL;

	CHECK_EQ(read_build(build, &sidecar), 0);
	CHECK(sidecar != NULL);
	return sidecar;
}

static void expect_error(struct log_build *build, int err)
{
	struct sidecar *sidecar = NULL;

	CHECK_EQ(read_build(build, &sidecar), err);
	CHECK(sidecar == NULL);
}

/* One log with a block of a process, one of a kernel */
static struct log_build small_log(void)
{
	struct log_build build = {.session = SESSION, .log_id = LOG_A};

	log_build__process(&build, 4711, "app");
	log_build__shape(&build, 1, "k1");
	log_build__end_block(&build);
	log_build__kernel(&build, 1, 9, 5000, 6000);
	log_build__end_block(&build);
	return build;
}

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

	CHECK_EQ(sidecar->nr_kernels, 1);
	CHECK_EQ(sidecar->kernels[0].correlation_id, 1ull << 33);
	CHECK_EQ(sidecar->kernels[0].start_ns, 1000);
	CHECK_EQ(sidecar->kernels[0].end_ns, 3000);
	CHECK_EQ(sidecar->kernels[0].shape, 0);
	CHECK_EQ(sidecar->kernels[0].log, 0);

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
	CHECK_EQ(sidecar->nr_kernels, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct sidecar_kernel *kernel = &sidecar->kernels[i];

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
	CHECK_EQ(sidecar->nr_kernels, 7);
	for (size_t i = 1; i < 6; i++) {
		CHECK_EQ(sidecar->kernels[i].start_ns, 0);
		CHECK_EQ(sidecar->kernels[i].end_ns, 0);
	}
	CHECK_EQ(sidecar->kernels[6].start_ns, 10);
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
	CHECK_EQ(sidecar->nr_kernels, 2);
	CHECK_EQ(sidecar->kernels[1].correlation_id, 8);
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
	CHECK_EQ(sidecar->nr_kernels, NR_BLOCKS * NR_KERNELS + 1);
	CHECK_EQ(sidecar->nr_shapes, NR_BLOCKS + 1);
	for (size_t i = 1; i < sidecar->nr_kernels; i++) {
		CHECK_EQ(sidecar->kernels[i].shape, 1 + (i - 1) / NR_KERNELS);
		CHECK_EQ(sidecar->kernels[i].correlation_id, (i - 1) % NR_KERNELS);
	}
	CHECK_STR(sidecar->shapes[NR_BLOCKS].name, "kernel101");
	sidecar__close(sidecar);
}

/* Damage */

TEST(half_a_block_cuts_its_log)
{
	struct log_build build = small_log();
	struct sidecar *sidecar;

	build.bytes -= 8;
	sidecar = read_whole(&build);
	CHECK_EQ(sidecar->nr_logs, 1);
	CHECK_EQ(sidecar->nr_kernels, 0);
	CHECK(sidecar->logs[0].is_cut);
	CHECK(!sidecar->logs[0].is_ended);
	sidecar__close(sidecar);
}

/* Every cut of the file is read, without more than was there. */
TEST(every_cut_is_read)
{
	struct log_build whole = small_log();
	size_t bytes = whole.bytes;

	log_build__release(&whole);
	for (size_t cut = 0; cut < bytes; cut++) {
		struct log_build build = small_log();
		struct sidecar *sidecar = NULL;
		size_t first_block = 32 + 48 + 16 + 72;
		int err;

		build.bytes = cut;
		err = read_build(&build, &sidecar);
		CHECK_EQ(err, cut < first_block ? -EINVAL : 0);
		if (!err)
			CHECK_EQ(sidecar->logs[0].is_cut, cut != first_block);
		sidecar__close(sidecar);
	}
}

TEST(blocks_behind_damage_are_found)
{
	struct log_build build = small_log();
	struct sidecar *sidecar;
	size_t damaged;

	damaged = build.bytes;
	log_build__kernel(&build, 1, 10, 7000, 8000);
	log_build__end_block(&build);
	build.log_id = LOG_B;
	build.nr_strings = 0;
	log_build__process(&build, 2, "b");
	log_build__shape(&build, 1, "k2");
	log_build__kernel(&build, 1, 3, 1, 2);
	log_build__end_block(&build);
	build.log_id = 300;
	log_build__process(&build, 3, "c");
	log_build__end_block(&build);
	build.data[damaged + 40] ^= 1;
	sidecar = read_whole(&build);

	CHECK_EQ(sidecar->nr_logs, 3);
	CHECK_EQ(sidecar->nr_kernels, 2);
	CHECK_EQ(sidecar->kernels[1].correlation_id, 3);
	CHECK(sidecar->logs[0].is_cut);
	CHECK(sidecar->logs[1].is_cut);
	CHECK(!sidecar->logs[2].is_cut);
	sidecar__close(sidecar);
}

/* A file of block headers: each claims to be a megabyte. */
TEST(search_behind_damage_takes_linear_time)
{
	enum { BYTES = 4 << 20 };
	struct gpu_log_block evil = {
		.magic = GPU_LOG_MAGIC,
		.payload_bytes = GPU_LOG_MAX_PAYLOAD,
		.version = GPU_LOG_VERSION,
		.session = SESSION,
	};
	struct log_build build = small_log();
	struct sidecar *sidecar;

	for (size_t i = 0; i < BYTES; i += sizeof(evil))
		memcpy(log_build__room(&build, sizeof(evil)), &evil, sizeof(evil));
	alarm(10);
	sidecar = read_whole(&build);
	CHECK_EQ(sidecar->nr_kernels, 1);
	CHECK(sidecar->logs[0].is_cut);
	sidecar__close(sidecar);
}

/* Against the format */

/* The log ends at the record that breaks it; a later block of its is ignored. */
static void expect_broken(struct log_build *build)
{
	struct sidecar *sidecar;

	log_build__kernel(build, 1, 11, 1, 2);
	log_build__end_block(build);
	log_build__kernel(build, 1, 12, 1, 2);
	log_build__end_block(build);
	build->log_id = LOG_B;
	build->nr_strings = 0;
	log_build__process(build, 2, "b");
	log_build__shape(build, 1, "other");
	log_build__kernel(build, 1, 13, 1, 2);
	log_build__end_block(build);
	sidecar = read_whole(build);

	CHECK_EQ(sidecar->nr_logs, 2);
	CHECK(sidecar->logs[0].is_cut);
	CHECK(!sidecar->logs[1].is_cut);
	CHECK_EQ(sidecar->nr_kernels, 2);
	CHECK_EQ(sidecar->kernels[0].correlation_id, 9);
	CHECK_EQ(sidecar->kernels[1].correlation_id, 13);
	sidecar__close(sidecar);
}

TEST(undefined_shape_ends_the_log)
{
	struct log_build build = small_log();

	log_build__kernel(&build, 2, 10, 1, 2);
	expect_broken(&build);

	build = small_log();
	log_build__kernel(&build, 0, 10, 1, 2);
	expect_broken(&build);
}

TEST(undefined_string_ends_the_log)
{
	struct gpu_log_shape shape = {.shape = 2, .name = 2};
	struct gpu_log_device device = {.name = 0xffffffff};
	struct gpu_log_api api = {.name = 2}, nameless = {.name = 0};
	struct log_build build;

	build = small_log();
	LOG_BUILD_ADD(&build, GPU_LOG_SHAPE, shape);
	expect_broken(&build);
	build = small_log();
	LOG_BUILD_ADD(&build, GPU_LOG_DEVICE, device);
	expect_broken(&build);
	build = small_log();
	LOG_BUILD_ADD(&build, GPU_LOG_API, api);
	expect_broken(&build);
	build = small_log();
	LOG_BUILD_ADD(&build, GPU_LOG_API, nameless);
	expect_broken(&build);
}

TEST(python_functions_are_found_by_log_and_id)
{
	struct gpu_log_python_code code = {.code = 1, .first_line = 7},
				   broken[] = {
					   {.code = 2},
					   {.code = 1, .name = 99},
					   {.code = 1, .file = 99},
					   {.code = 0},
				   };
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

	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		build = small_log();
		LOG_BUILD_ADD(&build, GPU_LOG_PYTHON_CODE, broken[i]);
		expect_broken(&build);
	}
}

TEST(id_out_of_order_ends_the_log)
{
	struct gpu_log_shape shape = {.shape = 3}, none = {.shape = 0};
	struct log_build build;

	build = small_log();
	LOG_BUILD_ADD(&build, GPU_LOG_SHAPE, shape);
	expect_broken(&build);
	build = small_log();
	LOG_BUILD_ADD(&build, GPU_LOG_SHAPE, none);
	expect_broken(&build);
	build = small_log();
	build.nr_strings = 2;
	log_build__string(&build, "id 3");
	expect_broken(&build);
	build = small_log();
	build.nr_strings = UINT32_MAX;
	log_build__string(&build, "id 0");
	expect_broken(&build);
}

TEST(unterminated_text_ends_the_log)
{
	struct gpu_log_string string = {.id = 2, .nr_bytes = 4};
	struct gpu_log_message message = {.nr_bytes = UINT32_MAX};
	struct log_build build;

	/* The text ends in the record, but not with a NUL, or not there. */
	build = small_log();
	log_build__add(&build, GPU_LOG_STRING, &string, 12, "abcdef");
	expect_broken(&build);
	build = small_log();
	log_build__add(&build, GPU_LOG_STRING, &string, 12, "abc");
	expect_broken(&build);
	build = small_log();
	log_build__add(&build, GPU_LOG_MESSAGE, &message, 12, "abc");
	expect_broken(&build);
}

TEST(impossible_sizes_end_the_log)
{
	static const uint16_t sizes[] = {0, 1, 4, 7, 12, 24, 31, 65528};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct log_build build = small_log();
		struct gpu_log_record record = {.type = GPU_LOG_KERNEL, .size = sizes[i]};
		unsigned char *place;

		log_build__kernel(&build, 1, 10, 1, 2);
		place = build.data + build.bytes - sizeof(struct gpu_log_kernel);
		memcpy(place, &record, sizeof(record));
		expect_broken(&build);
	}
}

TEST(log_begins_with_its_process)
{
	struct log_build build = {.session = SESSION, .log_id = LOG_A};
	struct sidecar *sidecar;

	log_build__shape(&build, 1, "k");
	log_build__kernel(&build, 1, 1, 2, 3);
	log_build__end_block(&build);
	sidecar = read_whole(&build);
	CHECK_EQ(sidecar->nr_logs, 1);
	CHECK(sidecar->logs[0].is_cut);
	CHECK_EQ(sidecar->nr_kernels, 0);
	CHECK_STR(sidecar->logs[0].comm, "");
	sidecar__close(sidecar);
}

/* Refused */

TEST(nothing_whole_is_refused)
{
	struct log_build build = {.session = SESSION, .log_id = LOG_A};

	expect_error(&build, -EINVAL);

	build.bytes = 0;
	memset(log_build__room(&build, 4096), 'x', 4096);
	memset(build.data, 'x', 4096);
	expect_error(&build, -EINVAL);

	/* session 0 is nobody's */
	build = (struct log_build){.log_id = LOG_A};
	log_build__process(&build, 1, "a");
	log_build__end_block(&build);
	expect_error(&build, -EINVAL);
}

TEST(later_version_is_refused)
{
	struct log_build build = {.session = SESSION, .log_id = LOG_A};

	log_build__process(&build, 1, "a");
	log_build__end_block_of(&build, GPU_LOG_VERSION + 1);
	expect_error(&build, -ENOTSUP);
}

TEST(two_recordings_in_one_file_are_refused)
{
	struct log_build build = small_log();

	build.session = SESSION + 1;
	log_build__process(&build, 1, "a");
	log_build__end_block(&build);
	expect_error(&build, -EXDEV);
}

TEST(what_is_no_file_is_refused)
{
	struct sidecar *sidecar = NULL;
	char fifo[] = "/tmp/test_sidecar.XXXXXX";

	log_verbosity = -1;
	CHECK_EQ(sidecar__open("/no/such/file", &sidecar), -ENOENT);
	CHECK_EQ(sidecar__open("/", &sidecar), -EINVAL);
	CHECK_EQ(sidecar__open("/dev/null", &sidecar), -EINVAL);
	CHECK(mkdtemp(fifo) != NULL);
	CHECK_EQ(rmdir(fifo), 0);
	CHECK_EQ(mkfifo(fifo, 0600), 0);
	alarm(10);
	CHECK_EQ(sidecar__open(fifo, &sidecar), -EINVAL);
	unlink(fifo);
	CHECK(sidecar == NULL);
}
