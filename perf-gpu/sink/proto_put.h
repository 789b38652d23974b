/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Protobuf's encoding (https://protobuf.dev/programming-guides/encoding/), put where there
 * is room for it, for the few messages that are written a million times: protobuf-c asks
 * for each field of a message by its description, twice. Tests read them with protobuf-c.
 *
 * Each returns where it ended. Fields have numbers, as the .proto has them. Inline, so
 * that tags are constants.
 */
#ifndef PERF_GPU_SINK_PROTO_PUT_H
#define PERF_GPU_SINK_PROTO_PUT_H

#include <stdint.h>
#include <string.h>

/* Bytes that a tag and a number take at most, and a tag and a length */
#define PROTO_PUT_NUMBER 15

static inline uint8_t *proto_put__varint(uint8_t *at, uint64_t number)
{
	while (number >= 0x80) {
		*at++ = (uint8_t)(number | 0x80);
		number >>= 7;
	}
	*at++ = (uint8_t)number;
	return at;
}

/* uint64, uint32, an enum, a bool, an int64 that isn't negative */
static inline uint8_t *proto_put__number(uint8_t *at, unsigned int field, uint64_t number)
{
	return proto_put__varint(proto_put__varint(at, field << 3), number);
}

static inline uint8_t *proto_put__fixed64(uint8_t *at, unsigned int field,
					  uint64_t number)
{
	at = proto_put__varint(at, field << 3 | 1);
	for (unsigned int i = 0; i < 8; i++)
		*at++ = (uint8_t)(number >> 8 * i);
	return at;
}

/* What stands before a string, a message or packed numbers of so many bytes */
static inline uint8_t *proto_put__length(uint8_t *at, unsigned int field, size_t nr_bytes)
{
	return proto_put__varint(proto_put__varint(at, field << 3 | 2), nr_bytes);
}

static inline uint8_t *proto_put__bytes(uint8_t *at, unsigned int field,
					const void *bytes, size_t nr_bytes)
{
	at = proto_put__length(at, field, nr_bytes);
	return (uint8_t *)mempcpy(at, bytes, nr_bytes);
}

#endif
