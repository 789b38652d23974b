// SPDX-License-Identifier: GPL-2.0-or-later
#include "join/devices.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_log.h"

/* A number in a log */
struct device_name {
	uint32_t log, device;
	const struct sidecar_device *description; /* NULL: none */
	size_t gpu;
};

struct devices {
	struct device_name *names; /* by log and device, each once */
	size_t nr_names;
	const struct device_name **gpus; /* the first name of each */
	uint32_t *shown_numbers; /* one for each */
	size_t nr_gpus;
};

static int compare_names(const void *a, const void *b)
{
	const struct device_name *x = a, *y = b;

	if (x->log != y->log)
		return x->log < y->log ? -1 : 1;
	return (x->device > y->device) - (x->device < y->device);
}

/* The same, and of those with one name the first description first */
static int compare_entries(const void *a, const void *b)
{
	const struct device_name *x = a, *y = b;
	int order = compare_names(a, b);

	if (order || x->description == y->description)
		return order;
	if (!x->description || !y->description)
		return x->description ? -1 : 1;
	return x->description < y->description ? -1 : 1;
}

static int compare_uuids(const void *a, const void *b)
{
	const struct device_name *x = a, *y = b;

	return memcmp(x->description->uuid, y->description->uuid,
		      sizeof(x->description->uuid));
}

static bool has_uuid(const struct device_name *name)
{
	static const uint8_t none[sizeof(name->description->uuid)];

	return name->description &&
	       memcmp(name->description->uuid, none, sizeof(none)) != 0;
}

/* All numbers that the sidecar has, each once, and with a description if there is one */
static int list_names(struct devices *devices, const struct sidecar *sidecar)
{
	size_t nr_entries = 0, nr = 0;
	/* One more: calloc(0) may give NULL. */
	struct device_name *entries =
		calloc(sidecar->nr_devices + sidecar->nr_shapes + 1, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < sidecar->nr_devices; i++)
		entries[nr_entries++] =
			(struct device_name){.log = sidecar->devices[i].log,
					     .device = sidecar->devices[i].device,
					     .description = &sidecar->devices[i]};
	for (size_t i = 0; i < sidecar->nr_shapes; i++)
		if (sidecar->shapes[i].device != GPU_LOG_NO_DEVICE)
			entries[nr_entries++] =
				(struct device_name){.log = sidecar->shapes[i].log,
						     .device = sidecar->shapes[i].device};
	qsort(entries, nr_entries, sizeof(*entries), compare_entries);
	for (size_t i = 0; i < nr_entries; i++)
		if (!nr || compare_names(&entries[nr - 1], &entries[i]))
			entries[nr++] = entries[i];
	devices->names = entries;
	devices->nr_names = nr;
	return 0;
}

static void keep(void *node)
{
	(void)node;
}

static int number_gpus(struct devices *devices)
{
	void *by_uuid = NULL; /* tsearch(3) tree of struct device_name */
	int err = 0;

	devices->gpus = calloc(devices->nr_names + 1, sizeof(*devices->gpus));
	if (!devices->gpus)
		return -ENOMEM;
	for (size_t i = 0; i < devices->nr_names && !err; i++) {
		struct device_name *name = &devices->names[i], **found = &name;

		if (has_uuid(name))
			found = tsearch(name, &by_uuid, compare_uuids);
		if (!found) {
			err = -ENOMEM;
		} else if (*found != name) {
			name->gpu = (*found)->gpu;
		} else {
			name->gpu = devices->nr_gpus;
			devices->gpus[devices->nr_gpus++] = name;
		}
	}
	tdestroy(by_uuid, keep);
	return err;
}

static bool is_first_of_number(const struct devices *devices, size_t gpu)
{
	for (size_t i = 0; i < gpu; i++)
		if (devices->gpus[i]->device == devices->gpus[gpu]->device)
			return false;
	return true;
}

static bool is_called(const struct devices *devices, uint32_t number)
{
	for (size_t i = 0; i < devices->nr_gpus; i++)
		if (devices->gpus[i]->device == number)
			return true;
	return false;
}

/* Who comes first keeps its number; the others get what nobody is called. */
static int choose_shown_numbers(struct devices *devices)
{
	uint32_t next = 0;

	devices->shown_numbers =
		calloc(devices->nr_gpus + 1, sizeof(*devices->shown_numbers));
	if (!devices->shown_numbers)
		return -ENOMEM;
	for (size_t i = 0; i < devices->nr_gpus; i++) {
		devices->shown_numbers[i] = devices->gpus[i]->device;
		if (is_first_of_number(devices, i))
			continue;
		while (is_called(devices, next))
			next++;
		devices->shown_numbers[i] = next++;
	}
	return 0;
}

int devices__new(const struct sidecar *sidecar, struct devices **ret)
{
	struct devices *devices = calloc(1, sizeof(*devices));

	if (!devices)
		return -ENOMEM;
	if (list_names(devices, sidecar) || number_gpus(devices) ||
	    choose_shown_numbers(devices)) {
		devices__delete(devices);
		return -ENOMEM;
	}
	*ret = devices;
	return 0;
}

void devices__delete(struct devices *devices)
{
	if (!devices)
		return;
	free(devices->shown_numbers);
	free(devices->gpus);
	free(devices->names);
	free(devices);
}

size_t devices__nr(const struct devices *devices)
{
	return devices->nr_gpus;
}

ssize_t devices__find(const struct devices *devices, uint32_t log, uint32_t device)
{
	const struct device_name key = {.log = log, .device = device};
	const struct device_name *found;

	if (!devices->nr_names)
		return -ENOENT;
	found = bsearch(&key, devices->names, devices->nr_names, sizeof(key),
			compare_names);
	return found ? (ssize_t)found->gpu : -ENOENT;
}

uint32_t devices__number(const struct devices *devices, size_t gpu)
{
	return devices->gpus[gpu]->device;
}

uint32_t devices__shown_number(const struct devices *devices, size_t gpu)
{
	return devices->shown_numbers[gpu];
}

const struct sidecar_device *devices__description(const struct devices *devices,
						  size_t gpu)
{
	return devices->gpus[gpu]->description;
}
