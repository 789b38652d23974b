// SPDX-License-Identifier: GPL-2.0-or-later
#include "flamegraph/flame.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flamegraph/text.h"
#include "symbol/short_name.h"
#include "util/gpu_events.h"
#include "util/hash_index.h"
#include "util/sum.h"

struct flame_private {
	size_t nr_allocated_names, nr_allocated_nodes, nr_allocated_weights;
	struct hash_index names; /* by text and class */
	struct hash_index nodes; /* by parent, name and event */
};

int flame__new(struct flame **ret)
{
	struct flame *flame = calloc(1, sizeof(*flame));

	if (!flame)
		return -ENOMEM;
	flame->private = calloc(1, sizeof(*flame->private));
	if (!flame->private) {
		free(flame);
		return -ENOMEM;
	}
	*ret = flame;
	return 0;
}

void flame__delete(struct flame *flame)
{
	if (!flame)
		return;
	for (size_t i = 0; i < flame->nr_names; i++) {
		free(flame->names[i].text);
		free(flame->names[i].file);
		free(flame->names[i].short_text);
	}
	for (size_t i = 0; i < flame->nr_devices; i++)
		free(flame->devices[i].name);
	free(flame->devices);
	free(flame->about[FLAME_NEW]);
	free(flame->about[FLAME_OLD]);
	free(flame->names);
	free(flame->nodes);
	free(flame->weights);
	hash_index__release(&flame->private->names);
	hash_index__release(&flame->private->nodes);
	free(flame->private);
	free(flame);
}

/* Room for one item more in an array; 0 or -ENOMEM. */
static int reserve(void *array, size_t nr, size_t *nr_allocated, size_t item_bytes)
{
	size_t new_nr = nr ? 2 * nr : 256;
	void *new, **place = array;

	if (nr < *nr_allocated)
		return 0;
	new = reallocarray(*place, new_nr, item_bytes);
	if (!new)
		return -ENOMEM;
	*place = new;
	*nr_allocated = new_nr;
	return 0;
}

/* --- names ---------------------------------------------------------------------------- */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A name that several files have is shown without one. */
static int take_file(struct flame_name *name, const char *file)
{
	if (!file || name->has_files)
		return 0;
	if (!name->file) {
		name->file = strdup(file);
		return name->file ? 0 : -ENOMEM;
	}
	if (strcmp(base_of(name->file), base_of(file))) {
		free(name->file);
		name->file = NULL;
		name->has_files = true;
	}
	return 0;
}

/* The event whose leaf it is, or GPU_LOG_NR_EVENTS */
static uint32_t event_of(const struct flame_name *name)
{
	uint32_t event = 0;

	while (event < GPU_LOG_NR_EVENTS &&
	       (name->class != FRAME_CLASS_GPU ||
		strncmp(name->text, gpu_events[event].leaf,
			strlen(gpu_events[event].leaf)) != 0))
		event++;
	return event;
}

/* "sgemm" of "[GPU_Kernel]sgemm"; what is nothing else stays. */
static const char *bare_text(const struct flame_name *name)
{
	uint32_t event = event_of(name);
	size_t bytes = event < GPU_LOG_NR_EVENTS ? strlen(gpu_events[event].leaf) : 0;

	return name->text[bytes] ? name->text + bytes : name->text;
}

/* "f" of "ns::(anonymous namespace)::f"; "ns::operator()" and what is in brackets stay. */
static const char *without_scopes(const char *text)
{
	const char *last = text + strlen(text);

	while (last > text && (isalnum((unsigned char)last[-1]) || last[-1] == '_'))
		last--;
	return *last && !isdigit((unsigned char)*last) && last - text > 2 &&
			       !memcmp(last - 2, "::", 2)
		       ? last
		       : text;
}

const char *flame_name__fitting(const struct flame_name *name, size_t room)
{
	const char *bare = bare_text(name);
	const char *brief = name->short_text ? name->short_text : bare;

	if (text__length(name->text) <= room)
		return name->text;
	if (text__length(bare) <= room)
		return bare;
	if (text__length(brief) <= room || name->class != FRAME_CLASS_GPU)
		return brief;
	return without_scopes(brief);
}

/* What a copy or a label is called has brackets of its own. */
static int shorten(struct flame_name *name)
{
	const char *bare = bare_text(name);
	uint32_t event = event_of(name);

	if (name->class != FRAME_CLASS_NATIVE && event != GPU_LOG_EVENT_KERNEL &&
	    event != GPU_LOG_EVENT_QUEUE)
		return 0;
	name->short_text = short_name(bare);
	if (!name->short_text)
		return -ENOMEM;
	if (!strcmp(name->short_text, bare)) {
		free(name->short_text);
		name->short_text = NULL;
	}
	return 0;
}

