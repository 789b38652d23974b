// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of build ids, read as it was written, and broken. */
#include <errno.h>
#include <string.h>

#include "perfdata/feature.h"
#include "perfdata/format.h"
#include "unit.h"

static int next(const struct perfdata_buffer *table, size_t nr_bytes,
		struct perfdata_file_id *ret)
{
	struct perfdata_cursor cursor = perfdata_cursor__new(table->data, nr_bytes);

	return perfdata_feature__next_build_id(&cursor, ret);
}

TEST(table_is_read_as_written)
{
	static const uint8_t bytes[20] = {1, 2, 3, 4};
	struct perfdata_buffer table = {0};
	struct perfdata_cursor cursor;
	struct perfdata_file_id file;

	perfdata_feature__add_build_id(&table, PERF_RECORD_MISC_USER, bytes, 20, "/a");
	perfdata_feature__add_build_id(&table, PERF_RECORD_MISC_KERNEL, bytes, 16, "[k]");
	CHECK(!table.no_memory);
	cursor = perfdata_cursor__new(table.data, table.nr_bytes);
	CHECK_EQ(perfdata_feature__next_build_id(&cursor, &file), 1);
	CHECK_STR(file.path, "/a");
	CHECK_EQ(file.mode, PERF_RECORD_MISC_USER);
	CHECK_EQ(file.id_bytes, 20);
	CHECK(memcmp(file.id, bytes, 20) == 0);
	CHECK_EQ(perfdata_feature__next_build_id(&cursor, &file), 1);
	CHECK_STR(file.path, "[k]");
	CHECK_EQ(file.mode, PERF_RECORD_MISC_KERNEL);
	CHECK_EQ(file.id_bytes, 16);
	CHECK_EQ(perfdata_feature__next_build_id(&cursor, &file), 0);
	perfdata_buffer__release(&table);
}

TEST(broken_table_is_refused)
{
	static const uint8_t bytes[20] = {1};
	struct perfdata_buffer table = {0};
	struct perfdata_build_id *entry;
	struct perfdata_file_id file;

	perfdata_feature__add_build_id(&table, PERF_RECORD_MISC_USER, bytes, 20, "/a");
	CHECK(!table.no_memory);
	for (size_t cut = 1; cut < table.nr_bytes; cut++)
		CHECK_EQ(next(&table, cut, &file), -EINVAL);
	entry = (struct perfdata_build_id *)table.data;
	entry->id_bytes = 21;
	CHECK_EQ(next(&table, table.nr_bytes, &file), -EINVAL);
	/* Then the size isn't one. */
	entry->header.misc = PERF_RECORD_MISC_USER;
	CHECK_EQ(next(&table, table.nr_bytes, &file), 1);
	CHECK_EQ(file.id_bytes, 20);
	memset(entry->path, 'x', table.nr_bytes - sizeof(*entry));
	CHECK_EQ(next(&table, table.nr_bytes, &file), -EINVAL);
	entry->header.size = sizeof(*entry) - 1;
	CHECK_EQ(next(&table, table.nr_bytes, &file), -EINVAL);
	perfdata_buffer__release(&table);
}
