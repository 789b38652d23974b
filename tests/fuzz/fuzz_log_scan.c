// SPDX-License-Identifier: GPL-2.0-or-later
/* The records of one block of a GPU log, as the recorder reads them */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/log_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	log_scan__block(&scan, payload, size);
	log_scan__release(&scan);
	free(payload);
	return 0;
}
