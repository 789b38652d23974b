// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/probe_events.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api_name.h"
#include "perfdata/format.h"
#include "perfdata/sample.h"
#include "perfdata/tracepoints.h"
#include "source/recorded_files.h"
#include "symbol/machine.h"

/* The kernel's field of a uprobe on a function's entry; one on its return has others. */
#define PROBE_ADDRESS "__probe_ip"

/*
 * An event with so many hits of no known function isn't one. The file isn't in order: on
 * a busy machine, a mapping stands behind thousands of hits. So it is gone through
 * twice, and only the second time, with all mappings known, is a "no" believed.
 */
#define MAX_LOOKS 1000

struct search {
	struct perfdata_reader *reader;
	const struct tracepoint **probes; /* by event; NULL: no uprobe */
	unsigned int *nr_looks; /* that are left, by event; 0: no more in this pass */
	struct machine *machine;
	bool *is_launch;
};

/* Exported by libcuda and libcudart: cuLaunchKernelEx_ptsz, cudaMemcpyAsync, ... */
static bool is_launch_function(const char *name)
{
	return api_name__kinds(name);
}

/* perf probe makes the group's name of the file's, up to its first dot or dash. */
static bool has_known_name(const struct tracepoint *probe)
{
	const char *system = tracepoint__system(probe);

	return (!strcmp(system, "probe_libcuda") || !strcmp(system, "probe_libcudart")) &&
	       is_launch_function(tracepoint__name(probe));
}

static void search__begin(struct search *search, const struct tracepoints *tracepoints)
{
	for (size_t i = 0; i < perfdata_reader__nr_events(search->reader); i++) {
		const struct perf_event_attr *attr =
			&perfdata_reader__event(search->reader, i)->attr;
		const struct tracepoint *probe;
		uint64_t address;

		if (attr->type != PERF_TYPE_TRACEPOINT)
			continue;
		probe = tracepoints__find(tracepoints, attr->config);
		if (!probe || tracepoint__number(probe, PROBE_ADDRESS, NULL, 0, &address))
			continue;
		search->probes[i] = probe;
		search->is_launch[i] = has_known_name(probe);
	}
}

/* Look at all that aren't known yet. Return: how many these are. */
static size_t search__begin_pass(struct search *search)
{
	size_t nr_undecided = 0;

	for (size_t i = 0; i < perfdata_reader__nr_events(search->reader); i++) {
		bool is_undecided = search->probes[i] && !search->is_launch[i];

		search->nr_looks[i] = is_undecided ? MAX_LOOKS : 0;
		nr_undecided += is_undecided;
	}
	return nr_undecided;
}

/* Is it code of CUDA's that launches? */
static bool is_launch_address(const struct machine *machine, uint32_t pid,
			      uint64_t address)
{
	const struct map *map = machine__find_map(machine, pid, address);
	const struct symbol *symbol;

	if (!map || strncmp(dso__basename(map->dso), "libcuda", strlen("libcuda")))
		return false;
	symbol = dso__find_symbol(map->dso, address - map->start + map->pgoff, NULL);
	return symbol && is_launch_function(symbol->name);
}

static void search__look(struct search *search, const struct perf_event_header *record)
{
	int event = perfdata_reader__find_event(search->reader, record);
	struct perfdata_sample sample;
	uint64_t address;

	if (event < 0 || !search->nr_looks[event] ||
	    perfdata_sample__parse(
		    &perfdata_reader__event(search->reader, (size_t)event)->attr, record,
		    &sample) ||
	    tracepoint__number(search->probes[event], PROBE_ADDRESS, sample.raw,
			       sample.raw_bytes, &address))
		return;
	search->is_launch[event] =
		is_launch_address(search->machine, sample.pid, address);
	if (search->is_launch[event])
		search->nr_looks[event] = 1;
	search->nr_looks[event]--;
}

/* The records, as they stand in the file. */
static int search__read(struct search *search, bool takes_maps)
{
	const struct perf_event_header *record;
	uint64_t cursor = 0;

	while (perfdata_reader__next(search->reader, &cursor, &record) > 0) {
		if (record->type == PERF_RECORD_SAMPLE)
			search__look(search, record);
		else if (takes_maps && record->type < PERFDATA_RECORD_USER_START &&
			 machine__process(search->machine, record) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

static int search__run(struct search *search, const struct tracepoints *tracepoints,
		       const struct symbol_place *place)
{
	int err;

	search__begin(search, tracepoints);
	if (!search__begin_pass(search))
		return 0;
	err = machine__new(place->symfs, &search->machine);
	if (err)
		return err;
	machine__set_store(search->machine, place->store);
	err = recorded_files__tell(search->reader, search->machine);
	if (err == -ENOMEM)
		return err;
	err = search__read(search, true);
	if (err || !search__begin_pass(search))
		return err;
	return search__read(search, false);
}

int probe_events__find(struct perfdata_reader *reader, const struct symbol_place *place,
		       bool *ret)
{
	size_t nr_events = perfdata_reader__nr_events(reader);
	struct search search = {
		.reader = reader,
		.probes = calloc(nr_events + 1, sizeof(*search.probes)),
		.nr_looks = calloc(nr_events + 1, sizeof(*search.nr_looks)),
		.is_launch = ret,
	};
	struct tracepoints *tracepoints = NULL;
	const void *formats = NULL;
	size_t bytes = 0;
	int err = -ENOMEM;

	perfdata_reader__feature(reader, HEADER_TRACING_DATA, &formats, &bytes);
	if (search.probes && search.nr_looks)
		err = tracepoints__new(formats, bytes, &tracepoints);
	if (!err)
		err = search__run(&search, tracepoints, place);
	machine__delete(search.machine);
	tracepoints__delete(tracepoints);
	free(search.nr_looks);
	free(search.probes);
	return err;
}
