/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the user is told at the end of a recording. */
#ifndef PERF_GPU_RECORD_SUMMARY_H
#define PERF_GPU_RECORD_SUMMARY_H

#include <stdint.h>

#include "record/absence.h"
#include "record/call_counts.h"
#include "record/carrier.h"
#include "record/collection.h"
#include "record/log_scan.h"
#include "record/output.h"

struct summary {
	const char *path; /* of perf.data */
	bool has_perfdata; /* else there is the sidecar alone */
	bool is_stopped; /* at --max-size, while processes run on */
	bool is_recovered; /* what processes counted, and did not log, is gone */
	const char *library; /* that was injected; NULL: none */
	bool has_capture_range; /* only what is launched within is recorded */
	enum absence_sight sight;
	int status; /* of the command; -1: not known */
	struct output_counts output;
	struct collection_counts logs;
	const struct log_scan *scan;
	struct carrier_losses losses;
	const char *missing, *missing_unended; /* of the carrier */
	struct call_sums calls;
	struct account account; /* by summary__take_account() */
	/* of --switch-output, and --overwrite */
	uint64_t nr_files; /* with the time behind path; 0: one, of that name */
	uint64_t nr_removed_files; /* of more ... */
	unsigned int max_files; /* ... than so many */
	uint64_t nr_removed_launches; /* in those */
	bool is_cut; /* --overwrite has not kept all launches ... */
	uint64_t nr_kept_launches; /* ... but so many, in the last file */
	uint64_t
		nr_without_stack; /* GPU records whose launch's stack was kept no longer */
	uint64_t nr_forgotten; /* records of before that a file lacks */
};

/* What became of everything; the logs have been read, and the launches. */
void summary__take_account(struct summary *summary);

/* Messages of the processes, everything that is missing, and perf's closing lines. */
void summary__print(const struct summary *summary);

#endif
