// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a recording goes, and the perf that reads it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "check/check.h"
#include "check/trial.h"

#define MIB (1ull << 20)
/* A busy minute: 50,000 launches a second, 400 bytes each */
#define COMFORTABLE_BYTES (1024 * MIB)

static void report_output(struct report *report)
{
	unsigned long long free_bytes = 0;
	struct statvfs fs;
	char folder[PATH_MAX];

	if (!getcwd(folder, sizeof(folder)))
		snprintf(folder, sizeof(folder), "the current folder");
	if (access(".", W_OK | X_OK)) {
		report__line(report, VERDICT_FAIL, "output",
			     "perf.data can't be written to %s: %s", folder,
			     strerror(errno));
		report__mend(report, "go to another folder, or record with -o");
		return;
	}
	if (!statvfs(".", &fs))
		free_bytes = (unsigned long long)fs.f_bavail * fs.f_frsize;
	report__line(report, free_bytes < COMFORTABLE_BYTES ? VERDICT_WARN : VERDICT_OK,
		     "output", "%s can be written to, %llu MiB free", folder,
		     free_bytes / MIB);
}

static int run_perf(void *unused)
{
	(void)unused;
	execlp("perf", "perf", "version", NULL);
	return -errno;
}

static void report_perf(struct report *report)
{
	struct trial trial;
	char unused;

	if (trial__run(run_perf, &unused, sizeof(unused), &trial)) {
		trial.output[strcspn(trial.output, "\n")] = '\0';
		report__line(report, VERDICT_OK, "perf", "%s, to read what inject writes",
			     trial.output);
		return;
	}
	if (!trial.is_tried) {
		report__line(report, VERDICT_WARN, "perf", "%s", trial.death);
		return;
	}
	report__line(report, VERDICT_WARN, "perf",
		     "stock perf is not found: record, inject and script work without, "
		     "perf report doesn't");
	report__mend(report,
		     "install the package linux-perf (Debian), linux-tools-generic "
		     "(Ubuntu) or perf (Fedora)");
}

void check__files(struct report *report)
{
	report_output(report);
	report_perf(report);
}
