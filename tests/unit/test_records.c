// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What becomes of CUPTI's records (cupti_inject/records.c), in each struct that they have
 * been since CUDA 11.0 (record_layout.c).
 */
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>

#include "../../cupti_inject/cupti_gaps.h"
#include "../../cupti_inject/log.h"
#include "../../cupti_inject/record_layout.h"
#include "../../cupti_inject/records.h"
#include "../../cupti_inject/stray.h"

#define GRAPH 0x11223344u
#define NODE  0x5566778899aabbccull

static char spool[] = "/tmp/test-records.XXXXXX";
static struct log *log_file;
static unsigned char content[1 << 16]; /* of the file: one block, or two */
static size_t nr_bytes;

static void open_log(void)
{
	CHECK(mkdtemp(spool));
	CHECK_EQ(log__open(spool, 1, false, &log_file), 0);
}

static void read_log(void)
{
	DIR *dir = opendir(spool);
	char path[PATH_MAX];
	struct dirent *entry;
	ssize_t got;
	int fd;

	CHECK(dir);
	log__flush(log_file);
	while ((entry = readdir(dir)) && entry->d_name[0] == '.')
		;
	CHECK(entry);
	snprintf(path, sizeof(path), "%s/%s", spool, entry->d_name);
	fd = open(path, O_RDONLY);
	got = read(fd, content, sizeof(content));
	CHECK(got > 0);
	nr_bytes = (size_t)got;
	close(fd);
	closedir(dir);
	unlink(path);
	rmdir(spool);
}

/* The record behind another, or the first behind NULL; NULL behind the last */
static const struct gpu_log_record *next_record(const struct gpu_log_record *record)
{
	static size_t end; /* of the block that the record is in */
	size_t at = 0;

	if (record)
		at = (size_t)((const unsigned char *)record - content) + record->size;
	else
		end = 0;
	while (at == end && at < nr_bytes) {
		const struct gpu_log_block *block = (const void *)(content + at);

		at += sizeof(*block);
		end = at + block->payload_bytes;
	}
	return at < nr_bytes ? (const void *)(content + at) : NULL;
}

/* The last record of a type */
static const void *find_record(enum gpu_log_type type)
{
	const struct gpu_log_record *record = NULL;
	const void *found = NULL;

	while ((record = next_record(record)))
		if (record->type == type)
			found = record;
	CHECK(found);
	return found;
}

static void take(const void *record, uint32_t version)
{
	struct stray_run run = {};

	records__take(log_file, record, version, &run);
}

/* A version of CUPTI that has a struct, checked to be the one of a kind */
#define VERSION_OF(activity_kind, type) version_of(activity_kind, #type, sizeof(type))

static uint32_t version_of(CUpti_ActivityKind kind, const char *name, size_t bytes)
{
	const struct record_layout *layout;

	for (size_t i = 0; (layout = record_layout__get(i)); i++)
		if (layout->kind == kind && !strcmp(layout->name, name))
			break;
	CHECK(layout);
	CHECK_EQ(layout->bytes, bytes);
	CHECK(record_layout__find(kind, layout->since) == layout);
	return layout->since;
}

/* What follows a record in a buffer is another: nothing of it may be read. */
#define NEW_RECORD(type, record)               \
	struct {                               \
		type body;                     \
		unsigned char behind[256];     \
	} record;                              \
	memset(&record, 0xee, sizeof(record)); \
	memset(&record.body, 0, sizeof(record.body))

