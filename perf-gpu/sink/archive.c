// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the recording that is read, and the files that its stacks have functions of, as an
 * archive (archive/archive.h). Which files these are, readers show: every frame is looked up
 * as they do it, and what has been opened for that by the end is packed, byte for byte but for
 * the GPU's code. One thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/archive.h"
#include "archive/gpu_code.h"
#include "archive/tar_zst.h"
#include "sink/out_file.h"
#include "sink/sink.h"
#include "symbol/elf_symbols.h"
#include "util/format.h"
#include "util/log.h"
#include "util/progress.h"

#define NS_PER_S 1000000000

/* A frame was looked up if it is in its place of a table: stacks repeat themselves. */
#define NR_SEEN (1u << 16)

/* So many files that aren't found are named; the rest is counted. */
#define MAX_NAMED 4

struct seen_frame {
	uint64_t ip, nr_map_changes;
	uint32_t pid;
};

struct archive_sink {
	struct sink sink; /* first: what ops get is this */
	char *path;
	struct sink_input input;
	struct out_file *file;
	struct tar_zst_writer *writer;
	FILE *sums; /* of what is in it so far */
	char *sums_text;
	size_t sums_bytes;
	void *names; /* tree of tsearch(3): files with symbols that are in it */
	size_t nr_files;
	const struct dso *missing[MAX_NAMED]; /* the first of them */
	size_t nr_missing;
	struct seen_frame seen[NR_SEEN];
};

static int no_memory(const struct archive_sink *sink)
{
	pr_err("no memory to write %s", sink->path);
	return -ENOMEM;
}

/* Looking up */

static bool archive_sink__has_seen(struct archive_sink *sink, uint32_t pid, uint64_t ip)
{
	const struct seen_frame frame = {
		.ip = ip,
		.nr_map_changes = machine__nr_map_changes(sink->input.machine),
		.pid = pid,
	};
	struct seen_frame *place =
		&sink->seen[(ip * 0x9e3779b97f4a7c15 + pid) >> 48 & (NR_SEEN - 1)];

	if (place->ip == ip && place->pid == pid &&
	    place->nr_map_changes == frame.nr_map_changes)
		return true;
	*place = frame;
	return false;
}

static void archive_sink__look_up(struct archive_sink *sink, uint32_t pid, uint64_t ip)
{
	const struct map *map;

	if (archive_sink__has_seen(sink, pid, ip))
		return;
	map = machine__find_map(sink->input.machine, pid, ip);
	if (map)
		dso__find_symbol(map->dso, ip - map->start + map->pgoff, NULL);
}

static int archive_sink__start(struct sink *base, const struct sink_input *input)
{
	((struct archive_sink *)base)->input = *input;
	return 0;
}

static int archive_sink__sample(struct sink *base, const struct gpu_sample *sample)
{
	struct archive_sink *sink = (struct archive_sink *)base;

	for (size_t i = 0; i < sample->nr_frames; i++)
		if (!sample->frames[i].name)
			archive_sink__look_up(sink, sample->pid, sample->frames[i].ip);
	return 0;
}

/* Packing */

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

/*
 * Two paths can be of one build, which is packed once; and one path of two builds without an
 * id, of which the first is. Return: 1: it is new, 0: it is there, or -ENOMEM, printed.
 */
static int archive_sink__note_name(struct archive_sink *sink, const char *name)
{
	char *copy;

	if (tfind(name, &sink->names, compare_names))
		return 0;
	copy = strdup(name);
	if (copy && tsearch(copy, &sink->names, compare_names))
		return 1;
	free(copy);
	return no_memory(sink);
}

/* All have the recording's time: one that is packed twice gives the same bytes. */
static int archive_sink__add(struct archive_sink *sink, struct tar_zst_file *file)
{
	uint32_t crc;
	int err;

	progress__begin("packing", file->name, 0);
	file->time_s = (int64_t)(sink->input.sidecar->recorder.realtime_ns / NS_PER_S);
	err = tar_zst_writer__add(sink->writer, file, &crc);
	if (!err && fprintf(sink->sums, "%08" PRIx32 " %zu %s\n", crc, file->bytes,
			    file->name) < 0)
		err = no_memory(sink);
	return err;
}

