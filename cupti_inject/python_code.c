// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two tables:
 *
 *   codes   by address of the code: what it is known by, its id and first line, and
 *           the number of its sighting, which is another one whenever it is read anew
 *   lines   by sighting and instruction: how many lines behind the first
 *
 *   line    +-----------------------+----------------------+----------------+
 *           | sighting: 28 bits     | instruction: 20 bits | lines: 16 bits |
 *           +-----------------------+----------------------+----------------+
 *
 * Invariants:
 *   - A code is written under the mutex, between two steps of its sequence, which is
 *     odd meanwhile. Who reads it takes nothing of it if the sequence has moved.
 *   - A line is one word, and right for ever: sightings are counted up, and the number
 *     wraps only after 268 million.
 */
#include "python_code.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "python_line.h"
#include "python_string.h"

/* PyTorch's training step of a test had 300 codes, and imports of it run 20,000. */
#define NR_CODES  8192
#define NR_PROBES 4 /* places that a code may have */
#define NR_LINES  16384

#define LINES_BITS   16
#define INDEX_BITS   20
#define MAX_SIGHTING ((1u << (64 - LINES_BITS - INDEX_BITS)) - 1)

#define MAX_NAME_BYTES 1024
#define MAX_FILE_BYTES 4096
/* Of a text that CPython has no hash of */
#define MAX_HASHED_BYTES 256
/* Two bytes for each instruction of the largest code would be less. */
#define MAX_TABLE_BYTES (64u << 20)

/* See intern.c */
#define GOLDEN 0x9e3779b97f4a7c15u

/* What a code object is known by; what it says of itself, and some of what that says */
struct code_facts {
	uintptr_t code, name, file, line_table;
	int32_t first_line;
	uint32_t version;
	uint32_t recording;
	uint64_t content;
};

struct code {
	atomic_uint sequence;
	uint32_t id;
	uint32_t sighting; /* never 0 */
	struct code_facts facts;
};

static _Atomic(struct log *) code_log;
/* Ids are of one recording's log: those of another are never taken for them. */
static atomic_uint recording;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct code codes[NR_CODES + NR_PROBES];
static atomic_uint_fast64_t lines[NR_LINES];
/* Under the mutex */
static uint32_t nr_sightings;
static unsigned int next_victim;
static char name_text[MAX_NAME_BYTES], file_text[MAX_FILE_BYTES];

void python_code__begin(struct log *log)
{
	atomic_store(&code_log, log);
	atomic_fetch_add(&recording, 1);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * GOLDEN;
	return hash ^ hash >> 29;
}

static uint64_t word_at(uintptr_t address)
{
	uint64_t word;

	memcpy(&word, (const void *)address, sizeof(word));
	return word;
}

static int32_t int_at(uintptr_t address)
{
	int32_t value;

	memcpy(&value, (const void *)address, sizeof(value));
	return value;
}

/* Bytes of an object of that type, in readable memory; NULL if it is none. */
static const uint8_t *bytes_of(const struct python_layout *layout, uintptr_t type,
			       struct readable *readable, uintptr_t object,
			       size_t *ret_nr_bytes)
{
	/* The length, and a hash */
	uintptr_t data = object + layout->object_bytes + 2 * sizeof(int64_t);
	uint64_t nr_bytes;

	if (object % sizeof(void *) ||
	    !readable__check(readable, object, data - object) ||
	    word_at(object + layout->object_type) != type)
		return NULL;
	nr_bytes = word_at(object + layout->object_bytes);
	if (nr_bytes > MAX_TABLE_BYTES || !readable__check(readable, data, nr_bytes))
		return NULL;
	*ret_nr_bytes = nr_bytes;
	return (const uint8_t *)data;
}

/* CPython's hash of a string, or one of ours. 0 if it isn't readable. */
static uint64_t string_content(const struct python_layout *layout,
			       const struct python_types *types,
			       struct readable *readable, uintptr_t address)
{
	struct python_string string;
	uint64_t hash;
	size_t nr_bytes;

