// SPDX-License-Identifier: GPL-2.0-or-later
/* GPU logs of any content, with checksums that are right */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "fuzz.h"
#include "gpu_log.h"
#include "join/devices.h"
#include "join/graph_nodes.h"
#include "join/join.h"
#include "join/nvtx_ranges.h"
#include "sidecar/activities.h"
#include "sidecar/sidecar.h"
#include "source/event_names.h"
#include "source/jit_names.h"
#include "util/log.h"
#include "util/sum.h"

/* Whatever there is of JIT code's names, it can be asked for. */
static void use_jit_names(const struct sidecar *sidecar)
{
	struct jit_names *names;
	const char *name;

	if (jit_names__new(sidecar, &names))
		abort();
	for (uint32_t log = 0; log < sidecar->nr_logs; log++) {
		for (uint64_t address = 0; address < 0x6000; address += 0x80) {
			name = jit_names__find(names, log, address, 15);
			if (name && !*name)
				abort();
		}
	}
	jit_names__delete(names);
}

/* All of an event is handed out, and adds up to what is said of it. */
static void use_occurrences(const struct sidecar *sidecar, uint32_t events,
			    enum event_weight weight, bool are_leaks)
{
	struct event_total totals[GPU_LOG_NR_EVENTS] = {0};
	struct event_names names = {0};
	struct occurrences occurrences;
	const struct occurrence *rest;
	struct join *join;
	size_t cursor = 0;

	if (occurrences__find(sidecar, events, weight, are_leaks, &occurrences) ||
	    join__new(sidecar, &join) || join__index(join, &occurrences))
		abort();
	while ((rest = join__rest(join, &cursor))) {
		const char *name = event_names__get(&names, sidecar, rest, DEMANGLE_FULL);

		if (rest->log >= sidecar->nr_logs || !name || !*name)
			abort();
		totals[rest->event].nr++;
		sum__add(&totals[rest->event].period, rest->period);
	}
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++)
		if (totals[i].nr != occurrences.totals[i].nr ||
		    totals[i].period != occurrences.totals[i].period)
			abort();
	event_names__release(&names);
	join__delete(join);
	occurrences__release(&occurrences);
}

/* What is open is in the tables, and each GPU has a number of its own. */
static void use_labels(const struct sidecar *sidecar)
{
	const struct sidecar_nvtx *const *open;
	struct nvtx_ranges *ranges;
	struct devices *devices;

	if (nvtx_ranges__new(sidecar, &ranges) || devices__new(sidecar, &devices))
		abort();
	for (uint64_t time_ns = 1; time_ns; time_ns <<= 1) {
		const struct sidecar_nvtx *any =
			sidecar->nr_nvtx ? &sidecar->nvtx[time_ns % sidecar->nr_nvtx]
					 : NULL;
		ssize_t nr =
			any ? nvtx_ranges__at(ranges, any->log, any->tid, time_ns, &open)
			    : 0;

		for (ssize_t i = 0; i < nr; i++)
			if (open[i]->log != any->log || open[i]->time_ns > time_ns)
				abort();
		if (nr < 0)
			abort();
	}
	for (size_t i = 0; i < devices__nr(devices) && i < 100; i++)
		for (size_t j = 0; j < i; j++)
			if (devices__shown_number(devices, i) ==
			    devices__shown_number(devices, j))
				abort();
	devices__delete(devices);
	nvtx_ranges__delete(ranges);
}

/* Everything that the tables point to is there. */
static void use(struct sidecar *sidecar)
{
	const uint32_t all = GPU_LOG_EVENT_BIT(GPU_LOG_NR_EVENTS) - 1;
	size_t nr_text_bytes = 0;

	/* First as they are streamed */
	use_occurrences(sidecar, GPU_LOG_DEFAULT_EVENTS, EVENT_WEIGHT_BYTES, false);
	if (sidecar__list_activities(sidecar))
		abort();

	for (size_t i = 0; i < sidecar->nr_shapes; i++)
		nr_text_bytes += strlen(sidecar->shapes[i].name);
	for (size_t i = 0; i < sidecar->nr_devices; i++)
		nr_text_bytes += strlen(sidecar->devices[i].name);
	for (size_t i = 0; i < sidecar->nr_messages; i++)
		nr_text_bytes += strlen(sidecar->messages[i].text);
	for (size_t i = 0; i < sidecar->nr_apis; i++)
		if (!sidecar__api_name(sidecar, sidecar->apis[i].log,
				       sidecar->apis[i].api))
			abort();
	for (size_t i = 0; i < sidecar->nr_activities; i++)
		if (sidecar->activities[i].log >= sidecar->nr_logs ||
		    sidecar->activities[i].shape >= sidecar->nr_shapes)
			abort();
	if (nr_text_bytes == SIZE_MAX)
		abort();
	use_jit_names(sidecar);
	use_labels(sidecar);
	use_occurrences(sidecar, all, EVENT_WEIGHT_DEFAULT, false);
	use_occurrences(sidecar, all, EVENT_WEIGHT_NS, true);
}

/* Every kernel of a graph has a maker, if the log tells of them. */
static void use_graph_nodes(const struct sidecar *sidecar)
{
	struct graph_nodes *nodes;

	if (graph_nodes__new(sidecar, &nodes))
		abort();
	for (size_t i = 0; i < sidecar->nr_activities; i++) {
		const struct sidecar_activity *kernel = &sidecar->activities[i];
		bool has_maker = sidecar->shapes[kernel->shape].graph_node &&
				 sidecar->logs[kernel->log].tells_graph_nodes;
		ssize_t maker = graph_nodes__maker_of(nodes, kernel);

		if (has_maker != (maker >= 0) ||
		    maker >= (ssize_t)graph_nodes__nr_makers(nodes))
			abort();
	}
	graph_nodes__delete(nodes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sidecar *sidecar = NULL;
	uint8_t *mended = malloc(size + 1);
	struct fuzz_path path;
	int fd;

	REQUIRE(mended);
	memcpy(mended, data, size);
	fuzz_log__mend(mended, size, 0, 0);
	fd = fuzz_file__open(mended, size, &path);
	log_verbosity = -1;
	if (!sidecar__open(path.text, &sidecar)) {
		use(sidecar);
		use_graph_nodes(sidecar);
	}
	sidecar__close(sidecar);
	free(mended);
	close(fd);
	return 0;
}
