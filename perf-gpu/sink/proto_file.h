/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing messages of protobuf-c's, of any length, as they are or gzipped. One thread. */
#ifndef PERF_GPU_SINK_PROTO_FILE_H
#define PERF_GPU_SINK_PROTO_FILE_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

struct proto_file;

/* As out_file__open(); @is_gzipped: what is written is a gzip file (RFC 1952) */
int proto_file__open(const char *path, bool is_gzipped, struct proto_file **ret);
void proto_file__close(struct proto_file *file); /* as out_file__close() */

/**
 * proto_file__write - append a message
 *
 * Messages of one type behind each other are one message, whose repeated fields have the
 * items of all (protobuf's encoding says so): what is large is written piece by piece.
 *
 * Return: 0 or a negative errno, printed.
 */
int proto_file__write(struct proto_file *file, const ProtobufCMessage *message);

/**
 * proto_file__write_bytes - append what is encoded already
 *
 * Return: as above.
 */
int proto_file__write_bytes(struct proto_file *file, const void *bytes, size_t nr_bytes);

/* As out_file__finish() */
int proto_file__finish(struct proto_file *file);

#endif
