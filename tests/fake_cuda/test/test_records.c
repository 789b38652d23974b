// SPDX-License-Identifier: GPL-2.0-or-later
/* The GPU takes its time as scripted, and every kernel has its record. */
#include <fcntl.h>

#include "profiler.h"

TEST(kernel_record_has_the_launch)
{
	const dim3 grid = {3, 4, 5}, block = {6, 7, 8};
	const CUpti_ActivityKernel10 *kernel;
	cudaStream_t stream;
	uint32_t stream_id;

	set_script("FAKE_CUDA_DURATIONS", "# a comment\nplain_kernel 12345\n");
	profiler__start();
	CHECK_EQ(cudaStreamCreate(&stream), 0);
	CHECK_EQ(cudaLaunchKernel((const void *)plain_kernel, grid, block, NULL, 99,
				  stream),
		 0);
	finish();
	unset_script("FAKE_CUDA_DURATIONS");
	kernel = profiler.kernels;
	CHECK_EQ(profiler.nr_kernels, 1);
	CHECK_STR(kernel->name, KERNEL);
	CHECK_EQ(kernel->end - kernel->start, 12345);
	CHECK_EQ(kernel->gridX, 3);
	CHECK_EQ(kernel->gridY, 4);
	CHECK_EQ(kernel->gridZ, 5);
	CHECK_EQ(kernel->blockX, 6);
	CHECK_EQ(kernel->blockY, 7);
	CHECK_EQ(kernel->blockZ, 8);
	CHECK_EQ(kernel->dynamicSharedMemory, 99);
	CHECK(kernel->registersPerThread >= 16);
	CHECK_EQ(cuptiGetStreamIdEx(NULL, stream, 0, &stream_id), 0);
	CHECK_EQ(kernel->streamId, stream_id);
	CHECK_EQ(kernel->graphId, 0);
}

TEST(kernels_of_a_stream_follow_each_other)
{
	uint64_t before, after;

	profiler__start();
	before = profiler__clock();
	plain_kernel__launch(100);
	finish();
	after = profiler__clock();
	CHECK_EQ(profiler.nr_kernels, 100);
	for (size_t i = 0; i < 100; i++) {
		uint64_t earliest = i ? profiler.kernels[i - 1].end : before;

		CHECK(profiler.kernels[i].start >= earliest);
		CHECK(profiler.kernels[i].start < profiler.kernels[i].end);
	}
	/* Whoever synchronizes waits as long as it takes. */
	CHECK(profiler.kernels[99].end <= after);
}

TEST(streams_overlap_and_the_null_stream_does_not)
{
	cudaStream_t streams[2];
	const CUpti_ActivityKernel10 *kernels = profiler.kernels;

	set_script("FAKE_CUDA_DURATIONS", "plain_kernel 1500000000\n");
	profiler__start();
	CHECK_EQ(cudaStreamCreateWithFlags(&streams[0], cudaStreamNonBlocking), 0);
	CHECK_EQ(cudaStreamCreate(&streams[1]), 0);
	launch(streams[0]);
	launch(streams[1]);
	launch(NULL);
	CHECK_EQ(cudaStreamQuery(streams[1]), cudaErrorNotReady);
	finish();
	CHECK_EQ(cudaStreamQuery(streams[1]), cudaSuccess);
	unset_script("FAKE_CUDA_DURATIONS");
	kernels = profiler.kernels;
	CHECK_EQ(profiler.nr_kernels, 3);
	CHECK(kernels[1].start < kernels[0].end);
	CHECK(kernels[2].start >= kernels[1].end);
	CHECK(kernels[0].streamId != kernels[1].streamId);
}

