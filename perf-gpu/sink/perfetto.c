// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A timeline in Perfetto's own format (perf-gpu/proto/perfetto_trace.proto), for
 * ui.perfetto.dev and its trace processor:
 *
 *   packet   clocks: times are those of CLOCK_MONOTONIC
 *   packet   a track, before the first event on it
 *   packet   what a slice names for the first time (interned_data: names, categories,
 *            functions, frames, stacks, by number)
 *   packet   the begin of a slice
 *   packet   its end
 *
 * A call and what it put on a GPU have the same flow id, which makes arrows of them: from
 * the call to the first, and from each to the next.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfetto_trace.pb-c.h"
#include "sink/byte_cache.h"
#include "sink/export.h"
#include "sink/proto_file.h"
#include "sink/proto_put.h"
#include "sink/timeline.h"
#include "sink/utf8_text.h"
#include "util/hash_index.h"
#include "util/log.h"

/* linux/time.h's and Perfetto's own numbers of clocks are the same for these. */
#define CLOCK_OF_TRACE	  3 /* Perfetto's CLOCK_MONOTONIC */
#define CLOCK_OF_CALENDAR 1 /* its CLOCK_REALTIME */

#define SEQUENCE      1
#define STATE_CLEARED 1
#define NEEDS_STATE   2

/* Tracks' ids: "gpu", so that they are nobody else's in a merged trace, and a number */
#define FIRST_UUID 0x6770750000000001u

#define MAX_FRAMES 512

struct name_id {
	const char *text; /* the pointer itself is the key: texts stay where they are */
};

struct names {
	struct name_id *items; /* iid: index + 1 */
	size_t nr, nr_allocated;
	struct hash_index index;
};

enum name_kind {
	NAME_OF_CATEGORY,
	NAME_OF_EVENT,
	NAME_OF_ANNOTATION,
	NR_NAME_KINDS,
};

struct perfetto {
	struct proto_file *file;
	const struct stack_fold *fold;
	struct names names[NR_NAME_KINDS];
	struct byte_cache shapes; /* annotations, encoded, by shape */
	bool *has_frame, *has_stack; /* by name, by node: were written */
	size_t nr_has_frame, nr_has_stack;
};

static int no_memory(void)
{
	pr_err("no memory for the timeline; fewer events (-e) need less");
	return -ENOMEM;
}

static int write_packet(struct perfetto *perfetto, Perfetto__TracePacket *packet)
{
	Perfetto__Trace trace = PERFETTO__TRACE__INIT;

	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = SEQUENCE;
	packet->has_sequence_flags = true;
	if (!packet->sequence_flags)
		packet->sequence_flags = NEEDS_STATE;
	trace.n_packet = 1;
	trace.packet = &packet;
	return proto_file__write(perfetto->file, &trace.base);
}

/* --- the beginning --------------------------------------------------------------------- */

static int perfetto__start(void *writer, const struct sink_input *input,
			   const struct stack_fold *fold)
{
	struct perfetto *perfetto = writer;
	const struct sidecar_recorder *recorder = &input->sidecar->recorder;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TracePacketDefaults defaults = PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__ClockSnapshot__Clock clocks[2] = {
		PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT,
		PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT};
	Perfetto__ClockSnapshot__Clock *pointers[2] = {&clocks[0], &clocks[1]};

	perfetto->fold = fold;
	clocks[0].has_clock_id = clocks[1].has_clock_id = true;
	clocks[0].has_timestamp = clocks[1].has_timestamp = true;
	clocks[0].clock_id = CLOCK_OF_TRACE;
	clocks[0].timestamp = recorder->monotonic_ns;
	clocks[1].clock_id = CLOCK_OF_CALENDAR;
	clocks[1].timestamp = recorder->realtime_ns;
	snapshot.n_clocks = recorder->is_there ? 2 : 1;
	snapshot.clocks = pointers;
	snapshot.has_primary_trace_clock = true;
	snapshot.primary_trace_clock = CLOCK_OF_TRACE;
	defaults.has_timestamp_clock_id = true;
	defaults.timestamp_clock_id = CLOCK_OF_TRACE;
	packet.clock_snapshot = &snapshot;
	packet.trace_packet_defaults = &defaults;
	packet.has_first_packet_on_sequence = true;
	packet.first_packet_on_sequence = true;
	packet.sequence_flags = STATE_CLEARED;
	return write_packet(perfetto, &packet);
}

