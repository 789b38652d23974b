// SPDX-License-Identifier: GPL-2.0-or-later
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "archive/spare_memory.h"
#include "archive/tar_zst.h"
#include "util/log.h"

/* What libarchive and zlib are given at once */
#define PIECE_BYTES (1u << 20)

struct tar_zst_writer {
	struct out_file *to;
	const char *path;
	struct archive *archive;
	struct archive_entry *entry;
	bool is_dropped; /* what comes isn't written any more */
	uint32_t crc32; /* of the file at hand, so far */
	unsigned char *zeros; /* PIECE_BYTES of them */
};

static int writer__no_memory(const struct tar_zst_writer *writer)
{
	pr_err("no memory to write %s", writer->path);
	return -ENOMEM;
}

/* out_file has printed what it failed with. */
static int writer__fail(const struct tar_zst_writer *writer)
{
	int err = out_file__error(writer->to);

	if (err)
		return err;
	err = archive_errno(writer->archive);
	if (err == ENOMEM || errno == ENOMEM)
		return writer__no_memory(writer);
	pr_err("cannot write %s: %s", writer->path,
	       archive_error_string(writer->archive));
	return err > 0 ? -err : -EIO;
}

/*
 * It never fails, since libarchive leaks what it has of a writer that did: out_file keeps its
 * error, and is asked for it.
 */
static la_ssize_t write_out(struct archive *archive, void *closure, const void *bytes,
			    size_t nr_bytes)
{
	struct tar_zst_writer *writer = closure;

	(void)archive;
	if (!writer->is_dropped)
		out_file__write(writer->to, bytes, nr_bytes);
	return (la_ssize_t)nr_bytes;
}

static int writer__begin(struct tar_zst_writer *writer)
{
	int status;

	errno = 0;
	status = archive_write_add_filter_zstd(writer->archive);
	/* ARCHIVE_WARN: a zstd program would be run, which need not be there */
	if (status != ARCHIVE_OK && errno != ENOMEM) {
		pr_err("cannot write %s: this libarchive was built without zstd: install "
		       "one that was built with it",
		       writer->path);
		return -ENOTSUP;
	}
	if (status != ARCHIVE_OK ||
	    archive_write_set_format_gnutar(writer->archive) != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(writer->archive, 1) != ARCHIVE_OK ||
	    archive_write_open(writer->archive, writer, NULL, write_out, NULL) !=
		    ARCHIVE_OK)
		return writer__fail(writer);
	return 0;
}

int tar_zst_writer__open(struct out_file *to, const char *path,
			 struct tar_zst_writer **ret)
{
	struct tar_zst_writer *writer = calloc(1, sizeof(*writer));
	int err = -ENOMEM;

	if (writer) {
		writer->to = to;
		writer->path = path;
		writer->archive = archive_write_new();
		writer->entry = archive_entry_new();
		writer->zeros = calloc(1, PIECE_BYTES);
	}
	if (writer && writer->archive && writer->entry && writer->zeros)
		err = writer__begin(writer);
	else
		pr_err("no memory to write %s", path);
	if (err)
		tar_zst_writer__close(writer);
	else
		*ret = writer;
	return err;
}

static int writer__write(struct tar_zst_writer *writer, const unsigned char *data,
			 size_t bytes)
{
	writer->crc32 = (uint32_t)crc32(writer->crc32, data, (unsigned int)bytes);
	if (archive_write_data(writer->archive, data, bytes) != (la_ssize_t)bytes)
		return writer__fail(writer);
	return out_file__error(writer->to);
}

/* A recording can be larger than memory. Its pages are read anew where they are needed. */
static void give_back(const struct tar_zst_file *file, struct byte_range range)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	range.start -= range.start % page_bytes;
	if (file->is_mapped)
		madvise((char *)file->data + range.start, range.end - range.start,
			MADV_DONTNEED);
}

static int writer__write_range(struct tar_zst_writer *writer,
			       const struct tar_zst_file *file, struct byte_range range,
			       bool is_blank)
{
	const unsigned char *data = file->data;
	int err = 0;

	while (range.start < range.end && !err) {
		struct byte_range piece = range;

		if (piece.end - piece.start > PIECE_BYTES)
			piece.end = piece.start + PIECE_BYTES;
		err = writer__write(writer, is_blank ? writer->zeros : data + piece.start,
				    piece.end - piece.start);
		give_back(file, piece);
		range.start = piece.end;
	}
	return err;
}

static int writer__write_file(struct tar_zst_writer *writer,
			      const struct tar_zst_file *file)
{
	size_t at = 0;
	int err = 0;

	for (size_t i = 0; i < file->nr_blanks && !err; i++) {
		const struct byte_range blank = file->blanks[i];

		err = writer__write_range(writer, file,
					  (struct byte_range){at, blank.start}, false);
		if (!err)
			err = writer__write_range(writer, file, blank, true);
		at = blank.end;
	}
	return err ? err
		   : writer__write_range(writer, file,
					 (struct byte_range){at, file->bytes}, false);
}

int tar_zst_writer__add(struct tar_zst_writer *writer, const struct tar_zst_file *file,
			uint32_t *ret_crc32)
{
	struct archive_entry *entry = writer->entry;
	int err;

	if (!spare_memory__is_there())
		return writer__no_memory(writer);
	archive_entry_clear(entry);
	archive_entry_set_pathname(entry, file->name);
	archive_entry_set_size(entry, (la_int64_t)file->bytes);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_mtime(entry, (time_t)file->time_s, 0);
	if (archive_write_header(writer->archive, entry) < ARCHIVE_WARN)
		return writer__fail(writer);
	writer->crc32 = 0;
	err = writer__write_file(writer, file);
	if (!err)
		*ret_crc32 = writer->crc32;
	return err;
}

int tar_zst_writer__finish(struct tar_zst_writer *writer)
{
	if (archive_write_close(writer->archive) != ARCHIVE_OK)
		return writer__fail(writer);
	return out_file__error(writer->to);
}

void tar_zst_writer__close(struct tar_zst_writer *writer)
{
	if (!writer)
		return;
	/* Freeing one that isn't finished finishes it. */
	writer->is_dropped = true;
	if (writer->archive)
		archive_write_free(writer->archive);
	if (writer->entry)
		archive_entry_free(writer->entry);
	free(writer->zeros);
	free(writer);
}
