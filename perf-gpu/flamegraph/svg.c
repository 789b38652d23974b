// SPDX-License-Identifier: GPL-2.0-or-later
/*
 *   legend
 *   gpu-kernel: 105,990,123 ns, 31,030 calls
 *             ┌──────────┐
 *   ┌─────────┤ [GPU_K…  │        a row for each depth, callees above their callers;
 *   ├─────────┴──────────┴──┐     brothers are in the order of their names
 *   │ app                   │
 *   ├───────────────────────┤
 *   │ all                   │
 *   └───────────────────────┘
 *   gpu-memcpy: …
 */
#include "flamegraph/svg.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flamegraph/text.h"
#include "util/format.h"
#include "util/gpu_events.h"

#define WIDTH	     1200.0
#define MARGIN	     10.0
#define ROW	     17.0 /* height of a frame, with the gap above it */
#define TITLE	     30.0 /* height of what stands above a graph */
#define LEGEND	     34.0
#define MIN_WIDTH    0.2 /* a frame is drawn from this many pixels on */
#define LETTER_WIDTH 6.62 /* 11px monospace: 0.602 em */
#define MIN_LETTERS  3 /* a label is written from so many on */

/* 0xrrggbb, where the viewer prefers it light and dark */
struct colour {
	uint32_t light, dark;
};

/* By enum frame_class */
static const struct {
	const char *name, *legend;
	struct colour colour;
} classes[NR_FRAME_CLASSES] = {
	[FRAME_CLASS_NATIVE] = {"native", "native code", {0xf3b768, 0x85561c}},
	[FRAME_CLASS_PYTHON] = {"python", "Python", {0x86b6e8, 0x2b5d90}},
	[FRAME_CLASS_API] = {"api", "CUDA API", {0xcba6dd, 0x6b4482}},
	[FRAME_CLASS_GPU] = {"gpu", "GPU", {0x8ccb62, 0x3b761f}},
	[FRAME_CLASS_LABEL] = {"label", "label", {0xc9c9c9, 0x5a5a5c}},
	[FRAME_CLASS_ROOT] = {"root", "process", {0xdedede, 0x444446}},
};

/* Of changes: from nothing left by as many steps to as before, and so on to all new */
#define NR_STEPS 5
static const struct colour shrunk = {0x4a90e2, 0x2563b0};
static const struct colour same = {0xe4e4e4, 0x404042};
static const struct colour grown = {0xf0523d, 0xb3301f};

static const char *const style = "svg { background: #fff }\n"
				 "text { fill: #1b1b1b; font: 11px \"DejaVu Sans Mono\", "
				 "Menlo, Consolas, monospace;\n"
				 "  white-space: pre; pointer-events: none }\n"
				 ".title { font-size: 14px; font-weight: bold }\n"
				 "g:hover > rect { stroke: #1b1b1b }\n"
				 "@media (prefers-color-scheme: dark) {\n"
				 "svg { background: #1c1c1e }\n"
				 "text { fill: #f0f0f0 }\n"
				 "g:hover > rect { stroke: #f0f0f0 }\n"
				 "}\n";

/* One graph, of one event */
struct graph {
	const struct flame *flame;
	struct out_file *file;
	uint32_t event;
	struct flame_totals totals;
	bool is_differential;
	struct flame_totals before; /* of FLAME_OLD, if it is one */
	bool compares_shares; /* of the totals, not sums */
	uint32_t *order; /* nodes that have anything, callers first */
	size_t nr_order;
	uint64_t *offsets; /* by node: what is left of it */
	uint32_t nr_rows; /* of what is wide enough, with "all" */
};

static void __attribute__((format(printf, 2, 3)))
print(struct out_file *file, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	out_file__text(file, text);
}

static const char *unit_of(const struct graph *graph)
{
	return graph->flame->events_in_bytes & GPU_LOG_EVENT_BIT(graph->event) ? "bytes"
									       : "ns";
}

/* --- where frames are ------------------------------------------------------------------ */

/* Callers before callees, brothers beside each other and by name */
static int compare_nodes(const void *a, const void *b, void *context)
{
	const struct flame *flame = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct flame_node *x = &flame->nodes[i], *y = &flame->nodes[j];
	int order;

	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	order = strcmp(flame->names[x->name].text, flame->names[y->name].text);
	return order ? order : (i > j) - (i < j);
}

static double pixels(const struct graph *graph, uint64_t period)
{
	return (double)period / (double)graph->totals.period * (WIDTH - 2 * MARGIN);
}