TEST(event_orders_streams_and_measures)
{
	cudaStream_t streams[2];
	cudaEvent_t events[2];
	float ms;

	/* Long, so that the event isn't over when it is first asked for */
	set_script("FAKE_CUDA_DURATIONS", "plain_kernel 1500000000\n");
	profiler__start();
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking),
			 0);
		CHECK_EQ(cudaEventCreate(&events[i]), 0);
	}
	CHECK_EQ(cudaEventRecord(events[0], streams[0]), 0);
	launch(streams[0]);
	CHECK_EQ(cudaEventRecord(events[1], streams[0]), 0);
	CHECK_EQ(cudaStreamWaitEvent(streams[1], events[1], 0), 0);
	launch(streams[1]);
	CHECK_EQ(cudaEventElapsedTime(&ms, events[0], events[1]), cudaErrorNotReady);
	finish();
	unset_script("FAKE_CUDA_DURATIONS");
	CHECK_EQ(cudaEventElapsedTime(&ms, events[0], events[1]), 0);
	CHECK(ms >= 1500);
	CHECK_EQ(profiler.nr_kernels, 2);
	CHECK(profiler.kernels[1].start >= profiler.kernels[0].end);
}

TEST(running_kernel_is_held_back_and_given_once_by_force)
{
	set_script("FAKE_CUDA_DURATIONS", "plain_kernel 1000000000\n");
	profiler__start();
	launch(NULL);
	launch(NULL);
	usleep(1000);
	CHECK_EQ(cuptiActivityFlushAll(0), 0);
	CHECK_EQ(profiler.nr_kernels, 0);
	CHECK_EQ(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), 0);
	CHECK_EQ(profiler.nr_kernels, 2);
	CHECK(profiler.kernels[0].start);
	CHECK_EQ(profiler.kernels[0].end, 0);
	CHECK_EQ(profiler.kernels[1].start, 0);
	finish();
	unset_script("FAKE_CUDA_DURATIONS");
	CHECK_EQ(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), 0);
	CHECK_EQ(profiler.nr_kernels, 2);
	CHECK_EQ(profiler.nr_buffers_out, 0);
}

/* Wait until the worker has brought that many kernels. Returns how many there are. */
static size_t wait_for_kernels(size_t nr_wanted)
{
	size_t nr_kernels = 0;

	for (int i = 0; i < 12000 && nr_kernels < nr_wanted; i++) {
		usleep(10000);
		pthread_mutex_lock(&profiler.mutex);
		nr_kernels = profiler.nr_kernels;
		pthread_mutex_unlock(&profiler.mutex);
	}
	return nr_kernels;
}

TEST(full_buffers_come_back_by_themselves)
{
	size_t nr_per_buffer = profiler.buffer_bytes / sizeof(*profiler.kernels);

	setenv("FAKE_CUDA_INSTANT", "1", 1);
	profiler__start();
	/* The one that fills up is retired by the next kernel. */
	for (size_t i = 0; i < 3 * nr_per_buffer + 1; i++)
		launch(NULL);
	CHECK_EQ(wait_for_kernels(3 * nr_per_buffer), 3 * nr_per_buffer);
	finish();
	CHECK_EQ(profiler.nr_kernels, 3 * nr_per_buffer + 1);
}

TEST(flush_period_gives_partly_filled_buffers)
{
	setenv("FAKE_CUDA_INSTANT", "1", 1);
	profiler__start();
	CHECK_EQ(cuptiActivityFlushPeriod(20), 0);
	launch(NULL);
	CHECK_EQ(wait_for_kernels(1), 1);
}

TEST(client_without_buffers_has_drops_counted)
{
	size_t nr_dropped;

	profiler.buffer_bytes = 0;
	profiler__start();
	launch(NULL);
	launch(NULL);
	finish();
	CHECK_EQ(cuptiActivityGetNumDroppedRecords(NULL, 0, &nr_dropped), 0);
	CHECK_EQ(nr_dropped, 2);
	CHECK_EQ(cuptiActivityGetNumDroppedRecords(NULL, 0, &nr_dropped), 0);
	CHECK_EQ(nr_dropped, 0);
}

