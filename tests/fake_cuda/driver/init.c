// SPDX-License-Identifier: GPL-2.0-or-later
/* The script from the environment, cuInit(), and the library that it loads. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define DEFAULT_DRIVER_VERSION 13000

struct fake_knobs knobs;

static pthread_mutex_t init_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static bool is_initializing;
static atomic_bool is_initialized;

static uint64_t knob_number(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value && *value ? strtoull(value, NULL, 0) : otherwise;
}

static const char *knob_text(const char *name)
{
	const char *value = getenv(name);

	/* A copy: the program may change its environment. */
	return value && *value ? strdup(value) : NULL;
}

void knobs__read(void)
{
	knobs.durations_path = knob_text("FAKE_CUDA_DURATIONS");
	knobs.truth_path = knob_text("FAKE_CUDA_TRUTH");
	knobs.subscriber = knob_text("FAKE_CUDA_SUBSCRIBER");
	knobs.cupti_errors = knob_text("FAKE_CUDA_CUPTI_ERRORS");
	knobs.drop_every = knob_number("FAKE_CUDA_DROP", 0);
	knobs.unknown_time_every = knob_number("FAKE_CUDA_UNKNOWN_TIME", 0);
	knobs.late_ns = knob_number("FAKE_CUDA_LATE_MS", 0) * 1000000;
	knobs.correlation_start = (uint32_t)knob_number("FAKE_CUDA_CORRELATION_START", 1);
	knobs.driver_version =
		(int)knob_number("FAKE_CUDA_DRIVER_VERSION", DEFAULT_DRIVER_VERSION);
	knobs.is_instant = knob_number("FAKE_CUDA_INSTANT", 0);
	knobs.allows_fork = knob_number("FAKE_CUDA_ALLOW_FORK", 0);
	knobs.has_strays = knob_number("FAKE_CUDA_STRAYS", 0);
	knobs.nr_devices = (int)knob_number("FAKE_CUDA_DEVICES", 1);
	if (knobs.nr_devices > FAKE_MAX_DEVICES)
		knobs.nr_devices = FAKE_MAX_DEVICES;
	if (knob_number("FAKE_CUDA_NO_DEVICE", 0))
		knobs.nr_devices = 0;
}

bool driver__is_initialized(void)
{
	return atomic_load(&is_initialized);
}

CUresult driver__refusal(void)
{
	if (!atomic_load_explicit(&is_initialized, memory_order_acquire))
		return CUDA_ERROR_NOT_INITIALIZED;
	if (fork_page__is_forked() && !knobs.allows_fork)
		return CUDA_ERROR_NOT_INITIALIZED;
	return CUDA_SUCCESS;
}

/* As the real driver: what doesn't load is passed over in silence. */
static void load_injection(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	int (*initialize)(void);
	void *handle;

	if (!path || !*path)
		return;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return;
	initialize = (int (*)(void))(uintptr_t)dlsym(handle, "InitializeInjection");
	if (initialize)
		initialize();
}

/* The injected library may call cuInit() again. */
static CUresult init(unsigned int flags)
{
	CUresult result = CUDA_SUCCESS;

	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!knobs.nr_devices)
		return CUDA_ERROR_NO_DEVICE;
	if (fork_page__is_forked())
		return driver__refusal();
	pthread_mutex_lock(&init_mutex);
	if (atomic_load(&is_initialized) || is_initializing)
		goto out;
	result = fork_page__init();
	if (result)
		goto out;
	is_initializing = true;
	load_injection();
	is_initializing = false;
	atomic_store_explicit(&is_initialized, true, memory_order_release);
	tools__resource(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, &(CUpti_ResourceData){});
out:
	pthread_mutex_unlock(&init_mutex);
	return result;
}

CUresult CUDAAPI cuInit(unsigned int Flags)
{
	cuInit_params params = {Flags};
	struct fake_call call = {.domain = CUPTI_CB_DOMAIN_DRIVER_API,
				 .cbid = CUPTI_DRIVER_TRACE_CBID_cuInit,
				 .params = &params};
	CUresult result;

	fake_call__enter(&tools, &call);
	result = init(Flags);
	fake_call__leave(&tools, &call, &result);
	return result;
}

/* Works without cuInit(), as the real one. */
CUresult CUDAAPI cuDriverGetVersion(int *driverVersion)
{
	if (!driverVersion)
		return CUDA_ERROR_INVALID_VALUE;
	*driverVersion = knobs.driver_version;
	return CUDA_SUCCESS;
}
