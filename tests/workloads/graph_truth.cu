// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program of CUDA graphs whose right answer is known. Kernel k<W, N> gets into a graph
 * through capture<W, N> or add<W, N>, the graph runs through replay<W, N>, and either
 * happens in no other way. W is the way from the one to the other, see below; N tells
 * several of the same apart.
 *
 * What was launched is printed, a kernel a line, with tabs between the fields: how often,
 * what launched it, and what made its node. check_truth.py compares it with what was
 * recorded.
 *
 *   launched  40   k<1, 2>  replay<1, 2>  add<1, 2>
 *   launched  40   k<8, 0>  replay<8, 0>  [graph made before recording]
 *
 * Several threads do it at once. Conditional nodes need a driver that has them, and are
 * left out elsewhere, which a line on stderr says.
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utility>

enum way : int {
	CAPTURED, /* instantiated from the graph that was captured */
	ADDED, /* likewise, node by node */
	CHILD, /* captured; that graph is a child of another ... */
	PARENT, /* ... which has a node of its own */
	CLONED, /* captured; the graph is cloned and destroyed */
	TWICE, /* captured; the graph is instantiated twice */
	UPDATED, /* captured; the executable graph gets what another one has */
	RESET, /* added; the node of the executable graph is given other parameters */
	EARLY, /* captured while recording is paused, instantiated later */
	EARLIER, /* captured and instantiated while recording is paused */
	CONDITION, /* added to the body of a conditional node */
	BODY, /* captured into the body of a conditional node */
	DIRECT, /* in no graph */
	NR_WAYS,
};

#define NR_OF_WAY  4
#define NR_THREADS 4
#define NR_NODES   3 /* that a capture makes */

#define NOINLINE __attribute__((noinline))

