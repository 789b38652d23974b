/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that runs on and launches when it is told to, so that what is recorded in
 * the middle of its life can be held against what it did then. Stand-in for CUDA only.
 *
 * Reads commands, a line each, and answers each with a line, "done COMMAND", once it is
 * carried out and the GPU has finished:
 *
 *   NAME N       every thread launches kernel NAME so many times, through serve()
 *   graph NAME N the main thread launches a CUDA graph so many times, which it has made the
 *                first time: of a node that was captured, NAME, and one that was added,
 *                NAME-added
 *   fork NAME N  the same in a forked child, by its only thread
 *   exec         this program anew, in the same process; answered by "ready PID"
 *   close        every descriptor but the standard ones
 *   profile      cudaProfilerStart()
 *   unprofile    cudaProfilerStop()
 *   pause        perf_gpu_pause() of the injected library
 *   resume       perf_gpu_resume()
 *   quit         or the end of the input
 *
 * With -b another thread launches kernel "background" at so many microseconds' distance,
 * until the program ends in order: what is launched while a process ends is another test's.
 */
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_KERNELS 64
#define MAX_NAME    32
#define STACK_BYTES (256u << 10)

void **__cudaRegisterFatBinary(void *fat_binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host_function,
			    char *device_function, const char *device_name,
			    int thread_limit, void *thread_id, void *block_id,
			    void *block_dim, void *grid_dim, int *warp_size);

static struct {
	int magic, version;
	const void *data;
	void *filename_or_fatbins;
} fat_binary = {0x466243b1, 1, NULL, NULL};

/* A kernel is known on the host by an address: of its name. */
static char names[MAX_KERNELS][MAX_NAME];

static struct {
	pthread_barrier_t begin, end;
	const char *kernel;
	unsigned long nr_launches;
} job;

static const char *find_kernel(const char *name)
{
	void **handle;
	int i;

	for (i = 0; i < MAX_KERNELS && *names[i]; i++)
		if (!strcmp(names[i], name))
			return names[i];
	if (i == MAX_KERNELS)
		exit(1);
	snprintf(names[i], MAX_NAME, "%s", name);
	handle = __cudaRegisterFatBinary(&fat_binary);
	__cudaRegisterFunction(handle, names[i], names[i], names[i], -1, NULL, NULL, NULL,
			       NULL, NULL);
	__cudaRegisterFatBinaryEnd(handle);
	return names[i];
}

__attribute__((noinline)) static void serve(const char *kernel, unsigned long nr_launches)
{
	const dim3 one = {1, 1, 1};
	cudaError_t error = cudaSuccess;

	for (unsigned long i = 0; i < nr_launches && !error; i++)
		error = cudaLaunchKernel(kernel, one, one, NULL, 0, NULL);
	if (!error)
		error = cudaDeviceSynchronize();
	if (error) {
		fprintf(stderr, "server: %s\n", cudaGetErrorString(error));
		exit(1);
	}
}

static void check(cudaError_t error)
{
	if (!error)
		return;
	fprintf(stderr, "server: %s\n", cudaGetErrorString(error));
	exit(1);
}

__attribute__((noinline)) static cudaGraphExec_t make_graph(const char *kernel)
{
	char added[MAX_NAME + 8];
	struct cudaKernelNodeParams params = {.gridDim = {1, 1, 1},
					      .blockDim = {1, 1, 1}};
	cudaGraphExec_t exec;
	cudaGraphNode_t node;
	cudaStream_t stream;
	cudaGraph_t graph;

	snprintf(added, sizeof(added), "%s-added", kernel);
	params.func = (void *)(uintptr_t)find_kernel(added);
	check(cudaStreamCreate(&stream));
	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	check(cudaLaunchKernel(kernel, params.gridDim, params.blockDim, NULL, 0, stream));
	check(cudaStreamEndCapture(stream, &graph));
	check(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
	check(cudaGraphInstantiate(&exec, graph, 0));
	return exec;
}

/* The last that was made; another name makes another. */
__attribute__((noinline)) static void serve_graph(const char *kernel,
						  unsigned long nr_launches)
{
	static cudaGraphExec_t graph;
	static const char *of;

	if (of != kernel)
		graph = make_graph(kernel);
	of = kernel;
	for (unsigned long i = 0; i < nr_launches; i++)
		check(cudaGraphLaunch(graph, NULL));
	check(cudaDeviceSynchronize());
}

static void *work(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_barrier_wait(&job.begin);
		serve(job.kernel, job.nr_launches);
		pthread_barrier_wait(&job.end);
	}
	return NULL;
}

