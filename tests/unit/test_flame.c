// SPDX-License-Identifier: GPL-2.0-or-later
/* Flame graphs: the tree of one or two recordings, its sums, and names from outside. */
#include <stdint.h>

#include "flamegraph/flame.h"
#include "flamegraph/svg.h"
#include "flamegraph/text.h"
#include "unit.h"

/* The stack of some names, root first; the last is a leaf */
static uint32_t add(struct flame *flame, uint32_t event, const char *const *texts)
{
	uint32_t node = FLAME_NO_NODE;

	for (; *texts; texts++) {
		struct frame_name name = {.text = *texts};

		CHECK_EQ(flame__node(flame, &name, texts[1] ? FLAME_NO_EVENT : event,
				     &node),
			 0);
	}
	return node;
}

#define STACK(...) ((const char *const[]){__VA_ARGS__, NULL})

static void weigh(struct flame *flame, uint32_t node, int64_t device,
		  enum flame_recording recording, uint64_t period)
{
	struct flame_weight weight = {.node = node,
				      .recording = recording,
				      .device = device,
				      .nr = 1,
				      .period = period};

	CHECK_EQ(flame__add_weight(flame, &weight), 0);
}

static uint64_t total(struct flame *flame, uint32_t event, int64_t device,
		      enum flame_recording recording)
{
	struct flame_totals totals;
	uint64_t period;

	CHECK_EQ(flame__sum(flame, event, device, recording, &totals), 0);
	period = totals.period;
	flame_totals__release(&totals);
	return period;
}

TEST(sums_are_of_an_event_a_device_and_a_recording)
{
	struct flame *flame;
	struct flame_totals totals;
	uint32_t kernel, other, copy;

	CHECK_EQ(flame__new(&flame), 0);
	kernel = add(flame, GPU_LOG_EVENT_KERNEL, STACK("app", "main", "f", "k"));
	other = add(flame, GPU_LOG_EVENT_KERNEL, STACK("app", "main", "g", "k"));
	copy = add(flame, GPU_LOG_EVENT_MEMCPY, STACK("app", "main", "f", "k"));
	CHECK_EQ(add(flame, GPU_LOG_EVENT_KERNEL, STACK("app", "main", "f", "k")),
		 kernel);
	CHECK_EQ(flame->nr_nodes, 7);
	CHECK_EQ(flame->nr_names, 5);
	weigh(flame, kernel, 0, FLAME_NEW, 1);
	weigh(flame, kernel, 1, FLAME_NEW, 10);
	weigh(flame, other, 0, FLAME_NEW, 100);
	weigh(flame, copy, 0, FLAME_NEW, 1000);
	weigh(flame, kernel, 0, FLAME_OLD, 10000);
	weigh(flame, kernel, FLAME_NO_DEVICE, FLAME_NEW, 100000);

	CHECK_EQ(total(flame, GPU_LOG_EVENT_KERNEL, FLAME_ALL_DEVICES, FLAME_NEW),
		 100111);
	CHECK_EQ(total(flame, GPU_LOG_EVENT_KERNEL, FLAME_NO_DEVICE, FLAME_NEW), 100000);
	CHECK_EQ(total(flame, GPU_LOG_EVENT_KERNEL, 0, FLAME_NEW), 101);
	CHECK_EQ(total(flame, GPU_LOG_EVENT_KERNEL, 1, FLAME_NEW), 10);
	CHECK_EQ(total(flame, GPU_LOG_EVENT_KERNEL, 0, FLAME_OLD), 10000);
	CHECK_EQ(total(flame, GPU_LOG_EVENT_MEMCPY, 0, FLAME_NEW), 1000);
	CHECK_EQ(total(flame, GPU_LOG_EVENT_SYNC, 0, FLAME_NEW), 0);

	CHECK_EQ(flame__sum(flame, GPU_LOG_EVENT_KERNEL, 0, FLAME_NEW, &totals), 0);
	CHECK_EQ(totals.nr, 2);
	CHECK_EQ(totals.periods[0], 101); /* app */
	CHECK_EQ(totals.periods[1], 101); /* main */
	CHECK_EQ(totals.periods[kernel], 1);
	CHECK_EQ(totals.periods[copy], 0);
	flame_totals__release(&totals);
	flame__delete(flame);
}