#define TEST_KERNEL(type, known_graph)                                                   \
	TEST(type)                                                                       \
	{                                                                                \
		const struct gpu_log_kernel *kernel;                                     \
		const struct gpu_log_shape *shape;                                       \
		NEW_RECORD(type, record);                                                \
                                                                                         \
		record.body.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;                \
		record.body.name = "_Z3sumPf";                                           \
		record.body.start = 1000;                                                \
		record.body.end = 2500;                                                  \
		record.body.deviceId = 3;                                                \
		record.body.contextId = 4;                                               \
		record.body.streamId = 5;                                                \
		record.body.gridX = 6;                                                   \
		record.body.gridY = 7;                                                   \
		record.body.gridZ = 8;                                                   \
		record.body.blockX = 9;                                                  \
		record.body.blockY = 10;                                                 \
		record.body.blockZ = 11;                                                 \
		record.body.registersPerThread = 12;                                     \
		record.body.staticSharedMemory = 13;                                     \
		record.body.dynamicSharedMemory = 14;                                    \
		record.body.correlationId = 15;                                          \
		record.body.graphNodeId = NODE;                                          \
		record.body.graphId = GRAPH;                                             \
		open_log();                                                              \
		take(&record, VERSION_OF(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, type));  \
		read_log();                                                              \
		shape = find_record(GPU_LOG_SHAPE);                                      \
		kernel = find_record(GPU_LOG_KERNEL);                                    \
		CHECK_STR(((const struct gpu_log_string *)find_record(GPU_LOG_STRING))   \
				  ->text,                                                \
			  "_Z3sumPf");                                                   \
		CHECK_EQ(kernel->start_ns, 1000);                                        \
		CHECK_EQ(kernel->end_ns, 2500);                                          \
		CHECK_EQ(kernel->correlation_id, 15);                                    \
		CHECK_EQ(shape->device, 3);                                              \
		CHECK_EQ(shape->context, 4);                                             \
		CHECK_EQ(shape->stream, 5);                                              \
		CHECK_EQ(shape->grid[0] * 10000 + shape->grid[1] * 100 + shape->grid[2], \
			 60708);                                                         \
		CHECK_EQ(shape->block[0] * 10000 + shape->block[1] * 100 +               \
				 shape->block[2],                                        \
			 91011);                                                         \
		CHECK_EQ(shape->registers_per_thread, 12);                               \
		CHECK_EQ(shape->static_shared_bytes, 13);                                \
		CHECK_EQ(shape->dynamic_shared_bytes, 14);                               \
		CHECK_EQ(shape->graph_node, NODE);                                       \
		CHECK_EQ(shape->graph, known_graph);                                     \
	}
TEST_KERNEL(CUpti_ActivityKernel5, NODE >> 32)
TEST_KERNEL(CUpti_ActivityKernel6, GRAPH)
TEST_KERNEL(CUpti_ActivityKernel7, GRAPH)
TEST_KERNEL(CUpti_ActivityKernel8, GRAPH)
TEST_KERNEL(CUpti_ActivityKernel9, GRAPH)
TEST_KERNEL(CUpti_ActivityKernel10, GRAPH)

/* CUDA 11.1 has the struct of 11.0, with the graph's id in what was padding. */
TEST(kernel5_of_cuda_11_1_has_a_graph)
{
	CUpti_ActivityKernel5 record = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
					.graphNodeId = NODE,
					.graphId = GRAPH};

	CHECK_EQ(record_layout__graph((const void *)&record, CUPTI_OF_CUDA_11_1), GRAPH);
}

/* Of what doesn't run on the GPU, a member more or less */
static const struct gpu_log_operation *operation;
static const struct gpu_log_activity *activity;

static void take_activity(const void *record, uint32_t version)
{
	open_log();
	take(record, version);
	read_log();
	operation = find_record(GPU_LOG_OPERATION);
	activity = find_record(GPU_LOG_ACTIVITY);
	CHECK_EQ(activity->operation, operation->operation);
}

#define FILL_WORK(record, activity_kind)  \
	record.body.kind = activity_kind; \
	record.body.bytes = 1ull << 40;   \
	record.body.start = 1000;         \
	record.body.end = 2500;           \
	record.body.deviceId = 3;         \
	record.body.contextId = 4;        \
	record.body.streamId = 5;         \
	record.body.correlationId = 15;   \
	record.body.graphNodeId = NODE;   \
	record.body.flags = 1 /* asynchronous */