TEST(script_drops_and_blanks_records)
{
	size_t nr_unknown = 0;

	setenv("FAKE_CUDA_INSTANT", "1", 1);
	setenv("FAKE_CUDA_DROP", "10", 1);
	setenv("FAKE_CUDA_UNKNOWN_TIME", "7", 1);
	profiler__start();
	for (int i = 0; i < 1000; i++)
		launch(NULL);
	finish();
	for (size_t i = 0; i < profiler.nr_kernels; i++)
		nr_unknown += !profiler.kernels[i].start && !profiler.kernels[i].end;
	CHECK_EQ(profiler.nr_kernels, 900);
	CHECK_EQ(profiler.nr_dropped, 100);
	CHECK_EQ(nr_unknown, 1000 / 7 - 1000 / 70); /* a multiple of both is dropped */
}

TEST(script_delivers_late)
{
	char folder[] = "/tmp/fake_cuda-test.XXXXXX", path[64];

	CHECK(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	setenv("FAKE_CUDA_LATE_UNTIL", path, 1);
	profiler__start();
	launch(NULL);
	finish();
	CHECK_EQ(profiler.nr_kernels, 0);
	close(creat(path, 0600));
	finish();
	unlink(path);
	rmdir(folder);
	CHECK_EQ(profiler.nr_kernels, 1);
	CHECK(profiler.kernels[0].end);
}

TEST(correlation_ids_wrap_around)
{
	bool has_wrapped = false;

	setenv("FAKE_CUDA_INSTANT", "1", 1);
	setenv("FAKE_CUDA_CORRELATION_START", "0xfffffff0", 1);
	profiler__start();
	for (int i = 0; i < 32; i++)
		launch(NULL);
	finish();
	CHECK_EQ(profiler.nr_kernels, 32);
	CHECK(profiler.kernels[0].correlationId >= 0xfffffff0);
	for (size_t i = 1; i < 32; i++) {
		uint32_t id = profiler.kernels[i].correlationId;
		uint32_t before = profiler.kernels[i - 1].correlationId;

		CHECK(id); /* 0 is none */
		CHECK(id == before + 1 || (before == UINT32_MAX && id == 1));
		has_wrapped |= id < before;
	}
	CHECK(has_wrapped);
}

/* The node that a kernel's is a copy of, by so many steps */
static uint64_t origin_of(const CUpti_ActivityKernel10 *kernel, int nr_steps)
{
	const struct profiler_node *node = profiler__find_node(kernel->graphNodeId);

	CHECK(kernel->graphId);
	CHECK(node);
	for (int i = 0; i < nr_steps; i++) {
		CHECK(node->original_id);
		node = profiler__find_node(node->original_id);
		CHECK(node);
	}
	CHECK(!node->original_id);
	return node->id;
}

static void check_graph_kernels(void)
{
	for (size_t i = 0; i < profiler.nr_kernels; i++)
		origin_of(&profiler.kernels[i], 1);
}

TEST(captured_graph_leads_back_to_its_nodes)
{
	cudaStream_t streams[2];
	cudaEvent_t fork, join;
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	uint32_t launch_id;

	profiler__start();
	CHECK_EQ(cudaStreamCreate(&streams[0]), 0);
	CHECK_EQ(cudaStreamCreate(&streams[1]), 0);
	CHECK_EQ(cudaEventCreate(&fork), 0);
	CHECK_EQ(cudaEventCreate(&join), 0);
	CHECK_EQ(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal),
		 cudaErrorStreamCaptureUnsupported);
	profiler__enable(CUPTI_CB_DOMAIN_RUNTIME_API);
	profiler__enable(CUPTI_CB_DOMAIN_RESOURCE);
	CHECK_EQ(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal), 0);
	launch(streams[0]);
	CHECK_EQ(cudaEventRecord(fork, streams[0]), 0);
	CHECK_EQ(cudaStreamWaitEvent(streams[1], fork, 0), 0);
	launch(streams[1]);
	CHECK_EQ(cudaEventRecord(join, streams[1]), 0);
	CHECK_EQ(cudaStreamWaitEvent(streams[0], join, 0), 0);
	CHECK_EQ(cudaStreamEndCapture(streams[0], &graph), 0);
	CHECK_EQ(cudaStreamWaitEvent(streams[1], fork, 0), cudaErrorCapturedEvent);
	CHECK_EQ(profiler.nr_nodes, 2);
	CHECK(profiler.nodes[0].correlation_id != profiler.nodes[1].correlation_id);
	CHECK_EQ(cudaGraphInstantiate(&exec, graph, 0), 0);
	CHECK_EQ(profiler.nr_nodes, 4);
	CHECK_EQ(cudaGraphDestroy(graph), 0);
	CHECK_EQ(cuptiActivityFlushAll(0), 0);
	CHECK_EQ(profiler.nr_kernels, 0); /* a captured launch runs nothing */

	CHECK_EQ(cudaGraphLaunch(exec, streams[1]), 0);
	launch_id = profiler.calls[profiler.nr_calls - 1].correlation_id;
	finish();
	CHECK_EQ(profiler.nr_kernels, 2);
	CHECK_EQ(profiler.kernels[0].correlationId, launch_id);
	CHECK_EQ(profiler.kernels[1].correlationId, launch_id);
	check_graph_kernels();
	CHECK_EQ(cudaGraphExecDestroy(exec), 0);
}

