// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/block_builder.h"

#include <string.h>

#include "util/gpu_log_cursor.h"

int block_builder__flush(struct block_builder *builder)
{
	struct gpu_log_block *header = &builder->block.header;
	int err;

	if (!header->payload_bytes)
		return 0;
	header->magic = GPU_LOG_MAGIC;
	header->version = GPU_LOG_VERSION;
	header->session = builder->session;
	header->crc32 = gpu_log_block__crc32(header);
	err = collection__add_block(builder->to, header);
	header->payload_bytes = 0;
	return err;
}

int block_builder__add(struct block_builder *builder, uint64_t log_id,
		       const struct gpu_log_record *record)
{
	struct gpu_log_block *header = &builder->block.header;
	int err = 0;

	if (header->log_id != log_id ||
	    record->size > sizeof(builder->block.payload) - header->payload_bytes)
		err = block_builder__flush(builder);
	if (err)
		return err;
	header->log_id = log_id;
	memcpy(builder->block.payload + header->payload_bytes, record, record->size);
	header->payload_bytes += record->size;
	builder->nr_counted += gpu_log_is_counted(record->type);
	return 0;
}