static int archive_sink__add_recording(struct archive_sink *sink)
{
	struct tar_zst_file files[] = {
		{.name = ARCHIVE_MARK,
		 .data = ARCHIVE_VERSION,
		 .bytes = strlen(ARCHIVE_VERSION)},
		{.name = ARCHIVE_PERFDATA, .is_mapped = true},
		{.name = ARCHIVE_SIDECAR, .is_mapped = true},
	};
	int err = 0;

	files[1].data = perfdata_reader__file(sink->input.reader, &files[1].bytes);
	files[2].data = sidecar__file(sink->input.sidecar, &files[2].bytes);
	for (size_t i = 0; i < 3 && !err; i++)
		err = archive_sink__add(sink, &files[i]);
	return err;
}

static void archive_sink__miss(struct archive_sink *sink, const struct dso *dso)
{
	if (sink->nr_missing < MAX_NAMED)
		sink->missing[sink->nr_missing] = dso;
	sink->nr_missing++;
}

/* Functions of theirs have no names where the archive is read; here, neither. */
static void archive_sink__tell_missing(const struct archive_sink *sink)
{
	size_t nr_named = sink->nr_missing < MAX_NAMED ? sink->nr_missing : MAX_NAMED;
	char names[MAX_NAMED * 64] = "";
	struct format_buf nr;
	size_t bytes = 0;

	if (!sink->nr_missing)
		return;
	for (size_t i = 0; i < nr_named; i++)
		bytes += (size_t)snprintf(names + bytes, 64, "%s%.60s", i ? ", " : "",
					  dso__basename(sink->missing[i]));
	pr_warning(
		"%s %s found here as recorded, and not packed, so that functions are "
		"[unknown]: %s%s; --symfs tells where the recorded machine's files are",
		format__count(sink->nr_missing, &nr),
		sink->nr_missing == 1 ? "file is not" : "files are not", names,
		sink->nr_missing > nr_named ? ", ..." : "");
}

/* @blanked: whose GPU code is left out; NULL: nothing is */
static int archive_sink__add_symbols(struct archive_sink *sink, const char *name,
				     const struct elf_image *image, Elf *blanked)
{
	struct tar_zst_file file = {
		.name = name, .data = image->data, .bytes = image->bytes};
	struct byte_range *blanks = NULL;
	int err;

	err = archive_sink__note_name(sink, name);
	if (err <= 0)
		return err;
	if (blanked && gpu_code__find(blanked, image->bytes, &blanks, &file.nr_blanks))
		return no_memory(sink);
	file.blanks = blanks;
	err = archive_sink__add(sink, &file);
	free(blanks);
	sink->nr_files++;
	return err;
}

/* Of what has no build id: "symfs" and the path, or NULL, and said if there is a reason. */
static char *archive_sink__name_by_path(struct archive_sink *sink, const struct dso *dso)
{
	char *name;

	if (asprintf(&name, "%s%s", SYMBOL_STORE_ROOT, dso__path(dso)) < 0) {
		no_memory(sink);
		return NULL;
	}
	if (symbol_store__is_by_path(name))
		return name;
	pr_warning(
		"%s has no build id, and a path that can't be packed: its functions will "
		"be [unknown]",
		dso__path(dso));
	free(name);
	return NULL;
}

static int archive_sink__add_elf(struct archive_sink *sink, struct dso *dso,
				 const struct dso_parts *parts)
{
	const struct build_id id = dso__build_id(dso);
	struct elf_image image = elf_symbols__image(parts->elf);
	struct elf_image debug = parts->debug ? elf_symbols__image(parts->debug)
					      : elf_symbols__debug_image(parts->elf);
	char name[SYMBOL_STORE_NAME_BYTES], *path;
	int err;

	if (!image.data) {
		archive_sink__miss(sink, dso);
		return 0;
	}
	if (id.nr_bytes < SYMBOL_STORE_MIN_ID_BYTES) {
		path = archive_sink__name_by_path(sink, dso);
		err = path ? archive_sink__add_symbols(sink, path, &image, dso__elf(dso))
			   : 0;
		free(path);
		return err;
	}
	symbol_store__name(*dso__path(dso) == '/' ? SYMBOL_STORE_ELF : SYMBOL_STORE_VDSO,
			   &id, name);
	err = archive_sink__add_symbols(sink, name, &image, dso__elf(dso));
	if (!err && debug.data)
		err = archive_sink__add_symbols(
			sink, symbol_store__name(SYMBOL_STORE_DEBUG, &id, name), &debug,
			NULL);
	return err;
}