static atomic_bool has_ended;

static void *work_in_background(void *interval_us)
{
	const char *kernel = find_kernel("background");

	while (!atomic_load(&has_ended)) {
		serve(kernel, 1);
		usleep(*(useconds_t *)interval_us);
	}
	return NULL;
}

static pthread_t start_thread(void *(*function)(void *), void *argument)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (pthread_create(&thread, &attr, function, argument)) {
		perror("server: a thread");
		exit(1);
	}
	pthread_attr_destroy(&attr);
	return thread;
}

static void serve_in_child(const char *kernel, unsigned long nr_launches)
{
	pid_t child = fork();

	if (!child) {
		serve(kernel, nr_launches);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void call_library(const char *function)
{
	void *library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW | RTLD_NOLOAD);
	void (*call)(void);

	call = library ? (void (*)(void))(uintptr_t)dlsym(library, function) : NULL;
	if (!call) {
		fprintf(stderr, "server: %s: %s\n", function, dlerror());
		exit(1);
	}
	call();
}

/* Returns false for the last one. */
static bool carry_out(const char *line, char **argv)
{
	char word[MAX_NAME], name[MAX_NAME];
	unsigned long nr_launches;

	if (!strcmp(line, "quit"))
		return false;
	if (!strcmp(line, "exec")) {
		execv("/proc/self/exe", argv);
	} else if (!strcmp(line, "close")) {
		closefrom(STDERR_FILENO + 1);
	} else if (!strcmp(line, "profile")) {
		check(cudaProfilerStart());
	} else if (!strcmp(line, "unprofile")) {
		check(cudaProfilerStop());
	} else if (!strcmp(line, "pause")) {
		call_library("perf_gpu_pause");
	} else if (!strcmp(line, "resume")) {
		call_library("perf_gpu_resume");
	} else if (sscanf(line, "graph %31s %lu", name, &nr_launches) == 2) {
		serve_graph(find_kernel(name), nr_launches);
	} else if (sscanf(line, "fork %31s %lu", name, &nr_launches) == 2) {
		serve_in_child(find_kernel(name), nr_launches);
	} else if (sscanf(line, "%31s %lu", word, &nr_launches) == 2) {
		job.kernel = find_kernel(word);
		job.nr_launches = nr_launches;
		pthread_barrier_wait(&job.begin);
		pthread_barrier_wait(&job.end);
	} else {
		return false;
	}
	printf("done %s\n", line);
	return true;
}

int main(int argc, char **argv)
{
	static useconds_t interval_us;
	pthread_t background = 0;
	unsigned int nr_threads = 1;
	char line[128];
	int option;

	while ((option = getopt(argc, argv, "t:b:")) != -1) {
		if (option == 't')
			nr_threads = (unsigned int)atoi(optarg);
		else if (option == 'b')
			interval_us = (useconds_t)atoi(optarg);
		else
			goto usage;
	}
	if (!nr_threads || optind < argc)
		goto usage;
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* An exec'd program goes on where the one before it stopped. */
	setvbuf(stdin, NULL, _IONBF, 0);
	cudaFree(NULL);
	pthread_barrier_init(&job.begin, NULL, nr_threads + 1);
	pthread_barrier_init(&job.end, NULL, nr_threads + 1);
	for (unsigned int i = 0; i < nr_threads; i++)
		start_thread(work, NULL);
	if (interval_us)
		background = start_thread(work_in_background, &interval_us);
	printf("ready %d\n", getpid());
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!carry_out(line, argv))
			break;
	}
	if (interval_us) {
		atomic_store(&has_ended, true);
		pthread_join(background, NULL);
	}
	return 0;
usage:
	fprintf(stderr, "usage: server [-t THREADS] [-b MICROSECONDS]\n");
	return 2;
}
