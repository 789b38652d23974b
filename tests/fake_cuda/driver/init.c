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
static atomic_bool is_broken; /* a kernel has trapped */

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
	knobs.migrations_path = knob_text("FAKE_CUDA_MIGRATIONS");
	knobs.truth_path = knob_text("FAKE_CUDA_TRUTH");
	knobs.subscriber = knob_text("FAKE_CUDA_SUBSCRIBER");
	knobs.cupti_errors = knob_text("FAKE_CUDA_CUPTI_ERRORS");
	knobs.trap = knob_text("FAKE_CUDA_TRAP");
	knobs.drop_every = knob_number("FAKE_CUDA_DROP", 0);
	knobs.unknown_time_every = knob_number("FAKE_CUDA_UNKNOWN_TIME", 0);
	knobs.copy_drop_every = knob_number("FAKE_CUDA_DROP_COPIES", 0);
	knobs.copy_unknown_time_every = knob_number("FAKE_CUDA_UNKNOWN_TIME_COPIES", 0);
	knobs.late_until = knob_text("FAKE_CUDA_LATE_UNTIL");
	knobs.late_after = knob_number("FAKE_CUDA_LATE_AFTER", 0);
	knobs.correlation_start = (uint32_t)knob_number("FAKE_CUDA_CORRELATION_START", 1);
	knobs.driver_version =
		(int)knob_number("FAKE_CUDA_DRIVER_VERSION", DEFAULT_DRIVER_VERSION);
	knobs.is_instant = knob_number("FAKE_CUDA_INSTANT", 0);
	knobs.allows_fork = knob_number("FAKE_CUDA_ALLOW_FORK", 0);
	knobs.has_strays = knob_number("FAKE_CUDA_STRAYS", 0);
	knobs.has_late_faults = knob_number("FAKE_CUDA_LATE_FAULTS", 0);
	knobs.has_stuck_faults = knob_number("FAKE_CUDA_STUCK_FAULTS", 0);
	knobs.untold_after = (uint32_t)knob_number("FAKE_CUDA_UNTOLD", 0);
	knobs.nr_mig_instances = (int)knob_number("FAKE_CUDA_MIG", 0);
	knobs.nr_gpus = (int)knob_number("FAKE_CUDA_DEVICES", 1);
	if (knobs.nr_gpus > FAKE_MAX_DEVICES)
		knobs.nr_gpus = FAKE_MAX_DEVICES;
	if (knob_number("FAKE_CUDA_NO_DEVICE", 0))
		knobs.nr_gpus = 0;
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
	if (atomic_load_explicit(&is_broken, memory_order_relaxed))
		return CUDA_ERROR_LAUNCH_FAILED;
	return CUDA_SUCCESS;
}

void driver__break(void)
{
	atomic_store(&is_broken, true);
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
	if (fork_page__is_forked())
		return driver__refusal();
	pthread_mutex_lock(&init_mutex);
	if (atomic_load(&is_initialized) || is_initializing)
		goto out;
	if (!devices__choose()) {
		result = CUDA_ERROR_NO_DEVICE;
		goto out;
	}
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
	cuDriverGetVersion_params params = {driverVersion};
	struct fake_call call = {.domain = CUPTI_CB_DOMAIN_DRIVER_API,
				 .cbid = CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion,
				 .params = &params};
	CUresult result = driverVersion ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;

	fake_call__enter(&tools, &call);
	if (!result)
		*driverVersion = knobs.driver_version;
	fake_call__leave(&tools, &call, &result);
	return result;
}