static int add_name(struct flame *flame, const struct frame_name *name, uint64_t hash)
{
	struct flame_name new = {.class = name->class};

	if (reserve(&flame->names, flame->nr_names, &flame->private->nr_allocated_names,
		    sizeof(new)))
		return -ENOMEM;
	new.text = strdup(name->text);
	if (!new.text || take_file(&new, name->file) || shorten(&new) ||
	    hash_index__add(&flame->private->names, hash, (uint32_t)flame->nr_names)) {
		free(new.text);
		free(new.file);
		free(new.short_text);
		return -ENOMEM;
	}
	flame->names[flame->nr_names++] = new;
	return 0;
}

static int find_name(struct flame *flame, const struct frame_name *name, uint32_t *ret)
{
	uint64_t hash = hash__mix(hash__text(name->text), name->class);
	struct hash_cursor cursor = hash_index__find(&flame->private->names, hash);
	uint32_t id;

	while (hash_index__next(&flame->private->names, &cursor, &id)) {
		struct flame_name *known = &flame->names[id];

		if (known->class == name->class && !strcmp(known->text, name->text)) {
			*ret = id;
			return take_file(known, name->file);
		}
	}
	if (add_name(flame, name, hash))
		return -ENOMEM;
	*ret = (uint32_t)flame->nr_names - 1;
	return 0;
}

/* --- the tree --------------------------------------------------------------------------- */

int flame__node(struct flame *flame, const struct frame_name *name, uint32_t event,
		uint32_t *node)
{
	struct flame_node new = {.parent = *node, .event = event};
	struct hash_cursor cursor;
	uint64_t hash;
	uint32_t id;

	if (find_name(flame, name, &new.name))
		return -ENOMEM;
	hash = hash__mix(hash__mix(event, *node), new.name);
	cursor = hash_index__find(&flame->private->nodes, hash);
	while (hash_index__next(&flame->private->nodes, &cursor, &id)) {
		const struct flame_node *found = &flame->nodes[id];

		if (found->name == new.name && found->parent == *node &&
		    found->event == event) {
			*node = id;
			return 0;
		}
	}
	if (*node != FLAME_NO_NODE)
		new.depth = flame->nodes[*node].depth + 1;
	if (reserve(&flame->nodes, flame->nr_nodes, &flame->private->nr_allocated_nodes,
		    sizeof(new)) ||
	    hash_index__add(&flame->private->nodes, hash, (uint32_t)flame->nr_nodes))
		return -ENOMEM;
	*node = (uint32_t)flame->nr_nodes;
	flame->nodes[flame->nr_nodes++] = new;
	return 0;
}

int flame__add_weight(struct flame *flame, const struct flame_weight *weight)
{
	if (reserve(&flame->weights, flame->nr_weights,
		    &flame->private->nr_allocated_weights, sizeof(*weight)))
		return -ENOMEM;
	flame->weights[flame->nr_weights++] = *weight;
	return 0;
}

int flame__name_device(struct flame *flame, int64_t number, const char *name)
{
	struct flame_device *devices;

	for (size_t i = 0; i < flame->nr_devices; i++)
		if (flame->devices[i].number == number)
			return 0;
	devices = reallocarray(flame->devices, flame->nr_devices + 1, sizeof(*devices));
	if (!devices)
		return -ENOMEM;
	flame->devices = devices;
	devices[flame->nr_devices] = (struct flame_device){
		.number = number,
		.name = strdup(name),
	};
	if (!devices[flame->nr_devices].name)
		return -ENOMEM;
	flame->nr_devices++;
	return 0;
}

/* --- sums ------------------------------------------------------------------------------- */

/* From the last node to the first: children are added to parents. */
static void sum_up(const struct flame *flame, struct flame_totals *totals)
{
	for (size_t i = flame->nr_nodes; i-- > 0;) {
		uint32_t parent = flame->nodes[i].parent;

		if (parent == FLAME_NO_NODE) {
			sum__add(&totals->period, totals->periods[i]);
			sum__add(&totals->nr, totals->nrs[i]);
		} else {
			sum__add(&totals->periods[parent], totals->periods[i]);
			sum__add(&totals->nrs[parent], totals->nrs[i]);
		}
	}
}

int flame__sum(const struct flame *flame, uint32_t event, int64_t device,
	       enum flame_recording recording, struct flame_totals *ret)
{
	struct flame_totals totals = {
		.periods = calloc(flame->nr_nodes + 1, sizeof(*totals.periods)),
		.nrs = calloc(flame->nr_nodes + 1, sizeof(*totals.nrs)),
	};

	if (!totals.periods || !totals.nrs) {
		flame_totals__release(&totals);
		return -ENOMEM;
	}
	for (size_t i = 0; i < flame->nr_weights; i++) {
		const struct flame_weight *weight = &flame->weights[i];

		if (weight->recording != recording ||
		    flame->nodes[weight->node].event != event ||
		    (device != FLAME_ALL_DEVICES && weight->device != device))
			continue;
		sum__add(&totals.periods[weight->node], weight->period);
		sum__add(&totals.nrs[weight->node], weight->nr);
	}
	sum_up(flame, &totals);
	*ret = totals;
	return 0;
}

void flame_totals__release(struct flame_totals *totals)
{
	free(totals->periods);
	free(totals->nrs);
}
