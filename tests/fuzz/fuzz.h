/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What fuzz targets have in common */
#ifndef PERF_GPU_TESTS_FUZZ_H
#define PERF_GPU_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "gpu_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must be true, whatever the input is */
#define REQUIRE(condition)                                                          \
	do {                                                                        \
		if (!(condition)) {                                                 \
			fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, \
				#condition);                                        \
			abort();                                                    \
		}                                                                   \
	} while (0)

/* A path of the file that fuzz_file__open() has opened */
struct fuzz_path {
	char text[32];
};

/* A file that has the data, in memory. To be closed */
__attribute__((unused)) static int fuzz_file__open(const uint8_t *data, size_t size,
						   struct fuzz_path *ret)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	REQUIRE(fd >= 0);
	REQUIRE(write(fd, data, size) == (ssize_t)size);
	snprintf(ret->text, sizeof(ret->text), "/proc/self/fd/%d", fd);
	return fd;
}

/*
 * Checksums of a GPU log's blocks are put right, as far as lengths allow: else nothing but
 * the search for blocks would ever be tried.
 * @session:    which all get; 0: they keep their own
 * @other_logs: 0, or what is changed in the ids of logs
 */
__attribute__((unused)) static void fuzz_log__mend(uint8_t *data, size_t size,
						   uint64_t session, uint64_t other_logs)
{
	const size_t skip = offsetof(struct gpu_log_block, payload_bytes);
	struct gpu_log_block block;
	size_t offset = 0;

	while (size - offset >= sizeof(block)) {
		memcpy(&block, data + offset, sizeof(block));
		if (block.magic != GPU_LOG_MAGIC ||
		    block.payload_bytes > size - offset - sizeof(block))
			return;
		if (session)
			block.session = session;
		if (block.log_id)
			block.log_id ^= other_logs;
		memcpy(data + offset, &block, sizeof(block));
		block.crc32 = (uint32_t)crc32(0, data + offset + skip,
					      (uInt)(sizeof(block) - skip) +
						      block.payload_bytes);
		memcpy(data + offset, &block, sizeof(block));
		offset += sizeof(block) + block.payload_bytes;
	}
}

#endif
