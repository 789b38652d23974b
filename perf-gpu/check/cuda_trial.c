// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/cuda_trial.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

#include "cupti_table.h"
#include "util/rights.h"

/* Plain names: the header's may be macros for a later version. */
struct driver {
	CUresult (*cuInit)(unsigned int flags);
	CUresult (*cuGetErrorName)(CUresult result, const char **name);
	CUresult (*cuDriverGetVersion)(int *version);
	CUresult (*cuDeviceGetCount)(int *nr_devices);
	CUresult (*cuDeviceGet)(CUdevice *device, int ordinal);
	CUresult (*cuDeviceGetName)(char *name, int size, CUdevice device);
	CUresult (*cuDeviceGetAttribute)(int *value, CUdevice_attribute attribute,
					 CUdevice device);
	CUresult (*cuDeviceTotalMem_v2)(size_t *bytes, CUdevice device);
	/* Of a part of a GPU, too (CUDA 11.4), or of GPUs alone; NULL: there is none */
	CUresult (*get_uuid)(CUuuid *uuid, CUdevice device);
};

static void *find_function(void *handle, const char *name, struct cuda_trial *trial)
{
	void *function = dlsym(handle, name);

	if (!function)
		snprintf(trial->libcuda_error, sizeof(trial->libcuda_error), "%s",
			 dlerror());
	return function;
}

static bool driver__open(struct driver *driver, struct cuda_trial *trial)
{
	void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	struct link_map *map;

	if (!handle) {
		snprintf(trial->libcuda_error, sizeof(trial->libcuda_error), "%s",
			 dlerror());
		return false;
	}
#define FIND(name)                                                                       \
	driver->name = (__typeof__(driver->name))(uintptr_t)find_function(handle, #name, \
									  trial);        \
	if (!driver->name)                                                               \
		return false;
	FIND(cuInit)
	FIND(cuGetErrorName)
	FIND(cuDriverGetVersion)
	FIND(cuDeviceGetCount)
	FIND(cuDeviceGet)
	FIND(cuDeviceGetName)
	FIND(cuDeviceGetAttribute)
	FIND(cuDeviceTotalMem_v2)
#undef FIND
	driver->get_uuid = (__typeof__(driver->get_uuid))(uintptr_t)dlsym(
		handle, "cuDeviceGetUuid_v2");
	if (!driver->get_uuid)
		driver->get_uuid = (__typeof__(driver->get_uuid))(uintptr_t)dlsym(
			handle, "cuDeviceGetUuid");
	snprintf(trial->libcuda, sizeof(trial->libcuda), "%s",
		 dlinfo(handle, RTLD_DI_LINKMAP, &map) ? "libcuda.so.1" : map->l_name);
	return true;
}

static void ask_gpu(const struct driver *driver, int ordinal, struct cuda_gpu *gpu)
{
	CUuuid uuid = {};
	CUdevice device;
	size_t bytes = 0;

	if (driver->cuDeviceGet(&device, ordinal))
		return;
	driver->cuDeviceGetName(gpu->name, sizeof(gpu->name) - 1, device);
	driver->cuDeviceGetAttribute(&gpu->compute_major,
				     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
				     device);
	driver->cuDeviceGetAttribute(&gpu->compute_minor,
				     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
				     device);
	driver->cuDeviceTotalMem_v2(&bytes, device);
	gpu->memory_bytes = bytes;
	if (driver->get_uuid && !driver->get_uuid(&uuid, device))
		memcpy(gpu->uuid, uuid.bytes, sizeof(gpu->uuid));
}

/* Return: whether CUDA runs. */
static bool try_driver(struct cuda_trial *trial)
{
	const char *name = NULL;
	struct driver driver;
	CUresult result;

	trial->step = "loading libcuda.so.1";
	if (!driver__open(&driver, trial))
		return false;
	trial->step = "cuDriverGetVersion";
	driver.cuDriverGetVersion(&trial->driver_version);
	trial->step = "cuInit";
	result = driver.cuInit(0);
	if (result) {
		driver.cuGetErrorName(result, &name);
		trial->init_result = (int)result;
		snprintf(trial->init_error, sizeof(trial->init_error), "%s",
			 name ? name : "an unknown error");
		return false;
	}
	trial->step = "listing the GPUs";
	driver.cuDeviceGetCount(&trial->nr_gpus);
	for (int i = 0; i < trial->nr_gpus && i < CUDA_TRIAL_MAX_GPUS; i++)
		ask_gpu(&driver, i, &trial->gpus[i]);
	return true;
}

static void CUPTIAPI ignore_callback(void *userdata, CUpti_CallbackDomain domain,
				     CUpti_CallbackId cbid, const void *data)
{
	(void)userdata;
	(void)domain;
	(void)cbid;
	(void)data;
}

/* The two things that a driver, a virtual GPU or another profiler can refuse */
static void try_recording(const struct cupti_table *cupti, struct cuda_trial *trial)
{
	CUpti_SubscriberHandle subscriber;
	CUptiResult result;

	trial->step = trial->cupti_call = "cuptiSubscribe";
	result = cupti->cuptiSubscribe(&subscriber, ignore_callback, NULL);
	if (!result) {
		trial->step = trial->cupti_call =
			"cuptiActivityEnable(CONCURRENT_KERNEL)";
		result =
			cupti->cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	}
	if (!result) {
		trial->cupti_call = NULL;
		return;
	}
	trial->cupti_result = (int)result;
	snprintf(trial->cupti_error, sizeof(trial->cupti_error), "%s",
		 cupti_table__error(cupti, result));
}

static int try_cuda(void *shared)
{
	/* perf-gpu may have capabilities that its user hasn't (setcap). */
	const char *wanted = secure_getenv("PERF_GPU_CUPTI");
	struct cuda_trial *trial = shared;
	static struct cupti_table cupti;
	bool has_cuda;

	/* Nor are they for code that isn't ours. */
	if (rights__withhold())
		return -1;
	/* cuInit() would load it, and may not come back. */
	unsetenv("CUDA_INJECTION64_PATH");
	has_cuda = try_driver(trial);
	trial->step = "loading libcupti";
	if (cupti_table__open(wanted ? wanted : "", &cupti, trial->cupti_why,
			      sizeof(trial->cupti_why)))
		return 0;
	snprintf(trial->cupti, sizeof(trial->cupti), "%s", cupti.path);
	trial->cupti_version = cupti.version;
	if (has_cuda)
		try_recording(&cupti, trial);
	return 0;
}

void cuda_trial__run(struct cuda_trial *ret, struct trial *trial)
{
	memset(ret, 0, sizeof(*ret));
	trial__run(try_cuda, ret, sizeof(*ret), trial);
}