TEST(sums_do_not_wrap_around)
{
	struct flame *flame;
	uint32_t node;

	CHECK_EQ(flame__new(&flame), 0);
	node = add(flame, GPU_LOG_EVENT_KERNEL, STACK("app", "k"));
	weigh(flame, node, 0, FLAME_NEW, UINT64_MAX - 1);
	weigh(flame, node, 1, FLAME_NEW, 5);
	CHECK_EQ(total(flame, GPU_LOG_EVENT_KERNEL, FLAME_ALL_DEVICES, FLAME_NEW),
		 UINT64_MAX);
	flame__delete(flame);
}

TEST(a_name_of_several_files_has_none)
{
	const struct frame_name names[] = {
		{.text = "f", .file = "/old/app"}, /* where it was before */
		{.text = "f", .file = "/new/app"},
		{.text = "g", .file = "/lib/a.so"},
		{.text = "g", .file = "/lib/b.so"},
		{.text = "g", .file = "/lib/a.so"},
		{.text = "f", .class = FRAME_CLASS_PYTHON},
	};
	struct flame *flame;

	CHECK_EQ(flame__new(&flame), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uint32_t node = FLAME_NO_NODE;

		CHECK_EQ(flame__node(flame, &names[i], FLAME_NO_EVENT, &node), 0);
	}
	CHECK_EQ(flame->nr_names, 3);
	CHECK_STR(flame->names[0].file, "/old/app");
	CHECK(!flame->names[1].file);
	CHECK_EQ(flame->names[2].class, FRAME_CLASS_PYTHON);
	flame__delete(flame);
}

TEST(a_name_is_made_as_long_as_its_frame)
{
	static const char full[] =
		"[GPU_Kernel]void ns::(anonymous namespace)::k<4>(float*)";
	static const struct {
		struct frame_name name;
		size_t room;
		const char *shown;
	} names[] = {
		{{full, NULL, 0, FRAME_CLASS_GPU}, sizeof(full) - 1, full},
		{{full, NULL, 0, FRAME_CLASS_GPU}, sizeof(full) - 2, full + 12},
		{{full, NULL, 0, FRAME_CLASS_GPU}, sizeof(full) - 13, full + 12},
		{{full, NULL, 0, FRAME_CLASS_GPU},
		 sizeof(full) - 14,
		 "ns::(anonymous namespace)::k"},
		{{full, NULL, 0, FRAME_CLASS_GPU}, 27, "k"},
		{{full, NULL, 0, FRAME_CLASS_GPU}, 0, "k"},
		{{"[GPU_Kernel]f<int>::operator()()", NULL, 0, FRAME_CLASS_GPU},
		 3,
		 "f::operator()"},
		{{"[GPU_Kernel]sgemm", NULL, 0, FRAME_CLASS_GPU}, 16, "sgemm"},
		{{"[GPU_Kernel]", NULL, 0, FRAME_CLASS_GPU}, 3, "[GPU_Kernel]"},
		{{"[GPU_Kernel][unknown]", NULL, 0, FRAME_CLASS_GPU}, 3, "[unknown]"},
		{{"[GPU_Idle]", NULL, 0, FRAME_CLASS_GPU}, 3, "[GPU_Idle]"},
		{{"[GPU_Memcpy]DtoD (0 to 1)", NULL, 0, FRAME_CLASS_GPU},
		 3,
		 "DtoD (0 to 1)"},
		{{"[GPU_Kernel]f<int>", NULL, 0, FRAME_CLASS_NATIVE}, 3, "[GPU_Kernel]f"},
		{{"ns::f<int>", NULL, 0, FRAME_CLASS_NATIVE}, 3, "ns::f"},
		{{"py::<module>:a.py", NULL, 0, FRAME_CLASS_PYTHON},
		 3,
		 "py::<module>:a.py"},
	};
	struct flame *flame;

	CHECK_EQ(flame__new(&flame), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uint32_t node = FLAME_NO_NODE;

		CHECK_EQ(flame__node(flame, &names[i].name, FLAME_NO_EVENT, &node), 0);
		CHECK_STR(flame_name__fitting(&flame->names[flame->nodes[node].name],
					      names[i].room),
			  names[i].shown);
	}
	flame__delete(flame);
}

TEST(a_device_has_the_first_name_that_is_told)
{
	struct flame *flame;

	CHECK_EQ(flame__new(&flame), 0);
	CHECK_EQ(flame__name_device(flame, 0, "H200"), 0);
	CHECK_EQ(flame__name_device(flame, 3, "L4"), 0);
	CHECK_EQ(flame__name_device(flame, 0, "A100"), 0);
	CHECK_EQ(flame->nr_devices, 2);
	CHECK_EQ(flame->devices[1].number, 3);
	CHECK_STR(flame->devices[0].name, "H200");
	CHECK_STR(flame->devices[1].name, "L4");
	flame__delete(flame);
}

