/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What perf.data's header says of the machine and the recording. */
#ifndef PERF_GPU_RECORD_FEATURES_H
#define PERF_GPU_RECORD_FEATURES_H

#include <stdint.h>

#include "perfdata/writer.h"

/* CLOCK_REALTIME and CLOCK_MONOTONIC at one moment, within a microsecond. */
struct clock_pair {
	uint64_t realtime_ns;
	uint64_t monotonic_ns;
};

struct clock_pair clock_pair__read(void);

/**
 * features__set - HOSTNAME, OSRELEASE, VERSION, ARCH, NRCPUS, CPUDESC, TOTAL_MEM,
 * CMDLINE, CLOCKID and CLOCK_DATA
 * @argv:  the recorder's command line; NULL-terminated
 * @clock: of the recording
 *
 * Return: 0 or -ENOMEM.
 */
int features__set(struct perfdata_writer *writer, const char *const *argv,
		  const struct clock_pair *clock);

#endif
