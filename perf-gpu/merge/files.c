// SPDX-License-Identifier: GPL-2.0-or-later
#include "merge/files.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/cursor.h"
#include "perfdata/feature.h"
#include "perfdata/format.h"
#include "perfdata/mmap2.h"

static int compare_files(const void *a, const void *b)
{
	const struct perfdata_file_id *one = a, *other = b;
	int order = strcmp(one->path, other->path);

	return order ? order : one->mode - other->mode;
}

/* The file of that path in a tree, which is added if it isn't there; NULL: no memory. */
static struct perfdata_file_id *get_file(void **tree, const struct perfdata_file_id *file)
{
	struct perfdata_file_id *copy, **node = tfind(file, tree, compare_files);

	if (node)
		return *node;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return NULL;
	*copy = *file;
	if (!tsearch(copy, tree, compare_files)) {
		free(copy);
		return NULL;
	}
	return copy;
}

int merge_files__add(struct merge_files *files, const struct perfdata_reader *reader,
		     struct merge_other_files *ret_others)
{
	struct merge_other_files others = {};
	struct perfdata_file_id file, *first;
	struct perfdata_cursor cursor;
	const void *table;
	size_t bytes;
	int ret = 0;

	*ret_others = others;
	if (!perfdata_reader__feature(reader, HEADER_BUILD_ID, &table, &bytes))
		return 0;
	cursor = perfdata_cursor__new(table, bytes);
	while ((ret = perfdata_feature__next_build_id(&cursor, &file)) > 0) {
		first = get_file(&files->files, &file);
		if (first && (first->id_bytes != file.id_bytes ||
			      memcmp(first->id, file.id, file.id_bytes)))
			first = get_file(&others.files, &file);
		if (!first) {
			ret = -ENOMEM;
			break;
		}
	}
	*ret_others = others;
	return ret;
}

void merge_other_files__tell(const struct merge_other_files *others,
			     struct perf_event_header *record)
{
	struct perfdata_mmap2 *mmap2 = (void *)record;
	struct perfdata_file_id key, **node;

	if (!others->files || record->type != PERF_RECORD_MMAP2 ||
	    record->size <= sizeof(*mmap2) || perfdata_mmap2__id_bytes(mmap2) ||
	    !memchr(mmap2->path, '\0', record->size - sizeof(*mmap2)))
		return;
	key = (struct perfdata_file_id){
		.mode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK,
		.path = mmap2->path,
	};
	node = tfind(&key, &others->files, compare_files);
	if (!node || (*node)->id_bytes > sizeof(mmap2->build_id))
		return;
	memset(mmap2->build_id, 0, sizeof(mmap2->build_id));
	memset(mmap2->reserved, 0, sizeof(mmap2->reserved));
	mmap2->build_id_bytes = (uint8_t)(*node)->id_bytes;
	memcpy(mmap2->build_id, (*node)->id, (*node)->id_bytes);
	record->misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
}

static void add_to_table(const void *node, VISIT visit, void *table)
{
	const struct perfdata_file_id *file = *(struct perfdata_file_id *const *)node;

	if (visit == postorder || visit == leaf)
		perfdata_feature__add_build_id(table, file->mode, file->id,
					       file->id_bytes, file->path);
}

void merge_files__write(const struct merge_files *files, struct perfdata_buffer *table)
{
	twalk_r(files->files, add_to_table, table);
}

void merge_files__release(struct merge_files *files)
{
	tdestroy(files->files, free);
	files->files = NULL;
}

void merge_other_files__release(struct merge_other_files *others)
{
	tdestroy(others->files, free);
	others->files = NULL;
}
