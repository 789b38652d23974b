/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the user is told at the end of a recording. */
#ifndef PERF_GPU_RECORD_SUMMARY_H
#define PERF_GPU_RECORD_SUMMARY_H

#include <stdint.h>

#include "record/carrier.h"
#include "record/collection.h"
#include "record/log_scan.h"
#include "record/output.h"

struct summary {
	const char *path; /* of perf.data */
	bool has_perfdata; /* else there is the sidecar alone */
	const char *library; /* that was injected; NULL: none */
	struct output_counts output;
	struct collection_counts logs;
	const struct log_scan *scan;
	struct carrier_losses losses;
	const char *missing; /* of the carrier */
};

/* Messages of the processes, everything that is missing, and perf's closing lines. */
void summary__print(const struct summary *summary);

#endif
