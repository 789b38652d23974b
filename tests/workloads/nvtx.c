/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches kernels within NVTX ranges of every kind, each from a function whose name
 * says which ranges those are. Stand-in for CUDA only.
 *
 *	nvtx [PART]...	fork, threads, process, domains, unbalanced, library, streams, or
 *			each in turn; copies; commands: "push NAME", "pop", "start NAME", "end",
 *			"launch" from the standard input, a line each, which it answers
 *			with one
 *
 * Prints what NVTX's functions return, which is another tool's business, too.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

#include "plain_cuda.h"

/*
 * One kernel, within what the name says. The text keeps the functions apart, which are
 * the same but for it, and the call from becoming a jump.
 */
#define LAUNCH_WITHIN(name)                                       \
	__attribute__((noinline)) static void within_##name(void) \
	{                                                         \
		plain_kernel__launch(1);                          \
		__asm__ volatile("# " #name);                     \
	}

LAUNCH_WITHIN(nothing)
LAUNCH_WITHIN(outer)
LAUNCH_WITHIN(outer_inner)
LAUNCH_WITHIN(outer_inner_3)
LAUNCH_WITHIN(thread)
LAUNCH_WITHIN(thread_wide)
LAUNCH_WITHIN(request)
LAUNCH_WITHIN(request_other)
LAUNCH_WITHIN(other)
LAUNCH_WITHIN(mine_epoch)
LAUNCH_WITHIN(mine_epoch_step)
LAUNCH_WITHIN(mine_epoch_lib_step)
LAUNCH_WITHIN(lib_step)
LAUNCH_WITHIN(left)
LAUNCH_WITHIN(parent_child)
LAUNCH_WITHIN(library)
LAUNCH_WITHIN(outer_library)

static pthread_barrier_t barrier;

static void meet(void)
{
	pthread_barrier_wait(&barrier);
}

static nvtxEventAttributes_t message(nvtxMessageType_t type)
{
	return (nvtxEventAttributes_t){
		.version = NVTX_VERSION,
		.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
		.messageType = type,
	};
}

/* --- ranges of two threads, interleaved -------------------------------------------------- */

static void *other_thread(void *unused)
{
	(void)unused;
	meet();
	nvtxRangePushA("thread");
	meet();
	within_thread();
	meet();
	nvtxRangePushW(L"w\u00efde \u20ac");
	within_thread_wide();
	meet();
	nvtxRangePop();
	nvtxRangePop();
	within_nothing();
	return NULL;
}

static void run_threads(void)
{
	nvtxEventAttributes_t attributes = message(NVTX_MESSAGE_TYPE_ASCII);
	pthread_t thread;
	int depth[4];

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, other_thread, NULL);
	depth[0] = nvtxRangePushA("outer");
	meet();
	within_outer();
	meet();
	attributes.message.ascii = "inner";
	depth[1] = nvtxRangePushEx(&attributes);
	within_outer_inner();
	meet();
	nvtxRangePushA("3");
	within_outer_inner_3();
	nvtxRangePop();
	nvtxMarkA("a mark is no range");
	within_outer_inner();
	meet();
	depth[2] = nvtxRangePop();
	within_outer();
	depth[3] = nvtxRangePop();
	pthread_join(thread, NULL);
	within_nothing();
	printf("push %d %d pop %d %d\n", depth[0], depth[1], depth[2], depth[3]);
}

/* --- ranges of the process, started here and ended there --------------------------------- */

static nvtxRangeId_t request, other;

static void *end_request(void *unused)
{
	(void)unused;
	within_request_other();
	nvtxRangeEnd(request);
	within_other();
	return NULL;
}

static void run_process(void)
{
	pthread_t thread;

	request = nvtxRangeStartA("request");
	within_request();
	other = nvtxRangeStartW(L"other");
	pthread_create(&thread, NULL, end_request, NULL);
	pthread_join(thread, NULL);
	nvtxRangeEnd(other);
	within_nothing();
	printf("start %d\n", request && other && request != other);
}

/* --- domains and registered strings -------------------------------------------------------- */

static void run_domains(void)
{
	nvtxDomainHandle_t mine = nvtxDomainCreateA("mine");
	nvtxDomainHandle_t lib = nvtxDomainCreateW(L"lib");
	nvtxEventAttributes_t epoch = message(NVTX_MESSAGE_TYPE_REGISTERED);
	nvtxEventAttributes_t step = message(NVTX_MESSAGE_TYPE_UNICODE);
	nvtxRangeId_t range;

	epoch.message.registered = nvtxDomainRegisterStringA(mine, "epoch");
	step.message.unicode = L"step";
	nvtxDomainRangePushEx(mine, &epoch);
	within_mine_epoch();
	nvtxDomainRangePushEx(mine, &step);
	within_mine_epoch_step();
	nvtxDomainRangePop(mine);
	nvtxDomainRangePushEx(lib, &step);
	within_mine_epoch_lib_step();
	/* Of this domain, though the other's is the innermost */
	nvtxDomainRangePop(mine);
	within_lib_step();
	nvtxDomainRangePop(lib);
	within_nothing();
	range = nvtxDomainRangeStartEx(mine, &epoch);
	within_mine_epoch();
	nvtxDomainRangeEnd(mine, range);
	within_nothing();
	nvtxDomainDestroy(mine);
}