	if (python_string__read(layout, types->string, readable, address, &string))
		return 0;
	if (python_string__hash(layout, address) != PYTHON_STRING_NO_HASH)
		return (uint64_t)python_string__hash(layout, address);
	nr_bytes = string.length * string.kind;
	if (nr_bytes > MAX_HASHED_BYTES)
		nr_bytes = MAX_HASHED_BYTES;
	hash = string.length;
	for (size_t i = 0; i < nr_bytes; i += sizeof(uint64_t)) {
		size_t nr =
			nr_bytes - i < sizeof(uint64_t) ? nr_bytes - i : sizeof(uint64_t);
		uint64_t word = 0;

		memcpy(&word, (const char *)string.data + i, nr);
		hash = mix(hash, word);
	}
	return hash;
}

/*
 * Code that is made where other code was freed has its strings where that had them,
 * more often than not, as in a loop around exec(). Where it has no version, what it
 * says is looked at: texts, and the line table's length and end.
 */
static uint64_t content_of(const struct python_layout *layout,
			   const struct python_types *types, struct readable *readable,
			   const struct code_facts *facts)
{
	uint64_t hash = string_content(layout, types, readable, facts->name);
	const uint8_t *table;
	size_t nr_bytes;

	hash = mix(hash, string_content(layout, types, readable, facts->file));
	table = bytes_of(layout, types->bytes, readable, facts->line_table, &nr_bytes);
	if (!table)
		return hash;
	hash = mix(hash, nr_bytes);
	if (nr_bytes >= sizeof(uint64_t))
		hash = mix(hash, word_at((uintptr_t)table + nr_bytes - sizeof(uint64_t)));
	return hash;
}

static bool facts_of(const struct python_layout *layout, const struct python_types *types,
		     struct readable *readable, uintptr_t code, struct code_facts *ret)
{
	if (code % sizeof(void *) ||
	    !readable__check(readable, code, layout->code.bytes) ||
	    word_at(code + layout->object_type) != types->code)
		return false;
	ret->code = code;
	ret->name = word_at(code + layout->code.name);
	ret->file = word_at(code + layout->code.file);
	ret->line_table = word_at(code + layout->code.line_table);
	ret->first_line = int_at(code + layout->code.first_line);
	ret->version =
		layout->code.version ? (uint32_t)int_at(code + layout->code.version) : 0;
	ret->recording = atomic_load_explicit(&recording, memory_order_acquire);
	ret->content = ret->version ? 0 : content_of(layout, types, readable, ret);
	return true;
}

static bool is_same(const struct code_facts *a, const struct code_facts *b)
{
	return a->code == b->code && a->name == b->name && a->file == b->file &&
	       a->line_table == b->line_table && a->first_line == b->first_line &&
	       a->version == b->version && a->recording == b->recording &&
	       a->content == b->content;
}

static struct code *codes_from(uintptr_t code)
{
	return &codes[(code >> 4) * GOLDEN >> 32 & (NR_CODES - 1)];
}

/* Without the lock. False if it isn't there, or is being written. */
static bool find_code(const struct code_facts *facts, uint32_t *ret_id,
		      uint32_t *ret_sighting)
{
	struct code *at = codes_from(facts->code);

	for (int i = 0; i < NR_PROBES; i++, at++) {
		unsigned int sequence =
			atomic_load_explicit(&at->sequence, memory_order_acquire);
		uint32_t id = at->id, sighting = at->sighting;
		bool is_it = is_same(&at->facts, facts);

		atomic_thread_fence(memory_order_acquire);
		if (!is_it || sequence & 1 ||
		    atomic_load_explicit(&at->sequence, memory_order_relaxed) != sequence)
			continue;
		*ret_id = id;
		*ret_sighting = sighting;
		return true;
	}
	return false;
}

/* The place of a code: that of the one with its address, a free one, or any. */
static struct code *choose_place(uintptr_t code)
{
	struct code *from = codes_from(code);

	for (int i = 0; i < NR_PROBES; i++) {
		if (from[i].facts.code == code)
			return &from[i];
	}
	for (int i = 0; i < NR_PROBES; i++) {
		if (!from[i].facts.code)
			return &from[i];
	}
	return &from[next_victim++ % NR_PROBES];
}