static int find_order(struct graph *graph)
{
	const struct flame *flame = graph->flame;

	graph->order = calloc(flame->nr_nodes + 1, sizeof(*graph->order));
	graph->offsets = calloc(flame->nr_nodes + 1, sizeof(*graph->offsets));
	if (!graph->order || !graph->offsets)
		return -ENOMEM;
	graph->nr_rows = 1;
	for (uint32_t i = 0; i < flame->nr_nodes; i++) {
		if (!graph->totals.periods[i] ||
		    pixels(graph, graph->totals.periods[i]) < MIN_WIDTH)
			continue;
		graph->order[graph->nr_order++] = i;
		if (flame->nodes[i].depth + 2 > graph->nr_rows)
			graph->nr_rows = flame->nodes[i].depth + 2;
	}
	qsort_r(graph->order, graph->nr_order, sizeof(*graph->order), compare_nodes,
		(void *)flame);
	return 0;
}

/*
 * Each is right of its brothers before it. Those that are too narrow have no place: a gap
 * at their caller's right end is what they come to.
 */
static int find_offsets(struct graph *graph)
{
	const struct flame *flame = graph->flame;
	uint64_t *used = calloc(flame->nr_nodes + 1, sizeof(*used)), used_by_roots = 0;

	if (!used)
		return -ENOMEM;
	for (size_t i = 0; i < graph->nr_order; i++) {
		uint32_t node = graph->order[i], parent = flame->nodes[node].parent;
		bool is_root = parent == FLAME_NO_NODE;
		uint64_t *before = is_root ? &used_by_roots : &used[parent];

		graph->offsets[node] = *before + (is_root ? 0 : graph->offsets[parent]);
		*before += graph->totals.periods[node];
	}
	free(used);
	return 0;
}

/* --- drawing ---------------------------------------------------------------------------- */

/* A frame's sums */
struct sums {
	uint64_t period, nr, before;
};

static void draw_tooltip(const struct graph *graph, const char *text,
			 const struct sums *sums)
{
	bool is_more = sums->period >= sums->before;
	uint64_t change =
		is_more ? sums->period - sums->before : sums->before - sums->period;
	struct format_buf count, share, calls;

	out_file__text(graph->file, "<title>");
	text__write_xml(graph->file, text, SIZE_MAX);
	print(graph->file, ": %s %s, %s, %s call%s", format__count(sums->period, &count),
	      unit_of(graph), format__percent(sums->period, graph->totals.period, &share),
	      format__count(sums->nr, &calls), sums->nr == 1 ? "" : "s");
	if (graph->is_differential) {
		print(graph->file, "; before: %s %s, %s",
		      format__count(sums->before, &count), unit_of(graph),
		      format__percent(sums->before, graph->before.period, &share));
		print(graph->file, ", change: %s%s %s", is_more ? "+" : "-",
		      format__count(change, &count), unit_of(graph));
	}
	out_file__text(graph->file, "</title>");
}

/* The class of the colour that tells the change */
static int change_step(const struct graph *graph, const struct sums *sums)
{
	double now = (double)sums->period, before = (double)sums->before, most;

	if (graph->compares_shares)
		before *= (double)graph->totals.period / (double)graph->before.period;
	most = now > before ? now : before;
	if (most <= 0)
		return NR_STEPS;
	return (int)(NR_STEPS * (1 + (now - before) / most) + 0.5);
}

/* As much of it as has room */
static void draw_label(const struct graph *graph, const struct flame_name *name, double x,
		       double y, double width)
{
	size_t room = width > 6 ? (size_t)((width - 6) / LETTER_WIDTH) : 0;
	const char *text = flame_name__fitting(name, room);
	size_t length = text__length(text);

	if (room < MIN_LETTERS)
		return;
	print(graph->file, "<text x=\"%.1f\" y=\"%.0f\">", x + 3, y + 12);
	text__write_xml(graph->file, text, length > room ? room - 1 : length);
	out_file__text(graph->file, length > room ? "…</text>" : "</text>");
}

static void draw_frame(const struct graph *graph, const struct flame_name *name,
		       uint32_t row, double bottom, uint64_t offset,
		       const struct sums *sums)
{
	double x = MARGIN + pixels(graph, offset), width = pixels(graph, sums->period);
	double y = bottom - (row + 1) * ROW;

	out_file__text(graph->file, "<g>");
	draw_tooltip(graph, name->text, sums);
	if (graph->is_differential)
		print(graph->file, "<rect class=\"change%d\"", change_step(graph, sums));
	else
		print(graph->file, "<rect class=\"%s\"", classes[name->class].name);
	print(graph->file, " x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%.0f\"/>", x,
	      y, width > 1 ? width - 0.5 : width, ROW - 1);
	draw_label(graph, name, x, y, width);
	out_file__text(graph->file, "</g>\n");
}

