// SPDX-License-Identifier: GPL-2.0-or-later
#include "fault_gpu.h"

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The stand-in takes the time of slow kernels from their name. */
static const char ptx[] = ".version 7.0\n"
			  ".target sm_80\n"
			  ".address_size 64\n"
			  ".visible .entry fault_quick() { ret; }\n"
			  ".visible .entry fault_trap() { trap; }\n"
			  ".visible .entry fault_slow(.param .u64 ns) {\n"
			  "	.reg .pred %p;\n"
			  "	.reg .u64 %first, %now, %ns;\n"
			  "	ld.param.u64 %ns, [ns];\n"
			  "	mov.u64 %first, %globaltimer;\n"
			  "again:\n"
			  "	mov.u64 %now, %globaltimer;\n"
			  "	sub.u64 %now, %now, %first;\n"
			  "	setp.lt.u64 %p, %now, %ns;\n"
			  "	@%p bra again;\n"
			  "	ret;\n"
			  "}\n";
#define SLOW_NS 50000000

static struct {
	__typeof__(cuInit) *cuInit;
	__typeof__(cuDevicePrimaryCtxRetain) *cuDevicePrimaryCtxRetain;
	__typeof__(cuCtxSetCurrent) *cuCtxSetCurrent;
	__typeof__(cuCtxSynchronize) *cuCtxSynchronize;
	CUresult (*cuCtxCreate)(CUcontext *, unsigned int, CUdevice);
	__typeof__(cuCtxDestroy) *cuCtxDestroy;
	__typeof__(cuModuleLoadData) *cuModuleLoadData;
	__typeof__(cuModuleGetFunction) *cuModuleGetFunction;
	__typeof__(cuLaunchKernel) *cuLaunchKernel;
} driver;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static CUcontext primary, own;
static CUfunction quick, slow, trap;
static int report_fd = STDOUT_FILENO;

static void check(const char *what, CUresult result)
{
	if (!result)
		return;
	fprintf(stderr, "%s: %d\n", what, (int)result);
	_exit(9);
}
#define CALL(function, ...) check(#function, driver.function(__VA_ARGS__))

static void *symbol(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "libcuda has no %s\n", name);
		_exit(9);
	}
	return found;
}

static void open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(9);
	}
#define FIND(member, name) \
	driver.member = (__typeof__(driver.member))(uintptr_t)symbol(library, name)
	FIND(cuInit, "cuInit");
	FIND(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
	FIND(cuCtxSetCurrent, "cuCtxSetCurrent");
	FIND(cuCtxSynchronize, "cuCtxSynchronize");
	FIND(cuCtxCreate, "cuCtxCreate_v2");
	FIND(cuCtxDestroy, "cuCtxDestroy_v2");
	FIND(cuModuleLoadData, "cuModuleLoadData");
	FIND(cuModuleGetFunction, "cuModuleGetFunction");
	FIND(cuLaunchKernel, "cuLaunchKernel");
#undef FIND
	CALL(cuInit, 0);
}

static void load_module(void)
{
	CUmodule module;

	CALL(cuModuleLoadData, &module, ptx);
	CALL(cuModuleGetFunction, &quick, module, "fault_quick");
	CALL(cuModuleGetFunction, &slow, module, "fault_slow");
	CALL(cuModuleGetFunction, &trap, module, "fault_trap");
}

/* This thread can launch. */
static void prepare(void)
{
	pthread_mutex_lock(&mutex);
	if (!driver.cuLaunchKernel)
		open_driver();
	if (!primary)
		CALL(cuDevicePrimaryCtxRetain, &primary, 0);
	CALL(cuCtxSetCurrent, own ? own : primary);
	if (!quick)
		load_module();
	pthread_mutex_unlock(&mutex);
}

/* By no buffer that a fork would double, in one write that no other cuts */
static void report(unsigned int nr_launches, unsigned int nr_kernels)
{
	dprintf(report_fd, "launched %u %u\n", nr_launches, nr_kernels);
}

static CUresult launch(CUfunction function, unsigned int nr_blocks)
{
	unsigned long long ns = SLOW_NS;
	void *parameters[] = {&ns};

	return driver.cuLaunchKernel(function, nr_blocks, 1, 1, 1, 1, 1, 0, NULL,
				     function == slow ? parameters : NULL, NULL);
}

void gpu__launch(unsigned int nr_launches)
{
	prepare();
	for (unsigned int i = 0; i < nr_launches; i++)
		check("cuLaunchKernel", launch(quick, 1));
	CALL(cuCtxSynchronize);
	report(nr_launches, nr_launches);
}

void gpu__launch_slow(unsigned int nr_launches)
{
	prepare();
	for (unsigned int i = 0; i < nr_launches; i++)
		check("cuLaunchKernel", launch(slow, 1));
	report(nr_launches, nr_launches);
}

void gpu__launch_wrongly(unsigned int nr_launches)
{
	prepare();
	for (unsigned int i = 0; i < nr_launches; i++)
		if (!launch(quick, 0))
			check("a launch of no block", CUDA_ERROR_UNKNOWN);
	report(nr_launches, 0);
}

void gpu__trap(unsigned int nr_launches)
{
	prepare();
	check("cuLaunchKernel", launch(trap, 1));
	if (!driver.cuCtxSynchronize())
		check("a trap", CUDA_ERROR_UNKNOWN);
	for (unsigned int i = 0; i < nr_launches; i++)
		if (!launch(quick, 1))
			check("a launch behind a trap", CUDA_ERROR_UNKNOWN);
	report(nr_launches + 1, 0);
}

void gpu__create_context(void)
{
	prepare();
	CALL(cuCtxCreate, &own, 0, 0);
	load_module();
}

void gpu__destroy_context(void)
{
	CALL(cuCtxDestroy, own);
	own = NULL;
	quick = NULL;
}

void gpu__forget(void)
{
	primary = NULL;
	quick = NULL;
}

void gpu__report_to(int fd)
{
	report_fd = fd;
}
