// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPython's structures, as the injected library reads them: made by hand for each
 * version, and then garbage, which must never fault.
 */
#include "unit.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../cupti_inject/log.h"
#include "../../cupti_inject/python_code.h"
#include "../../cupti_inject/python_frames.h"
#include "../../cupti_inject/python_string.h"
#include "../../cupti_inject/readable.h"
#include "gpu_log.h"

#define IMAGE_BYTES (64u << 10)
#define PAGE_BYTES  4096u

/* Addresses of the types; nothing is read there. */
static const struct python_types types = {
	.code = 0x1000, .string = 0x2000, .bytes = 0x3000};

/* Memory that Python's objects are made in */
struct image {
	struct python_layout layout;
	unsigned char *memory;
	size_t nr_used;
};

/* Nobody frees a log: test_gpu_log.c */
static char spool[] = P_tmpdir "/perf-gpu-unit.XXXXXX";
static struct log *code_log;

static void remove_spool(void)
{
	char path[512];
	DIR *folder = opendir(spool);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		snprintf(path, sizeof(path), "%s/%s", spool, entry->d_name);
		unlink(path);
	}
	if (folder)
		closedir(folder);
	rmdir(spool);
}

static void begin(struct image *image, const char *version)
{
	memset(image, 0, sizeof(*image));
	readable__forget(); /* what was said of an image before */
	CHECK_EQ(python_layout__of(version, NULL, &image->layout), 0);
	image->memory = mmap(NULL, IMAGE_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(image->memory != MAP_FAILED);
	if (code_log)
		return;
	CHECK(mkdtemp(spool));
	atexit(remove_spool);
	CHECK_EQ(log__open(spool, 1, false, &code_log), 0);
	python_code__begin(code_log);
}

static void put64(uintptr_t address, uint64_t value)
{
	memcpy((void *)address, &value, sizeof(value));
}

static void put32(uintptr_t address, uint32_t value)
{
	memcpy((void *)address, &value, sizeof(value));
}

static uintptr_t make_object(struct image *image, uintptr_t type, size_t nr_bytes)
{
	uintptr_t object = (uintptr_t)image->memory + image->nr_used;

	image->nr_used += (nr_bytes + 15) & ~(size_t)15;
	CHECK(image->nr_used <= IMAGE_BYTES);
	put64(object + image->layout.object_type, type);
	return object;
}

/* A str of NR characters of KIND bytes; ASCII if KIND is 0 */
static uintptr_t make_string(struct image *image, const void *text, size_t nr,
			     unsigned int kind)
{
	const struct python_layout *layout = &image->layout;
	size_t head = kind ? layout->compact_bytes : layout->ascii_bytes;
	unsigned int width = kind ? kind : 1;
	uintptr_t string = make_object(image, types.string, head + (nr + 1) * width);

	put64(string + layout->object_bytes, nr);
	put64(string + layout->object_bytes + 8, (uint64_t)PYTHON_STRING_NO_HASH);
	/* interned 1, kind, compact, ASCII */
	put32(string + layout->object_bytes + 16,
	      1 | width << 2 | 1 << 5 | (kind ? 0 : 1u << 6));
	memcpy((void *)(string + head), text, nr * width);
	return string;
}

static uintptr_t make_text(struct image *image, const char *text)
{
	return make_string(image, text, strlen(text), 0);
}

static uintptr_t make_bytes(struct image *image, const void *data, size_t nr)
{
	uintptr_t bytes =
		make_object(image, types.bytes, image->layout.object_bytes + 16 + nr + 1);

	put64(bytes + image->layout.object_bytes, nr);
	memcpy((void *)(bytes + image->layout.object_bytes + 16), data, nr);
	return bytes;
}

/* Its first instruction is of the line, the second of the next one. */
static uintptr_t make_code(struct image *image, const char *name, int first_line)
{
	static const uint8_t pairs[] = {2, 0, 2, 1};
	static const uint8_t lnotab[] = {0, 0, 2, 1};
	static const uint8_t locations[] = {0x80, 0x00, 0xd8, 0x00, 0x00};
	const struct python_layout *layout = &image->layout;
	uintptr_t code = make_object(image, types.code, layout->code.bytes + 64), table;

	if (layout->line_format == PYTHON_LNOTAB)
		table = make_bytes(image, lnotab, sizeof(lnotab));
	else if (layout->line_format == PYTHON_LINE_RANGES)
		table = make_bytes(image, pairs, sizeof(pairs));
	else
		table = make_bytes(image, locations, sizeof(locations));
	put64(code + layout->code.name, make_text(image, name));
	put64(code + layout->code.file, make_text(image, "/a.py"));
	put64(code + layout->code.line_table, table);
	put32(code + layout->code.first_line, (uint32_t)first_line);
	return code;
}

/* At its second instruction; PREVIOUS is the frame's that has called it */
static uintptr_t make_frame(struct image *image, uintptr_t code, uintptr_t previous)
{
	const struct python_layout *layout = &image->layout;
	uintptr_t frame = make_object(image, 0, layout->frame.bytes + 16);

	put64(frame + layout->object_type, 0);
	put64(frame + layout->frame.code, code);
	put64(frame + layout->frame.previous, previous);
	if (layout->frame.bytes_per_index)
		put32(frame + layout->frame.instruction,
		      2 / layout->frame.bytes_per_index);
	else
		put64(frame + layout->frame.instruction,
		      code + layout->code.instructions + 2);
	return frame;
}

static uintptr_t make_thread(struct image *image, uintptr_t frame, uintptr_t cframe)
{
	uintptr_t thread = make_object(image, 0, 128);

	put64(thread + image->layout.object_type, 0);
	if (image->layout.thread.cframe)
		put64(thread + image->layout.thread.cframe, cframe);
	if (image->layout.thread.frame)
		put64(thread + image->layout.thread.frame, frame);
	else
		put64(cframe + image->layout.cframe.frame, frame);
	return thread;
}

static uintptr_t make_cframe(struct image *image, uintptr_t previous)
{
	uintptr_t cframe = make_object(image, 0, 32);

	put64(cframe + image->layout.object_type, 0);
	put64(cframe + image->layout.cframe.previous, previous);
	return cframe;
}

static void walk(const struct image *image, uintptr_t thread, struct python_frames *ret)
{
	python_frames__walk(&image->layout, &types, thread, ret);
}

/* The frame of a code that make_code() made */
static uint64_t wanted(const char *name, uint32_t first_line)
{
	return (uint64_t)GPU_LOG_FRAME_PYTHON << 56 |
	       (uint64_t)log__python_code(code_log, name, "/a.py", first_line) << 16 | 1;
}

/* ---- what is right ---- */

TEST(each_frame_of_3_8_has_a_loop)
{
	struct python_frames frames;
	struct image image;
	uintptr_t outer, inner;

	begin(&image, "3.8");
	outer = make_frame(&image, make_code(&image, "<module>", 1), 0);
	inner = make_frame(&image, make_code(&image, "f", 10), outer);
	walk(&image, make_thread(&image, inner, 0), &frames);
	CHECK_EQ(frames.nr, 2);
	CHECK_EQ(frames.frames[0], wanted("f", 10));
	CHECK_EQ(frames.frames[1], wanted("<module>", 1));
	CHECK_EQ(frames.nr_groups, 2);
	CHECK_EQ(frames.group_ends[0], 1);
	CHECK_EQ(frames.addresses[0], 0);
	CHECK(!frames.is_cut);
}

TEST(each_frame_of_3_10_has_a_cframe)
{
	struct python_frames frames;
	struct image image;
	uintptr_t outer, inner, cframes[2];

	begin(&image, "3.10");
	outer = make_frame(&image, make_code(&image, "<module>", 1), 0);
	inner = make_frame(&image, make_code(&image, "f", 10), outer);
	cframes[1] = make_cframe(&image, 0);
	cframes[0] = make_cframe(&image, cframes[1]);
	walk(&image, make_thread(&image, inner, cframes[0]), &frames);
	CHECK_EQ(frames.nr_groups, 2);
	CHECK_EQ(frames.frames[0], wanted("f", 10));
	CHECK_EQ(frames.addresses[0], cframes[0]);
	CHECK_EQ(frames.addresses[1], cframes[1]);
}

TEST(an_entry_frame_of_3_11_ends_a_group)
{
	struct python_frames frames;
	struct image image;
	uintptr_t module, f, g, cframes[2];

	begin(&image, "3.11");
	module = make_frame(&image, make_code(&image, "<module>", 1), 0);
	*(char *)(module + image.layout.frame.entry) = 1;
	f = make_frame(&image, make_code(&image, "f", 10), module);
	*(char *)(f + image.layout.frame.entry) = 1;
	g = make_frame(&image, make_code(&image, "g", 20), f);
	cframes[1] = make_cframe(&image, 0);
	cframes[0] = make_cframe(&image, cframes[1]);
	walk(&image, make_thread(&image, g, cframes[0]), &frames);
	CHECK_EQ(frames.nr, 3);
	CHECK_EQ(frames.nr_groups, 2);
	CHECK_EQ(frames.group_ends[0], 2);
	CHECK_EQ(frames.addresses[0], cframes[0]);
	CHECK_EQ(frames.group_ends[1], 3);
	CHECK_EQ(frames.addresses[1], cframes[1]);
	CHECK_EQ(frames.frames[0], wanted("g", 20));
}

TEST(a_shim_of_3_12_ends_a_group)
{
	struct python_frames frames;
	struct image image;
	uintptr_t shims[2], module, f;

	begin(&image, "3.12");
	shims[1] = make_frame(&image, make_object(&image, 0, 16), 0);
	*(char *)(shims[1] + image.layout.frame.owner) = 3;
	module = make_frame(&image, make_code(&image, "<module>", 1), shims[1]);
	shims[0] = make_frame(&image, make_object(&image, 0, 16), module);
	*(char *)(shims[0] + image.layout.frame.owner) = 3;
	f = make_frame(&image, make_code(&image, "f", 10), shims[0]);
	*(char *)(f + image.layout.frame.owner) = 1; /* a generator */
	walk(&image, make_thread(&image, f, make_cframe(&image, 0)), &frames);
	CHECK_EQ(frames.nr, 2);
	CHECK_EQ(frames.nr_groups, 2);
	CHECK_EQ(frames.frames[0], wanted("f", 10));
	CHECK_EQ(frames.addresses[0], shims[0]);
	CHECK_EQ(frames.addresses[1], shims[1]);
}

TEST(a_long_chain_is_cut_and_a_ring_has_an_end)
{
	struct python_frames frames;
	struct image image;
	uintptr_t code, first, last;

	begin(&image, "3.12");
	code = make_code(&image, "f", 1);
	first = last = make_frame(&image, code, 0);
	for (int i = 0; i < 300; i++)
		last = make_frame(&image, code, last);
	walk(&image, make_thread(&image, last, make_cframe(&image, 0)), &frames);
	CHECK_EQ(frames.nr, PYTHON_MAX_FRAMES);
	CHECK(frames.is_cut);
	CHECK_EQ(frames.nr_groups, 1);

	/* Frames without code, in a ring */
	put64(first + image.layout.frame.code, 0);
	put64(first + image.layout.frame.previous, first);
	walk(&image, make_thread(&image, first, make_cframe(&image, 0)), &frames);
	CHECK_EQ(frames.nr, 0);
}

TEST(code_that_is_made_where_other_code_was_is_another)
{
	struct python_frames frames;
	struct image image;
	uintptr_t code, frame, thread, name, table;
	const struct python_layout *layout = &image.layout;

	begin(&image, "3.11");
	code = make_code(&image, "first", 1);
	frame = make_frame(&image, code, 0);
	thread = make_thread(&image, frame, make_cframe(&image, 0));
	walk(&image, thread, &frames);
	CHECK_EQ(frames.frames[0], wanted("first", 1));

	/* All at the same addresses: another name of the same length; another line */
	name = *(uintptr_t *)(code + layout->code.name);
	memcpy((void *)(name + layout->ascii_bytes), "other", 5);
	walk(&image, thread, &frames);
	CHECK_EQ(frames.frames[0], wanted("other", 1));
	put32(code + layout->code.first_line, 7);
	walk(&image, thread, &frames);
	CHECK_EQ(frames.frames[0], wanted("other", 7));

	/* The same name and line; the second instruction is 2 lines down */
	table = *(uintptr_t *)(code + layout->code.line_table);
	*(uint8_t *)(table + layout->object_bytes + 16 + 2) = 0xe0;
	put64(table + layout->object_bytes, 3);
	walk(&image, thread, &frames);
	CHECK_EQ(frames.frames[0], wanted("other", 7) + 1);
}

TEST(another_recording_has_other_ids)
{
	static struct log *first_log; /* nobody frees a log: it isn't forgotten */
	struct python_frames frames;
	struct image image;
	uintptr_t thread;
	uint64_t before;

	begin(&image, "3.12");
	log__python_code(code_log, "taken", "/b.py", 1);
	thread = make_thread(&image, make_frame(&image, make_code(&image, "f", 1), 0),
			     make_cframe(&image, 0));
	walk(&image, thread, &frames);
	before = frames.frames[0];
	CHECK_EQ(before, wanted("f", 1));
	first_log = code_log;
	CHECK_EQ(log__open(spool, 2, false, &code_log), 0);
	CHECK(code_log != first_log);
	python_code__begin(code_log);
	walk(&image, thread, &frames);
	CHECK(frames.frames[0] != before);
	CHECK_EQ(frames.frames[0], wanted("f", 1));
}

/* ---- strings ---- */

static const char *copied(struct image *image, uintptr_t string, size_t size)
{
	static char text[256];
	const struct python_reader reader = {&image->layout, &types, readable__begin()};
	struct python_string read;

	if (python_string__read(&reader, string, &read))
		return NULL;
	python_string__copy(&read, text, size);
	return text;
}

TEST(strings_become_utf8)
{
	static const uint8_t latin1[] = {'f', 0xfc, 'n', 'f'};
	static const uint16_t two[] = {0x95a2, 0x6570, 0xdc80};
	static const uint32_t four[] = {0x1f40d, 0, 'x', 0x110000};
	struct image image;

	for (int minor = 11; minor <= 12; minor++) {
		begin(&image, minor == 11 ? "3.11" : "3.12");
		CHECK_STR(copied(&image, make_text(&image, "f"), 256), "f");
		CHECK_STR(copied(&image, make_text(&image, ""), 256), "");
		CHECK_STR(copied(&image, make_string(&image, latin1, 4, 1), 256),
			  "f\xc3\xbcnf");
		CHECK_STR(copied(&image, make_string(&image, two, 3, 2), 256),
			  "\xe9\x96\xa2\xe6\x95\xb0?");
		CHECK_STR(copied(&image, make_string(&image, four, 4, 4), 256),
			  "\xf0\x9f\x90\x8d?x?");
		/* Cut between characters */
		CHECK_STR(copied(&image, make_string(&image, two, 3, 2), 6),
			  "\xe9\x96\xa2");
		CHECK_STR(copied(&image, make_text(&image, "abc"), 1), "");
	}
}

TEST(what_is_no_string_is_refused)
{
	struct image image;
	uintptr_t string;

	begin(&image, "3.12");
	CHECK(!copied(&image, 0, 256));
	CHECK(!copied(&image, make_text(&image, "f") + 1, 256));
	CHECK(!copied(&image, make_bytes(&image, "f", 1), 256));
	string = make_text(&image, "f");
	put64(string + image.layout.object_bytes, 1ull << 40);
	CHECK(!copied(&image, string, 256));
	put64(string + image.layout.object_bytes, (uint64_t)-1);
	CHECK(!copied(&image, string, 256));
	string = make_text(&image, "f");
	put32(string + image.layout.object_bytes + 16, 3 << 2 | 1 << 5);
	CHECK(!copied(&image, string, 256));
	put32(string + image.layout.object_bytes + 16, 1 << 2);
	CHECK(!copied(&image, string, 256));
}

/* ---- memory ---- */

static bool is_readable(uintptr_t address, size_t nr_bytes)
{
	struct readable readable = readable__begin();

	return readable__check(&readable, address, nr_bytes);
}

TEST(memory_is_readable_or_not)
{
	struct image image;
	uintptr_t start;

	begin(&image, "3.12");
	start = (uintptr_t)image.memory;
	CHECK_EQ(mprotect(image.memory + PAGE_BYTES, PAGE_BYTES, PROT_NONE), 0);
	CHECK(is_readable(start, PAGE_BYTES));
	CHECK(is_readable(start + PAGE_BYTES - 1, 1));
	CHECK(!is_readable(start + PAGE_BYTES - 1, 2));
	CHECK(!is_readable(start, IMAGE_BYTES));
	CHECK(is_readable(start + 2 * PAGE_BYTES, IMAGE_BYTES - 2 * PAGE_BYTES));
	CHECK(is_readable(0, 0));
	CHECK(!is_readable(0, 1));
	CHECK(!is_readable(8, 8));
	CHECK(!is_readable(UINTPTR_MAX, 1));
	CHECK(!is_readable(UINTPTR_MAX - 7, 16));
	CHECK(!is_readable(0xffffffff81000000u, 8));
	/* The same low bits as a page that is known */
	CHECK(!is_readable(start | 0x7000000000000000u, 8));
	CHECK(!is_readable(start | 0x0080000000000000u, 8));
	/* It is asked anew. */
	CHECK_EQ(mprotect(image.memory, PAGE_BYTES, PROT_NONE), 0);
	readable__forget();
	CHECK(!is_readable(start, 1));
}

/* ---- garbage ---- */

/* A value that looks like what may stand in Python's structures */
static uint64_t any_word(const struct image *image, const uintptr_t *good, size_t nr_good)
{
	uint64_t in_image =
		(uintptr_t)image->memory + (uint64_t)random() % (IMAGE_BYTES + 64);

	switch (random() % 8) {
	case 0:
		return in_image;
	case 1:
	case 2:
		return in_image & ~7ull;
	case 3:
	case 4:
		return good[(size_t)random() % nr_good];
	case 5:
		return (uint64_t)random() % 4096;
	case 6:
		return (uint64_t)random() << 33 ^ (uint64_t)random();
	default:
		return random() % 2 ? types.string : types.bytes;
	}
}

static void spoil(struct image *image, const uintptr_t *good, size_t nr_good)
{
	for (int i = 0; i < 40; i++) {
		size_t at = (size_t)random() % (image->nr_used - 8);

		/* Can't be written */
		if (at / PAGE_BYTES == 1 || (at + 7) / PAGE_BYTES == 1)
			continue;
		put64((uintptr_t)image->memory + (random() % 4 ? at & ~7ull : at),
		      any_word(image, good, nr_good));
	}
}

static void walk_garbage(const char *version, unsigned int seed)
{
	struct python_frames frames;
	struct image image;
	uintptr_t good[8];
	size_t nr_good = 0;

	begin(&image, version);
	srandom(seed);
	for (int i = 0; i < 3; i++)
		good[nr_good++] = make_code(&image, "f", i);
	good[nr_good++] = make_cframe(&image, 0);
	good[nr_good++] = make_cframe(&image, good[3]);
	good[nr_good++] = make_frame(&image, good[0], 0);
	good[nr_good++] = make_frame(&image, good[1], good[5]);
	image.nr_used = 3 * PAGE_BYTES; /* a hole is between */
	good[nr_good++] = make_frame(&image, good[2], good[6]);
	CHECK_EQ(mprotect(image.memory + PAGE_BYTES, PAGE_BYTES, PROT_NONE), 0);

	for (int round = 0; round < 3000; round++) {
		uintptr_t thread = make_thread(&image, good[7], good[4]);

		spoil(&image, good, nr_good);
		walk(&image, thread, &frames);
		CHECK(frames.nr <= PYTHON_MAX_FRAMES);
		CHECK(frames.nr_groups <= frames.nr);
		for (size_t i = 0; i < frames.nr_groups; i++)
			CHECK(frames.group_ends[i] > (i ? frames.group_ends[i - 1] : 0));
		image.nr_used = 4 * PAGE_BYTES;
	}
	munmap(image.memory, IMAGE_BYTES);
}

TEST(garbage_never_faults)
{
	static const char *const versions[] = {"3.8", "3.9", "3.10", "3.11", "3.12"};

	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
		for (unsigned int seed = 0; seed < 8; seed++)
			walk_garbage(versions[i], seed);
}
