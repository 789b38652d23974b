// SPDX-License-Identifier: GPL-2.0-or-later
/* In place of tar_zst_writer.c and tar_zst_reader.c, where there is no libarchive */
#include <errno.h>

#include "archive/tar_zst.h"
#include "util/log.h"

int tar_zst_writer__open(struct out_file *to, const char *path,
			 struct tar_zst_writer **ret)
{
	(void)to;
	(void)ret;
	pr_err("cannot write %s: this perf-gpu was built without libarchive: install it, "
	       "and "
	       "build again (perf-gpu version --build-options)",
	       path);
	return -ENOTSUP;
}

int tar_zst_writer__add(struct tar_zst_writer *writer, const struct tar_zst_file *file,
			uint32_t *ret_crc32)
{
	(void)writer;
	(void)file;
	(void)ret_crc32;
	return -ENOTSUP;
}

int tar_zst_writer__finish(struct tar_zst_writer *writer)
{
	(void)writer;
	return -ENOTSUP;
}

void tar_zst_writer__close(struct tar_zst_writer *writer)
{
	(void)writer;
}

int tar_zst_reader__open(int fd, const char *path, struct tar_zst_reader **ret)
{
	(void)fd;
	(void)ret;
	pr_err("%s is an archive, and this perf-gpu was built without libarchive: "
	       "install it "
	       "and build again, or unpack it with 'tar xf', and read its perf.data with "
	       "--symfs symfs",
	       path);
	return -ENOTSUP;
}

void tar_zst_reader__close(struct tar_zst_reader *reader)
{
	(void)reader;
}

int tar_zst_reader__next(struct tar_zst_reader *reader, const char **ret_name,
			 uint64_t *ret_bytes)
{
	(void)reader;
	(void)ret_name;
	(void)ret_bytes;
	return -ENOTSUP;
}

int tar_zst_reader__read(struct tar_zst_reader *reader, const void **ret,
			 size_t *ret_bytes)
{
	(void)reader;
	(void)ret;
	(void)ret_bytes;
	return -ENOTSUP;
}