static void draw_title(const struct graph *graph, double top)
{
	struct format_buf period, calls, before;

	print(graph->file,
	      "<text class=\"title\" x=\"%.0f\" y=\"%.0f\">%s: %s %s, %s call%s", MARGIN,
	      top + 20, gpu_events[graph->event].name,
	      format__count(graph->totals.period, &period), unit_of(graph),
	      format__count(graph->totals.nr, &calls), graph->totals.nr == 1 ? "" : "s");
	if (graph->is_differential)
		print(graph->file, "; before: %s %s%s",
		      format__count(graph->before.period, &before), unit_of(graph),
		      graph->compares_shares ? "; colours compare shares" : "");
	out_file__text(graph->file, "</text>\n");
}

static void draw_graph(const struct graph *graph, double top)
{
	static const struct flame_name all = {.text = (char *)"all",
					      .class = FRAME_CLASS_ROOT};
	const struct flame *flame = graph->flame;
	double bottom = top + TITLE + graph->nr_rows * ROW;
	struct sums sums = {
		.period = graph->totals.period,
		.nr = graph->totals.nr,
		.before = graph->before.period,
	};

	draw_title(graph, top);
	if (!sums.period)
		return;
	draw_frame(graph, &all, 0, bottom, 0, &sums);
	for (size_t i = 0; i < graph->nr_order; i++) {
		uint32_t node = graph->order[i];

		sums.period = graph->totals.periods[node];
		sums.nr = graph->totals.nrs[node];
		sums.before = graph->is_differential ? graph->before.periods[node] : 0;
		draw_frame(graph, &flame->names[flame->nodes[node].name],
			   flame->nodes[node].depth + 1, bottom, graph->offsets[node],
			   &sums);
	}
}

/* --- colours --------------------------------------------------------------------------- */

/* As much of each part of a colour as is asked for, and the rest of another */
static uint32_t mix(uint32_t colour, uint32_t other, int part, int whole)
{
	uint32_t mixed = 0;

	for (int shift = 0; shift < 24; shift += 8) {
		int a = (int)(colour >> shift & 0xff), b = (int)(other >> shift & 0xff);

		mixed |= (uint32_t)((a * part + b * (whole - part)) / whole) << shift;
	}
	return mixed;
}

static uint32_t step_colour(int step, bool is_dark)
{
	const struct colour *end = step < NR_STEPS ? &shrunk : &grown;
	int part = abs(step - NR_STEPS);

	return mix(is_dark ? end->dark : end->light, is_dark ? same.dark : same.light,
		   part, NR_STEPS);
}

static void write_colours(struct out_file *file, bool is_differential, bool is_dark)
{
	if (is_differential) {
		for (int step = 0; step <= 2 * NR_STEPS; step++)
			print(file, ".change%d { fill: #%06" PRIx32 " }\n", step,
			      step_colour(step, is_dark));
		return;
	}
	for (int i = 0; i < NR_FRAME_CLASSES; i++)
		print(file, ".%s { fill: #%06" PRIx32 " }\n", classes[i].name,
		      is_dark ? classes[i].colour.dark : classes[i].colour.light);
}

static void write_style(struct out_file *file, bool is_differential)
{
	out_file__text(file, "<style>\n");
	out_file__text(file, style);
	write_colours(file, is_differential, false);
	out_file__text(file, "@media (prefers-color-scheme: dark) {\n");
	write_colours(file, is_differential, true);
	out_file__text(file, "}\n</style>\n");
}

/* Returns where the next one begins. */
static double draw_legend_entry(struct out_file *file, double x, const char *class,
				const char *text)
{
	print(file,
	      "<rect class=\"%s\" x=\"%.0f\" y=\"12\" width=\"12\" height=\"12\"/>"
	      "<text x=\"%.0f\" y=\"22\">%s</text>\n",
	      class, x, x + 17, text);
	return x + 40 + (double)strlen(text) * LETTER_WIDTH;
}