TEST(many_stacks_are_found_again)
{
	enum { NR = 20000 };
	struct flame *flame;
	char text[32];

	CHECK_EQ(flame__new(&flame), 0);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < NR; i++) {
			snprintf(text, sizeof(text), "f%u", i);
			CHECK_EQ(add(flame, GPU_LOG_EVENT_KERNEL, STACK("app", text)),
				 i + 1);
		}
	CHECK_EQ(flame->nr_nodes, NR + 1);
	flame__delete(flame);
}

/* --- what is written --------------------------------------------------------------------- */

/* All that is in a file, which is removed; to be freed */
static char *read_back(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 1 << 16);

	CHECK(file && text);
	CHECK(fread(text, 1, (1 << 16) - 1, file) > 0 || feof(file));
	fclose(file);
	unlink(path);
	return text;
}

static void temporary_path(char path[64])
{
	int fd;

	strcpy(path, "/tmp/test-flame-XXXXXX");
	fd = mkstemp(path);
	CHECK(fd >= 0);
	close(fd);
}

static void check_written(const char *text, size_t nr, const char *xml, const char *json)
{
	struct out_file *file;
	char path[64], *written, wanted[512];

	temporary_path(path);
	CHECK_EQ(out_file__open(path, &file), 0);
	text__write_xml(file, text, nr);
	out_file__char(file, '\n');
	text__write_json(file, text);
	CHECK_EQ(out_file__finish(file), 0);
	out_file__close(file);
	written = read_back(path);
	snprintf(wanted, sizeof(wanted), "%s\n%s", xml, json);
	CHECK_STR(written, wanted);
	free(written);
}

TEST(names_mean_nothing_to_xml_html_or_json)
{
	check_written("</script><b a='\"&amp;'>", SIZE_MAX,
		      "&lt;/script&gt;&lt;b a=&#39;&quot;&amp;amp;&#39;&gt;",
		      "\"\\u003c/script\\u003e\\u003cb "
		      "a=\\u0027\\u0022\\u0026amp;\\u0027\\u003e\"");
	check_written("a\\n", SIZE_MAX, "a\\n", "\"a\\u005cn\"");
	check_written("a\n\t\x7f", SIZE_MAX, "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
		      "\"a\\ufffd\\ufffd\\ufffd\"");
	check_written("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", SIZE_MAX,
		      "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
		      "\"\\u00e4\\u20ac\\ud83d\\ude00\"");
	check_written("\xc3\xa4\xc3\xb6\xc3\xbc", 2, "\xc3\xa4\xc3\xb6",
		      "\"\\u00e4\\u00f6\\u00fc\"");
	check_written("", SIZE_MAX, "", "\"\"");
}

TEST(what_is_no_utf8_is_replaced)
{
	static const struct {
		const char *bytes;
		size_t nr;
	} wrong[] = {
		{"\x80", 1}, /* a byte that follows, without one before */
		{"\xc3", 1}, /* cut */
		{"\xe2\x82", 2},
		{"\xc0\xaf", 2}, /* longer than it must be */
		{"\xed\xa0\x80", 1}, /* a surrogate */
		{"\xf4\x90\x80\x80", 1}, /* beyond Unicode */
		{"\xff", 1},
		{"\xef\xbf\xbf", 1}, /* no character */
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		const char *at = wrong[i].bytes;

		CHECK_EQ(text__next(&at), 0xfffd);
		CHECK_EQ(text__length(wrong[i].bytes), wrong[i].nr);
	}
}

TEST(svg_has_a_graph_for_each_event)
{
	struct flame *flame;
	struct out_file *file;
	char path[64], *svg;

	CHECK_EQ(flame__new(&flame), 0);
	flame->events = GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_KERNEL) |
			GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_MEMCPY) |
			GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_ALLOC);
	flame->events_in_bytes = GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_ALLOC);
	weigh(flame, add(flame, GPU_LOG_EVENT_KERNEL, STACK("app", "f<int>", "k")), 0,
	      FLAME_NEW, 1234567);
	weigh(flame, add(flame, GPU_LOG_EVENT_KERNEL, STACK("app", "narrow")), 0,
	      FLAME_NEW, 1);
	weigh(flame, add(flame, GPU_LOG_EVENT_ALLOC, STACK("app", "a")), 0, FLAME_NEW,
	      4096);
	temporary_path(path);
	CHECK_EQ(out_file__open(path, &file), 0);
	CHECK_EQ(flame_svg__write(flame, false, file), 0);
	CHECK_EQ(out_file__finish(file), 0);
	out_file__close(file);
	svg = read_back(path);
	CHECK(strstr(svg, ">gpu-kernel: 1,234,568 ns, 2 calls<"));
	CHECK(strstr(svg, "<title>all: 1,234,568 ns, 100.0 %, 2 calls<"));
	CHECK(strstr(svg, "<title>f&lt;int&gt;: 1,234,567 ns, 99.9 %, 1 call<"));
	CHECK(!strstr(svg, "narrow"));
	CHECK(strstr(svg, ">gpu-memcpy: 0 ns, 0 calls<"));
	CHECK(strstr(svg, ">gpu-alloc: 4,096 bytes, 1 call<"));
	free(svg);
	flame__delete(flame);
}

