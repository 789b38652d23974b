// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unpacks. Sums are counted as files come, and compared at the end: `sums` is what
 * perf-gpu-archive.sums should be.
 */
#include "archive/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "util/nameless_file.h"
#include "archive/tar_zst.h"
#include "util/format.h"
#include "util/log.h"
#include "util/progress.h"

/* The limit on open files is raised with some to spare. */
#define SPARE_FILES 64

/* A later version's may say more; of this one's it is ARCHIVE_VERSION. */
#define MAX_VERSION_BYTES 4096

struct archive_file {
	int perfdata, sidecar; /* -1: not seen yet */
	struct symbol_store *symbols;
};

struct unpacking {
	struct archive_file *archive;
	const char *path;
	struct tar_zst_reader *reader;
	uint64_t max_bytes, nr_bytes; /* of all files */
	size_t nr_files;
	FILE *sums;
	char *sums_text;
	size_t sums_bytes;
	bool has_sums; /* they were compared: the end */
};

/* A whole small file */
struct text {
	char *data;
	size_t bytes;
};

static int no_memory(const struct unpacking *unpacking)
{
	pr_err("no memory to unpack %s", unpacking->path);
	return -ENOMEM;
}

static int damaged(const struct unpacking *unpacking, const char *how)
{
	pr_err("%s is cut off or damaged (%s): copy it again, or pack it again with "
	       "perf-gpu "
	       "archive",
	       unpacking->path, how);
	return -EBADMSG;
}

static int unexpected(const struct unpacking *unpacking, const char *name)
{
	pr_err("%s has %s in it, which perf-gpu archive doesn't pack: it isn't read",
	       unpacking->path, name);
	return -EPERM;
}

static int cannot_write(const struct unpacking *unpacking, int err)
{
	pr_err("%s can't be unpacked in %s: %s; set TMPDIR to a folder that has room",
	       unpacking->path, nameless_file__folder(), strerror(-err));
	return err;
}

/* Ahead of reading what it says it has */
static int check_size(struct unpacking *unpacking, uint64_t bytes)
{
	struct format_buf limit;

	if (bytes <= unpacking->max_bytes - unpacking->nr_bytes) {
		unpacking->nr_bytes += bytes;
		return 0;
	}
	pr_err("%s would unpack to more than %s, %d times its size, and isn't read; if "
	       "you "
	       "trust it, unpack it with 'tar xf', and read its perf.data with --symfs "
	       "symfs",
	       unpacking->path, format__file_size(unpacking->max_bytes, &limit),
	       ARCHIVE_MAX_RATIO);
	return -EFBIG;
}

static int add_sum(struct unpacking *unpacking, uint32_t crc, uint64_t bytes,
		   const char *name)
{
	return fprintf(unpacking->sums, "%08" PRIx32 " %" PRIu64 " %s\n", crc, bytes,
		       name) < 0
		       ? no_memory(unpacking)
		       : 0;
}

static int unpack_pieces(struct unpacking *unpacking, int fd, uint32_t *ret_crc)
{
	uint32_t crc = 0;
	const void *data;
	size_t bytes;
	int ret, err;

	while ((ret = tar_zst_reader__read(unpacking->reader, &data, &bytes)) > 0) {
		crc = (uint32_t)crc32_z(crc, data, bytes);
		err = nameless_file__append(fd, data, bytes);
		if (err)
			return cannot_write(unpacking, err);
	}
	if (ret)
		return ret;
	err = nameless_file__finish(fd);
	if (err)
		return cannot_write(unpacking, err);
	*ret_crc = crc;
	return 0;
}