#define CHECK(call)                                                                 \
	do {                                                                        \
		cudaError_t error_ = (call);                                        \
		if (error_ != cudaSuccess) {                                        \
			fprintf(stderr, "graph_truth: line %d: %s: %s\n", __LINE__, \
				#call, cudaGetErrorString(error_));                 \
			exit(1);                                                    \
		}                                                                   \
	} while (0)

#define CHECK_DRIVER(call)                                                      \
	do {                                                                    \
		CUresult result_ = (call);                                      \
		if (result_ != CUDA_SUCCESS) {                                  \
			fprintf(stderr, "graph_truth: line %d: %s: error %d\n", \
				__LINE__, #call, (int)result_);                 \
			exit(1);                                                \
		}                                                               \
	} while (0)

/* How many nodes came about in each way, for a reader of the recording */
struct nodes {
	unsigned long captured, added, copied, updated;
};

struct worker {
	pthread_t thread;
	cudaStream_t stream;
	int *memory;
	unsigned long nr_replays; /* of each executable graph */
	int last_replay; /* keeps compilers from making one of all replay() */
	unsigned long launched[NR_WAYS][NR_OF_WAY];
	/* Of UPDATED and RESET: what is there after the change */
	unsigned long changed[NR_WAYS][NR_OF_WAY];
	struct nodes nodes;
	cudaGraph_t early[NR_OF_WAY];
	cudaGraphExec_t earlier[NR_OF_WAY];
};

template <int W, int N> __global__ void k(int *memory)
{
	*memory = W * 100 + N;
}

/* What k<W, N> is changed to */
template <int W, int N> __global__ void changed_k(int *memory)
{
	*memory = -W * 100 - N;
}

/* The checks behind calls are what keeps them from being jumps. */
template <int W, int N> NOINLINE static void capture(struct worker *w)
{
	k<W, N><<<1, 32, 0, w->stream>>>(w->memory);
	CHECK(cudaGetLastError());
}

template <int W, int N> NOINLINE static void capture_changed(struct worker *w)
{
	changed_k<W, N><<<1, 32, 0, w->stream>>>(w->memory);
	CHECK(cudaGetLastError());
}

static cudaKernelNodeParams kernel_params(void *kernel, void **args)
{
	cudaKernelNodeParams params = {};

	params.func = kernel;
	params.gridDim = dim3(1);
	params.blockDim = dim3(32);
	params.kernelParams = args;
	return params;
}

template <int W, int N>
NOINLINE static cudaGraphNode_t add(struct worker *w, cudaGraph_t graph)
{
	void *args[] = {&w->memory};
	const cudaKernelNodeParams params = kernel_params((void *)k<W, N>, args);
	cudaGraphNode_t node;

	CHECK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
	w->nodes.added++;
	return node;
}

template <int W, int N>
NOINLINE static void replay(struct worker *w, cudaGraphExec_t exec)
{
	w->last_replay = W * NR_OF_WAY + N;
	CHECK(cudaGraphLaunch(exec, w->stream));
	CHECK(cudaStreamSynchronize(w->stream));
}

static void begin_capture(struct worker *w)
{
	CHECK(cudaStreamBeginCapture(w->stream, cudaStreamCaptureModeThreadLocal));
}

static cudaGraph_t end_capture(struct worker *w)
{
	cudaGraph_t graph;

	CHECK(cudaStreamEndCapture(w->stream, &graph));
	w->nodes.captured += NR_NODES;
	return graph;
}

template <int W, int N> static cudaGraph_t capture_graph(struct worker *w)
{
	begin_capture(w);
	for (int i = 0; i < NR_NODES; i++)
		capture<W, N>(w);
	return end_capture(w);
}

/* @nr_nodes: kernels in the graph and its children */
static cudaGraphExec_t instantiate(struct worker *w, cudaGraph_t graph, int nr_nodes)
{
	cudaGraphExec_t exec;

	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	w->nodes.copied += nr_nodes;
	return exec;
}

template <int W, int N> static void replay_all(struct worker *w, cudaGraphExec_t exec)
{
	for (unsigned long i = 0; i < w->nr_replays; i++)
		replay<W, N>(w, exec);
	w->launched[W][N] += NR_NODES * w->nr_replays;
}

/* Instantiate, destroy the original, run, and be done with it. */
template <int W, int N> static void run_graph(struct worker *w, cudaGraph_t graph)
{
	cudaGraphExec_t exec = instantiate(w, graph, NR_NODES);

	CHECK(cudaGraphDestroy(graph));
	replay_all<W, N>(w, exec);
	CHECK(cudaGraphExecDestroy(exec));
}

template <int N> static void run_added(struct worker *w)
{
	cudaGraph_t graph;

	CHECK(cudaGraphCreate(&graph, 0));
	for (int i = 0; i < NR_NODES; i++)
		add<ADDED, N>(w, graph);
	run_graph<ADDED, N>(w, graph);
}

template <int N> static void run_child(struct worker *w)
{
	cudaGraph_t child = capture_graph<CHILD, N>(w), graph;
	cudaGraphNode_t node;
	cudaGraphExec_t exec;

	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child));
	w->nodes.copied += NR_NODES;
	CHECK(cudaGraphDestroy(child));
	add<PARENT, N>(w, graph);
	/* The child's are told of twice: under the number of their kernels, too. */
	exec = instantiate(w, graph, 2 * NR_NODES + 1);
	CHECK(cudaGraphDestroy(graph));
	replay_all<CHILD, N>(w, exec);
	w->launched[PARENT][N] += w->nr_replays;
	CHECK(cudaGraphExecDestroy(exec));
}

template <int N> static void run_cloned(struct worker *w)
{
	cudaGraph_t graph = capture_graph<CLONED, N>(w), clone;

	CHECK(cudaGraphClone(&clone, graph));
	w->nodes.copied += NR_NODES;
	CHECK(cudaGraphDestroy(graph));
	run_graph<CLONED, N>(w, clone);
}

template <int N> static void run_twice(struct worker *w)
{
	cudaGraph_t graph = capture_graph<TWICE, N>(w);
	cudaGraphExec_t first = instantiate(w, graph, NR_NODES);
	cudaGraphExec_t second = instantiate(w, graph, NR_NODES);

	CHECK(cudaGraphDestroy(graph));
	replay_all<TWICE, N>(w, first);
	replay_all<TWICE, N>(w, second);
	CHECK(cudaGraphExecDestroy(first));
	replay_all<TWICE, N>(w, second);
	CHECK(cudaGraphExecDestroy(second));
}

