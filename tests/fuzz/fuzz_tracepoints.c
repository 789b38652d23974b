// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * HEADER_TRACING_DATA of any content: whatever tracepoints are in it, their fields are
 * read within a sample.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "perfdata/tracepoints.h"

#define RAW_BYTES 24

static void read_fields(const struct tracepoint *tracepoint)
{
	static const char *const fields[] = {"__probe_ip", "common_pid", "common_type"};
	/* An allocation, for the sanitizer's sake */
	unsigned char *raw = calloc(1, RAW_BYTES);
	uint64_t value;

	if (!raw || !tracepoint__system(tracepoint) || !tracepoint__name(tracepoint))
		abort();
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		for (uint32_t bytes = 0; bytes <= RAW_BYTES; bytes++)
			tracepoint__number(tracepoint, fields[i], raw, bytes, &value);
	free(raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tracepoints *tracepoints;

	if (tracepoints__new(data, size, &tracepoints))
		return 0;
	for (uint64_t id = 0; id < 4096; id++) {
		const struct tracepoint *tracepoint = tracepoints__find(tracepoints, id);

		if (tracepoint)
			read_fields(tracepoint);
	}
	tracepoints__delete(tracepoints);
	return 0;
}