/* Return: a file descriptor, or a negative errno, printed. */
static int unpack_file(struct unpacking *unpacking, const char *name, uint64_t bytes)
{
	uint32_t crc;
	int fd, err;

	fd = nameless_file__open();
	if (fd < 0)
		return cannot_write(unpacking, fd);
	err = unpack_pieces(unpacking, fd, &crc);
	if (!err)
		err = add_sum(unpacking, crc, bytes, name);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

/* @bytes were checked. @ret: for free() */
static int unpack_text(struct unpacking *unpacking, uint64_t bytes, struct text *ret)
{
	char *text = malloc(bytes + 1), *at = text;
	const void *data;
	size_t nr;
	int status;

	if (!text)
		return no_memory(unpacking);
	while ((status = tar_zst_reader__read(unpacking->reader, &data, &nr)) > 0)
		at = mempcpy(at, data, nr);
	if (status) {
		free(text);
		return status;
	}
	*at = '\0';
	*ret = (struct text){.data = text, .bytes = bytes};
	return 0;
}

static int take_mark(struct unpacking *unpacking, uint64_t bytes)
{
	struct text text;
	int err;

	if (bytes > MAX_VERSION_BYTES)
		return damaged(unpacking, "its version is too long");
	err = unpack_text(unpacking, bytes, &text);
	if (err)
		return err;
	if (strcmp(text.data, ARCHIVE_VERSION)) {
		pr_err("%s is in a later format than this perf-gpu reads, %.*s: a later "
		       "perf-gpu is needed",
		       unpacking->path, (int)strcspn(text.data, "\n"), text.data);
		err = -ENOTSUP;
	} else {
		err = add_sum(unpacking, (uint32_t)crc32_z(0, (void *)text.data, bytes),
			      bytes, ARCHIVE_MARK);
	}
	free(text.data);
	return err;
}

static int take_sums(struct unpacking *unpacking, uint64_t bytes)
{
	struct text text;
	int err;

	if (fflush(unpacking->sums))
		return no_memory(unpacking);
	if (bytes != unpacking->sums_bytes)
		return damaged(unpacking, "its checksums are of other files");
	err = unpack_text(unpacking, bytes, &text);
	if (err)
		return err;
	if (memcmp(text.data, unpacking->sums_text, bytes))
		err = damaged(unpacking, "a checksum is wrong");
	unpacking->has_sums = !err;
	free(text.data);
	return err;
}

static int take_recording(struct unpacking *unpacking, int *file, const char *name,
			  uint64_t bytes)
{
	int fd;

	if (*file >= 0)
		return unexpected(unpacking, name);
	fd = unpack_file(unpacking, name, bytes);
	if (fd < 0)
		return fd;
	*file = fd;
	return 0;
}

static int take_symbols(struct unpacking *unpacking, const char *name, uint64_t bytes)
{
	struct symbol_store *symbols = unpacking->archive->symbols;
	int fd, err;

	if (symbol_store__find(symbols, name) >= 0)
		return unexpected(unpacking, name);
	fd = unpack_file(unpacking, name, bytes);
	if (fd < 0)
		return fd;
	err = symbol_store__add(symbols, name, fd);
	if (!err)
		return 0;
	close(fd);
	return no_memory(unpacking);
}

/* @name is the reader's, until it reads. */
static int take_file(struct unpacking *unpacking, const char *name, uint64_t bytes)
{
	struct archive_file *archive = unpacking->archive;

	if (!strcmp(name, ARCHIVE_SUMS))
		return take_sums(unpacking, bytes);
	if (!strcmp(name, ARCHIVE_PERFDATA))
		return take_recording(unpacking, &archive->perfdata, ARCHIVE_PERFDATA,
				      bytes);
	if (!strcmp(name, ARCHIVE_SIDECAR))
		return take_recording(unpacking, &archive->sidecar, ARCHIVE_SIDECAR,
				      bytes);
	if (symbol_store__is_by_id(name) || symbol_store__is_by_path(name))
		return take_symbols(unpacking, name, bytes);
	return unexpected(unpacking, name);
}

static int take_first(struct unpacking *unpacking)
{
	const char *name;
	uint64_t bytes;
	int ret;

	ret = tar_zst_reader__next(unpacking->reader, &name, &bytes);
	if (ret < 0)
		return ret;
	if (!ret || strcmp(name, ARCHIVE_MARK)) {
		pr_err("%s was not made by perf-gpu archive: unpack it, and read the "
		       "perf.data "
		       "in it",
		       unpacking->path);
		return -EPERM;
	}
	return take_mark(unpacking, bytes);
}

static int take_all(struct unpacking *unpacking)
{
	const char *name;
	uint64_t bytes;
	char *copy;
	int ret, err;

	err = take_first(unpacking);
	while (!err && (ret = tar_zst_reader__next(unpacking->reader, &name, &bytes))) {
		if (ret < 0)
			return ret;
		if (unpacking->has_sums)
			return unexpected(unpacking, name);
		if (++unpacking->nr_files > ARCHIVE_MAX_FILES) {
			pr_err("%s has more than %d files, and isn't read; if you trust "
			       "it, unpack it with 'tar xf', and read its perf.data with "
			       "--symfs symfs",
			       unpacking->path, ARCHIVE_MAX_FILES);
			return -EFBIG;
		}
		err = check_size(unpacking, bytes);
		if (err)
			return err;
		copy = strdup(name);
		err = copy ? take_file(unpacking, copy, bytes) : no_memory(unpacking);
		free(copy);
	}
	if (err)
		return err;
	if (!unpacking->has_sums || unpacking->archive->perfdata < 0 ||
	    unpacking->archive->sidecar < 0)
		return damaged(unpacking, "its end is missing");
	return 0;
}

/* Files are open as long as they are needed; 1024 of them are few. */
static void raise_file_limit(void)
{
	const rlim_t wanted = ARCHIVE_MAX_FILES + SPARE_FILES;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int unpack(struct archive_file *archive, const char *path, int fd)
{
	struct unpacking unpacking = {.archive = archive, .path = path};
	struct stat st;
	int err;

	if (fstat(fd, &st)) {
		err = -errno;
		pr_err("cannot read %s: %m", path);
		return err;
	}
	unpacking.max_bytes =
		(uint64_t)st.st_size * ARCHIVE_MAX_RATIO + ARCHIVE_FREE_BYTES;
	unpacking.sums = open_memstream(&unpacking.sums_text, &unpacking.sums_bytes);
	progress__begin("unpacking", path, (uint64_t)st.st_size);
	err = unpacking.sums ? tar_zst_reader__open(fd, path, &unpacking.reader)
			     : no_memory(&unpacking);
	if (!err)
		err = take_all(&unpacking);
	tar_zst_reader__close(unpacking.reader);
	if (unpacking.sums)
		fclose(unpacking.sums);
	free(unpacking.sums_text);
	return err;
}

int archive_file__is_open_one(int fd)
{
	/* https://www.rfc-editor.org/rfc/rfc8878#name-zstandard-frames */
	static const unsigned char magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
	unsigned char bytes[sizeof(magic)];
	size_t nr = 0;
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	while (nr < sizeof(bytes)) {
		ssize_t n = pread(fd, bytes + nr, sizeof(bytes) - nr, (off_t)nr);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n)
			return 0;
		nr += n > 0 ? (size_t)n : 0;
	}
	return !memcmp(bytes, magic, sizeof(magic));
}

bool archive_file__is_one(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool is_one = fd >= 0 && archive_file__is_open_one(fd) > 0;

	if (fd >= 0)
		close(fd);
	return is_one;
}

int archive_file__open(int fd, const char *path, struct archive_file **ret)
{
	struct archive_file *archive = NULL;
	int err;

	raise_file_limit();
	archive = calloc(1, sizeof(*archive));
	if (archive)
		*archive = (struct archive_file){.perfdata = -1, .sidecar = -1};
	if (archive && !symbol_store__new(&archive->symbols)) {
		err = unpack(archive, path, fd);
	} else {
		pr_err("no memory to unpack %s", path);
		err = -ENOMEM;
	}
	if (err)
		archive_file__close(archive);
	else
		*ret = archive;
	return err;
}

void archive_file__close(struct archive_file *archive)
{
	if (!archive)
		return;
	symbol_store__delete(archive->symbols);
	if (archive->perfdata >= 0)
		close(archive->perfdata);
	if (archive->sidecar >= 0)
		close(archive->sidecar);
	free(archive);
}

int archive_file__perfdata(const struct archive_file *archive)
{
	return archive->perfdata;
}

int archive_file__sidecar(const struct archive_file *archive)
{
	return archive->sidecar;
}

const struct symbol_store *archive_file__symbols(const struct archive_file *archive)
{
	return archive->symbols;
}