/* Launched before and behind the update without a pause, in the one place. */
template <int N> static void run_updated(struct worker *w)
{
	cudaGraph_t graph = capture_graph<UPDATED, N>(w), other;
	cudaGraphExec_t exec = instantiate(w, graph, NR_NODES);
	cudaGraphExecUpdateResultInfo info;

	CHECK(cudaGraphDestroy(graph));
	begin_capture(w);
	for (int i = 0; i < NR_NODES; i++)
		capture_changed<UPDATED, N>(w);
	other = end_capture(w);
	replay_all<UPDATED, N>(w, exec);
	CHECK(cudaGraphExecUpdate(exec, other, &info));
	w->nodes.updated += NR_NODES;
	CHECK(cudaGraphDestroy(other));
	for (unsigned long i = 0; i < w->nr_replays; i++)
		replay<UPDATED, N>(w, exec);
	w->changed[UPDATED][N] += NR_NODES * w->nr_replays;
	CHECK(cudaGraphExecDestroy(exec));
}

template <int N> static void run_reset(struct worker *w)
{
	void *args[] = {&w->memory};
	const cudaKernelNodeParams params =
		kernel_params((void *)changed_k<RESET, N>, args);
	cudaGraph_t graph;
	cudaGraphNode_t nodes[NR_NODES];
	cudaGraphExec_t exec;

	CHECK(cudaGraphCreate(&graph, 0));
	for (cudaGraphNode_t &node : nodes)
		node = add<RESET, N>(w, graph);
	exec = instantiate(w, graph, NR_NODES);
	replay_all<RESET, N>(w, exec);
	for (cudaGraphNode_t node : nodes)
		CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
	for (unsigned long i = 0; i < w->nr_replays; i++)
		replay<RESET, N>(w, exec);
	w->changed[RESET][N] += NR_NODES * w->nr_replays;
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaGraphExecDestroy(exec));
}

/* By the driver's functions, which a runtime that hasn't these needn't have. */
static struct {
	CUresult (*create_handle)(CUgraphConditionalHandle *handle, CUgraph graph,
				  CUcontext context, unsigned int value,
				  unsigned int flags);
	CUresult (*add_node)(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
			     const CUgraphEdgeData *edges, size_t nr_after,
			     CUgraphNodeParams *params);
	CUresult (*begin_capture)(CUstream stream, CUgraph graph,
				  const CUgraphNode *after, const CUgraphEdgeData *edges,
				  size_t nr_after, CUstreamCaptureMode mode);
	CUresult (*current_context)(CUcontext *context);
} conditional;

template <typename F> static bool find_entry(const char *name, int version, F *ret)
{
	cudaDriverEntryPointQueryResult found;
	void *entry = NULL;

	if (cudaGetDriverEntryPointByVersion(name, &entry, version, cudaEnableDefault,
					     &found) != cudaSuccess ||
	    found != cudaDriverEntryPointSuccess || !entry)
		return false;
	memcpy(ret, &entry, sizeof(*ret));
	return true;
}

static bool find_conditional(void)
{
	return find_entry("cuGraphConditionalHandleCreate", 12040,
			  &conditional.create_handle) &&
	       find_entry("cuGraphAddNode", 13000, &conditional.add_node) &&
	       find_entry("cuStreamBeginCaptureToGraph", 12040,
			  &conditional.begin_capture) &&
	       find_entry("cuCtxGetCurrent", 12000, &conditional.current_context);
}