/* In the order that they come; else stream 10 is before stream 7 */
static void order_track(Perfetto__TrackDescriptor *descriptor,
			const struct timeline_track *track)
{
	if (track->parent == TIMELINE_NO_TRACK) {
		descriptor->has_child_ordering = true;
		descriptor->child_ordering =
			PERFETTO__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__EXPLICIT;
		return;
	}
	descriptor->has_sibling_order_rank = true;
	descriptor->sibling_order_rank = (int32_t)track->id;
}

static int perfetto__track(void *writer, const struct timeline_track *track)
{
	struct perfetto *perfetto = writer;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackDescriptor descriptor = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;
	char *name = utf8_text__copy(track->name);
	int err;

	if (!name)
		return no_memory();
	descriptor.has_uuid = true;
	descriptor.uuid = FIRST_UUID + track->id;
	descriptor.has_parent_uuid = track->parent != TIMELINE_NO_TRACK;
	descriptor.parent_uuid = FIRST_UUID + track->parent;
	order_track(&descriptor, track);
	switch (track->kind) {
	case TIMELINE_PROCESS:
		process.has_pid = true;
		process.pid = (int32_t)track->pid;
		process.process_name = name;
		descriptor.process = &process;
		break;
	case TIMELINE_THREAD:
		thread.has_pid = thread.has_tid = true;
		thread.pid = (int32_t)track->pid;
		thread.tid = (int32_t)track->tid;
		thread.thread_name = name;
		descriptor.thread = &thread;
		break;
	default:
		descriptor.name = name;
	}
	packet.track_descriptor = &descriptor;
	err = write_packet(perfetto, &packet);
	free(name);
	return err;
}

/* --- what is written once, by number ------------------------------------------------------- */

/* Number of a text, from 1 on; @ret_is_new: it must be told. 0 without memory */
static uint64_t number_of(struct names *names, const char *text, bool *ret_is_new)
{
	uint64_t hash = hash__mix(0, (uintptr_t)text);
	struct hash_cursor cursor = hash_index__find(&names->index, hash);
	uint32_t id;

	*ret_is_new = false;
	while (hash_index__next(&names->index, &cursor, &id))
		if (names->items[id].text == text)
			return id + 1;
	if (names->nr == names->nr_allocated) {
		size_t nr = names->nr ? 2 * names->nr : 64;
		struct name_id *items = reallocarray(names->items, nr, sizeof(*items));

		if (!items)
			return 0;
		names->items = items;
		names->nr_allocated = nr;
	}
	if (hash_index__add(&names->index, hash, (uint32_t)names->nr))
		return 0;
	*ret_is_new = true;
	names->items[names->nr++].text = text;
	return names->nr;
}

static int write_name(struct perfetto *perfetto, enum name_kind kind, const char *text,
		      uint64_t number)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__InternedName name = PERFETTO__INTERNED_NAME__INIT, *names = &name;
	int err;

	name.has_iid = true;
	name.iid = number;
	name.name = utf8_text__copy(text);
	if (!name.name)
		return no_memory();
	switch (kind) {
	case NAME_OF_CATEGORY:
		data.n_event_categories = 1;
		data.event_categories = &names;
		break;
	case NAME_OF_EVENT:
		data.n_event_names = 1;
		data.event_names = &names;
		break;
	default:
		data.n_debug_annotation_names = 1;
		data.debug_annotation_names = &names;
	}
	packet.interned_data = &data;
	err = write_packet(perfetto, &packet);
	free(name.name);
	return err;
}

