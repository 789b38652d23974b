// SPDX-License-Identifier: GPL-2.0-or-later
#include "block.h"

#include <string.h>

void block__init(struct block *block, uint64_t session, uint64_t log_id)
{
	block->whole_bytes = 0;
	block->header = (struct gpu_log_block){
		.magic = GPU_LOG_MAGIC,
		.version = GPU_LOG_VERSION,
		.log_id = log_id,
		.session = session,
	};
}

void *block__reserve(struct block *block, enum gpu_log_type type, size_t size)
{
	struct gpu_log_record *record;

	size = (size + 7) & ~(size_t)7;
	if (block->header.payload_bytes + size > sizeof(block->payload))
		return NULL;
	record = (struct gpu_log_record *)(block->payload + block->header.payload_bytes);
	memset(record, 0, size);
	record->type = (uint16_t)type;
	record->size = (uint16_t)size;
	block->header.payload_bytes += (uint32_t)size;
	return record;
}

const struct gpu_log_record *block__next(const struct block *block,
					 const struct gpu_log_record *record)
{
	const unsigned char *at = block->payload;

	if (record)
		at = (const unsigned char *)record + record->size;
	if (at == block->payload + block->header.payload_bytes)
		return NULL;
	return (const struct gpu_log_record *)at;
}
