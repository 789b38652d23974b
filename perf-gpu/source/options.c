// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/options.h"

#include <errno.h>
#include <string.h>

#include "util/format.h"
#include "util/log.h"

static int take_names(struct source_options *options, const char *arg)
{
	if (!strcmp(arg, "full"))
		options->names = DEMANGLE_FULL;
	else if (!strcmp(arg, "short"))
		options->names = DEMANGLE_SHORT;
	else if (!strcmp(arg, "mangled"))
		options->names = DEMANGLE_NONE;
	else
		return -EINVAL;
	return 0;
}

int source_options__take(struct source_options *options, int key, const char *arg)
{
	switch (key) {
	case 'i':
		options->perfdata_path = arg;
		return 0;
	case 'g':
		options->sidecar_path = arg;
		return 0;
	case OPT_NAMES:
		return take_names(options, arg);
	case OPT_KEEP_DRIVER_FRAMES:
		options->keep_driver_frames = true;
		return 0;
	case 'q':
		log_verbosity = -1;
		return 0;
	case 'v':
		log_verbosity++;
		return 0;
	}
	return -EINVAL;
}

void source_stats__print_losses(const struct source_stats *stats)
{
	struct format_buf count;

	if (stats->nr_lost_launches)
		pr_info("%s launches were lost while recording: their kernels have no "
			"stack",
			format__count(stats->nr_lost_launches, &count));
	if (stats->nr_lost_kernels)
		pr_info("%s GPU records were lost while recording: their time is missing",
			format__count(stats->nr_lost_kernels, &count));
	if (stats->nr_broken_records)
		pr_warning("%s records could not be read: the file is damaged",
			   format__count(stats->nr_broken_records, &count));
}