TEST(graph_made_node_by_node_leads_back_too)
{
	struct cudaKernelNodeParams params = {
		.func = (void *)(uintptr_t)plain_kernel,
		.gridDim = one,
		.blockDim = one,
	};
	cudaGraphNode_t kernel, copy;
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	int from = 7, to = 0;

	profiler__start();
	profiler__enable(CUPTI_CB_DOMAIN_RESOURCE);
	CHECK_EQ(cudaGraphCreate(&graph, 0), 0);
	CHECK_EQ(cudaGraphAddKernelNode(&kernel, graph, NULL, 0, &params), 0);
	CHECK_EQ(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, &to, &from,
					  sizeof(from), cudaMemcpyDefault),
		 0);
	CHECK_EQ(cudaGraphInstantiate(&exec, graph, 0), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(cudaGraphLaunch(exec, NULL), 0);
	finish();
	CHECK_EQ(to, 7);
	CHECK_EQ(profiler.nr_kernels, 3);
	check_graph_kernels();
}

static cudaGraph_t capture(cudaStream_t stream, int nr_launches)
{
	cudaGraph_t graph;

	CHECK_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0);
	for (int i = 0; i < nr_launches; i++)
		launch(stream);
	CHECK_EQ(cudaStreamEndCapture(stream, &graph), 0);
	return graph;
}

static void run(cudaGraph_t graph)
{
	cudaGraphExec_t exec;

	CHECK_EQ(cudaGraphInstantiate(&exec, graph, 0), 0);
	CHECK_EQ(cudaGraphLaunch(exec, NULL), 0);
	CHECK_EQ(cudaGraphExecDestroy(exec), 0);
}

