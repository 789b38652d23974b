// SPDX-License-Identifier: GPL-2.0-or-later
#include "device.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include <cuda.h>

/* The header's names may be macros for a later version: of cuDeviceGetUuid, it is. */
#undef cuDeviceGetUuid
struct driver {
	CUresult (*cuDriverGetVersion)(int *version);
	CUresult (*cuDeviceGetCount)(int *nr_devices);
	CUresult (*cuDeviceGet)(CUdevice *device, int ordinal);
	CUresult (*cuDeviceGetName)(char *name, int size, CUdevice device);
	CUresult (*cuDeviceGetAttribute)(int *value, CUdevice_attribute attribute,
					 CUdevice device);
	CUresult (*cuDeviceGetUuid)(CUuuid *uuid, CUdevice device);
	/* Of a part of a GPU (MIG), the part's own; NULL before CUDA 11.4 */
	CUresult (*cuDeviceGetUuid_v2)(CUuuid *uuid, CUdevice device);
	CUresult (*cuDeviceTotalMem_v2)(size_t *bytes, CUdevice device);
};

static int driver__open(struct driver *driver)
{
	void *handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (!handle)
		return -ENOENT;
#define GET(name)                                                                 \
	driver->name = (__typeof__(driver->name))(uintptr_t)dlsym(handle, #name); \
	if (!driver->name)                                                        \
		goto out;
	GET(cuDriverGetVersion)
	GET(cuDeviceGetCount)
	GET(cuDeviceGet)
	GET(cuDeviceGetName)
	GET(cuDeviceGetAttribute)
	GET(cuDeviceGetUuid)
	GET(cuDeviceTotalMem_v2)
#undef GET
	driver->cuDeviceGetUuid_v2 =
		(__typeof__(driver->cuDeviceGetUuid_v2))(uintptr_t)dlsym(
			handle, "cuDeviceGetUuid_v2");
	return 0;
out:
	dlclose(handle);
	return -ENOENT;
}

static uint32_t attribute(const struct driver *driver, CUdevice_attribute which,
			  CUdevice device)
{
	int value = 0;

	driver->cuDeviceGetAttribute(&value, which, device);
	return (uint32_t)value;
}

static void tell_device(const struct driver *driver, struct log *log, int ordinal)
{
	struct gpu_log_device record = {.device = (uint32_t)ordinal};
	char name[256] = "";
	CUdevice device;
	CUuuid uuid = {};
	size_t bytes = 0;

	if (driver->cuDeviceGet(&device, ordinal))
		return;
	driver->cuDeviceGetName(name, sizeof(name) - 1, device);
	if (!driver->cuDeviceGetUuid_v2 || driver->cuDeviceGetUuid_v2(&uuid, device))
		driver->cuDeviceGetUuid(&uuid, device);
	driver->cuDeviceTotalMem_v2(&bytes, device);
	memcpy(record.uuid, uuid.bytes, sizeof(record.uuid));
	record.memory_bytes = bytes;
	record.compute_major =
		attribute(driver, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
	record.compute_minor =
		attribute(driver, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
	record.nr_multiprocessors =
		attribute(driver, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
	log__device(log, name, &record);
}

void device__tell_versions(struct log *log, uint32_t cupti_version)
{
	struct driver driver;
	int version = 0;

	if (!driver__open(&driver))
		driver.cuDriverGetVersion(&version);
	log__set_versions(log, cupti_version, (uint32_t)version);
}

bool device__tell_all(struct log *log)
{
	struct driver driver;
	int nr_devices = 0;

	if (driver__open(&driver))
		return true;
	/* CUDA_ERROR_NOT_INITIALIZED: cuInit() isn't done. */
	if (driver.cuDeviceGetCount(&nr_devices))
		return false;
	for (int i = 0; i < nr_devices; i++)
		tell_device(&driver, log, i);
	return true;
}
