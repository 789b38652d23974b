// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/gpu_table.h"

#include <stdbool.h>
#include <string.h>

#include "util/format.h"
#include "util/log.h"

static struct gpu_entry *get_gpu(struct gpu_table *table,
				 const struct gpu_log_device *device)
{
	struct gpu_entry *gpu;

	for (size_t i = 0; i < table->nr_gpus; i++) {
		gpu = &table->gpus[i];
		if (!memcmp(gpu->uuid, device->uuid, sizeof(gpu->uuid)))
			return gpu;
	}
	if (table->nr_gpus == GPU_TABLE_MAX)
		return NULL;
	gpu = &table->gpus[table->nr_gpus++];
	*gpu = (struct gpu_entry){.first_number = device->device};
	memcpy(gpu->uuid, device->uuid, sizeof(gpu->uuid));
	return gpu;
}

void gpu_table__add(struct gpu_table *table, const struct gpu_log_device *device)
{
	static const uint8_t none[sizeof(device->uuid)];
	struct gpu_entry *gpu;

	if (!memcmp(device->uuid, none, sizeof(none)))
		return;
	gpu = get_gpu(table, device);
	if (!gpu) {
		table->nr_left_out++;
		return;
	}
	gpu->nr_logs++;
	gpu->nr_renumbered += device->device != gpu->first_number;
}

/* Does a number stand for two GPUs, or two numbers for one? */
static bool is_ambiguous(const struct gpu_table *table)
{
	for (size_t i = 0; i < table->nr_gpus; i++) {
		if (table->gpus[i].nr_renumbered)
			return true;
		for (size_t j = 0; j < i; j++)
			if (table->gpus[i].first_number == table->gpus[j].first_number)
				return true;
	}
	return false;
}

void gpu_table__tell(const struct gpu_table *table)
{
	struct format_buf uuid, processes;

	for (size_t i = 0; i < table->nr_gpus; i++) {
		const struct gpu_entry *gpu = &table->gpus[i];

		pr_debug("GPU-%s: device %u%s, of %s %s", format__uuid(gpu->uuid, &uuid),
			 gpu->first_number,
			 gpu->nr_renumbered ? " (in some another)" : "",
			 format__count(gpu->nr_logs, &processes),
			 gpu->nr_logs == 1 ? "process" : "processes");
	}
	if (is_ambiguous(table))
		pr_info("processes number GPUs differently (CUDA_VISIBLE_DEVICES): %zu%s "
			"are told apart by UUID",
			table->nr_gpus, table->nr_left_out ? " and more" : "");
}
