// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/recorded_files.h"

#include <errno.h>

#include "perfdata/feature.h"
#include "perfdata/format.h"

int recorded_files__tell(const struct perfdata_reader *reader, struct machine *machine)
{
	struct perfdata_cursor cursor;
	struct perfdata_file_id file;
	const void *table;
	size_t bytes;
	int ret;

	if (!perfdata_reader__feature(reader, HEADER_BUILD_ID, &table, &bytes))
		return 0;
	cursor = perfdata_cursor__new(table, bytes);
	while ((ret = perfdata_feature__next_build_id(&cursor, &file)) > 0) {
		struct build_id id = build_id__make(file.id, file.id_bytes);

		if (file.mode == PERF_RECORD_MISC_USER &&
		    machine__set_build_id(machine, file.path, &id))
			return -ENOMEM;
	}
	return ret;
}
