// SPDX-License-Identifier: GPL-2.0-or-later
/* What is encoded by hand is what protobuf-c would have made of it. */
#include "unit.h"

#ifdef HAVE_PROTOBUF_C

#include <stdint.h>

#include "perfetto_trace.pb-c.h"
#include "pprof_profile.pb-c.h"
#include "sink/proto_put.h"

static const uint64_t numbers[] = {1,	  127,	      128,	 16383,
				   16384, UINT32_MAX, INT64_MAX, UINT64_MAX};

#define NR_NUMBERS (sizeof(numbers) / sizeof(*numbers))

static void check_same(const ProtobufCMessage *message, const uint8_t *bytes,
		       const uint8_t *end)
{
	uint8_t packed[1024];
	size_t nr = protobuf_c_message_get_packed_size(message);

	CHECK(nr <= sizeof(packed));
	CHECK_EQ(protobuf_c_message_pack(message, packed), nr);
	CHECK_EQ(end - bytes, nr);
	CHECK_MEM(bytes, packed, nr);
}

TEST(numbers_of_any_size)
{
	for (size_t i = 0; i < NR_NUMBERS; i++) {
		Perfetto__DebugAnnotation annotation = PERFETTO__DEBUG_ANNOTATION__INIT;
		uint8_t bytes[64], *at;

		annotation.has_name_iid = annotation.has_uint_value = true;
		annotation.name_iid = i;
		annotation.uint_value = numbers[i];
		at = proto_put__number(bytes, 1, i);
		at = proto_put__number(at, 3, numbers[i]);
		CHECK(at - bytes <= 2 * PROTO_PUT_NUMBER);
		check_same(&annotation.base, bytes, at);
	}
}

TEST(fields_of_two_byte_tags)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	uint64_t flow = 0x0123456789abcdef;
	uint8_t bytes[64], *at;

	event.n_flow_ids = 1;
	event.flow_ids = &flow;
	event.has_callstack_iid = true;
	event.callstack_iid = 300;
	at = proto_put__fixed64(bytes, 47, flow);
	at = proto_put__number(at, 56, 300);
	check_same(&event.base, bytes, at);
}

TEST(texts)
{
	Perfetto__DebugAnnotation annotation = PERFETTO__DEBUG_ANNOTATION__INIT;
	char text[300];
	uint8_t bytes[400], *at;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	annotation.string_value = text;
	at = proto_put__bytes(bytes, 6, text, strlen(text));
	check_same(&annotation.base, bytes, at);
}

TEST(packed_numbers_and_messages_within)
{
	Pprof__Sample sample = PPROF__SAMPLE__INIT;
	Pprof__Label label = PPROF__LABEL__INIT, *labels = &label;
	uint8_t bytes[256], packed[256], *at, *end = packed;

	sample.n_location_id = NR_NUMBERS;
	sample.location_id = (uint64_t *)(uintptr_t)numbers;
	label.key = 5;
	label.num = 1ll << 40;
	sample.n_label = 1;
	sample.label = &labels;
	for (size_t i = 0; i < NR_NUMBERS; i++)
		end = proto_put__varint(end, numbers[i]);
	at = proto_put__bytes(bytes, 1, packed, (size_t)(end - packed));
	end = proto_put__number(packed, 1, 5);
	end = proto_put__number(end, 3, 1ull << 40);
	at = proto_put__bytes(at, 3, packed, (size_t)(end - packed));
	check_same(&sample.base, bytes, at);
}

#else

TEST(nothing_is_encoded)
{
	SKIP("built without protobuf-c");
}

#endif
