// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/features.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "perfdata/feature.h"
#include "perfdata/format.h"

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

/* What follows "@key<blanks>:<blanks>" in a file of such lines, else "". */
static void read_proc(const char *path, const char *key, char *ret, size_t size)
{
	size_t key_bytes = strlen(key), line_size = 0;
	char *line = NULL;
	FILE *stream;

	*ret = '\0';
	stream = fopen(path, "re");
	if (!stream)
		return;
	while (getline(&line, &line_size, stream) > 0) {
		const char *value = line + strcspn(line, ":");

		if (strncmp(line, key, key_bytes) || !*value)
			continue;
		value += 1 + strspn(value + 1, " \t");
		snprintf(ret, size, "%.*s", (int)strcspn(value, "\n"), value);
		break;
	}
	free(line);
	fclose(stream);
}

static int set_machine(struct perfdata_writer *writer)
{
	struct utsname uts;
	char text[256];
	uint64_t kib;
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
	read_proc("/proc/cpuinfo", "model name", text, sizeof(text));
	if (!err && *text)
		err = perfdata_writer__set_feature_string(writer, HEADER_CPUDESC, text);
	read_proc("/proc/meminfo", "MemTotal", text, sizeof(text));
	kib = strtoull(text, NULL, 10);
	if (!err && kib)
		err = perfdata_feature__set_total_memory(writer, kib);
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