TEST(copies_of_graphs_lead_back_by_their_copies)
{
	cudaGraph_t captured, parent, clone, child;
	cudaGraphNode_t node, captured_node, cloned_node;
	cudaStream_t stream;
	size_t nr = 1;

	profiler__start();
	profiler__enable(CUPTI_CB_DOMAIN_RESOURCE);
	CHECK_EQ(cudaStreamCreate(&stream), 0);
	captured = capture(stream, 1);
	CHECK_EQ(cudaGraphGetNodes(captured, &captured_node, &nr), 0);
	CHECK_EQ(cudaGraphCreate(&parent, 0), 0);
	CHECK_EQ(cudaGraphAddChildGraphNode(&node, parent, NULL, 0, captured), 0);
	CHECK_EQ(cudaGraphChildGraphNodeGetGraph(node, &child), 0);
	CHECK_EQ(cudaGraphClone(&clone, captured), 0);
	CHECK_EQ(cudaGraphNodeFindInClone(&cloned_node, captured_node, clone), 0);
	CHECK_EQ(cudaGraphNodeFindInClone(&cloned_node, captured_node, captured),
		 cudaErrorInvalidValue);
	CHECK_EQ(cudaGraphDestroy(captured), 0);
	run(parent);
	run(clone);
	finish();
	CHECK_EQ(profiler.nr_kernels, 2);
	/* A child's kernel goes on behind the parent's nodes, of which no callback told. */
	CHECK_EQ(profiler.kernels[0].graphNodeId,
		 (uint64_t)profiler.kernels[0].graphId << 32 | 1);
	CHECK(!profiler__find_node(profiler.kernels[0].graphNodeId));
	CHECK(origin_of(&profiler.kernels[1], 2) == profiler.nodes[0].id);
	CHECK_EQ(cudaGraphDestroy(parent), 0);
	CHECK_EQ(cudaGraphDestroy(clone), 0);
}

TEST(updated_graph_leads_to_what_it_was_updated_with)
{
	struct cudaKernelNodeParams params = {
		.func = (void *)(uintptr_t)plain_kernel, .gridDim = one, .blockDim = one};
	cudaGraphExecUpdateResultInfo info;
	cudaGraph_t first, second, other;
	cudaGraphNode_t node;
	cudaGraphExec_t exec;
	cudaStream_t stream;
	size_t nr = 1;

	profiler__start();
	profiler__enable(CUPTI_CB_DOMAIN_RESOURCE);
	CHECK_EQ(cudaStreamCreate(&stream), 0);
	first = capture(stream, 1);
	second = capture(stream, 1);
	other = capture(stream, 2);
	CHECK_EQ(cudaGraphInstantiate(&exec, first, 0), 0);
	CHECK_EQ(cudaGraphLaunch(exec, NULL), 0);
	finish();
	CHECK(origin_of(&profiler.kernels[0], 1) == profiler.nodes[0].id);
	CHECK_EQ(cudaGraphExecUpdate(exec, second, &info), 0);
	CHECK_EQ(info.result, cudaGraphExecUpdateSuccess);
	CHECK_EQ(cudaGraphExecUpdate(exec, other, &info),
		 cudaErrorGraphExecUpdateFailure);
	CHECK_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
	CHECK_EQ(cudaGraphGetNodes(first, &node, &nr), 0);
	CHECK_EQ(cudaGraphExecKernelNodeSetParams(exec, node, &params), 0);
	CHECK_EQ(cudaGraphLaunch(exec, NULL), 0);
	finish();
	CHECK_EQ(profiler.nr_kernels, 2);
	CHECK(profiler.kernels[1].graphNodeId == profiler.kernels[0].graphNodeId);
	CHECK(origin_of(&profiler.kernels[1], 1) == profiler.nodes[1].id);
	CHECK_EQ(cudaGraphExecDestroy(exec), 0);
}

static void *launch_many(void *argument)
{
	cudaStream_t stream;

	CHECK_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), 0);
	for (int i = 0; i < *(const int *)argument; i++)
		launch(stream);
	CHECK_EQ(cudaStreamSynchronize(stream), 0);
	return NULL;
}