/* A graph that runs the graph it gives, @ret_body, since its condition is true */
static cudaGraph_t make_conditional(cudaGraph_t *ret_body)
{
	CUgraphNodeParams params = {};
	CUgraphConditionalHandle handle;
	CUcontext context;
	cudaGraph_t graph;
	CUgraphNode node;

	CHECK(cudaGraphCreate(&graph, 0));
	CHECK_DRIVER(conditional.current_context(&context));
	CHECK_DRIVER(conditional.create_handle(&handle, graph, context, 1,
					       CU_GRAPH_COND_ASSIGN_DEFAULT));
	params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
	params.conditional.handle = handle;
	params.conditional.type = CU_GRAPH_COND_TYPE_IF;
	params.conditional.size = 1;
	params.conditional.ctx = context;
	CHECK_DRIVER(conditional.add_node(&node, graph, NULL, NULL, 0, &params));
	*ret_body = params.conditional.phGraph_out[0];
	return graph;
}

template <int N> static void run_conditional(struct worker *w)
{
	cudaGraph_t body, graph = make_conditional(&body), captured;

	for (int i = 0; i < NR_NODES; i++)
		add<CONDITION, N>(w, body);
	run_graph<CONDITION, N>(w, graph);

	graph = make_conditional(&body);
	CHECK_DRIVER(conditional.begin_capture(w->stream, body, NULL, NULL, 0,
					       CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	for (int i = 0; i < NR_NODES; i++)
		capture<BODY, N>(w);
	captured = end_capture(w);
	if (captured != body) {
		fprintf(stderr, "graph_truth: captured into another graph\n");
		exit(1);
	}
	run_graph<BODY, N>(w, graph);
}

template <int N> static void make_early(struct worker *w)
{
	cudaGraph_t graph = capture_graph<EARLIER, N>(w);

	w->early[N] = capture_graph<EARLY, N>(w);
	CHECK(cudaGraphInstantiate(&w->earlier[N], graph, 0));
	CHECK(cudaGraphDestroy(graph));
}

template <int N> static void run(struct worker *w)
{
	capture<DIRECT, N>(w);
	w->launched[DIRECT][N]++;
	run_graph<CAPTURED, N>(w, capture_graph<CAPTURED, N>(w));
	run_added<N>(w);
	run_child<N>(w);
	run_cloned<N>(w);
	run_twice<N>(w);
	run_updated<N>(w);
	run_reset<N>(w);
	run_graph<EARLY, N>(w, w->early[N]);
	replay_all<EARLIER, N>(w, w->earlier[N]);
	CHECK(cudaGraphExecDestroy(w->earlier[N]));
}

template <int... N>
static void run_each(struct worker *w, std::integer_sequence<int, N...>)
{
	(run<N>(w), ...);
}

template <int... N>
static void make_each_early(struct worker *w, std::integer_sequence<int, N...>)
{
	(make_early<N>(w), ...);
}

template <int... N>
static void run_each_conditional(struct worker *w, std::integer_sequence<int, N...>)
{
	(run_conditional<N>(w), ...);
}

NOINLINE static void *work(void *argument)
{
	run_each((struct worker *)argument, std::make_integer_sequence<int, NR_OF_WAY>());
	return NULL;
}

/* The injected library's switches; NULL where nothing is recorded. */
static void (*pause_recording)(void), (*resume_recording)(void);

static int find_switches(struct dl_phdr_info *info, size_t size, void *data)
{
	void *library;

	(void)size;
	(void)data;
	if (!strstr(info->dlpi_name, "libperf-gpu-inject.so"))
		return 0;
	library = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
	if (!library)
		return 0;
	pause_recording = (void (*)(void))dlsym(library, "perf_gpu_pause");
	resume_recording = (void (*)(void))dlsym(library, "perf_gpu_resume");
	return 1;
}

static void prepare(struct worker *w)
{
	struct nodes unseen;

	CHECK(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
	CHECK(cudaMalloc(&w->memory, sizeof(*w->memory)));
	if (pause_recording)
		pause_recording();
	unseen = w->nodes;
	make_each_early(w, std::make_integer_sequence<int, NR_OF_WAY>());
	if (!pause_recording)
		return;
	resume_recording();
	w->nodes = unseen;
}

static const char *what_made(int way)
{
	switch (way) {
	case ADDED:
	case PARENT:
	case RESET:
	case CONDITION:
		return "add";
	case EARLY:
	case EARLIER:
		return pause_recording ? NULL : "capture";
	default:
		return "capture";
	}
}

static void print_kernel(FILE *out, int way, int n, unsigned long nr, bool is_changed)
{
	const char *made = what_made(way);
	/* A child's kernels and its parent's run together. */
	int replayed = way == PARENT ? CHILD : way;

	fprintf(out, "launched\t%lu\t%sk<%d, %d>\t", nr, is_changed ? "changed_" : "",
		way, n);
	if (way == DIRECT)
		fprintf(out, "capture<%d, %d>\n", way, n);
	else if (way == CONDITION || way == BODY)
		/* CUPTI has no correlation id for what a condition starts (13.0). */
		fprintf(out, "[unattributed]\t%s<%d, %d>\n", made, way, n);
	else if (!made)
		fprintf(out, "replay<%d, %d>\t[graph made before recording]\n", replayed,
			n);
	else
		/* What a node was reset to is still where the node was added. */
		fprintf(out, "replay<%d, %d>\t%s%s<%d, %d>\n", replayed, n, made,
			is_changed && way == UPDATED ? "_changed" : "", way, n);
}

static void print(FILE *out, const struct worker *workers)
{
	struct nodes nodes = {};

	for (int way = 0; way < NR_WAYS; way++) {
		for (int n = 0; n < NR_OF_WAY; n++) {
			unsigned long launched = 0, changed = 0;

			for (int t = 0; t < NR_THREADS; t++) {
				launched += workers[t].launched[way][n];
				changed += workers[t].changed[way][n];
			}
			if (launched)
				print_kernel(out, way, n, launched, false);
			if (changed)
				print_kernel(out, way, n, changed, true);
		}
	}
	for (int t = 0; t < NR_THREADS; t++) {
		nodes.captured += workers[t].nodes.captured;
		nodes.added += workers[t].nodes.added;
		nodes.copied += workers[t].nodes.copied;
		nodes.updated += workers[t].nodes.updated;
	}
	fprintf(out, "nodes\tcaptured %lu\tadded %lu\tcloned %lu\tupdated %lu\n",
		nodes.captured, nodes.added, nodes.copied, nodes.updated);
}

int main(int argc, char **argv)
{
	static struct worker workers[NR_THREADS];
	unsigned long nr_replays = 10;
	FILE *out = stdout;
	int option;

	while ((option = getopt(argc, argv, "n:o:")) != -1) {
		if (option == 'n')
			nr_replays = strtoul(optarg, NULL, 10);
		if (option == 'o')
			out = fopen(optarg, "w");
		if (option == '?' || !out) {
			fprintf(stderr, "usage: graph_truth [-n REPLAYS] [-o FILE]\n");
			return 2;
		}
	}
	CHECK(cudaFree(NULL));
	dl_iterate_phdr(find_switches, NULL);
	if (!find_conditional()) {
		memset(&conditional, 0, sizeof(conditional));
		fprintf(stderr,
			"graph_truth: without conditional nodes: this driver has none\n");
	}
	/* One after the other: recording is paused for all threads. */
	for (struct worker &w : workers) {
		w.nr_replays = nr_replays;
		prepare(&w);
	}
	for (struct worker &w : workers) {
		if (pthread_create(&w.thread, NULL, work, &w)) {
			fprintf(stderr, "graph_truth: cannot start a thread\n");
			return 1;
		}
	}
	for (struct worker &w : workers)
		pthread_join(w.thread, NULL);
	/*
	 * Not at once: several threads that instantiate such graphs wait for each other
	 * forever, one in the driver, one in CUPTI, as soon as nodes are traced (driver
	 * 580, CUPTI 13.0; nsys --cuda-graph-trace=node hangs in the same place).
	 */
	for (struct worker &w : workers) {
		if (conditional.add_node)
			run_each_conditional(
				&w, std::make_integer_sequence<int, NR_OF_WAY>());
	}
	print(out, workers);
	return fclose(out) ? 1 : 0;
}
