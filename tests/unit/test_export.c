// SPDX-License-Identifier: GPL-2.0-or-later
/* What exports are made of: JSON, UTF-8, tracks, details, units. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu_log.h"
#include "sink/byte_cache.h"
#include "sink/event_unit.h"
#include "sink/json_text.h"
#include "sink/text_put.h"
#include "sink/timeline.h"
#include "sink/timeline_tracks.h"
#include "sink/utf8_text.h"
#include "unit.h"

static void check_json(const char *text, const char *expected)
{
	int saved = dup(STDOUT_FILENO), fd = memfd_create("stdout", MFD_CLOEXEC);
	struct out_file *file;
	char got[256] = "";

	fflush(stdout);
	CHECK(fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
	CHECK_EQ(out_file__open("-", &file), 0);
	json_text__write(file, text);
	CHECK_EQ(out_file__finish(file), 0);
	out_file__close(file);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	CHECK(pread(fd, got, sizeof(got) - 1, 0) > 0);
	close(fd);
	CHECK_STR(got, expected);
}

TEST(json_has_any_text)
{
	check_json("", "\"\"");
	check_json("a\"b\\c/", "\"a\\\"b\\\\c/\"");
	check_json("\x01\n\x7f", "\"\\u0001\\u000a\\u007f\"");
	check_json("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
		   "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
	/* A lone byte, an overlong one, a surrogate, one that is cut off */
	check_json("a\xff|\xc0\xaf|\xed\xa0\x80|\xe2\x82",
		   "\"a\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|\\ufffd\\ufffd\"");
}

