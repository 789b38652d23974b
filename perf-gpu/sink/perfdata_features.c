// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/perfdata_features.h"

#include <errno.h>

#include "perfdata/feature.h"
#include "perfdata/format.h"

/* What isn't so any more, or is made anew */
static bool is_dropped(unsigned int feature, bool keep_tracing)
{
	switch (feature) {
	case HEADER_TRACING_DATA:
		return !keep_tracing;
	case HEADER_BUILD_ID:
	case HEADER_EVENT_DESC:
	case HEADER_BRANCH_STACK:
	case HEADER_GROUP_DESC:
	case HEADER_AUXTRACE:
	case HEADER_STAT:
	case HEADER_SAMPLE_TIME:
	case HEADER_DIR_FORMAT:
	case HEADER_COMPRESSED:
		return true;
	default:
		return false;
	}
}

int perfdata_features__copy(struct perfdata_writer *to,
			    const struct perfdata_reader *from, bool keep_tracing)
{
	const void *data;
	size_t bytes;
	int err = 0;

	for (unsigned int feature = 1; feature < PERFDATA_NR_FEATURES && !err; feature++)
		if (!is_dropped(feature, keep_tracing) &&
		    perfdata_reader__feature(from, feature, &data, &bytes))
			err = perfdata_writer__set_feature(to, feature, data, bytes);
	return err;
}

int perfdata_features__add_build_id(struct perfdata_writer *to,
				    const struct perfdata_reader *from, const char *path,
				    const void *id, size_t id_bytes)
{
	struct perfdata_buffer table = {0};
	const void *data;
	size_t bytes;
	int err = -ENOMEM;

	if (perfdata_reader__feature(from, HEADER_BUILD_ID, &data, &bytes))
		perfdata_buffer__add(&table, data, bytes);
	perfdata_feature__add_build_id(&table, PERF_RECORD_MISC_USER, id, id_bytes, path);
	if (!table.no_memory)
		err = perfdata_writer__set_feature(to, HEADER_BUILD_ID, table.data,
						   table.nr_bytes);
	perfdata_buffer__release(&table);
	return err;
}