static void check_work(enum gpu_log_kind kind, uint32_t graph)
{
	CHECK_EQ(activity->start_ns, 1000);
	CHECK_EQ(activity->end_ns, 2500);
	CHECK_EQ(activity->bytes, 1ull << 40);
	CHECK_EQ(activity->correlation_id, 15);
	CHECK_EQ(operation->kind, kind);
	CHECK_EQ(operation->is_async, 1);
	CHECK_EQ(operation->device, 3);
	CHECK_EQ(operation->context, 4);
	CHECK_EQ(operation->stream, 5);
	CHECK_EQ(operation->name, 0);
	CHECK_EQ(operation->graph_node, NODE);
	CHECK_EQ(operation->graph, graph);
}

#define SET_GRAPH(record) record.body.graphId = GRAPH
#define NO_GRAPH(record)

#define TEST_MEMCPY(type, set_graph, known_graph)                                     \
	TEST(type)                                                                    \
	{                                                                             \
		NEW_RECORD(type, record);                                             \
                                                                                      \
		FILL_WORK(record, CUPTI_ACTIVITY_KIND_MEMCPY);                        \
		record.body.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;               \
		record.body.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;              \
		record.body.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC;      \
		set_graph(record);                                                    \
		take_activity(&record, VERSION_OF(CUPTI_ACTIVITY_KIND_MEMCPY, type)); \
		check_work(GPU_LOG_KIND_MEMCPY, known_graph);                         \
		CHECK_EQ(operation->what, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);           \
		CHECK_EQ(operation->src_kind, GPU_LOG_MEMORY_PINNED);                 \
		CHECK_EQ(operation->dst_kind, GPU_LOG_MEMORY_MANAGED_STATIC);         \
		CHECK_EQ(operation->src_device, GPU_LOG_NO_DEVICE);                   \
		CHECK_EQ(operation->dst_device, GPU_LOG_NO_DEVICE);                   \
	}
TEST_MEMCPY(CUpti_ActivityMemcpy3, NO_GRAPH, NODE >> 32)
TEST_MEMCPY(CUpti_ActivityMemcpy4, SET_GRAPH, GRAPH)
TEST_MEMCPY(CUpti_ActivityMemcpy5, SET_GRAPH, GRAPH)
TEST_MEMCPY(CUpti_ActivityMemcpy6, SET_GRAPH, GRAPH)

#define TEST_PEER_MEMCPY(type, set_graph, known_graph)                                 \
	TEST(type)                                                                     \
	{                                                                              \
		NEW_RECORD(type, record);                                              \
                                                                                       \
		FILL_WORK(record, CUPTI_ACTIVITY_KIND_MEMCPY2);                        \
		record.body.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;                \
		record.body.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;               \
		record.body.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_ARRAY;                \
		record.body.srcDeviceId = 6;                                           \
		record.body.dstDeviceId = 7;                                           \
		set_graph(record);                                                     \
		take_activity(&record, VERSION_OF(CUPTI_ACTIVITY_KIND_MEMCPY2, type)); \
		check_work(GPU_LOG_KIND_MEMCPY, known_graph);                          \
		CHECK_EQ(operation->what, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);            \
		CHECK_EQ(operation->src_kind, GPU_LOG_MEMORY_DEVICE);                  \
		CHECK_EQ(operation->dst_kind, GPU_LOG_MEMORY_ARRAY);                   \
		CHECK_EQ(operation->src_device, 6);                                    \
		CHECK_EQ(operation->dst_device, 7);                                    \
	}
TEST_PEER_MEMCPY(CUpti_ActivityMemcpyPtoP2, NO_GRAPH, NODE >> 32)
TEST_PEER_MEMCPY(CUpti_ActivityMemcpyPtoP3, SET_GRAPH, GRAPH)
TEST_PEER_MEMCPY(CUpti_ActivityMemcpyPtoP4, SET_GRAPH, GRAPH)