/* The id that a code has in the log; 0 if there is none to be had. */
static uint32_t tell_code(const struct python_layout *layout,
			  const struct python_types *types, struct readable *readable,
			  const struct code_facts *facts)
{
	uint32_t first_line = facts->first_line > 0 ? (uint32_t)facts->first_line : 0;
	struct python_string name, file;

	if (python_string__read(layout, types->string, readable, facts->name, &name) ||
	    python_string__read(layout, types->string, readable, facts->file, &file))
		return 0;
	python_string__copy(&name, name_text, sizeof(name_text));
	python_string__copy(&file, file_text, sizeof(file_text));
	return log__python_code(atomic_load(&code_log), name_text, file_text, first_line);
}

static void add_code(const struct python_layout *layout, const struct python_types *types,
		     struct readable *readable, const struct code_facts *facts,
		     uint32_t *ret_id, uint32_t *ret_sighting)
{
	struct code *place;
	uint32_t id;

	pthread_mutex_lock(&mutex);
	id = tell_code(layout, types, readable, facts);
	if (++nr_sightings > MAX_SIGHTING)
		nr_sightings = 1;
	if (id) {
		place = choose_place(facts->code);
		atomic_fetch_add_explicit(&place->sequence, 1, memory_order_relaxed);
		atomic_thread_fence(memory_order_release);
		place->id = id;
		place->sighting = nr_sightings;
		place->facts = *facts;
		atomic_fetch_add_explicit(&place->sequence, 1, memory_order_release);
	}
	*ret_id = id;
	*ret_sighting = nr_sightings;
	pthread_mutex_unlock(&mutex);
}

static int64_t offset_of(const struct python_layout *layout, uintptr_t code,
			 uint64_t instruction)
{
	if (layout->frame.bytes_per_index)
		return (int64_t)(int32_t)instruction * layout->frame.bytes_per_index;
	return (int64_t)(instruction - (code + layout->code.instructions));
}

static uint32_t find_line(const struct python_layout *layout,
			  const struct python_types *types, struct readable *readable,
			  const struct code_facts *facts, int64_t offset)
{
	const uint8_t *table;
	size_t nr_bytes;
	int32_t line;

	table = bytes_of(layout, types->bytes, readable, facts->line_table, &nr_bytes);
	if (!table)
		return GPU_LOG_FRAME_NO_LINE;
	line = python_line__find(layout->line_format, table, nr_bytes, offset);
	/* PYTHON_NO_LINE is negative, too. */
	if (line < 0 || (uint32_t)line > GPU_LOG_FRAME_NO_LINE)
		return GPU_LOG_FRAME_NO_LINE;
	return (uint32_t)line;
}

static uint32_t line_of(const struct python_layout *layout,
			const struct python_types *types, struct readable *readable,
			const struct code_facts *facts, uint32_t sighting, int64_t offset)
{
	uint64_t key = (uint64_t)sighting << INDEX_BITS | (uint64_t)offset / 2;
	atomic_uint_fast64_t *place = &lines[key * GOLDEN >> 32 & (NR_LINES - 1)];
	uint64_t found = atomic_load_explicit(place, memory_order_relaxed);
	uint32_t line;

	/* In a free-threaded interpreter, instructions may be in a copy of the thread's. */
	if (offset < 0 || offset / 2 >= 1 << INDEX_BITS)
		return find_line(layout, types, readable, facts, offset);
	if (found >> LINES_BITS == key)
		return found & GPU_LOG_FRAME_NO_LINE;
	line = find_line(layout, types, readable, facts, offset);
	atomic_store_explicit(place, key << LINES_BITS | line, memory_order_relaxed);
	return line;
}

bool python_code__frame(const struct python_layout *layout,
			const struct python_types *types, struct readable *readable,
			uintptr_t code, uint64_t instruction, uint64_t *ret)
{
	struct code_facts facts;
	uint32_t id, sighting, line;

	if (!facts_of(layout, types, readable, code, &facts))
		return false;
	if (!find_code(&facts, &id, &sighting))
		add_code(layout, types, readable, &facts, &id, &sighting);
	line = line_of(layout, types, readable, &facts, sighting,
		       offset_of(layout, code, instruction));
	*ret = (uint64_t)GPU_LOG_FRAME_PYTHON << 56 | (uint64_t)id << 16 | line;
	return true;
}