/* The number of a name, which is told if it is new */
static int intern(struct perfetto *perfetto, enum name_kind kind, const char *text,
		  uint64_t *ret)
{
	bool is_new;

	*ret = number_of(&perfetto->names[kind], text, &is_new);
	if (!*ret)
		return no_memory();
	return is_new ? write_name(perfetto, kind, text, *ret) : 0;
}

/* Room for a number in a table of what was written; NULL without memory */
static bool *written(bool **table, size_t *nr, size_t at)
{
	if (at >= *nr) {
		size_t more = 2 * at + 64;
		bool *grown = realloc(*table, more);

		if (!grown)
			return NULL;
		memset(grown + *nr, 0, more - *nr);
		*table = grown;
		*nr = more;
	}
	return *table + at;
}

/* A frame and its function's name, which have the same number */
static int write_frame(struct perfetto *perfetto, const struct frame_name *name)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__InternedString string = PERFETTO__INTERNED_STRING__INIT, *strings;
	Perfetto__Frame frame = PERFETTO__FRAME__INIT, *frames = &frame;
	bool *is_written =
		written(&perfetto->has_frame, &perfetto->nr_has_frame, name->id);
	char *text;
	int err;

	if (!is_written)
		return no_memory();
	if (*is_written)
		return 0;
	*is_written = true;
	text = utf8_text__copy(name->text);
	if (!text)
		return no_memory();
	strings = &string;
	string.has_iid = string.has_str = true;
	string.iid = name->id + 1;
	string.str.data = (uint8_t *)text;
	string.str.len = strlen(text);
	frame.has_iid = frame.has_function_name_id = true;
	frame.iid = frame.function_name_id = name->id + 1;
	data.n_function_names = data.n_frames = 1;
	data.function_names = &strings;
	data.frames = &frames;
	packet.interned_data = &data;
	err = write_packet(perfetto, &packet);
	free(text);
	return err;
}

/* A stack, if it wasn't yet; its number is that of the node, and one more. */
static int write_stack(struct perfetto *perfetto, uint32_t stack)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Callstack callstack = PERFETTO__CALLSTACK__INIT, *stacks = &callstack;
	uint64_t frames[MAX_FRAMES];
	size_t at = MAX_FRAMES;
	bool *is_written = written(&perfetto->has_stack, &perfetto->nr_has_stack, stack);

	if (!is_written)
		return no_memory();
	if (*is_written)
		return 0;
	*is_written = true;
	for (uint32_t node = stack; node != TIMELINE_NO_STACK && at;
	     node = stack_fold__node(perfetto->fold, node)->parent) {
		const struct frame_name *name =
			stack_fold__node(perfetto->fold, node)->name;
		int err = write_frame(perfetto, name);

		if (err)
			return err;
		frames[--at] = name->id + 1;
	}
	callstack.has_iid = true;
	callstack.iid = (uint64_t)stack + 1;
	callstack.n_frame_ids = MAX_FRAMES - at;
	callstack.frame_ids = frames + at;
	data.n_callstacks = 1;
	data.callstacks = &stacks;
	packet.interned_data = &data;
	return write_packet(perfetto, &packet);
}

/* --- events ------------------------------------------------------------------------------ */

/*
 * Events are put by hand (sink/proto_put.h). Their fields, as the .proto numbers them:
 */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_SEQUENCE_FLAGS = 13,
	EVENT_CATEGORY_IIDS = 3,
	EVENT_DEBUG_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_FLOW_IDS = 47,
	EVENT_CALLSTACK_IID = 56,
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_UINT_VALUE = 3,
	ANNOTATION_STRING_VALUE = 6,
};