#define TEST_MEMSET(type, set_graph, known_graph)                                     \
	TEST(type)                                                                    \
	{                                                                             \
		NEW_RECORD(type, record);                                             \
                                                                                      \
		FILL_WORK(record, CUPTI_ACTIVITY_KIND_MEMSET);                        \
		record.body.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;           \
		set_graph(record);                                                    \
		take_activity(&record, VERSION_OF(CUPTI_ACTIVITY_KIND_MEMSET, type)); \
		check_work(GPU_LOG_KIND_MEMSET, known_graph);                         \
		CHECK_EQ(operation->what, 0);                                         \
		CHECK_EQ(operation->dst_kind, GPU_LOG_MEMORY_DEVICE);                 \
	}
TEST_MEMSET(CUpti_ActivityMemset2, NO_GRAPH, NODE >> 32)
TEST_MEMSET(CUpti_ActivityMemset3, SET_GRAPH, GRAPH)
TEST_MEMSET(CUpti_ActivityMemset4, SET_GRAPH, GRAPH)

#define TEST_SYNC(activity_type)                                                       \
	TEST(activity_type)                                                            \
	{                                                                              \
		NEW_RECORD(activity_type, record);                                     \
                                                                                       \
		record.body.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;                \
		record.body.type =                                                     \
			CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;        \
		record.body.start = 1000;                                              \
		record.body.end = 2500;                                                \
		record.body.correlationId = 15;                                        \
		record.body.contextId = 4;                                             \
		record.body.streamId = 5;                                              \
		take_activity(&record, VERSION_OF(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, \
						  activity_type));                     \
		CHECK_EQ(operation->kind, GPU_LOG_KIND_SYNC);                          \
		CHECK_EQ(operation->what, GPU_LOG_SYNC_STREAM);                        \
		CHECK_EQ(operation->device, GPU_LOG_NO_DEVICE);                        \
		CHECK_EQ(operation->context, 4);                                       \
		CHECK_EQ(operation->stream, 5);                                        \
		CHECK_EQ(operation->graph, 0);                                         \
		CHECK_EQ(activity->correlation_id, 15);                                \
		CHECK_EQ(activity->start_ns, 1000);                                    \
		CHECK_EQ(activity->end_ns, 2500);                                      \
		CHECK_EQ(activity->bytes, 0);                                          \
	}
TEST_SYNC(CUpti_ActivitySynchronization)
TEST_SYNC(CUpti_ActivitySynchronization2)

#define TEST_MEMORY(type)                                                              \
	TEST(type)                                                                     \
	{                                                                              \
		const struct gpu_log_memory *memory;                                   \
		NEW_RECORD(type, record);                                              \
                                                                                       \
		record.body.kind = CUPTI_ACTIVITY_KIND_MEMORY2;                        \
		record.body.memoryOperationType =                                      \
			CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;                  \
		record.body.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC;     \
		record.body.correlationId = 15;                                        \
		record.body.address = 0x7f0000000000;                                  \
		record.body.bytes = 1ull << 40;                                        \
		record.body.timestamp = 1000;                                          \
		record.body.deviceId = 3;                                              \
		record.body.contextId = 4;                                             \
		record.body.streamId = 5;                                              \
		record.body.name = "table";                                            \
		record.body.isAsync = 1;                                               \
		open_log();                                                            \
		take(&record, VERSION_OF(CUPTI_ACTIVITY_KIND_MEMORY2, type));          \
		read_log();                                                            \
		operation = find_record(GPU_LOG_OPERATION);                            \
		memory = find_record(GPU_LOG_MEMORY);                                  \
		CHECK_STR(((const struct gpu_log_string *)find_record(GPU_LOG_STRING)) \
				  ->text,                                              \
			  "table");                                                    \
		CHECK_EQ(operation->name, 1);                                          \
		CHECK_EQ(operation->kind, GPU_LOG_KIND_MEMORY);                        \
		CHECK_EQ(operation->what, GPU_LOG_FREED);                              \
		CHECK_EQ(operation->dst_kind, GPU_LOG_MEMORY_DEVICE_STATIC);           \
		CHECK_EQ(operation->device, 3);                                        \
		CHECK_EQ(operation->context, 4);                                       \
		CHECK_EQ(operation->stream, 5);                                        \
		CHECK_EQ(operation->is_async, 1);                                      \
		CHECK_EQ(memory->operation, operation->operation);                     \
		CHECK_EQ(memory->correlation_id, 15);                                  \
		CHECK_EQ(memory->time_ns, 1000);                                       \
		CHECK_EQ(memory->bytes, 1ull << 40);                                   \
		CHECK_EQ(memory->address, 0x7f0000000000);                             \
	}