TEST(json_has_long_texts_in_pieces)
{
	enum { NR = 100001 };
	char *text = malloc(NR + 1), *expected = malloc(NR + 3);
	char *got = malloc(JSON_TEXT_BYTES(NR) + 1);
	int saved = dup(STDOUT_FILENO), fd = memfd_create("stdout", MFD_CLOEXEC);
	struct out_file *file;

	/* Of two bytes each, so that a piece may end within one */
	text[0] = 'x';
	for (size_t i = 1; i < NR; i += 2)
		memcpy(text + i, "\xc3\xa9", 2);
	text[NR] = '\0';
	sprintf(expected, "\"%s\"", text);
	*json_text__put(got, text) = '\0';
	CHECK_STR(got, expected);
	fflush(stdout);
	CHECK(fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
	CHECK_EQ(out_file__open("-", &file), 0);
	json_text__write(file, text);
	CHECK_EQ(out_file__finish(file), 0);
	out_file__close(file);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	memset(got, 0, NR + 3);
	CHECK_EQ(pread(fd, got, NR + 3, 0), NR + 2);
	CHECK(!strcmp(got, expected));
	close(fd);
	free(text);
	free(expected);
	free(got);
}

TEST(numbers_are_put)
{
	char text[64];

	*text_put__number(text, 0) = '\0';
	CHECK_STR(text, "0");
	*text_put__number(text, UINT64_MAX) = '\0';
	CHECK_STR(text, "18446744073709551615");
	*text_put__thousandths(text, 12045) = '\0';
	CHECK_STR(text, "12.045");
	*text_put__thousandths(text, 7) = '\0';
	CHECK_STR(text, "0.007");
}

TEST(bytes_are_kept_by_address)
{
	struct byte_cache cache = {};
	static const int keys[1000];

	CHECK(!byte_cache__find(&cache, keys));
	for (size_t i = 0; i < 1000; i++) {
		CHECK(byte_cache__add(&cache, &keys[i], &i, i % sizeof(i)));
		CHECK_EQ(byte_cache__find(&cache, &keys[i])->nr_bytes, i % sizeof(i));
	}
	for (size_t i = 0; i < 1000; i++)
		CHECK_MEM(byte_cache__find(&cache, &keys[i])->bytes, &i, i % sizeof(i));
	byte_cache__release(&cache);
}

TEST(utf8_is_made_of_anything)
{
	char *copy = utf8_text__copy("a\xff\xc3\xa9\xf5");

	CHECK_STR(copy, "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd");
	free(copy);
	CHECK_EQ(utf8_text__length(""), 0);
	CHECK_EQ(utf8_text__length("\xf4\x8f\xbf\xbf"), 4);
	CHECK_EQ(utf8_text__length("\xf4\x90\x80\x80"), 0);
}

static int nr_told;

static int count_track(void *writer, const struct timeline_track *track)
{
	(void)writer;
	CHECK_EQ(track->id, nr_told);
	CHECK_STR(track->name, "stream 7");
	nr_told++;
	return 0;
}

TEST(what_overlaps_is_on_tracks_of_its_own)
{
	static const struct timeline_writer_ops ops = {.track = count_track};
	static const struct {
		uint64_t start, end;
		uint32_t track;
	} slices[] = {
		{10, 20, 0}, {20, 30, 0}, {25, 40, 1}, {26, 27, 2},
		{30, 35, 0}, {40, 41, 0}, {5, 6, 3}, /* late */
	};
	const struct timeline_track new = {.kind = TIMELINE_LANE, .name = "stream 7"};
	struct timeline_tracks *tracks;
	uint32_t track;

	CHECK_EQ(timeline_tracks__new(&ops, NULL, &tracks), 0);
	for (size_t i = 0; i < sizeof(slices) / sizeof(*slices); i++) {
		struct track_key key = {.of = TRACK_OF_STREAM, .stream = 7};

		CHECK_EQ(timeline_tracks__find_free(tracks, &key, &new, slices[i].start,
						    slices[i].end, &track),
			 0);
		CHECK_EQ(track, slices[i].track);
	}
	CHECK_EQ(nr_told, 4);
	timeline_tracks__delete(tracks);
}

TEST(details_tell_of_copies_and_kernels)
{
	struct sidecar_shape copy = {.kind = GPU_LOG_KIND_MEMCPY};
	struct sidecar_shape kernel = {.kind = GPU_LOG_KIND_KERNEL,
				       .grid = {8, 1, 1},
				       .registers_per_thread = 32};
	struct sidecar_activity activity = {
		.start_ns = 1000, .end_ns = 3000, .bytes = 5000, .correlation_id = 9};
	struct timeline_event event = {.activity = &activity, .shape = &copy};
	struct timeline_detail details[TIMELINE_MAX_DETAILS];
	char text[512];

	CHECK_EQ(timeline_event__details(&event, details, text), 3);
	CHECK_STR(details[0].name, "bytes");
	CHECK_EQ(details[0].number, 5000);
	CHECK_STR(details[1].name, "GB/s");
	CHECK_STR(details[1].text, "2.500");
	CHECK_EQ(details[2].number, 9);
	event.shape = &kernel;
	CHECK_EQ(timeline_event__details(&event, details, text), 6);
	CHECK_STR(details[0].text, "8x1x1");
	event.shape = NULL;
	CHECK_EQ(timeline_event__details(&event, details, text), 0);
}

TEST(events_have_units)
{
	CHECK(!event_unit__is_bytes(GPU_LOG_EVENT_KERNEL, EVENT_WEIGHT_BYTES));
	CHECK(!event_unit__is_bytes(GPU_LOG_EVENT_MEMCPY, EVENT_WEIGHT_DEFAULT));
	CHECK(event_unit__is_bytes(GPU_LOG_EVENT_MEMCPY, EVENT_WEIGHT_BYTES));
	CHECK(event_unit__is_bytes(GPU_LOG_EVENT_FAULT, EVENT_WEIGHT_DEFAULT));
	CHECK(!event_unit__is_bytes(GPU_LOG_EVENT_FAULT, EVENT_WEIGHT_NS));
	CHECK(event_unit__is_bytes(GPU_LOG_EVENT_ALLOC, EVENT_WEIGHT_NS));
}