/* --- more ends than beginnings, and fewer ---------------------------------------------------- */

static void *leave_open(void *unused)
{
	(void)unused;
	nvtxRangePushA("left");
	within_left();
	return NULL;
}

static void run_unbalanced(void)
{
	pthread_t thread;

	nvtxRangePop();
	nvtxRangeEnd(77777);
	within_nothing();
	pthread_create(&thread, NULL, leave_open, NULL);
	pthread_join(thread, NULL);
	/* It may well have the other's id. */
	pthread_create(&thread, NULL, end_request, NULL);
	pthread_join(thread, NULL);
	within_nothing();
}

/* --- a child that uses CUDA, whose parent doesn't yet ----------------------------------------- */

static void run_fork(void)
{
	pid_t child;

	nvtxRangePushA("parent");
	child = fork();
	if (!child) {
		nvtxRangePushA("child");
		within_parent_child();
		nvtxRangePop();
		exit(0);
	}
	waitpid(child, NULL, 0);
	nvtxRangePop();
	within_nothing();
}

/* --- a library that has a copy of NVTX of its own -------------------------------------------- */

static void run_library(void)
{
	char path[4096];
	ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - 32);
	void (*call)(void (*within)(void)) = NULL;
	void *library = NULL;

	if (bytes > 0) {
		strcpy(path + bytes, "_library.so");
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	if (library)
		call = (void (*)(void (*)(void)))dlsym(library, "call_within_range");
	if (!call) {
		fprintf(stderr, "%s: no library\n", path);
		exit(1);
	}
	nvtxRangePushA("outer");
	call(within_outer_library);
	nvtxRangePop();
	call(within_library);
	within_nothing();
}

/* --- several streams, at the same time ---------------------------------------------------- */

static void run_streams(void)
{
	dim3 one = {1, 1, 1};
	cudaStream_t streams[2];

	for (int i = 0; i < 2; i++)
		cudaStreamCreate(&streams[i]);
	for (int i = 0; i < 10; i++)
		cudaLaunchKernel((const void *)plain_kernel, one, one, NULL, 0,
				 streams[i % 2]);
	cudaDeviceSynchronize();
}

/* --- copies, a memset and memory within ranges --------------------------------------------------- */

static void run_copies(void)
{
	static char host[4096];
	void *device = NULL;

	nvtxRangePushA("allocate");
	cudaMalloc(&device, 1 << 20);
	nvtxRangePop();
	nvtxRangePushA("copy");
	cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
	nvtxRangePop();
	nvtxRangePushA("clear");
	cudaMemset(device, 0, 1000);
	cudaDeviceSynchronize();
	nvtxRangePop();
	cudaFree(device);
}

/* --- on command --------------------------------------------------------------------------- */

__attribute__((noinline)) static void obey(const char *command)
{
	static nvtxRangeId_t started;

	if (!strncmp(command, "push ", 5))
		nvtxRangePushA(command + 5);
	else if (!strcmp(command, "pop"))
		nvtxRangePop();
	else if (!strncmp(command, "start ", 6))
		started = nvtxRangeStartA(command + 6);
	else if (!strcmp(command, "end"))
		nvtxRangeEnd(started);
	else if (!strcmp(command, "launch"))
		plain_kernel__launch(1);
}

static void run_commands(void)
{
	char line[256];

	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		obey(line);
		printf("done %s\n", line);
		fflush(stdout);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
	bool is_by_name; /* only */
} parts[] = {
	{"fork", run_fork, false},
	{"threads", run_threads, false},
	{"process", run_process, false},
	{"domains", run_domains, false},
	{"unbalanced", run_unbalanced, false},
	{"library", run_library, false},
	{"streams", run_streams, false},
	{"copies", run_copies, true},
	{"commands", run_commands, true},
};

static int run(const char *name)
{
	int nr_run = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (name ? strcmp(name, parts[i].name) : parts[i].is_by_name)
			continue;
		parts[i].run();
		nr_run++;
	}
	return nr_run;
}

int main(int argc, char **argv)
{
	int nr_run = 0;

	for (int i = 1; i < argc; i++)
		nr_run += run(argv[i]);
	if (argc > 1 ? nr_run < argc - 1 : !run(NULL)) {
		fprintf(stderr,
			"usage: %s [fork|threads|process|domains|unbalanced|library|"
			"streams|copies|commands]...\n",
			argv[0]);
		return 2;
	}
	return 0;
}