TEST_MEMORY(CUpti_ActivityMemory2)
TEST_MEMORY(CUpti_ActivityMemory3)
TEST_MEMORY(CUpti_ActivityMemory4)

#define TEST_FAULT(type)                                                                \
	TEST(type)                                                                      \
	{                                                                               \
		NEW_RECORD(type, record);                                               \
                                                                                        \
		record.body.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;          \
		record.body.counterKind =                                               \
			CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD; \
		record.body.value = 65536;                                              \
		record.body.start = 1000;                                               \
		record.body.end = 2500;                                                 \
		record.body.srcId = 77;                                                 \
		record.body.dstId = 3;                                                  \
		take_activity(&record,                                                  \
			      VERSION_OF(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,    \
					 type));                                        \
		CHECK_EQ(operation->kind, GPU_LOG_KIND_FAULT);                          \
		CHECK_EQ(operation->what, GPU_LOG_FAULT_HTOD);                          \
		CHECK_EQ(operation->device, 3);                                         \
		CHECK_EQ(operation->src_device, GPU_LOG_NO_DEVICE);                     \
		CHECK_EQ(operation->dst_device, 3);                                     \
		CHECK_EQ(activity->correlation_id, 0);                                  \
		CHECK_EQ(activity->start_ns, 1000);                                     \
		CHECK_EQ(activity->end_ns, 2500);                                       \
		CHECK_EQ(activity->bytes, 65536);                                       \
	}
TEST_FAULT(CUpti_ActivityUnifiedMemoryCounter2)
TEST_FAULT(CUpti_ActivityUnifiedMemoryCounter3)

#define TEST_CONTEXT(type)                                                    \
	TEST(type)                                                            \
	{                                                                     \
		const struct gpu_log_context *context;                        \
		NEW_RECORD(type, record);                                     \
                                                                              \
		record.body.kind = CUPTI_ACTIVITY_KIND_CONTEXT;               \
		record.body.contextId = 4;                                    \
		record.body.deviceId = 3;                                     \
		record.body.nullStreamId = 7;                                 \
		open_log();                                                   \
		take(&record, VERSION_OF(CUPTI_ACTIVITY_KIND_CONTEXT, type)); \
		read_log();                                                   \
		context = find_record(GPU_LOG_CONTEXT);                       \
		CHECK_EQ(context->context, 4);                                \
		CHECK_EQ(context->device, 3);                                 \
		CHECK_EQ(context->null_stream, 7);                            \
	}
TEST_CONTEXT(CUpti_ActivityContext)
TEST_CONTEXT(CUpti_ActivityContext2)
TEST_CONTEXT(CUpti_ActivityContext3)

