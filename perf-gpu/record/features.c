// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/features.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

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

static void put_string(FILE *stream, const char *text)
{
	static const char padding[PERFDATA_STRING_ALIGN];
	size_t bytes = strlen(text) + 1;
	uint32_t padded = (uint32_t)((bytes + PERFDATA_STRING_ALIGN - 1) /
				     PERFDATA_STRING_ALIGN * PERFDATA_STRING_ALIGN);

	fwrite(&padded, sizeof(padded), 1, stream);
	fwrite(text, bytes, 1, stream);
	fwrite(padding, padded - bytes, 1, stream);
}

static int set_cmdline(struct perfdata_writer *writer, const char *const *argv)
{
	char *bytes = NULL;
	size_t nr_bytes;
	uint32_t nr = 0;
	FILE *stream;
	int err;

	stream = open_memstream(&bytes, &nr_bytes);
	if (!stream)
		return -ENOMEM;
	while (argv[nr])
		nr++;
	fwrite(&nr, sizeof(nr), 1, stream);
	for (; *argv; argv++)
		put_string(stream, *argv);
	if (fclose(stream))
		err = -ENOMEM;
	else
		err = perfdata_writer__set_feature(writer, HEADER_CMDLINE, bytes,
						   nr_bytes);
	free(bytes);
	return err;
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
	uint32_t nr_cpus[2] = {(uint32_t)sysconf(_SC_NPROCESSORS_CONF),
			       (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)};
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
		err = perfdata_writer__set_feature(writer, HEADER_NRCPUS, nr_cpus,
						   sizeof(nr_cpus));
	read_proc("/proc/cpuinfo", "model name", text, sizeof(text));
	if (!err && *text)
		err = perfdata_writer__set_feature_string(writer, HEADER_CPUDESC, text);
	read_proc("/proc/meminfo", "MemTotal", text, sizeof(text));
	kib = strtoull(text, NULL, 10);
	if (!err && kib)
		err = perfdata_writer__set_feature(writer, HEADER_TOTAL_MEM, &kib,
						   sizeof(kib));
	return err;
}

static int set_clock(struct perfdata_writer *writer, const struct clock_pair *clock)
{
	const struct {
		uint32_t version;
		uint32_t clockid;
		uint64_t realtime_ns;
		uint64_t clock_ns;
	} data = {1, CLOCK_MONOTONIC, clock->realtime_ns, clock->monotonic_ns};
	uint64_t resolution_ns;
	struct timespec resolution;
	int err;

	clock_getres(CLOCK_MONOTONIC, &resolution);
	resolution_ns =
		(uint64_t)resolution.tv_sec * 1000000000u + (uint64_t)resolution.tv_nsec;
	err = perfdata_writer__set_feature(writer, HEADER_CLOCKID, &resolution_ns,
					   sizeof(resolution_ns));
	if (!err)
		err = perfdata_writer__set_feature(writer, HEADER_CLOCK_DATA, &data,
						   sizeof(data));
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
		err = set_cmdline(writer, argv);
	if (!err)
		err = set_clock(writer, clock);
	return err;
}

int features__set_sample_time(struct perfdata_writer *writer, uint64_t first_ns,
			      uint64_t last_ns)
{
	const uint64_t times_ns[2] = {first_ns, last_ns};

	return perfdata_writer__set_feature(writer, HEADER_SAMPLE_TIME, times_ns,
					    sizeof(times_ns));
}