static void launch_in_threads(int nr_threads, int nr_launches)
{
	pthread_t threads[8];

	for (int i = 0; i < nr_threads; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, launch_many, &nr_launches), 0);
	for (int i = 0; i < nr_threads; i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

static int compare_ids(const void *a, const void *b)
{
	const CUpti_ActivityKernel10 *left = a, *right = b;

	return left->correlationId < right->correlationId   ? -1
	       : left->correlationId > right->correlationId ? 1
							    : 0;
}

TEST(threads_lose_nothing)
{
	setenv("FAKE_CUDA_INSTANT", "1", 1);
	profiler__start();
	CHECK_EQ(cuptiEnableCallback(1, profiler.handle, CUPTI_CB_DOMAIN_RUNTIME_API,
				     CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000),
		 0);
	/* Twice: buffers of threads that ended are used again. */
	launch_in_threads(8, 10000);
	launch_in_threads(8, 10000);
	finish();
	CHECK_EQ(profiler.nr_calls, 2 * 160000);
	CHECK_EQ(profiler.nr_kernels, 160000);
	CHECK_EQ(profiler.nr_dropped, 0);
	CHECK_EQ(profiler.nr_buffers_out, 0);
	qsort(profiler.kernels, profiler.nr_kernels, sizeof(*profiler.kernels),
	      compare_ids);
	for (size_t i = 1; i < profiler.nr_kernels; i++)
		CHECK(profiler.kernels[i].correlationId !=
		      profiler.kernels[i - 1].correlationId);
}

TEST(calls_have_records_if_asked_for)
{
	const CUpti_ActivityAPI *apis = profiler.apis;

	profiler__start();
	launch(NULL);
	CHECK_EQ(cuptiActivityEnableRuntimeApi(
			 CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 1),
		 0);
	CHECK_EQ(cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1),
		 0);
	CHECK_EQ(cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_SIZE, 1),
		 CUPTI_ERROR_INVALID_PARAMETER);
	launch(NULL);
	CHECK_EQ(cuptiActivityEnableRuntimeApi(
			 CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 0),
		 0);
	launch(NULL);
	finish();
	CHECK_EQ(profiler.nr_kernels, 3);
	CHECK_EQ(profiler.nr_apis, 3);
	/* The driver's call is within the runtime's, and ends first. */
	CHECK_EQ(apis[0].kind, CUPTI_ACTIVITY_KIND_DRIVER);
	CHECK_EQ(apis[0].cbid, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	CHECK_EQ(apis[1].kind, CUPTI_ACTIVITY_KIND_RUNTIME);
	CHECK_EQ(apis[1].cbid, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
	CHECK(apis[1].start <= apis[0].start && apis[0].start <= apis[0].end &&
	      apis[0].end <= apis[1].end);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(apis[i].correlationId, profiler.kernels[1].correlationId);
		CHECK_EQ(apis[i].threadId, gettid());
	}
	CHECK_EQ(apis[2].correlationId, profiler.kernels[2].correlationId);
}

TEST(truth_is_written_at_exit)
{
	unsigned long nr_runs, total_ns, nr_dropped, dropped_ns, nr_unknown, unknown_ns;
	char comment[64], name[64];
	pid_t pid;
	FILE *file;

	set_script("FAKE_CUDA_TRUTH", "");
	set_script("FAKE_CUDA_DURATIONS", "plain 1000\n");
	setenv("FAKE_CUDA_DROP", "4", 1);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		profiler__start();
		for (int i = 0; i < 10; i++)
			launch(NULL);
		exit(0);
	}
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	file = fopen(getenv("FAKE_CUDA_TRUTH"), "r");
	CHECK(file);
	CHECK(fgets(comment, sizeof(comment), file));
	CHECK_EQ(comment[0], '#');
	CHECK_EQ(fscanf(file, "%lu %lu %lu %lu %lu %lu %63s", &nr_runs, &total_ns,
			&nr_dropped, &dropped_ns, &nr_unknown, &unknown_ns, name),
		 7);
	fclose(file);
	unset_script("FAKE_CUDA_TRUTH");
	unset_script("FAKE_CUDA_DURATIONS");
	CHECK_STR(name, KERNEL);
	CHECK_EQ(nr_runs, 10);
	CHECK_EQ(total_ns, 10000);
	CHECK_EQ(nr_dropped, 2);
	CHECK_EQ(dropped_ns, 2000);
	CHECK_EQ(nr_unknown, 0);
	CHECK_EQ(unknown_ns, 0);
}
