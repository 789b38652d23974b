// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The GPUs there are, and those of them that the process sees: CUDA_VISIBLE_DEVICES
 * chooses and numbers them, by number or by the beginning of a name (GPU-UUID,
 * MIG-UUID). A name or number that there isn't ends the list. Of GPUs in MIG mode, a
 * process sees one instance: the first, or the one that it names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

/* The H200 that the facts were measured on */
#define GPU_MEMORY_BYTES       ((size_t)141 << 30)
#define GPU_NR_MULTIPROCESSORS 132
#define GPU_NAME	       "Fake GPU"
/* A seventh of it */
#define MIG_MEMORY_BYTES       ((size_t)18 << 30)
#define MIG_NR_MULTIPROCESSORS 16
#define MIG_NAME	       "Fake GPU MIG 1g.18gb"

#define COMPUTE_MAJOR 9
#define COMPUTE_MINOR 0

#define NAME_BYTES 64

struct device {
	int gpu;
	int instance; /* of the GPU in MIG mode; -1: it isn't */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct device visible[FAKE_MAX_DEVICES];
static int nr_visible;
static bool is_chosen; /* for good: by cuInit() */

static CUuuid gpu_uuid(int gpu)
{
	CUuuid uuid = {"fake-gpu"};

	uuid.bytes[sizeof(uuid.bytes) - 1] = (char)(gpu + 1);
	return uuid;
}

static CUuuid instance_uuid(struct device device)
{
	CUuuid uuid = {"fake-mig"};

	uuid.bytes[sizeof(uuid.bytes) - 2] = (char)(device.gpu + 1);
	uuid.bytes[sizeof(uuid.bytes) - 1] = (char)(device.instance + 1);
	return uuid;
}

static CUuuid device_uuid(struct device device)
{
	return device.instance < 0 ? gpu_uuid(device.gpu) : instance_uuid(device);
}

void uuid__print(const CUuuid *uuid, char *ret)
{
	for (size_t i = 0; i < sizeof(uuid->bytes); i++)
		ret += sprintf(ret, "%s%02x",
			       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			       (unsigned char)uuid->bytes[i]);
}

/* nvidia-smi's */
static void device_name(struct device device, char *ret)
{
	CUuuid uuid = device_uuid(device);

	strcpy(ret, device.instance < 0 ? "GPU-" : "MIG-");
	uuid__print(&uuid, ret + 4);
}

static bool find_name(const char *name, size_t len, struct device *ret)
{
	int nr_instances = knobs.nr_mig_instances;
	char full[NAME_BYTES];

	for (int gpu = 0; gpu < knobs.nr_gpus; gpu++) {
		for (int i = nr_instances ? 0 : -1; i < nr_instances; i++) {
			*ret = (struct device){.gpu = gpu, .instance = i};
			device_name(*ret, full);
			if (!strncmp(full, name, len))
				return true;
			if (i < 0)
				break;
		}
	}
	return false;
}

static bool find(const char *text, size_t len, struct device *ret)
{
	char *end;
	long number;

	if (len > 4 && (!strncmp(text, "GPU-", 4) || !strncmp(text, "MIG-", 4)))
		return find_name(text, len, ret);
	number = strtol(text, &end, 10);
	if (!len || end != text + len || number < 0 || number >= knobs.nr_gpus)
		return false;
	*ret = (struct device){.gpu = (int)number,
			       .instance = knobs.nr_mig_instances ? 0 : -1};
	return true;
}

static void choose_named(const char *list)
{
	struct device device;

	while (nr_visible < FAKE_MAX_DEVICES) {
		size_t len = strcspn(list, ",");

		if (!find(list, len, &device))
			return;
		visible[nr_visible++] = device;
		if (!list[len])
			return;
		list += len + 1;
	}
}

static void choose(void)
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");

	nr_visible = 0;
	if (list)
		choose_named(list);
	else
		for (int gpu = 0; gpu < knobs.nr_gpus; gpu++)
			visible[nr_visible++] = (struct device){
				.gpu = gpu,
				.instance = knobs.nr_mig_instances ? 0 : -1,
			};
	if (knobs.nr_mig_instances && nr_visible > 1)
		nr_visible = 1;
}

int devices__choose(void)
{
	pthread_mutex_lock(&mutex);
	choose();
	is_chosen = true;
	pthread_mutex_unlock(&mutex);
	return nr_visible;
}

/* Before cuInit(), what would be seen if it were called now */
static bool device__find(int number, struct device *ret)
{
	bool found;

	pthread_mutex_lock(&mutex);
	if (!is_chosen)
		choose();
	found = number >= 0 && number < nr_visible;
	if (found)
		*ret = visible[number];
	pthread_mutex_unlock(&mutex);
	return found;
}

bool device__is_valid(CUdevice device)
{
	return device >= 0 && device < nr_visible;
}

bool device__can_access(CUdevice device, CUdevice peer)
{
	/* Instances reach no others. */
	return device__is_valid(device) && device__is_valid(peer) && device != peer &&
	       !knobs.nr_mig_instances;
}

bool device__info(int number, struct fake_device_info *ret)
{
	struct device device;
	bool is_mig;

	if (!device__find(number, &device))
		return false;
	is_mig = device.instance >= 0;
	*ret = (struct fake_device_info){
		.name = is_mig ? MIG_NAME : GPU_NAME,
		.gpu_uuid = gpu_uuid(device.gpu),
		.uuid = device_uuid(device),
		.is_mig = is_mig,
		.instance = is_mig ? (uint32_t)device.instance : 0,
		.memory_bytes = is_mig ? MIG_MEMORY_BYTES : GPU_MEMORY_BYTES,
		.compute_major = COMPUTE_MAJOR,
		.compute_minor = COMPUTE_MINOR,
		.nr_multiprocessors =
			is_mig ? MIG_NR_MULTIPROCESSORS : GPU_NR_MULTIPROCESSORS,
	};
	return true;
}

