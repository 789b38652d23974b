/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf.data of several: all records by time, in memory of 24 bytes each and the mapped
 * files. One thread.
 */
#ifndef PERF_GPU_MERGE_MERGE_PERFDATA_H
#define PERF_GPU_MERGE_MERGE_PERFDATA_H

#include <stddef.h>
#include <stdint.h>

#include "merge/input.h"
#include "perfdata/writer.h"

struct merge_counts {
	uint64_t nr_launches;
	uint64_t nr_unknown; /* records of kinds that can't be rewritten: left out */
	uint64_t nr_broken; /* records that could not be read: left out */
	uint64_t bytes; /* of records */
};

/**
 * merge_perfdata__write - write everything but the commit
 * @writer:  open, with nothing in it
 * @inputs:  with their plan
 * @session: of the output
 * @argv:    the command line, NULL-terminated
 * @hosts:   of merge_plan__hosts()
 * @ret:     written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int merge_perfdata__write(struct perfdata_writer *writer,
			  struct merge_input *const *inputs, size_t nr_inputs,
			  uint64_t session, const char *const *argv, const char *hosts,
			  struct merge_counts *ret);

#endif
