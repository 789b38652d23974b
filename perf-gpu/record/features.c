// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/features.h"

#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "perfdata/feature.h"
#include "perfdata/format.h"
#include "util/proc.h"

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct clock_pair clock_pair__read(void)
{
	struct clock_pair best = {};
	uint64_t best_gap_ns = UINT64_MAX;

	/* The closest of a few: in between we may be scheduled away. */
	for (int i = 0; i < 5; i++) {
		uint64_t before_ns = now_ns(CLOCK_MONOTONIC);
		uint64_t realtime_ns = now_ns(CLOCK_REALTIME);
		uint64_t gap_ns = now_ns(CLOCK_MONOTONIC) - before_ns;

		if (gap_ns < best_gap_ns) {
			best_gap_ns = gap_ns;
			best.realtime_ns = realtime_ns;
			best.monotonic_ns = before_ns + gap_ns / 2;
		}
	}
	return best;
}

static int set_machine(struct perfdata_writer *writer)
{
	struct utsname uts;
	char text[256];
	int err;

	uname(&uts);
	err = perfdata_writer__set_feature_string(writer, HEADER_HOSTNAME, uts.nodename);
	if (!err)
		err = perfdata_writer__set_feature_string(writer, HEADER_OSRELEASE,
							  uts.release);
	if (!err)
		err = perfdata_writer__set_feature_string(writer, HEADER_ARCH,
							  uts.machine);
	if (!err)
		err = perfdata_feature__set_nr_cpus(
			writer, (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
			(uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	if (!err && !proc__read_value("/proc/cpuinfo", "model name", text, sizeof(text)))
		err = perfdata_writer__set_feature_string(writer, HEADER_CPUDESC, text);
	if (!err && !proc__read_value("/proc/meminfo", "MemTotal", text, sizeof(text)))
		err = perfdata_feature__set_total_memory(writer,
							 strtoull(text, NULL, 10));
	return err;
}

int features__set(struct perfdata_writer *writer, const char *const *argv,
		  const struct clock_pair *clock)
{
	int err;

	err = perfdata_writer__set_feature_string(writer, HEADER_VERSION,
						  PERF_GPU_VERSION);
	if (!err)
		err = set_machine(writer);
	if (!err)
		err = perfdata_feature__set_cmdline(writer, argv);
	if (!err)
		err = perfdata_feature__set_clock(
			writer, CLOCK_MONOTONIC, clock->realtime_ns, clock->monotonic_ns);
	return err;
}
