// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies, memsets and waits have their records. */
#include "events.h"

static const CUpti_ActivityMemcpy6 *check_copy(size_t n, int direction, int from, int to,
					       uint64_t bytes)
{
	const union profiler_event *found = event(CUPTI_ACTIVITY_KIND_MEMCPY, n);

	CHECK(found);
	CHECK_EQ(found->copy.copyKind, direction);
	CHECK_EQ(found->copy.srcKind, from);
	CHECK_EQ(found->copy.dstKind, to);
	CHECK_EQ(found->copy.bytes, bytes);
	CHECK(found->copy.start && found->copy.start < found->copy.end);
	return &found->copy;
}

#define COPIED(n_, direction_, from_, to_, bytes_)                                       \
	check_copy(n_, CUPTI_ACTIVITY_MEMCPY_KIND_##direction_,                          \
		   CUPTI_ACTIVITY_MEMORY_KIND_##from_, CUPTI_ACTIVITY_MEMORY_KIND_##to_, \
		   bytes_)

TEST(copies_have_their_direction_and_memory)
{
	static char pageable[MB], other[MB];
	char *pinned, *device, *second, *managed;
	const CUpti_ActivityMemcpy6 *copy;
	cudaStream_t stream;
	uint32_t stream_id;

	set_script("FAKE_CUDA_DURATIONS", "memcpy HtoD pinned 777\nmemcpy HtoH 33\n");
	profiler__start();
	profiler__enable(CUPTI_CB_DOMAIN_RUNTIME_API);
	CHECK_EQ(cudaMalloc((void **)&device, MB), 0);
	CHECK_EQ(cudaMalloc((void **)&second, MB), 0);
	CHECK_EQ(cudaMallocHost((void **)&pinned, MB), 0);
	CHECK_EQ(cudaMallocManaged((void **)&managed, MB, cudaMemAttachGlobal), 0);
	CHECK_EQ(cudaStreamCreate(&stream), 0);
	record(CUPTI_ACTIVITY_KIND_MEMCPY);

	memset(pageable, 7, MB);
	CHECK_EQ(cudaMemcpy(device, pageable, MB, cudaMemcpyHostToDevice), 0);
	CHECK_EQ(cudaMemcpyAsync(device, pinned, 99, cudaMemcpyHostToDevice, stream), 0);
	CHECK_EQ(cudaMemcpy(pinned, device, MB, cudaMemcpyDefault), 0);
	CHECK_EQ(cudaMemcpyAsync(second, device, MB, cudaMemcpyDeviceToDevice, stream),
		 0);
	CHECK_EQ(cudaMemcpy(other, pageable, 5, cudaMemcpyHostToHost), 0);
	CHECK_EQ(cudaMemcpy(managed, pageable, 6, cudaMemcpyDefault), 0);
	CHECK_EQ(cudaMemcpy(other, managed, 6, cudaMemcpyDeviceToHost), 0);
	CHECK_EQ(cudaHostRegister(other, MB, cudaHostRegisterDefault), 0);
	CHECK_EQ(cudaMemcpy(other, second, MB, cudaMemcpyDeviceToHost), 0);
	CHECK_EQ(cudaHostUnregister(other), 0);
	CHECK_EQ(cudaMemcpy(device, other, MB, cudaMemcpyHostToDevice), 0);
	finish();
	unset_script("FAKE_CUDA_DURATIONS");

	CHECK_EQ(nr_of(CUPTI_ACTIVITY_KIND_MEMCPY), 9);
	copy = COPIED(0, HTOD, PAGEABLE, DEVICE, MB);
	CHECK_EQ(copy->flags, 0);
	CHECK_EQ(copy->end - copy->start, 1500 + MB / 40);
	CHECK_EQ(copy->copyCount, 1);
	copy = COPIED(1, HTOD, PINNED, DEVICE, 99);
	CHECK_EQ(copy->flags, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
	CHECK_EQ(copy->end - copy->start, 777);
	CHECK_EQ(cuptiGetStreamIdEx(NULL, stream, 0, &stream_id), 0);
	CHECK_EQ(copy->streamId, stream_id);
	COPIED(2, DTOH, DEVICE, PINNED, MB);
	COPIED(3, DTOD, DEVICE, DEVICE, MB);
	copy = COPIED(4, HTOH, PAGEABLE, PAGEABLE, 5);
	CHECK_EQ(copy->end - copy->start, 33);
	COPIED(5, HTOD, PAGEABLE, MANAGED, 6);
	COPIED(6, DTOH, MANAGED, PAGEABLE, 6);
	COPIED(7, DTOH, DEVICE, PINNED, MB);
	COPIED(8, HTOD, PAGEABLE, DEVICE, MB);
	CHECK_EQ(other[200], 7);
}

TEST(copy_waits_and_has_its_call_s_id)
{
	static char host[64];
	const CUpti_ActivityMemcpy6 *copy;
	uint64_t before, after;
	uint32_t id;
	void *device;

	set_script("FAKE_CUDA_DURATIONS", "memcpy DtoH 20000000\n");
	profiler__start();
	CHECK_EQ(cudaMalloc(&device, 64), 0);
	record(CUPTI_ACTIVITY_KIND_MEMCPY);
	profiler__enable(CUPTI_CB_DOMAIN_RUNTIME_API);
	profiler__enable(CUPTI_CB_DOMAIN_DRIVER_API);
	before = profiler__clock();
	CHECK_EQ(cudaMemcpy(host, device, 64, cudaMemcpyDeviceToHost), 0);
	after = profiler__clock();
	id = last_id();
	CHECK_EQ(profiler.nr_calls, 4);
	CHECK_STR(profiler.calls[0].name, "cudaMemcpy_v3020");
	CHECK_STR(profiler.calls[1].name, "cuMemcpyDtoH_v2");
	finish();
	unset_script("FAKE_CUDA_DURATIONS");
	copy = COPIED(0, DTOH, DEVICE, PAGEABLE, 64);
	CHECK_EQ(copy->correlationId, id);
	CHECK_EQ(copy->end - copy->start, 20000000);
	CHECK(copy->start > before && copy->end <= after);
}

TEST(copies_of_planes_are_their_bytes)
{
	const struct cudaChannelFormatDesc format = {.x = 8};
	struct cudaMemcpy3DParms params = {.extent = {4, 3, 2}};
	char host[4 * 3 * 2], back[sizeof(host)] = {};
	struct cudaPitchedPtr pitched;
	size_t pitch;
	char *plane;
	cudaArray_t array;

	for (size_t i = 0; i < sizeof(host); i++)
		host[i] = (char)i;
	profiler__start();
	record(CUPTI_ACTIVITY_KIND_MEMCPY);
	record(CUPTI_ACTIVITY_KIND_MEMSET);
	CHECK_EQ(cudaMallocPitch((void **)&plane, &pitch, 4, 3), 0);
	CHECK_EQ(pitch, 512);
	CHECK_EQ(cudaMemcpy2D(plane, pitch, host, 4, 4, 3, cudaMemcpyHostToDevice), 0);
	CHECK_EQ(cudaMemcpy2D(back, 4, plane, pitch, 4, 3, cudaMemcpyDeviceToHost), 0);
	CHECK(!memcmp(host, back, 12));
	CHECK_EQ(cudaMemset2D(plane, pitch, 9, 3, 2), 0);
	CHECK_EQ(cudaMemcpy(back, plane, 4, cudaMemcpyDeviceToHost), 0);
	CHECK_EQ(back[2], 9);
	CHECK_EQ(back[3], 3);

	CHECK_EQ(cudaMalloc3D(&pitched, params.extent), 0);
	params.srcPtr = (struct cudaPitchedPtr){host, 4, 4, 3};
	params.dstPtr = pitched;
	CHECK_EQ(cudaMemcpy3D(&params), 0);
	params.srcPtr = pitched;
	params.dstPtr = (struct cudaPitchedPtr){back, 4, 4, 3};
	CHECK_EQ(cudaMemcpy3DAsync(&params, NULL), 0);
	CHECK(!memcmp(host, back, sizeof(host)));

	CHECK_EQ(cudaMallocArray(&array, &format, 4, 3, 0), 0);
	CHECK_EQ(cudaMemcpy2DToArray(array, 0, 0, host, 4, 4, 3, cudaMemcpyHostToDevice),
		 0);
	CHECK_EQ(cudaMemcpy2DFromArray(plane, pitch, array, 0, 0, 4, 3,
				       cudaMemcpyDeviceToDevice),
		 0);
	CHECK_EQ(plane[pitch + 1], 5);
	finish();
	COPIED(0, HTOD, PAGEABLE, DEVICE, 12);
	COPIED(1, DTOH, DEVICE, PAGEABLE, 12);
	COPIED(3, HTOD, PAGEABLE, DEVICE, 24);
	COPIED(4, DTOH, DEVICE, PAGEABLE, 24);
	COPIED(5, HTOA, PAGEABLE, ARRAY, 12);
	COPIED(6, ATOD, ARRAY, DEVICE, 12);
	CHECK_EQ(event(CUPTI_ACTIVITY_KIND_MEMSET, 0)->memset.bytes, 6);
}

TEST(copies_of_a_batch_are_one_record_if_they_are_alike)
{
	static char hosts[3][64];
	const CUpti_ActivityMemcpy6 *copy;
	const void *from[4] = {hosts[0], hosts[1]};
	void *to[4] = {};
	const size_t bytes[4] = {10, 20, 30, 40};
	cudaStream_t stream;
	char *device;

	profiler__start();
	record(CUPTI_ACTIVITY_KIND_MEMCPY);
	CHECK_EQ(cudaMalloc((void **)&device, 256), 0);
	CHECK_EQ(cudaStreamCreate(&stream), 0);
	memset(hosts[1], 6, 64);
	to[0] = device;
	to[1] = device + 64;
	from[2] = device + 64;
	to[2] = device + 128;
	from[3] = device + 128;
	to[3] = hosts[2];
	CHECK_EQ(cudaMemcpyBatchAsync(to, from, bytes, 4, NULL, NULL, 0, stream), 0);
	CHECK_EQ(cudaMemcpyBatchAsync(to, from, bytes, 0, NULL, NULL, 0, stream),
		 cudaErrorInvalidValue);
	finish();
	CHECK_EQ(hosts[2][19], 6);
	CHECK_EQ(nr_of(CUPTI_ACTIVITY_KIND_MEMCPY), 3);
	copy = COPIED(0, HTOD, PAGEABLE, DEVICE, 30);
	CHECK_EQ(copy->copyCount, 2);
	CHECK_EQ(COPIED(1, DTOD, DEVICE, DEVICE, 30)->copyCount, 1);
	CHECK_EQ(COPIED(2, DTOH, DEVICE, PAGEABLE, 40)->copyCount, 1);
	CHECK_EQ(copy->flags, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
}

TEST(memsets_have_value_bytes_and_memory)
{
	const CUpti_ActivityMemset4 *record_of;
	CUdeviceptr device;
	void *managed;
	int value;

	set_script("FAKE_CUDA_DURATIONS", "memset device 4321\n");
	profiler__start();
	record(CUPTI_ACTIVITY_KIND_MEMSET);
	CHECK_EQ(cudaMalloc((void **)&device, 400), 0);
	CHECK_EQ(cudaMallocManaged(&managed, 400, cudaMemAttachGlobal), 0);
	CHECK_EQ(cudaMemset((void *)device, 5, 400), 0);
	CHECK_EQ(DRIVER(cuMemsetD32Async)(device, 0x01020304, 100, NULL), 0);
	CHECK_EQ(cudaMemcpy(&value, (void *)device, 4, cudaMemcpyDeviceToHost), 0);
	CHECK_EQ(value, 0x01020304);
	CHECK_EQ(cudaMemsetAsync(managed, 0, 3, NULL), 0);
	finish();
	unset_script("FAKE_CUDA_DURATIONS");
	CHECK_EQ(nr_of(CUPTI_ACTIVITY_KIND_MEMSET), 3);
	record_of = &event(CUPTI_ACTIVITY_KIND_MEMSET, 0)->memset;
	CHECK_EQ(record_of->value, 5);
	CHECK_EQ(record_of->bytes, 400);
	CHECK_EQ(record_of->flags, 0);
	CHECK_EQ(record_of->memoryKind, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
	CHECK_EQ(record_of->end - record_of->start, 4321);
	record_of = &event(CUPTI_ACTIVITY_KIND_MEMSET, 1)->memset;
	CHECK_EQ(record_of->bytes, 400);
	CHECK_EQ(record_of->flags, CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC);
	record_of = &event(CUPTI_ACTIVITY_KIND_MEMSET, 2)->memset;
	CHECK_EQ(record_of->bytes, 3);
	CHECK_EQ(record_of->memoryKind, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
}

TEST(copies_between_devices_name_both)
{
	const CUpti_ActivityMemcpyPtoP4 *peer;
	void *memory[2];
	int device;

	setenv("FAKE_CUDA_DEVICES", "2", 1);
	profiler__start();
	record(CUPTI_ACTIVITY_KIND_MEMCPY);
	record(CUPTI_ACTIVITY_KIND_MEMCPY2);
	for (device = 1; device >= 0; device--) {
		CHECK_EQ(cudaSetDevice(device), 0);
		CHECK_EQ(cudaMalloc(&memory[device], MB), 0);
	}
	CHECK_EQ(cudaMemcpyPeer(memory[1], 1, memory[0], 0, MB), 0);
	CHECK_EQ(cudaMemcpyPeerAsync(memory[0], 0, memory[1], 1, 77, NULL), 0);
	CHECK_EQ(cudaMemcpy(memory[1], memory[0], 78, cudaMemcpyDefault), 0);
	CHECK_EQ(cudaMemcpyPeer(memory[0], 0, (char *)memory[0] + 100, 0, 9), 0);
	CHECK_EQ(cudaMemcpy3DPeer(
			 &(struct cudaMemcpy3DPeerParms){.srcPtr = {memory[0], 16, 16, 4},
							 .dstPtr = {memory[1], 8, 8, 4},
							 .srcDevice = 0,
							 .dstDevice = 1,
							 .extent = {8, 4, 2}}),
		 0);
	finish();
	CHECK_EQ(nr_of(CUPTI_ACTIVITY_KIND_MEMCPY2), 4);
	CHECK_EQ(event(CUPTI_ACTIVITY_KIND_MEMCPY2, 3)->peer.bytes, 64);
	peer = &event(CUPTI_ACTIVITY_KIND_MEMCPY2, 0)->peer;
	CHECK_EQ(peer->copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
	CHECK_EQ(peer->bytes, MB);
	CHECK_EQ(peer->srcDeviceId, 0);
	CHECK_EQ(peer->dstDeviceId, 1);
	CHECK(peer->srcContextId != peer->dstContextId);
	CHECK_EQ(peer->flags, 0);
	peer = &event(CUPTI_ACTIVITY_KIND_MEMCPY2, 1)->peer;
	CHECK_EQ(peer->srcDeviceId, 1);
	CHECK_EQ(peer->dstDeviceId, 0);
	CHECK_EQ(peer->flags, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
	CHECK_EQ(event(CUPTI_ACTIVITY_KIND_MEMCPY2, 2)->peer.bytes, 78);
	COPIED(0, DTOD, DEVICE, DEVICE, 9);
}

static cudaGraphExec_t capture_copies(char *device, char *pinned)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	cudaStream_t stream;

	CHECK_EQ(cudaStreamCreate(&stream), 0);
	CHECK_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0);
	CHECK_EQ(cudaMemcpyAsync(device, pinned, 10, cudaMemcpyHostToDevice, stream), 0);
	CHECK_EQ(cudaMemsetAsync(device, 3, 20, stream), 0);
	launch(stream);
	CHECK_EQ(cudaStreamEndCapture(stream, &graph), 0);
	CHECK_EQ(cudaGraphInstantiate(&exec, graph, 0), 0);
	return exec;
}

TEST(nodes_of_graphs_have_records_with_their_id)
{
	const CUpti_ActivityMemset4 *set;
	const CUpti_ActivityMemcpy6 *copy;
	char *device, *pinned;
	cudaGraphExec_t exec;
	uint32_t id;

	profiler__start();
	profiler__enable(CUPTI_CB_DOMAIN_RESOURCE);
	CHECK_EQ(cudaMalloc((void **)&device, MB), 0);
	CHECK_EQ(cudaMallocHost((void **)&pinned, MB), 0);
	record(CUPTI_ACTIVITY_KIND_MEMCPY);
	record(CUPTI_ACTIVITY_KIND_MEMSET);
	exec = capture_copies(device, pinned);
	CHECK_EQ(profiler.nr_nodes, 6);
	for (size_t i = 0; i < 6; i += 3) {
		CHECK_EQ(profiler.nodes[i].type, CU_GRAPH_NODE_TYPE_MEMCPY);
		CHECK_EQ(profiler.nodes[i + 1].type, CU_GRAPH_NODE_TYPE_MEMSET);
		CHECK_EQ(profiler.nodes[i + 2].type, CU_GRAPH_NODE_TYPE_KERNEL);
	}
	profiler__enable(CUPTI_CB_DOMAIN_RUNTIME_API);
	CHECK_EQ(cudaGraphLaunch(exec, NULL), 0);
	id = last_id();
	finish();
	CHECK_EQ(nr_of(CUPTI_ACTIVITY_KIND_MEMCPY), 1);
	CHECK_EQ(nr_of(CUPTI_ACTIVITY_KIND_MEMSET), 1);
	copy = COPIED(0, HTOD, PINNED, DEVICE, 10);
	set = &event(CUPTI_ACTIVITY_KIND_MEMSET, 0)->memset;
	CHECK_EQ(set->bytes, 20);
	CHECK(copy->graphNodeId == profiler.nodes[3].id);
	CHECK(set->graphNodeId == profiler.nodes[4].id);
	CHECK_EQ(copy->graphId, copy->graphNodeId >> 32);
	CHECK_EQ(copy->correlationId, id);
	CHECK_EQ(set->correlationId, id);
	CHECK(set->start >= copy->end);
}

/* Times of the program's, around the call and, before it, a launch */
struct wait {
	uint64_t launched_ns, before_ns, after_ns;
};

/* @nr_ns: of the kernel's, which is waited for; 0: of none */
static void check_wait(size_t n, CUpti_ActivitySynchronizationType type, uint32_t id,
		       const struct wait *wait, uint64_t nr_ns)
{
	const union profiler_event *found = event(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, n);

	CHECK(found);
	CHECK_EQ(found->wait.type, type);
	CHECK_EQ(found->wait.correlationId, id);
	CHECK(found->wait.start >= wait->before_ns && found->wait.end <= wait->after_ns);
	CHECK(found->wait.end >= found->wait.start);
	/* Who was held up for long before he waited did so for a shorter time. */
	CHECK(!nr_ns || found->wait.end >= wait->launched_ns + nr_ns);
	CHECK_EQ(found->wait.returnValue, 0);
	CHECK(found->wait.contextId);
}

#define WAIT(n, call)                                   \
	do {                                            \
		waits[n].before_ns = profiler__clock(); \
		CHECK_EQ(call, 0);                      \
		waits[n].after_ns = profiler__clock();  \
		ids[n] = last_id();                     \
	} while (0)

TEST(waits_have_records_as_long_as_they_waited)
{
	const CUpti_ActivitySynchronization2 *wait;
	uint32_t ids[4], stream_id;
	cudaStream_t stream;
	cudaEvent_t event_of;
	struct wait waits[4];

	set_script("FAKE_CUDA_DURATIONS", "plain_kernel 400000000\n");
	profiler__start();
	profiler__enable(CUPTI_CB_DOMAIN_RUNTIME_API);
	record(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
	CHECK_EQ(cudaStreamCreate(&stream), 0);
	CHECK_EQ(cudaEventCreate(&event_of), 0);
	waits[0].launched_ns = profiler__clock();
	launch(stream);
	WAIT(0, cudaStreamSynchronize(stream));
	waits[2].launched_ns = profiler__clock();
	launch(stream);
	CHECK_EQ(cudaEventRecord(event_of, stream), 0);
	WAIT(1, cudaStreamWaitEvent(NULL, event_of, 0));
	WAIT(2, cudaEventSynchronize(event_of));
	waits[3].launched_ns = profiler__clock();
	launch(stream);
	WAIT(3, cudaDeviceSynchronize());
	CHECK_EQ(cuptiActivityFlushAll(0), 0);
	unset_script("FAKE_CUDA_DURATIONS");
	CHECK_EQ(nr_of(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION), 4);
	check_wait(0, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, ids[0],
		   &waits[0], 400000000);
	check_wait(1, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, ids[1],
		   &waits[1], 0);
	check_wait(2, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, ids[2],
		   &waits[2], 400000000);
	check_wait(3, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, ids[3],
		   &waits[3], 400000000);
	wait = &event(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 0)->wait;
	CHECK_EQ(cuptiGetStreamIdEx(NULL, stream, 0, &stream_id), 0);
	CHECK_EQ(wait->streamId, stream_id);
	CHECK_EQ(wait->cudaEventId, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
	wait = &event(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 2)->wait;
	CHECK_EQ(wait->streamId, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
	CHECK(wait->cudaEventId != CUPTI_SYNCHRONIZATION_INVALID_VALUE);
	CHECK(wait->cudaEventSyncId);
}

TEST(queries_have_records_unless_they_came_too_early)
{
	cudaEvent_t event_of;

	set_script("FAKE_CUDA_DURATIONS", "plain_kernel 1000000000\n");
	profiler__start();
	record(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
	CHECK_EQ(cudaEventCreate(&event_of), 0);
	launch(NULL);
	CHECK_EQ(cudaEventRecord(event_of, NULL), 0);
	CHECK_EQ(cudaEventQuery(event_of), cudaErrorNotReady);
	CHECK_EQ(cuptiActivityEnableAllSyncRecords(0), 0);
	CHECK_EQ(cudaStreamQuery(NULL), cudaErrorNotReady);
	usleep(1050000);
	CHECK_EQ(cudaStreamQuery(NULL), 0);
	CHECK_EQ(cuptiActivityFlushAll(0), 0);
	unset_script("FAKE_CUDA_DURATIONS");
	CHECK_EQ(nr_of(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION), 2);
	CHECK_EQ(event(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 0)->wait.returnValue,
		 CUDA_ERROR_NOT_READY);
	CHECK_EQ(event(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 1)->wait.type,
		 CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
}

TEST(what_is_not_enabled_has_no_records)
{
	void *device;

	profiler__start();
	CHECK_EQ(cudaMalloc(&device, 10), 0);
	CHECK_EQ(cudaMemset(device, 0, 10), 0);
	record(CUPTI_ACTIVITY_KIND_MEMSET);
	CHECK_EQ(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMSET), 0);
	CHECK_EQ(cudaMemset(device, 0, 10), 0);
	plain_kernel__launch(1);
	finish();
	CHECK_EQ(profiler.nr_events, 0);
}

TEST(script_drops_and_blanks_copies)
{
	size_t nr_unknown = 0;
	void *device;

	setenv("FAKE_CUDA_INSTANT", "1", 1);
	setenv("FAKE_CUDA_DROP_COPIES", "10", 1);
	setenv("FAKE_CUDA_UNKNOWN_TIME_COPIES", "7", 1);
	profiler__start();
	record(CUPTI_ACTIVITY_KIND_MEMSET);
	CHECK_EQ(cudaMalloc(&device, 10), 0);
	for (int i = 0; i < 100; i++)
		CHECK_EQ(cudaMemset(device, 0, 10), 0);
	finish();
	for (size_t i = 0; i < profiler.nr_events; i++)
		nr_unknown += !profiler.events[i].memset.start;
	CHECK_EQ(profiler.nr_events, 90);
	CHECK_EQ(profiler.nr_dropped, 10);
	CHECK_EQ(nr_unknown, 100 / 7 - 1);
}

TEST(per_thread_copy_goes_into_the_thread_s_own_stream)
{
	cudaError_t (*copy)(void *, const void *, size_t, enum cudaMemcpyKind);
	cudaError_t (*set)(void *, int, size_t);
	uint32_t stream_id;
	char host[8];
	void *device;

	copy = (__typeof__(copy))(uintptr_t)dlsym(RTLD_DEFAULT, "cudaMemcpy_ptds");
	set = (__typeof__(set))(uintptr_t)dlsym(RTLD_DEFAULT, "cudaMemset_ptds");
	CHECK(copy && set);
	profiler__start();
	CHECK_EQ(cudaMalloc(&device, 8), 0);
	record(CUPTI_ACTIVITY_KIND_MEMCPY);
	record(CUPTI_ACTIVITY_KIND_MEMSET);
	profiler__enable(CUPTI_CB_DOMAIN_RUNTIME_API);
	profiler__enable(CUPTI_CB_DOMAIN_DRIVER_API);
	CHECK_EQ(set(device, 5, 8), 0);
	CHECK_EQ(copy(host, device, 8, cudaMemcpyDeviceToHost), 0);
	CHECK_EQ(host[7], 5);
	CHECK_STR(profiler.calls[0].name, "cudaMemset_ptds_v7000");
	CHECK_STR(profiler.calls[1].name, "cuMemsetD8_v2_ptds");
	CHECK_STR(profiler.calls[4].name, "cudaMemcpy_ptds_v7000");
	CHECK_STR(profiler.calls[5].name, "cuMemcpyDtoH_v2_ptds");
	CHECK_EQ(cuptiGetStreamIdEx(NULL, NULL, 1, &stream_id), 0);
	finish();
	CHECK_EQ(COPIED(0, DTOH, DEVICE, PAGEABLE, 8)->streamId, stream_id);
	CHECK_EQ(event(CUPTI_ACTIVITY_KIND_MEMSET, 0)->memset.streamId, stream_id);
	CHECK_EQ(cuptiGetStreamIdEx(NULL, NULL, 0, &stream_id), 0);
	CHECK(event(CUPTI_ACTIVITY_KIND_MEMSET, 0)->memset.streamId != stream_id);
}