static int archive_sink__add_perf_map(struct archive_sink *sink, const struct dso *dso,
				      const struct perf_map *map)
{
	struct elf_image text;
	char *copy, *name;
	int err;

	copy = perf_map__text(map, &text.bytes);
	if (!copy)
		return no_memory(sink);
	text.data = copy;
	name = archive_sink__name_by_path(sink, dso);
	err = name ? archive_sink__add_symbols(sink, name, &text, NULL) : 0;
	free(name);
	free(copy);
	return err;
}

static int archive_sink__add_dso(struct dso *dso, void *context)
{
	struct archive_sink *sink = context;
	struct dso_parts parts = dso__parts(dso);

	if (!parts.is_asked)
		return 0;
	if (parts.elf)
		return archive_sink__add_elf(sink, dso, &parts);
	if (parts.perf_map)
		return archive_sink__add_perf_map(sink, dso, parts.perf_map);
	if (!dso__is_memory(dso))
		archive_sink__miss(sink, dso);
	return 0;
}

static int archive_sink__add_sums(struct archive_sink *sink)
{
	struct tar_zst_file file = {.name = ARCHIVE_SUMS};
	int err;

	if (fflush(sink->sums))
		return no_memory(sink);
	/* Adding the sums themselves may move them. */
	file.bytes = sink->sums_bytes;
	file.data = strndup(sink->sums_text, file.bytes);
	if (!file.data)
		return no_memory(sink);
	err = archive_sink__add(sink, &file);
	free((void *)file.data);
	return err;
}

static int archive_sink__write(struct archive_sink *sink)
{
	int err;

	err = archive_sink__add_recording(sink);
	if (!err)
		err = machine__for_each_dso(sink->input.machine, archive_sink__add_dso,
					    sink);
	if (!err)
		err = archive_sink__add_sums(sink);
	if (!err)
		err = tar_zst_writer__finish(sink->writer);
	return err ? err : out_file__finish(sink->file);
}

static int archive_sink__finish(struct sink *base)
{
	struct archive_sink *sink = (struct archive_sink *)base;
	struct format_buf nr, size;
	int err = archive_sink__write(sink);

	if (err)
		return err;
	archive_sink__tell_missing(sink);
	pr_info("the recording and %s %s with symbols in %s (%s)",
		format__count(sink->nr_files, &nr),
		sink->nr_files == 1 ? "file" : "files",
		strcmp(sink->path, "-") ? sink->path : "standard output",
		format__file_size(out_file__nr_bytes(sink->file), &size));
	return 0;
}

static void archive_sink__delete(struct sink *base)
{
	struct archive_sink *sink = (struct archive_sink *)base;

	if (!sink)
		return;
	tar_zst_writer__close(sink->writer);
	out_file__close(sink->file);
	if (sink->sums)
		fclose(sink->sums);
	free(sink->sums_text);
	tdestroy(sink->names, free);
	free(sink->path);
	free(sink);
}

int sink_archive__new(const char *path, struct sink **ret)
{
	static const struct sink_ops ops = {
		.start = archive_sink__start,
		.sample = archive_sink__sample,
		.finish = archive_sink__finish,
		.delete = archive_sink__delete,
	};
	struct archive_sink *sink = calloc(1, sizeof(*sink));
	int err = -ENOMEM;

	if (sink) {
		sink->sink.ops = &ops;
		sink->path = strdup(path);
		sink->sums = open_memstream(&sink->sums_text, &sink->sums_bytes);
	}
	if (sink && sink->path && sink->sums)
		err = out_file__open(path, &sink->file);
	else
		pr_err("no memory to write %s", path);
	if (!err)
		err = out_file__make_private(sink->file);
	if (!err)
		err = tar_zst_writer__open(sink->file, sink->path, &sink->writer);
	if (err)
		archive_sink__delete((struct sink *)sink);
	else
		*ret = &sink->sink;
	return err;
}