/* Those of a shape, or of an event: texts are in what timeline.h gives them room for. */
#define MAX_ANNOTATIONS_BYTES (512 + TIMELINE_MAX_DETAILS * 4 * PROTO_PUT_NUMBER)

struct annotations {
	uint8_t bytes[MAX_ANNOTATIONS_BYTES];
	size_t nr_bytes;
};

static int add_annotations(struct perfetto *perfetto,
			   const struct timeline_detail *details, size_t nr,
			   struct annotations *ret)
{
	uint8_t body[512 + 3 * PROTO_PUT_NUMBER], *at, *end = ret->bytes;

	for (size_t i = 0; i < nr; i++) {
		const struct timeline_detail *detail = &details[i];
		uint64_t name;
		int err = intern(perfetto, NAME_OF_ANNOTATION, detail->name, &name);

		if (err)
			return err;
		at = proto_put__number(body, ANNOTATION_NAME_IID, name);
		at = detail->text ? proto_put__bytes(at, ANNOTATION_STRING_VALUE,
						     detail->text, strlen(detail->text))
				  : proto_put__number(at, ANNOTATION_UINT_VALUE,
						      detail->number);
		end = proto_put__bytes(end, EVENT_DEBUG_ANNOTATIONS, body,
				       (size_t)(at - body));
	}
	ret->nr_bytes = (size_t)(end - ret->bytes);
	return 0;
}

/* What all events of a shape have alike */
static int find_shape(struct perfetto *perfetto, const struct sidecar_shape *shape,
		      const struct cached_bytes **ret)
{
	struct timeline_detail details[TIMELINE_MAX_DETAILS];
	struct annotations annotations;
	char text[512];
	size_t nr;
	int err;

	*ret = byte_cache__find(&perfetto->shapes, shape);
	if (*ret)
		return 0;
	nr = timeline_shape__details(shape, details, text);
	err = add_annotations(perfetto, details, nr, &annotations);
	if (err)
		return err;
	*ret = byte_cache__add(&perfetto->shapes, shape, annotations.bytes,
			       annotations.nr_bytes);
	return *ret ? 0 : no_memory();
}

static int find_details(struct perfetto *perfetto, const struct timeline_event *event,
			const struct cached_bytes **ret_shape,
			struct annotations *ret_own)
{
	struct timeline_detail details[TIMELINE_MAX_DETAILS];
	char text[512];
	int err;

	*ret_shape = NULL;
	ret_own->nr_bytes = 0;
	if (!event->shape)
		return 0;
	err = find_shape(perfetto, event->shape, ret_shape);
	return err ? err
		   : add_annotations(perfetto, details,
				     timeline_event__own_details(event, details, text),
				     ret_own);
}

#define MAX_EVENT_BYTES (2 * MAX_ANNOTATIONS_BYTES + 16 * PROTO_PUT_NUMBER)

