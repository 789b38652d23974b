// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unpacking an archive of any bytes, as they come from a stranger: either it is refused, or
 * all of its files have names that are packed; and in both cases no file is left, open or in
 * the folder where it is unpacked.
 *
 *   u8 form    'z': a .tar.zst follows; else a tar, which gets its sums, and then zstd's form
 *              without compression (else hardly a changed byte got as far as tar)
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "fuzz.h"
#include "archive/archive.h"
#include "source/recording.h"
#include "util/log.h"

#define TAR_BLOCK  512
#define ZSTD_BLOCK (1u << 17)
/* What decoding a frame may take at once: libzstd's own limit is eight times that. */
#define MAX_WINDOW_BYTES (16ull << 20)

static char folder[] = "/tmp/test-perf-gpu-archive-XXXXXX";

static void remove_folder(void)
{
	rmdir(folder);
}

static void setup(void)
{
	if (!mkdtemp(folder))
		abort();
	atexit(remove_folder);
	setenv("TMPDIR", folder, 1);
	log_verbosity = -1;
}

/* Entries of a folder, but for "." and ".." */
static size_t count_entries(const char *path)
{
	DIR *entries = opendir(path);
	size_t nr = 0;

	REQUIRE(entries);
	while (readdir(entries))
		nr++;
	closedir(entries);
	return nr - 2;
}

/* Tar */

static size_t number(const uint8_t *text, size_t nr)
{
	size_t value = 0;

	for (size_t i = 0; i < nr && text[i] >= '0' && text[i] <= '7'; i++)
		value = value * 8 + (size_t)(text[i] - '0');
	return value;
}

static void write_header(FILE *to, const char *name, size_t bytes)
{
	char header[TAR_BLOCK] = "";
	unsigned int sum = 8 * ' ';

	snprintf(header, 100, "%s", name);
	snprintf(header + 100, 8, "%07o", 0644u);
	snprintf(header + 108, 8, "%07o", 0u);
	snprintf(header + 116, 8, "%07o", 0u);
	snprintf(header + 124, 12, "%011zo", bytes);
	snprintf(header + 136, 12, "%011o", 0u);
	header[156] = '0';
	memcpy(header + 257, "ustar  ", 8);
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += (unsigned char)header[i];
	snprintf(header + 148, 8, "%06o", sum);
	header[155] = ' ';
	fwrite(header, TAR_BLOCK, 1, to);
}

/* Up to the sums, or what is no tar; the sums are those of what precedes them. */
static void write_tar(FILE *to, const uint8_t *data, size_t size)
{
	static const char zeros[TAR_BLOCK];
	char *sums = NULL, name[101] = "";
	size_t at = 0, bytes, sums_bytes = 0;
	FILE *text = open_memstream(&sums, &sums_bytes);

	REQUIRE(text);
	while (size - at >= TAR_BLOCK && data[at]) {
		memcpy(name, data + at, 100);
		bytes = number(data + at + 124, 12);
		if (!strcmp(name, ARCHIVE_SUMS) || bytes > size - at - TAR_BLOCK)
			break;
		fprintf(text, "%08lx %zu %s\n",
			crc32(0, data + at + TAR_BLOCK, (uInt)bytes), bytes, name);
		at += TAR_BLOCK + (bytes + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
		if (at > size)
			at = size;
	}
	fclose(text);
	fwrite(data, 1, at, to);
	write_header(to, ARCHIVE_SUMS, sums_bytes);
	fwrite(sums, 1, sums_bytes, to);
	fwrite(zeros, 1, (TAR_BLOCK - sums_bytes % TAR_BLOCK) % TAR_BLOCK, to);
	fwrite(data + at, 1, size - at, to);
	free(sums);
}

/* zstd, RFC 8878 */

static void write_frame(FILE *to, const uint8_t *data, size_t size)
{
	static const uint8_t head[] = {0x28, 0xb5, 0x2f,
				       0xfd, 0,	   /* window: 128 KiB */ 7 << 3};
	size_t at = 0;

	fwrite(head, 1, sizeof(head), to);
	do {
		size_t bytes = size - at < ZSTD_BLOCK ? size - at : ZSTD_BLOCK;
		uint32_t block = (uint32_t)bytes << 3 | (at + bytes == size);

		fwrite(&block, 1, 3, to); /* of a little-endian machine */
		fwrite(data + at, 1, bytes, to);
		at += bytes;
	} while (at < size);
}

/* Of anything that looks like the beginning of a frame */
static bool has_large_window(const uint8_t *data, size_t size)
{
	static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd};

	for (size_t at = 0; at + 16 <= size; at++) {
		uint64_t base;

		if (memcmp(data + at, magic, sizeof(magic)) != 0)
			continue;
		if (data[at + 4] & 0x20)
			return data[at + 4] & 0xc0; /* its size, of many bytes */
		base = 1ull << (10 + (data[at + 5] >> 3));
		if (base + base / 8 * (data[at + 5] & 7) > MAX_WINDOW_BYTES)
			return true;
	}
	return false;
}

/* Form, and what the archive is; -1: nothing to be tried */
static int make_archive(const uint8_t *data, size_t size)
{
	char *tar = NULL, *bytes = NULL;
	size_t nr_tar = 0, nr_bytes = 0;
	FILE *to;
	int fd;

	if (data[0] == 'z' && has_large_window(data + 1, size - 1))
		return -1;
	to = open_memstream(&bytes, &nr_bytes);
	REQUIRE(to);
	if (data[0] == 'z') {
		fwrite(data + 1, 1, size - 1, to);
	} else {
		FILE *tar_to = open_memstream(&tar, &nr_tar);

		REQUIRE(tar_to);
		write_tar(tar_to, data + 1, size - 1);
		fclose(tar_to);
		write_frame(to, (uint8_t *)tar, nr_tar);
	}
	fclose(to);
	fd = memfd_create("archive", MFD_CLOEXEC);
	REQUIRE(fd >= 0);
	REQUIRE(write(fd, bytes, nr_bytes) == (ssize_t)nr_bytes);
	free(bytes);
	free(tar);
	return fd;
}

static int check_name(const char *name, int fd, void *context)
{
	(void)context;
	REQUIRE(symbol_store__is_by_id(name) || symbol_store__is_by_path(name));
	REQUIRE(lseek(fd, 0, SEEK_END) >= 0);
	return 0;
}

static void check(struct recording *recording)
{
	struct perfdata_reader *reader = NULL;
	struct sidecar *sidecar = NULL;

	REQUIRE(recording->archive);
	symbol_store__for_each(recording__symbols(recording), check_name, NULL);
	recording__open_perfdata(recording, &reader);
	recording__open_sidecar(recording, &sidecar);
	perfdata_reader__close(reader);
	sidecar__close(sidecar);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool is_set_up;
	struct recording recording;
	size_t nr_open;
	char path[64];
	int fd;

	if (!is_set_up)
		setup();
	is_set_up = true;
	fd = size ? make_archive(data, size) : -1;
	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	nr_open = count_entries("/proc/self/fd");
	if (archive_file__is_one(path) && !recording__open(path, NULL, &recording)) {
		check(&recording);
		recording__close(&recording);
	}
	REQUIRE(count_entries("/proc/self/fd") == nr_open);
	REQUIRE(count_entries(folder) == 0);
	close(fd);
	return 0;
}
