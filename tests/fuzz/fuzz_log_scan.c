// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The records of one block of a GPU log, as the recorder reads them; and what it keeps of
 * them for a later file
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "record/log_scan.h"
#include "record/log_state.h"
#include "util/gpu_log_cursor.h"

static void keep(const void *payload, size_t size)
{
	const struct gpu_log_forget all = {
		.rec = {.type = GPU_LOG_FORGET, .size = sizeof(all)},
		.strings = UINT32_MAX,
		.shapes = UINT32_MAX,
		.operations = UINT32_MAX,
	};
	struct gpu_log_cursor cursor = gpu_log_cursor__new(payload, size);
	const struct gpu_log_record *record;
	struct log_state state = {0};

	while (gpu_log_cursor__next(&cursor, &record) > 0)
		if (log_state__take(&state, record))
			abort();
	if (log_state__take(&state, &all.rec))
		abort();
	log_state__release(&state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct log_scan scan = {};
	void *payload;

	if (size > GPU_LOG_MAX_PAYLOAD)
		return 0;
	payload = malloc(size ? size : 1); /* aligned */
	if (!payload)
		return 0;
	memcpy(payload, data, size);
	log_scan__begin_log(&scan);
	if (!log_scan__block(&scan, payload, size))
		keep(payload, size);
	log_scan__release(&scan);
	free(payload);
	return 0;
}
