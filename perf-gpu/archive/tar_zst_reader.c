// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Of what libarchive can do, only tar and zstd are switched on, and no file is given a name
 * on disk by it: it decodes, and what comes out is checked by who asks.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/spare_memory.h"
#include "archive/tar_zst.h"
#include "util/log.h"
#include "util/progress.h"

#define PIECE_BYTES (1u << 17)

struct tar_zst_reader {
	int fd;
	const char *path;
	struct archive *archive;
	struct archive_entry
		*entry; /* libarchive 3.6 doesn't look whether it has one of its own */
	uint64_t nr_in; /* bytes of the archive so far */
	int err; /* of reading them */
	uint64_t nr_bytes, nr_read; /* of the file at hand */
	unsigned char in[PIECE_BYTES];
};

static int reader__no_memory(const struct tar_zst_reader *reader)
{
	pr_err("no memory to unpack %s", reader->path);
	return -ENOMEM;
}

static int reader__damaged(const struct tar_zst_reader *reader, const char *how)
{
	pr_err("%s is cut off or damaged (%s): copy it again, or pack it again with "
	       "perf-gpu archive",
	       reader->path, how);
	return -EBADMSG;
}

static int reader__fail(const struct tar_zst_reader *reader)
{
	const char *how = archive_error_string(reader->archive);

	if (reader->err) {
		pr_err("cannot read %s: %s", reader->path, strerror(-reader->err));
		return reader->err;
	}
	/* Not all of libarchive, and of what it decodes by, tells it so. */
	if (archive_errno(reader->archive) == ENOMEM || errno == ENOMEM)
		return reader__no_memory(reader);
	return reader__damaged(reader, how ? how : "it can't be read");
}

static la_ssize_t read_in(struct archive *archive, void *closure, const void **ret)
{
	struct tar_zst_reader *reader = closure;
	ssize_t n;

	do {
		n = read(reader->fd, reader->in, sizeof(reader->in));
	} while (n < 0 && errno == EINTR);
	if (n < 0) {
		reader->err = -errno;
		archive_set_error(archive, -reader->err, "%s", strerror(-reader->err));
	} else {
		progress__at(reader->nr_in += (uint64_t)n);
	}
	*ret = reader->in;
	return n;
}

/* As archive_read_open() does it, which doesn't look whether there was memory for each */
static int open_archive(struct tar_zst_reader *reader)
{
	int status = archive_read_set_read_callback(reader->archive, read_in);

	if (status == ARCHIVE_OK)
		status = archive_read_set_callback_data(reader->archive, reader);
	return status == ARCHIVE_OK ? archive_read_open1(reader->archive) : status;
}

int tar_zst_reader__open(int fd, const char *path, struct tar_zst_reader **ret)
{
	struct tar_zst_reader *reader = malloc(sizeof(*reader));
	int err = 0, status;

	if (reader) {
		*reader = (struct tar_zst_reader){.fd = fd, .path = path};
		reader->archive = archive_read_new();
		reader->entry = archive_entry_new();
	}
	if (!reader || !reader->archive || !reader->entry) {
		pr_err("no memory to unpack %s", path);
		tar_zst_reader__close(reader);
		return -ENOMEM;
	}
	if (lseek(fd, 0, SEEK_SET) < 0) {
		err = -errno;
		pr_err("cannot read %s: %m", path);
		goto out;
	}
	errno = 0;
	status = archive_read_support_filter_zstd(reader->archive);
	if (status != ARCHIVE_OK && errno != ENOMEM) {
		err = -ENOTSUP;
		pr_err("cannot read %s: this libarchive was built without zstd: install "
		       "one that was built with it",
		       path);
	} else if (status != ARCHIVE_OK ||
		   archive_read_support_format_tar(reader->archive) != ARCHIVE_OK ||
		   open_archive(reader) != ARCHIVE_OK) {
		err = reader__fail(reader);
	}
out:
	if (err)
		tar_zst_reader__close(reader);
	else
		*ret = reader;
	return err;
}

void tar_zst_reader__close(struct tar_zst_reader *reader)
{
	if (!reader)
		return;
	if (reader->archive)
		archive_read_free(reader->archive);
	archive_entry_free(reader->entry);
	free(reader);
}

int tar_zst_reader__next(struct tar_zst_reader *reader, const char **ret_name,
			 uint64_t *ret_bytes)
{
	struct archive_entry *entry = reader->entry;
	const char *name;
	int ret;

	if (!spare_memory__is_there())
		return reader__no_memory(reader);
	errno = 0;
	ret = archive_read_next_header2(reader->archive, entry);
	if (ret == ARCHIVE_EOF)
		return 0;
	if (ret < ARCHIVE_WARN)
		return reader__fail(reader);
	name = archive_entry_pathname(entry);
	if (!name)
		return reader__damaged(reader, "a file without a name");
	if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) ||
	    archive_entry_symlink(entry)) {
		pr_err("%s has %s in it, which is no regular file: perf-gpu archive "
		       "packs "
		       "none of these, so it isn't read",
		       reader->path, name);
		return -EPERM;
	}
	if (!archive_entry_size_is_set(entry) || archive_entry_size(entry) < 0)
		return reader__damaged(reader, "a file without a size");
	reader->nr_bytes = (uint64_t)archive_entry_size(entry);
	reader->nr_read = 0;
	*ret_name = name;
	*ret_bytes = reader->nr_bytes;
	return 1;
}

int tar_zst_reader__read(struct tar_zst_reader *reader, const void **ret,
			 size_t *ret_bytes)
{
	la_int64_t offset;
	int status;

	errno = 0;
	status = archive_read_data_block(reader->archive, ret, ret_bytes, &offset);
	if (status == ARCHIVE_EOF)
		return reader->nr_read == reader->nr_bytes
			       ? 0
			       : reader__damaged(reader, "a file is too short");
	if (status < ARCHIVE_WARN)
		return reader__fail(reader);
	/* Otherwise it is a file with holes, which nobody packs. */
	if (offset < 0 || (uint64_t)offset != reader->nr_read || !*ret_bytes ||
	    *ret_bytes > reader->nr_bytes - reader->nr_read)
		return reader__damaged(reader, "a file isn't in one piece");
	reader->nr_read += *ret_bytes;
	return 1;
}