static const struct {
	CUpti_ActivityUnifiedMemoryCounterKind kind;
	uint32_t device, src_device, dst_device;
	uint64_t end_ns, bytes;
} faults[] = {
	{CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH, 1, 1,
	 GPU_LOG_NO_DEVICE, 2500, 4096},
	{CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD, 1, 1, 2, 2500,
	 4096},
	/* Its value is where the program was. */
	{CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT,
	 GPU_LOG_NO_DEVICE, GPU_LOG_NO_DEVICE, GPU_LOG_NO_DEVICE, 1000, 1},
	{CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, 1, GPU_LOG_NO_DEVICE,
	 GPU_LOG_NO_DEVICE, 2500, 4096},
	{CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING, GPU_LOG_NO_DEVICE,
	 GPU_LOG_NO_DEVICE, GPU_LOG_NO_DEVICE, 1000, 1},
	{CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING, 1, GPU_LOG_NO_DEVICE,
	 GPU_LOG_NO_DEVICE, 2500, 1},
	{CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP, 1, 1, 2, 1000, 1},
};

TEST(faults_have_the_devices_that_are_valid)
{
	const struct gpu_log_record *at = NULL;
	size_t nr = 0;

	open_log();
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		CUpti_ActivityUnifiedMemoryCounter2 record = {
			.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
			.counterKind = faults[i].kind,
			.value = 4096,
			.start = 1000,
			.end = 2500,
			.srcId = 1,
			.dstId = 2,
		};

		take(&record, CUPTI_NEWEST_KNOWN);
	}
	read_log();
	while ((at = next_record(at))) {
		if (at->type == GPU_LOG_OPERATION)
			operation = (const void *)at;
		if (at->type != GPU_LOG_ACTIVITY)
			continue;
		activity = (const void *)at;
		CHECK_EQ(operation->what, faults[nr].kind);
		CHECK_EQ(operation->device, faults[nr].device);
		CHECK_EQ(operation->src_device, faults[nr].src_device);
		CHECK_EQ(operation->dst_device, faults[nr].dst_device);
		CHECK_EQ(activity->end_ns, faults[nr].end_ns);
		CHECK_EQ(activity->bytes, faults[nr].bytes);
		nr++;
	}
	CHECK_EQ(nr, sizeof(faults) / sizeof(*faults));
}

TEST(each_version_has_the_struct_of_its_release_notes)
{
	static const struct {
		CUpti_ActivityKind kind;
		uint32_t version;
		const char *name; /* NULL: there is none */
	} known[] = {
		{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 12, NULL},
		{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 13, "CUpti_ActivityKernel5"},
		{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 14, "CUpti_ActivityKernel5"},
		{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 16, "CUpti_ActivityKernel6"},
		{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 17, "CUpti_ActivityKernel7"},
		{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 28, "CUpti_ActivityKernel9"},
		{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 130001, "CUpti_ActivityKernel10"},
		{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 150000, "CUpti_ActivityKernel10"},
		{CUPTI_ACTIVITY_KIND_MEMCPY, 13, "CUpti_ActivityMemcpy3"},
		{CUPTI_ACTIVITY_KIND_MEMCPY, 24, "CUpti_ActivityMemcpy5"},
		{CUPTI_ACTIVITY_KIND_MEMCPY, 26, "CUpti_ActivityMemcpy6"},
		{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 24,
		 "CUpti_ActivitySynchronization"},
		{CUPTI_ACTIVITY_KIND_MEMORY2, 14, NULL},
		{CUPTI_ACTIVITY_KIND_MEMORY2, 15, "CUpti_ActivityMemory2"},
		{CUPTI_ACTIVITY_KIND_MEMORY2, 24, "CUpti_ActivityMemory4"},
		{CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 130001, NULL},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const struct record_layout *layout =
			record_layout__find(known[i].kind, known[i].version);

		CHECK_STR(layout ? layout->name : "", known[i].name ? known[i].name : "");
	}
}

static bool is_taken(const void *record, uint32_t version)
{
	struct stray_run run = {};

	return records__take(log_file, record, version, &run);
}

#define NR_STRANGE 9

