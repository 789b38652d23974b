// SPDX-License-Identifier: GPL-2.0-or-later
#include "flamegraph/page.h"

#include "flamegraph/text.h"
#include "flamegraph_page.h" /* made by scripts/build-flamegraph-page.sh */
#include "util/gpu_events.h"

#ifdef FLAMEGRAPH_NO_PAGE
static const unsigned char flamegraph_page_before[1], flamegraph_page_middle[1],
	flamegraph_page_behind[1];
#else
#define FLAMEGRAPH_NO_PAGE NULL
#endif

const char *flame_page__why_not(void)
{
	return FLAMEGRAPH_NO_PAGE;
}

/* A list's next item begins. */
static void separate(struct out_file *file, size_t i)
{
	out_file__text(file, i ? "," : "");
}

static void write_names(const struct flame *flame, struct out_file *file)
{
	for (size_t i = 0; i < flame->nr_names; i++) {
		const struct flame_name *name = &flame->names[i];

		separate(file, i);
		out_file__char(file, '[');
		text__write_json(file, name->text);
		out_file__char(file, ',');
		out_file__number(file, name->class);
		if (name->file || name->short_text) {
			out_file__char(file, ',');
			text__write_json(file, name->file ? name->file : "");
		}
		if (name->short_text) {
			out_file__char(file, ',');
			text__write_json(file, name->short_text);
		}
		out_file__text(file, "]\n");
	}
}

static void write_nodes(const struct flame *flame, struct out_file *file)
{
	for (size_t i = 0; i < flame->nr_nodes; i++) {
		const struct flame_node *node = &flame->nodes[i];

		separate(file, i);
		out_file__number(file, node->name);
		out_file__char(file, ',');
		if (node->parent == FLAME_NO_NODE)
			out_file__text(file, "-1");
		else
			out_file__number(file, node->parent);
	}
}

static void write_weights(const struct flame *flame, struct out_file *file)
{
	for (size_t i = 0; i < flame->nr_weights; i++) {
		const struct flame_weight *weight = &flame->weights[i];

		separate(file, i);
		out_file__number(file, weight->node);
		out_file__char(file, ',');
		out_file__number(file, flame->nodes[weight->node].event);
		out_file__char(file, ',');
		if (weight->device < 0)
			out_file__text(file, "-1");
		else
			out_file__number(file, (uint64_t)weight->device);
		out_file__char(file, ',');
		out_file__number(file, weight->recording);
		out_file__char(file, ',');
		out_file__number(file, weight->nr);
		out_file__char(file, ',');
		out_file__number(file, weight->period);
	}
}

static void write_events(const struct flame *flame, struct out_file *file)
{
	size_t nr = 0;

	for (uint32_t event = 0; event < GPU_LOG_NR_EVENTS; event++) {
		bool is_in_bytes = flame->events_in_bytes & GPU_LOG_EVENT_BIT(event);

		if (!(flame->events & GPU_LOG_EVENT_BIT(event)))
			continue;
		separate(file, nr++);
		out_file__text(file, "{\"id\":");
		out_file__number(file, event);
		out_file__text(file, ",\"name\":\"");
		out_file__text(file, gpu_events[event].name);
		out_file__text(file, "\",\"unit\":\"");
		out_file__text(file, is_in_bytes ? "bytes\"}" : "ns\"}");
	}
}

static void write_about(const struct flame *flame, struct out_file *file)
{
	for (size_t i = 0; i < 2; i++) {
		separate(file, i);
		text__write_json(file, flame->about[i] ? flame->about[i] : "");
	}
}

static void write_devices(const struct flame *flame, struct out_file *file)
{
	for (size_t i = 0; i < flame->nr_devices; i++) {
		separate(file, i);
		out_file__char(file, '[');
		out_file__number(file, (uint64_t)flame->devices[i].number);
		out_file__char(file, ',');
		text__write_json(file, flame->devices[i].name);
		out_file__char(file, ']');
	}
}

void flame_page__write(const struct flame *flame, bool is_differential,
		       struct out_file *file)
{
	out_file__write(file, flamegraph_page_before, sizeof(flamegraph_page_before));
	if (flame->about[FLAME_NEW] && *flame->about[FLAME_NEW]) {
		out_file__text(file, ": ");
		text__write_xml(file, flame->about[FLAME_NEW], SIZE_MAX);
	}
	out_file__write(file, flamegraph_page_middle, sizeof(flamegraph_page_middle));
	out_file__text(file, "{\"differential\":");
	out_file__text(file, is_differential ? "true" : "false");
	out_file__text(file, ",\n\"about\":[");
	write_about(flame, file);
	out_file__text(file, "],\n\"events\":[");
	write_events(flame, file);
	out_file__text(file, "],\n\"devices\":[");
	write_devices(flame, file);
	out_file__text(file, "],\n\"names\":[");
	write_names(flame, file);
	out_file__text(file, "],\n\"nodes\":[");
	write_nodes(flame, file);
	out_file__text(file, "],\n\"weights\":[");
	write_weights(flame, file);
	out_file__text(file, "]}");
	out_file__write(file, flamegraph_page_behind, sizeof(flamegraph_page_behind));
}