/* Bits of the classes that frames are of; "all" is there in any case. */
static unsigned int classes_of(const struct graph *graphs, size_t nr_graphs)
{
	unsigned int found = 1u << FRAME_CLASS_ROOT;

	for (size_t i = 0; i < nr_graphs; i++) {
		const struct flame *flame = graphs[i].flame;

		for (size_t j = 0; j < graphs[i].nr_order; j++) {
			uint32_t node = graphs[i].order[j];

			found |= 1u << flame->names[flame->nodes[node].name].class;
		}
	}
	return found;
}

static void draw_legend(struct out_file *file, const struct graph *graphs,
			size_t nr_graphs)
{
	unsigned int found = classes_of(graphs, nr_graphs);
	double x = MARGIN;

	if (graphs->is_differential) {
		x = draw_legend_entry(file, x, "change0", "less than before");
		x = draw_legend_entry(file, x, "change5", "as before");
		draw_legend_entry(file, x, "change10", "more than before, or new");
		return;
	}
	for (int i = 0; i < NR_FRAME_CLASSES; i++)
		if (found & 1u << i)
			x = draw_legend_entry(file, x, classes[i].name,
					      classes[i].legend);
}

/* --- all of it ---------------------------------------------------------------------------- */

static void graph__release(struct graph *graph)
{
	flame_totals__release(&graph->totals);
	flame_totals__release(&graph->before);
	free(graph->order);
	free(graph->offsets);
}

/*
 * Do the totals differ by so much that everything would be red, or blue? As the page
 * has it (isFarFrom() in page/words.js).
 */
static bool are_far_apart(uint64_t total, uint64_t other)
{
	double least = (double)(total < other ? total : other);

	return least > 0 && (double)(total < other ? other : total) > 1.2 * least;
}

static int graph__lay_out(struct graph *graph)
{
	int err = flame__sum(graph->flame, graph->event, FLAME_ALL_DEVICES, FLAME_NEW,
			     &graph->totals);

	if (!err && graph->is_differential)
		err = flame__sum(graph->flame, graph->event, FLAME_ALL_DEVICES, FLAME_OLD,
				 &graph->before);
	if (err || !graph->totals.period)
		return err;
	graph->compares_shares =
		are_far_apart(graph->totals.period, graph->before.period);
	err = find_order(graph);
	return err ? err : find_offsets(graph);
}

static double graph__height(const struct graph *graph)
{
	return TITLE + graph->nr_rows * ROW + MARGIN;
}

/* What viewers show as the picture's title */
static void draw_about(struct out_file *file, const struct flame *flame)
{
	if (!flame->about[FLAME_NEW] || !*flame->about[FLAME_NEW])
		return;
	out_file__text(file, "<title>");
	text__write_xml(file, flame->about[FLAME_NEW], SIZE_MAX);
	if (flame->about[FLAME_OLD]) {
		out_file__text(file, "; before: ");
		text__write_xml(file, flame->about[FLAME_OLD], SIZE_MAX);
	}
	out_file__text(file, "</title>\n");
}

static void draw(const struct graph *graphs, size_t nr_graphs, struct out_file *file)
{
	double height = LEGEND + MARGIN, top = LEGEND;

	for (size_t i = 0; i < nr_graphs; i++)
		height += graph__height(&graphs[i]);
	print(file,
	      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
	      "viewBox=\"0 0 %.0f %.0f\">\n",
	      WIDTH, height, WIDTH, height);
	draw_about(file, graphs->flame);
	write_style(file, graphs->is_differential);
	draw_legend(file, graphs, nr_graphs);
	for (size_t i = 0; i < nr_graphs; i++) {
		print(file, "<g id=\"%s\">\n", gpu_events[graphs[i].event].name);
		draw_graph(&graphs[i], top);
		out_file__text(file, "</g>\n");
		top += graph__height(&graphs[i]);
	}
	out_file__text(file, "</svg>\n");
}

int flame_svg__write(const struct flame *flame, bool is_differential,
		     struct out_file *file)
{
	struct graph graphs[GPU_LOG_NR_EVENTS] = {0};
	size_t nr = 0;
	int err = 0;

	for (uint32_t event = 0; event < GPU_LOG_NR_EVENTS && !err; event++) {
		if (!(flame->events & GPU_LOG_EVENT_BIT(event)))
			continue;
		graphs[nr] = (struct graph){
			.flame = flame,
			.file = file,
			.event = event,
			.is_differential = is_differential,
		};
		err = graph__lay_out(&graphs[nr++]);
	}
	if (!err)
		draw(graphs, nr, file);
	while (nr)
		graph__release(&graphs[--nr]);
	return err;
}