static CUresult device__get(CUdevice *ret, int ordinal)
{
	if (!device__is_valid(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	*ret = ordinal;
	return CUDA_SUCCESS;
}

static CUresult device__name(char *ret, int len, CUdevice device)
{
	struct fake_device_info info;

	if (!device__info(device, &info))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(ret, (size_t)len, "%s", info.name);
	return CUDA_SUCCESS;
}

/* Of an instance, the older function gives the UUID of the GPU. */
static CUresult device__uuid(CUuuid *ret, CUdevice device, bool is_v2)
{
	struct fake_device_info info;

	if (!device__info(device, &info))
		return CUDA_ERROR_INVALID_DEVICE;
	*ret = is_v2 ? info.uuid : info.gpu_uuid;
	return CUDA_SUCCESS;
}

static CUresult device__memory(size_t *ret, CUdevice device)
{
	struct fake_device_info info;

	if (!device__info(device, &info))
		return CUDA_ERROR_INVALID_DEVICE;
	*ret = info.memory_bytes;
	return CUDA_SUCCESS;
}

static int bus_of(CUdevice device)
{
	return visible[device].gpu + 1;
}

static CUresult device__bus_id(char *ret, int len, CUdevice device)
{
	if (!device__is_valid(device))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(ret, (size_t)len, "0000:%02X:00.0", (unsigned int)bus_of(device));
	return CUDA_SUCCESS;
}

static CUresult device__by_bus_id(CUdevice *ret, const char *bus_id)
{
	unsigned int domain, bus;

	if (!bus_id || sscanf(bus_id, "%x:%x", &domain, &bus) != 2)
		return CUDA_ERROR_INVALID_VALUE;
	for (CUdevice device = 0; device < nr_visible; device++) {
		if (bus_of(device) == (int)bus) {
			*ret = device;
			return CUDA_SUCCESS;
		}
	}
	return CUDA_ERROR_INVALID_DEVICE;
}

static CUresult can_access(int *ret, CUdevice device, CUdevice peer)
{
	if (!device__is_valid(device) || !device__is_valid(peer))
		return CUDA_ERROR_INVALID_DEVICE;
	*ret = device__can_access(device, peer);
	return CUDA_SUCCESS;
}

static CUresult device__attribute(int *ret, CUdevice_attribute attribute, CUdevice device)
{
	static const int values[CU_DEVICE_ATTRIBUTE_MAX] = {
		[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 1024,
		[CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X] = 1024,
		[CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y] = 1024,
		[CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z] = 64,
		[CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X] = 0x7fffffff,
		[CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y] = 65535,
		[CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z] = 65535,
		[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK] = 48 << 10,
		[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] = 227 << 10,
		[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR] = 228 << 10,
		[CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY] = 64 << 10,
		[CU_DEVICE_ATTRIBUTE_WARP_SIZE] = 32,
		[CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK] = 65536,
		[CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR] = 65536,
		[CU_DEVICE_ATTRIBUTE_CLOCK_RATE] = 1980000,
		[CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE] = 3201000,
		[CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH] = 6016,
		[CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE] = 60 << 20,
		[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR] = 2048,
		[CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING] = 1,
		[CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS] = 1,
		[CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT] = 3,
		[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = COMPUTE_MAJOR,
		[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR] = COMPUTE_MINOR,
		[CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY] = 1,
		[CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH] = 1,
		[CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED] = 1,
	};
	struct fake_device_info info;

	if (!device__is_valid(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (attribute >= CU_DEVICE_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	device__info(device, &info);
	if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
		*ret = bus_of(device);
	else if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
		*ret = info.nr_multiprocessors;
	else
		*ret = values[attribute];
	return CUDA_SUCCESS;
}

/* clang-format off */
DRIVER_API(cuDeviceGetCount, (int *count), (count), (*count = nr_visible, CUDA_SUCCESS))
DRIVER_API(cuDeviceGet, (CUdevice *device, int ordinal), (device, ordinal),
	   device__get(device, ordinal))
DRIVER_API(cuDeviceGetName, (char *name, int len, CUdevice dev), (name, len, dev),
	   device__name(name, len, dev))
DRIVER_API(cuDeviceGetUuid, (CUuuid *uuid, CUdevice dev), (uuid, dev),
	   device__uuid(uuid, dev, false))
DRIVER_API(cuDeviceGetUuid_v2, (CUuuid *uuid, CUdevice dev), (uuid, dev),
	   device__uuid(uuid, dev, true))
DRIVER_API(cuDeviceTotalMem_v2, (size_t *bytes, CUdevice dev), (bytes, dev),
	   device__memory(bytes, dev))
DRIVER_API(cuDeviceGetAttribute, (int *value, CUdevice_attribute which, CUdevice dev),
	   (value, which, dev), device__attribute(value, which, dev))
DRIVER_API(cuDeviceGetPCIBusId, (char *bus_id, int len, CUdevice dev), (bus_id, len, dev),
	   device__bus_id(bus_id, len, dev))
DRIVER_API(cuDeviceGetByPCIBusId, (CUdevice *dev, const char *bus_id), (dev, bus_id),
	   device__by_bus_id(dev, bus_id))
DRIVER_API(cuDeviceCanAccessPeer, (int *can, CUdevice dev, CUdevice peer),
	   (can, dev, peer), can_access(can, dev, peer))
