// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * GPU logs of any content. Checksums are put right first, as far as lengths
 * allow, else nothing but the search for blocks would ever be tried.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "gpu_log.h"
#include "join/graph_nodes.h"
#include "join/join.h"
#include "sidecar/sidecar.h"
#include "source/jit_names.h"
#include "util/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void mend_checksums(uint8_t *data, size_t size)
{
	const size_t skip = offsetof(struct gpu_log_block, payload_bytes);
	struct gpu_log_block block;
	size_t offset = 0;

	while (size - offset >= sizeof(block)) {
		memcpy(&block, data + offset, sizeof(block));
		if (block.magic != GPU_LOG_MAGIC ||
		    block.payload_bytes > size - offset - sizeof(block))
			return;
		block.crc32 = (uint32_t)crc32(0, data + offset + skip,
					      (uInt)(sizeof(block) - skip) +
						      block.payload_bytes);
		memcpy(data + offset, &block, sizeof(block));
		offset += sizeof(block) + block.payload_bytes;
	}
}

/* Whatever there is of JIT code's names, it can be asked for. */
static void use_jit_names(const struct sidecar *sidecar)
{
	struct jit_names *names;
	const char *name;

	if (jit_names__new(sidecar, &names))
		abort();
	for (uint32_t log = 0; log < sidecar->nr_logs; log++) {
		for (uint64_t address = 0; address < 0x6000; address += 0x80) {
			name = jit_names__find(names, log, address, 15);
			if (name && !*name)
				abort();
		}
	}
	jit_names__delete(names);
}

/* Everything that the tables point to is there, and every kernel comes once. */
static void use(struct sidecar *sidecar)
{
	const struct sidecar_kernel *kernel;
	size_t cursor = 0, nr_kernels = 0, nr_text_bytes = 0;
	struct join *join;

	for (size_t i = 0; i < sidecar->nr_shapes; i++)
		nr_text_bytes += strlen(sidecar->shapes[i].name);
	for (size_t i = 0; i < sidecar->nr_devices; i++)
		nr_text_bytes += strlen(sidecar->devices[i].name);
	for (size_t i = 0; i < sidecar->nr_messages; i++)
		nr_text_bytes += strlen(sidecar->messages[i].text);
	for (size_t i = 0; i < sidecar->nr_apis; i++)
		if (!sidecar__api_name(sidecar, sidecar->apis[i].log,
				       sidecar->apis[i].api))
			abort();
	use_jit_names(sidecar);
	if (nr_text_bytes == SIZE_MAX || join__new(sidecar, &join))
		abort();
	while ((kernel = join__rest(join, &cursor))) {
		if (kernel->log >= sidecar->nr_logs ||
		    kernel->shape >= sidecar->nr_shapes ||
		    kernel->end_ns < kernel->start_ns)
			abort();
		nr_kernels++;
	}
	if (nr_kernels != sidecar->nr_kernels)
		abort();
	join__delete(join);
}

/* Every kernel of a graph has a maker, if the log tells of them. */
static void use_graph_nodes(const struct sidecar *sidecar)
{
	struct graph_nodes *nodes;

	if (graph_nodes__new(sidecar, &nodes))
		abort();
	for (size_t i = 0; i < sidecar->nr_kernels; i++) {
		const struct sidecar_kernel *kernel = &sidecar->kernels[i];
		bool has_maker = sidecar->shapes[kernel->shape].graph_node &&
				 sidecar->logs[kernel->log].tells_graph_nodes;
		ssize_t maker = graph_nodes__maker_of(nodes, kernel);

		if (has_maker != (maker >= 0) ||
		    maker >= (ssize_t)graph_nodes__nr_makers(nodes))
			abort();
	}
	graph_nodes__delete(nodes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sidecar *sidecar = NULL;
	int fd = memfd_create("log", MFD_CLOEXEC);
	uint8_t *mended = malloc(size + 1);
	char path[64];

	if (fd < 0 || !mended)
		abort();
	memcpy(mended, data, size);
	mend_checksums(mended, size);
	if (write(fd, mended, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	log_verbosity = -1;
	if (!sidecar__open(path, &sidecar)) {
		use(sidecar);
		use_graph_nodes(sidecar);
	}
	sidecar__close(sidecar);
	free(mended);
	close(fd);
	return 0;
}
