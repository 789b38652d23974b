// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/check.h"

#include <stdio.h>

bool check__run(bool is_verbose)
{
	struct report report = {.is_verbose = is_verbose};
	struct check_facts facts = {};

	report__section(&report, "perf-gpu and its files");
	check__library(&report, &facts);
	check__files(&report);
	report__section(&report, "Probes and rings, by trying them");
	check__recorder(&report, &facts);
	report__section(&report, "What the kernel allows");
	check__system(&report, &facts);
	report__section(&report, "CUDA");
	check__cuda(&report);
	report__section(&report, "Beside others");
	check__others(&report);

	putchar('\n');
	if (report.nr_failed)
		printf("record does not work here: %u to mend, see FAIL above\n",
		       report.nr_failed);
	else if (report.nr_warnings)
		printf("record works here, with %u limit%s, see warn above\n",
		       report.nr_warnings, report.nr_warnings == 1 ? "" : "s");
	else
		printf("record works here\n");
	return !report.nr_failed;
}