/* A packet with a track event, which is encoded */
static int write_event_packet(struct perfetto *perfetto, uint64_t time_ns,
			      const uint8_t *event, size_t event_bytes)
{
	uint8_t body[MAX_EVENT_BYTES + 4 * PROTO_PUT_NUMBER], *at;
	uint8_t head[PROTO_PUT_NUMBER];
	size_t head_bytes;
	int err;

	at = proto_put__number(body, PACKET_TIMESTAMP, time_ns);
	at = proto_put__number(at, PACKET_SEQUENCE_ID, SEQUENCE);
	at = proto_put__bytes(at, PACKET_TRACK_EVENT, event, event_bytes);
	at = proto_put__number(at, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	head_bytes = (size_t)(proto_put__length(head, TRACE_PACKET, (size_t)(at - body)) -
			      head);
	err = proto_file__write_bytes(perfetto->file, head, head_bytes);
	return err ? err
		   : proto_file__write_bytes(perfetto->file, body, (size_t)(at - body));
}

/* All names, stacks and details that it goes by are told before. */
static int write_event(struct perfetto *perfetto, Perfetto__TrackEvent__Type type,
		       const struct timeline_event *event)
{
	uint64_t flow = event->flow_in ? event->flow_in : event->flow_out;
	uint8_t body[MAX_EVENT_BYTES], *at;
	const struct cached_bytes *shape;
	struct annotations own;
	uint64_t category, name;
	int err = 0;

	if (event->stack != TIMELINE_NO_STACK)
		err = write_stack(perfetto, event->stack);
	if (!err)
		err = intern(perfetto, NAME_OF_CATEGORY, event->category, &category);
	if (!err)
		err = intern(perfetto, NAME_OF_EVENT, event->name, &name);
	if (!err)
		err = find_details(perfetto, event, &shape, &own);
	if (err)
		return err;
	at = proto_put__number(body, EVENT_CATEGORY_IIDS, category);
	if (shape)
		at = (uint8_t *)mempcpy(at, shape->bytes, shape->nr_bytes);
	at = (uint8_t *)mempcpy(at, own.bytes, own.nr_bytes);
	at = proto_put__number(at, EVENT_TYPE, type);
	at = proto_put__number(at, EVENT_NAME_IID, name);
	at = proto_put__number(at, EVENT_TRACK_UUID, FIRST_UUID + event->track);
	if (flow)
		at = proto_put__fixed64(at, EVENT_FLOW_IDS, flow);
	if (event->stack != TIMELINE_NO_STACK)
		at = proto_put__number(at, EVENT_CALLSTACK_IID,
				       (uint64_t)event->stack + 1);
	return write_event_packet(perfetto, event->start_ns, body, (size_t)(at - body));
}

static int perfetto__end(void *writer, uint32_t track, uint64_t time_ns)
{
	uint8_t body[2 * PROTO_PUT_NUMBER], *at;

	at = proto_put__number(body, EVENT_TYPE,
			       PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END);
	at = proto_put__number(at, EVENT_TRACK_UUID, FIRST_UUID + track);
	return write_event_packet(writer, time_ns, body, (size_t)(at - body));
}

static int perfetto__begin(void *writer, const struct timeline_event *event)
{
	return write_event(writer, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, event);
}

/* What has no length is an instant here, which may have arrows too. */
static int perfetto__event(void *writer, const struct timeline_event *event)
{
	int err;

	if (event->is_instant || event->end_ns == event->start_ns)
		return write_event(writer, PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT,
				   event);
	err = perfetto__begin(writer, event);
	return err ? err : perfetto__end(writer, event->track, event->end_ns);
}

/* --- the writer ------------------------------------------------------------------------ */

static int perfetto__finish(void *writer)
{
	struct perfetto *perfetto = writer;

	return proto_file__finish(perfetto->file);
}

static void release_names(struct names *names)
{
	hash_index__release(&names->index);
	free(names->items);
}

static void perfetto__delete(void *writer)
{
	struct perfetto *perfetto = writer;

	if (!perfetto)
		return;
	proto_file__close(perfetto->file);
	for (size_t i = 0; i < NR_NAME_KINDS; i++)
		release_names(&perfetto->names[i]);
	byte_cache__release(&perfetto->shapes);
	free(perfetto->has_frame);
	free(perfetto->has_stack);
	free(perfetto);
}

int sink_perfetto__new(const struct export_options *options, struct sink **ret)
{
	static const struct timeline_writer_ops ops = {
		.start = perfetto__start,
		.track = perfetto__track,
		.event = perfetto__event,
		.begin = perfetto__begin,
		.end = perfetto__end,
		.finish = perfetto__finish,
		.delete = perfetto__delete,
	};
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));
	int err;

	if (!perfetto)
		return no_memory();
	err = proto_file__open(options->path, false, &perfetto->file);
	if (err) {
		free(perfetto);
		return err;
	}
	return timeline__new(&ops, perfetto, ret);
}