TEST(records_of_an_unknown_version_must_make_sense)
{
	const CUpti_ActivityKernel10 kernel = {
		.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		.name = "kernel",
		.start = 1000,
		.end = 2500,
		.gridX = 1,
		.gridY = 65535,
		.gridZ = 1,
		.blockX = 1024,
		.blockY = 1,
		.blockZ = 1,
	};
	const CUpti_ActivityMemcpy6 copy = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
					    .copyKind = 11,
					    .start = 1000,
					    .end = 2500};
	const CUpti_ActivityMemory4 memory = {.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
					      .timestamp = 1000};
	CUpti_ActivityKernel10 kernels[5] = {kernel, kernel, kernel, kernel, kernel};
	CUpti_ActivityMemcpy6 copies[2] = {copy, copy};
	CUpti_ActivityMemory4 memories[2] = {memory, memory};
	uint32_t version = CUPTI_NEWEST_KNOWN + 1;

	kernels[0].name = (const char *)16;
	kernels[1].name = (const char *)0xa5a5a5a5a5a5a5a5;
	kernels[2].start = 0xa5a5a5a5a5a5a5a5;
	kernels[3].blockY = 0;
	kernels[4].deviceId = 0xa5a5a5a5;
	copies[0].copyKind = 0xa5;
	copies[1].end = 1ull << 62;
	memories[0].memoryKind = (CUpti_ActivityMemoryKind)-1;
	memories[1].name = (const char *)1;

	open_log();
	CHECK(is_taken(&kernel, version));
	CHECK(is_taken(&copy, version));
	CHECK(is_taken(&memory, version));
	for (size_t i = 0; i < 5; i++)
		CHECK(!is_taken(&kernels[i], version));
	for (size_t i = 0; i < 2; i++) {
		CHECK(!is_taken(&copies[i], version));
		CHECK(!is_taken(&memories[i], version));
	}
	read_log();
	CHECK_EQ(((const struct gpu_log_loss *)find_record(GPU_LOG_LOSS))->nr_records,
		 NR_STRANGE);
}

TEST(those_of_a_known_version_are_taken_as_they_are)
{
	const CUpti_ActivityKernel10 kernel = {
		.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, .name = "kernel"};

	open_log();
	CHECK(is_taken(&kernel, CUPTI_NEWEST_KNOWN));
	CHECK(!is_taken(&kernel, CUPTI_NEWEST_KNOWN + 1));
	read_log();
}

/* What is new stands behind what there was. */
TEST(structs_only_grow)
{
	const struct record_layout *layout, *last = NULL;

	for (size_t i = 0; (layout = record_layout__get(i)); last = layout, i++)
		if (last && last->kind == layout->kind) {
			CHECK(layout->since > last->since);
			CHECK(layout->bytes >= last->bytes);
		}
}

static size_t count_gaps(uint32_t version)
{
	size_t nr = 0;

	while (cupti_gaps__get(version, nr))
		nr++;
	return nr;
}

TEST(what_a_version_lacks_is_said)
{
	CHECK(strstr(cupti_gaps__get(13, 0), "graphs"));
	CHECK(strstr(cupti_gaps__get(14, 0), "gpu-alloc"));
	CHECK(strstr(cupti_gaps__get(16, 0), "CLOCK_REALTIME"));
	CHECK(strstr(cupti_gaps__get(22, 0), "--probe api"));
	CHECK(strstr(cupti_gaps__get(28, 0), "cudaGraphExecUpdate"));
	CHECK(strstr(cupti_gaps__get(130000, 0), "cudaDeviceSynchronize"));
	CHECK_EQ(count_gaps(CUPTI_NEWEST_KNOWN), 0);
	CHECK(strstr(cupti_gaps__get(140000, 0), "newer"));
	CHECK_EQ(count_gaps(13), 6);
	CHECK_EQ(count_gaps(140000), 1);
}
