// SPDX-License-Identifier: GPL-2.0-or-later
/* Which GPUs there are, and how they are numbered: join/devices.c */
#include <errno.h>

#include "gpu_log.h"
#include "join/devices.h"
#include "unit.h"

static struct sidecar sidecar;

#define DEVICE(log_, device_, uuid_)                                               \
	{                                                                          \
		.log = (log_), .device = (device_), .uuid = {uuid_}, .name = "GPU" \
	}

static struct devices *make(struct sidecar_device *told, size_t nr)
{
	struct devices *devices = NULL;

	sidecar = (struct sidecar){.devices = told, .nr_devices = nr};
	CHECK_EQ(devices__new(&sidecar, &devices), 0);
	return devices;
}

static uint32_t shown(const struct devices *devices, uint32_t log, uint32_t device)
{
	ssize_t gpu = devices__find(devices, log, device);

	CHECK(gpu >= 0);
	return devices__shown_number(devices, (size_t)gpu);
}

TEST(one_process_keeps_its_numbers)
{
	struct sidecar_device told[] = {DEVICE(0, 3, 33), DEVICE(0, 1, 11)};
	struct devices *devices = make(told, 2);

	CHECK_EQ(devices__nr(devices), 2);
	CHECK_EQ(shown(devices, 0, 3), 3);
	CHECK_EQ(shown(devices, 0, 1), 1);
	CHECK_EQ(devices__find(devices, 0, 0), -ENOENT);
	devices__delete(devices);
}

/* CUDA_VISIBLE_DEVICES=N for each: all have a device 0. */
TEST(the_same_number_of_different_gpus)
{
	struct sidecar_device told[] = {DEVICE(0, 0, 10), DEVICE(1, 0, 11),
					DEVICE(2, 0, 12), DEVICE(3, 2, 15)};
	struct devices *devices = make(told, 4);

	CHECK_EQ(devices__nr(devices), 4);
	CHECK_EQ(shown(devices, 0, 0), 0);
	CHECK_EQ(shown(devices, 1, 0), 1);
	CHECK_EQ(shown(devices, 2, 0), 3); /* 2 is what another is called */
	CHECK_EQ(shown(devices, 3, 2), 2);
	devices__delete(devices);
}

TEST(different_numbers_of_the_same_gpu)
{
	struct sidecar_device told[] = {DEVICE(0, 0, 10), DEVICE(0, 1, 11),
					DEVICE(1, 0, 11), DEVICE(1, 1, 10)};
	struct devices *devices = make(told, 4);

	CHECK_EQ(devices__nr(devices), 2);
	CHECK_EQ(shown(devices, 1, 0), 1);
	CHECK_EQ(shown(devices, 1, 1), 0);
	devices__delete(devices);
}

TEST(without_a_uuid_each_process_has_its_own)
{
	struct sidecar_device told[] = {DEVICE(0, 0, 0), DEVICE(1, 0, 0)};
	struct devices *devices = make(told, 2);

	CHECK_EQ(devices__nr(devices), 2);
	CHECK(shown(devices, 0, 0) != shown(devices, 1, 0));
	devices__delete(devices);
}