TEST(differential_svg_tells_changes)
{
	static const struct {
		const char *name;
		uint64_t before, now;
		const char *title, *class;
	} frames[] = {
		{"same", 1000, 1000, "before: 1,000 ns, 22.2 %, change: +0 ns",
		 "change5"},
		{"grown", 500, 1000, "before: 500 ns, 11.1 %, change: +500 ns",
		 "change8"},
		{"shrunk", 2000, 1000, "before: 2,000 ns, 44.4 %, change: -1,000 ns",
		 "change3"},
		{"new", 0, 1000, "before: 0 ns, 0.0 %, change: +1,000 ns", "change10"},
		{"gone", 1000, 0, NULL, NULL},
	};
	enum { NR = sizeof(frames) / sizeof(*frames) };
	struct flame *flame;
	struct out_file *file;
	char path[64], *svg;

	CHECK_EQ(flame__new(&flame), 0);
	flame->events = GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_KERNEL);
	for (size_t i = 0; i < NR; i++) {
		uint32_t node =
			add(flame, GPU_LOG_EVENT_KERNEL, STACK("app", frames[i].name));

		if (frames[i].now)
			weigh(flame, node, 0, FLAME_NEW, frames[i].now);
		if (frames[i].before)
			weigh(flame, node, 0, FLAME_OLD, frames[i].before);
	}
	temporary_path(path);
	CHECK_EQ(out_file__open(path, &file), 0);
	CHECK_EQ(flame_svg__write(flame, true, file), 0);
	CHECK_EQ(out_file__finish(file), 0);
	out_file__close(file);
	svg = read_back(path);
	CHECK(strstr(svg, ">gpu-kernel: 4,000 ns, 4 calls; before: 4,500 ns<"));
	CHECK(!strstr(svg, "gone"));
	for (size_t i = 0; i < NR; i++) {
		char wanted[256];

		if (!frames[i].title)
			continue;
		snprintf(wanted, sizeof(wanted),
			 "<title>%s: 1,000 ns, 25.0 %%, 1 call; %s</title><rect "
			 "class=\"%s\" ",
			 frames[i].name, frames[i].title, frames[i].class);
		CHECK(strstr(svg, wanted));
	}
	free(svg);
	flame__delete(flame);
}

/* All of it took ten times as long, but for one function that took as long as before. */
TEST(differential_svg_of_a_longer_recording_compares_shares)
{
	struct flame *flame;
	struct out_file *file;
	char path[64], *svg;
	uint32_t longer, same;

	CHECK_EQ(flame__new(&flame), 0);
	flame->events = GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_KERNEL);
	longer = add(flame, GPU_LOG_EVENT_KERNEL, STACK("app", "longer"));
	same = add(flame, GPU_LOG_EVENT_KERNEL, STACK("app", "same"));
	weigh(flame, longer, 0, FLAME_OLD, 99000);
	weigh(flame, longer, 0, FLAME_NEW, 990000);
	weigh(flame, same, 0, FLAME_OLD, 1000);
	weigh(flame, same, 0, FLAME_NEW, 1000);
	temporary_path(path);
	CHECK_EQ(out_file__open(path, &file), 0);
	CHECK_EQ(flame_svg__write(flame, true, file), 0);
	CHECK_EQ(out_file__finish(file), 0);
	out_file__close(file);
	svg = read_back(path);
	CHECK(strstr(svg, "before: 100,000 ns; colours compare shares<"));
	CHECK(strstr(svg, "99,000 ns, 99.0 %, change: +891,000 ns</title>"
			  "<rect class=\"change5\""));
	CHECK(strstr(svg, "1,000 ns, 1.0 %, change: +0 ns</title>"
			  "<rect class=\"change1\""));
	free(svg);
	flame__delete(flame);
}
