// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/proto_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink/gzip_file.h"
#include "sink/out_file.h"
#include "util/log.h"

struct proto_file {
	struct out_file *out;
	struct gzip_file *gzip; /* NULL: it isn't gzipped */
	uint8_t *packed;
	size_t capacity;
};

static int no_memory(void)
{
	pr_err("no memory to write the output");
	return -ENOMEM;
}

int proto_file__open(const char *path, bool is_gzipped, struct proto_file **ret)
{
	struct proto_file *file = calloc(1, sizeof(*file));
	int err;

	if (!file)
		return no_memory();
	err = out_file__open(path, &file->out);
	if (!err && is_gzipped) {
		err = gzip_file__new(file->out, &file->gzip);
		if (err)
			pr_err("cannot compress %s: %s", path, strerror(-err));
	}
	if (err) {
		proto_file__close(file);
		return err;
	}
	*ret = file;
	return 0;
}

void proto_file__close(struct proto_file *file)
{
	if (!file)
		return;
	gzip_file__delete(file->gzip);
	out_file__close(file->out);
	free(file->packed);
	free(file);
}

int proto_file__write(struct proto_file *file, const ProtobufCMessage *message)
{
	size_t nr_bytes = protobuf_c_message_get_packed_size(message);

	if (nr_bytes > file->capacity) {
		uint8_t *packed = realloc(file->packed, 2 * nr_bytes);

		if (!packed)
			return no_memory();
		file->packed = packed;
		file->capacity = 2 * nr_bytes;
	}
	protobuf_c_message_pack(message, file->packed);
	return proto_file__write_bytes(file, file->packed, nr_bytes);
}

int proto_file__write_bytes(struct proto_file *file, const void *bytes, size_t nr_bytes)
{
	if (file->gzip)
		gzip_file__write(file->gzip, bytes, nr_bytes);
	else
		out_file__write(file->out, bytes, nr_bytes);
	return out_file__error(file->out);
}

int proto_file__finish(struct proto_file *file)
{
	if (file->gzip && gzip_file__finish(file->gzip))
		return no_memory();
	return out_file__finish(file->out);
}
