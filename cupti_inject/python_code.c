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
#include <string.h>

#include "python_line.h"

/* PyTorch's training step of a test had 300 codes, and imports of it run 20,000. */
#define NR_CODES  8192
#define NR_PROBES 4 /* places that a code may have */
#define NR_LINES  16384

#define LINES_BITS   16
#define INDEX_BITS   20
#define MAX_SIGHTING ((1u << (64 - LINES_BITS - INDEX_BITS)) - 1)

#define MAX_NAME_BYTES 1024
#define MAX_FILE_BYTES 4096

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

/* ---- what a code is known by ---- */

static uint64_t word_at(const void *address)
{
	uint64_t word;

	memcpy(&word, address, sizeof(word));
	return word;
}

static uint64_t pointer_at(uintptr_t code, uint16_t offset)
{
	return word_at((const void *)(code + offset));
}

static uint32_t int_at(uintptr_t code, uint16_t offset)
{
	uint32_t value;

	memcpy(&value, (const void *)(code + offset), sizeof(value));
	return value;
}

/*
 * Up to 32 bytes as they are; of more the first 8 and the last 24. Multiplied each by a
 * number of its own, so that a CPU can do it all at once.
 */
static uint64_t sample_bytes(const unsigned char *data, size_t nr_bytes)
{
	uint64_t sum = nr_bytes * GOLDEN, word = 0;

	if (nr_bytes < sizeof(word)) {
		memcpy(&word, data, nr_bytes);
		return (sum ^ word) * GOLDEN;
	}
	sum += word_at(data) * 0xbf58476d1ce4e5b9u;
	data += nr_bytes;
	sum ^= word_at(data - 8) * 0x94d049bb133111ebu;
	if (nr_bytes >= 16)
		sum += word_at(data - 16) * 0xd6e8feb86659fd93u;
	if (nr_bytes >= 24)
		sum ^= word_at(data - 24) * 0xff51afd7ed558ccdu;
	return sum;
}

/* CPython's hash of a string, or some of it. 0 if it isn't readable. */
static uint64_t string_content(const struct python_reader *reader, uintptr_t address)
{
	struct python_string string;

	if (python_string__read(reader, address, &string))
		return 0;
	if (string.hash != PYTHON_STRING_NO_HASH)
		return (uint64_t)string.hash;
	return sample_bytes(string.data, string.length * string.kind);
}

/*
 * Code that is made where other code was freed has its strings where that had them,
 * more often than not, as in a loop around exec(). Where it has no version, what it
 * says is looked at: texts, and the line table.
 */
static uint64_t content_of(const struct python_reader *reader,
			   const struct code_facts *facts)
{
	const uint8_t *table;
	size_t nr_bytes;
	uint64_t content;

	content = string_content(reader, facts->name) * 3 +
		  string_content(reader, facts->file) * 5;
	table = python_bytes__read(reader, facts->line_table, &nr_bytes);
	return table ? content + sample_bytes(table, nr_bytes) : content;
}

static bool facts_of(const struct python_reader *reader, uintptr_t code,
		     struct code_facts *ret)
{
	const struct python_layout *layout = reader->layout;

	if (code % sizeof(void *) ||
	    !readable__check(&reader->readable, code, layout->code.bytes) ||
	    pointer_at(code, layout->object_type) != reader->types->code)
		return false;
	ret->code = code;
	ret->name = pointer_at(code, layout->code.name);
	ret->file = pointer_at(code, layout->code.file);
	ret->line_table = pointer_at(code, layout->code.line_table);
	ret->first_line = (int32_t)int_at(code, layout->code.first_line);
	ret->version = layout->code.version ? int_at(code, layout->code.version) : 0;
	ret->recording = atomic_load_explicit(&recording, memory_order_acquire);
	ret->content = ret->version ? 0 : content_of(reader, ret);
	return true;
}

static bool is_same(const struct code_facts *a, const struct code_facts *b)
{
	return a->code == b->code && a->name == b->name && a->file == b->file &&
	       a->line_table == b->line_table && a->first_line == b->first_line &&
	       a->version == b->version && a->recording == b->recording &&
	       a->content == b->content;
}

/* ---- the table of codes ---- */

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
static uint32_t tell_code(const struct python_reader *reader,
			  const struct code_facts *facts)
{
	uint32_t first_line = facts->first_line > 0 ? (uint32_t)facts->first_line : 0;
	struct python_string name, file;

	if (python_string__read(reader, facts->name, &name) ||
	    python_string__read(reader, facts->file, &file))
		return 0;
	python_string__copy(&name, name_text, sizeof(name_text));
	python_string__copy(&file, file_text, sizeof(file_text));
	return log__python_code(atomic_load(&code_log), name_text, file_text, first_line);
}

static void add_code(const struct python_reader *reader, const struct code_facts *facts,
		     uint32_t *ret_id, uint32_t *ret_sighting)
{
	struct code *place;
	uint32_t id;

	pthread_mutex_lock(&mutex);
	id = tell_code(reader, facts);
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

/* ---- lines ---- */

static int64_t offset_of(const struct python_layout *layout, uintptr_t code,
			 uint64_t instruction)
{
	if (layout->frame.bytes_per_index)
		return (int64_t)(int32_t)instruction * layout->frame.bytes_per_index;
	return (int64_t)(instruction - (code + layout->code.instructions));
}

static uint32_t find_line(const struct python_reader *reader,
			  const struct code_facts *facts, int64_t offset)
{
	const uint8_t *table;
	size_t nr_bytes;
	int32_t line;

	table = python_bytes__read(reader, facts->line_table, &nr_bytes);
	if (!table)
		return GPU_LOG_FRAME_NO_LINE;
	line = python_line__find(reader->layout->line_format, table, nr_bytes, offset);
	/* PYTHON_NO_LINE is negative, too. */
	if (line < 0 || (uint32_t)line > GPU_LOG_FRAME_NO_LINE)
		return GPU_LOG_FRAME_NO_LINE;
	return (uint32_t)line;
}

static uint32_t line_of(const struct python_reader *reader,
			const struct code_facts *facts, uint32_t sighting, int64_t offset)
{
	uint64_t key = (uint64_t)sighting << INDEX_BITS | (uint64_t)offset / 2;
	atomic_uint_fast64_t *place = &lines[key * GOLDEN >> 32 & (NR_LINES - 1)];
	uint64_t found = atomic_load_explicit(place, memory_order_relaxed);
	uint32_t line;

	/* In a free-threaded interpreter, instructions may be in a copy of the thread's. */
	if (offset < 0 || offset / 2 >= 1 << INDEX_BITS)
		return find_line(reader, facts, offset);
	if (found >> LINES_BITS == key)
		return found & GPU_LOG_FRAME_NO_LINE;
	line = find_line(reader, facts, offset);
	atomic_store_explicit(place, key << LINES_BITS | line, memory_order_relaxed);
	return line;
}

bool python_code__frame(const struct python_reader *reader, uintptr_t code,
			uint64_t instruction, uint64_t *ret)
{
	struct code_facts facts;
	uint32_t id, sighting, line;

	if (!facts_of(reader, code, &facts))
		return false;
	if (!find_code(&facts, &id, &sighting))
		add_code(reader, &facts, &id, &sighting);
	line = line_of(reader, &facts, sighting,
		       offset_of(reader->layout, code, instruction));
	*ret = (uint64_t)GPU_LOG_FRAME_PYTHON << 56 | (uint64_t)id << 16 | line;
	return true;
}
