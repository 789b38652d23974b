// SPDX-License-Identifier: GPL-2.0-or-later
/*
 *   text, file, class ──► name      names_index
 *   pointer to a text ──► name      texts: a source's texts stay where they are
 *   process, address  ──► name      codes: with the map changes that it was looked up at,
 *                                   and what was mapped there. After further changes the
 *                                   map is looked up, and the symbol only if it is another.
 *   process, thread   ──► name      comms: a place for each of some hundred threads, with
 *                                   the changes of names that it was looked up at
 */
#include "sink/frame_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/hash_index.h"

#define UNKNOWN "[unknown]"

struct known_text {
	const char *text; /* the pointer itself is the key, with the next */
	enum frame_class class;
	const struct frame_name *name;
};

struct known_code {
	uint32_t pid;
	uint64_t ip;
	uint64_t epoch; /* the name is that as of these map changes */
	const struct dso *dso; /* NULL: nothing was mapped */
	uint64_t offset;
	const struct frame_name *name;
};

#define NR_COMMS (1u << 8)

struct known_comm {
	uint32_t pid, tid;
	uint64_t nr_changes; /* 0: nothing is known */
	const struct frame_name *name;
};

struct frame_names {
	const struct machine *machine;
	struct frame_name **items; /* by id */
	size_t nr, nr_allocated;
	struct hash_index index;
	struct known_text *texts;
	size_t nr_texts, nr_allocated_texts;
	struct hash_index texts_index;
	struct known_code *codes;
	size_t nr_codes, nr_allocated_codes;
	struct hash_index codes_index;
	const char **apis; /* names of API functions, each once */
	size_t nr_apis;
	struct hash_index apis_index;
	struct known_comm comms[NR_COMMS]; /* by tid */
};

struct code_place code_place__of(const struct machine *machine, uint32_t pid, uint64_t ip)
{
	struct code_place place = {
		.map = machine__find_map(machine, pid, ip),
		.offset = ip,
	};

	if (!place.map)
		return place;
	place.offset = ip - place.map->start + place.map->pgoff;
	place.symbol = dso__find_symbol(place.map->dso, place.offset, &place.address);
	return place;
}

/* --- names of API functions ----------------------------------------------------------- */

static bool is_api(const struct frame_names *names, const char *text)
{
	struct hash_cursor cursor =
		hash_index__find(&names->apis_index, hash__text(text));
	uint32_t id;

	while (hash_index__next(&names->apis_index, &cursor, &id))
		if (!strcmp(names->apis[id], text))
			return true;
	return false;
}

static int find_apis(struct frame_names *names, const struct sidecar *sidecar)
{
	if (!sidecar || !sidecar->nr_apis)
		return 0;
	names->apis = calloc(sidecar->nr_apis, sizeof(*names->apis));
	if (!names->apis)
		return -ENOMEM;
	for (size_t i = 0; i < sidecar->nr_apis; i++) {
		const char *text = sidecar->apis[i].name;

		if (is_api(names, text))
			continue;
		if (hash_index__add(&names->apis_index, hash__text(text),
				    (uint32_t)names->nr_apis))
			return -ENOMEM;
		names->apis[names->nr_apis++] = text;
	}
	return 0;
}

int frame_names__new(const struct sink_input *input, struct frame_names **ret)
{
	struct frame_names *names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	names->machine = input->machine;
	if (find_apis(names, input->sidecar)) {
		frame_names__delete(names);
		return -ENOMEM;
	}
	*ret = names;
	return 0;
}

void frame_names__delete(struct frame_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->nr; i++)
		free(names->items[i]);
	free(names->items);
	hash_index__release(&names->index);
	free(names->texts);
	hash_index__release(&names->texts_index);
	free(names->codes);
	hash_index__release(&names->codes_index);
	free(names->apis);
	hash_index__release(&names->apis_index);
	free(names);
}

/* --- names ------------------------------------------------------------------------------ */

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* In one piece with its texts */
static struct frame_name *make_name(const char *text, const char *file)
{
	size_t text_bytes = strlen(text) + 1, file_bytes = file ? strlen(file) + 1 : 0;
	struct frame_name *name = malloc(sizeof(*name) + text_bytes + file_bytes);
	char *copy;

	if (!name)
		return NULL;
	copy = memcpy(name + 1, text, text_bytes);
	name->text = copy;
	name->file = file ? memcpy(copy + text_bytes, file, file_bytes) : NULL;
	return name;
}

int frame_names__get(struct frame_names *names, const char *text, const char *file,
		     enum frame_class class, const struct frame_name **ret)
{
	uint64_t hash = hash__mix(hash__text(text), class);
	struct hash_cursor cursor = hash_index__find(&names->index, hash);
	struct frame_name *name;
	uint32_t id;

	while (hash_index__next(&names->index, &cursor, &id)) {
		name = names->items[id];
		if (name->class == class && !strcmp(name->text, text) &&
		    is_same_text(name->file, file)) {
			*ret = name;
			return 0;
		}
	}
	if (array__grow(&names->items, names->nr, &names->nr_allocated,
			sizeof(*names->items)))
		return -ENOMEM;
	name = make_name(text, file);
	if (!name || hash_index__add(&names->index, hash, (uint32_t)names->nr)) {
		free(name);
		return -ENOMEM;
	}
	name->id = (uint32_t)names->nr;
	name->class = class;
	names->items[names->nr++] = name;
	*ret = name;
	return 0;
}

/* --- frames that have a name ------------------------------------------------------------- */

static bool has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static enum frame_class class_of(const struct frame_names *names,
				 const struct gpu_frame *frame, size_t i)
{
	if (!i)
		return FRAME_CLASS_GPU;
	if (frame->file || has_prefix(frame->name, "py::"))
		return FRAME_CLASS_PYTHON;
	if (*frame->name == '[')
		return FRAME_CLASS_LABEL;
	return is_api(names, frame->name) ? FRAME_CLASS_API : FRAME_CLASS_NATIVE;
}

static int find_text(struct frame_names *names, const struct gpu_frame *frame, size_t i,
		     const struct frame_name **ret)
{
	uint64_t hash = hash__mix(!i, (uintptr_t)frame->name);
	struct hash_cursor cursor = hash_index__find(&names->texts_index, hash);
	const char *file = frame->file && *frame->file ? frame->file : NULL;
	struct known_text new = {.text = frame->name};
	uint32_t id;

	while (hash_index__next(&names->texts_index, &cursor, &id)) {
		const struct known_text *known = &names->texts[id];

		if (known->text == frame->name &&
		    (known->class == FRAME_CLASS_GPU) == !i) {
			*ret = known->name;
			return 0;
		}
	}
	new.class = class_of(names, frame, i);
	if (frame_names__get(names, frame->name, file, new.class, &new.name) ||
	    array__grow(&names->texts, names->nr_texts, &names->nr_allocated_texts,
			sizeof(new)) ||
	    hash_index__add(&names->texts_index, hash, (uint32_t)names->nr_texts))
		return -ENOMEM;
	names->texts[names->nr_texts++] = new;
	*ret = new.name;
	return 0;
}

/* --- code ------------------------------------------------------------------------------- */

/* What is there has a name of its own, or that of its file. */
static int name_code(struct frame_names *names, const struct code_place *place,
		     const struct frame_name **ret)
{
	const char *path = place->map ? dso__path(place->map->dso) : NULL;
	enum frame_class class = FRAME_CLASS_NATIVE;
	const char *text = UNKNOWN;
	char *made = NULL;
	int err;

	if (place->symbol) {
		text = place->symbol->demangled;
		if (has_prefix(text, "py::") && dso__is_memory(place->map->dso))
			class = FRAME_CLASS_PYTHON;
	} else if (path) {
		const char *base = dso__basename(place->map->dso);

		if (*base == '[') /* [vdso] */
			text = base;
		else if (asprintf(&made, "[%s]", base) >= 0)
			text = made;
		else
			return -ENOMEM;
	}
	err = frame_names__get(names, text, path, class, ret);
	free(made);
	return err;
}

/* Name what is at an address by now; a known one, if the same is still there. */
static int refresh_code(struct frame_names *names, struct known_code *code)
{
	struct code_place place = {
		.map = machine__find_map(names->machine, code->pid, code->ip),
		.offset = code->ip,
	};
	const struct dso *dso = place.map ? place.map->dso : NULL;

	if (place.map)
		place.offset = code->ip - place.map->start + place.map->pgoff;
	if (!code->name || dso != code->dso || place.offset != code->offset) {
		place = code_place__of(names->machine, code->pid, code->ip);
		if (name_code(names, &place, &code->name))
			return -ENOMEM;
	}
	code->dso = dso;
	code->offset = place.offset;
	code->epoch = machine__nr_map_changes(names->machine);
	return 0;
}

static int find_code(struct frame_names *names, uint32_t pid, uint64_t ip,
		     const struct frame_name **ret)
{
	uint64_t hash = hash__mix(pid, ip);
	struct hash_cursor cursor = hash_index__find(&names->codes_index, hash);
	struct known_code new = {.pid = pid, .ip = ip}, *code = NULL;
	uint32_t id;

	while (hash_index__next(&names->codes_index, &cursor, &id)) {
		code = &names->codes[id];
		if (code->ip == ip && code->pid == pid)
			break;
		code = NULL;
	}
	if (!code) {
		if (refresh_code(names, &new) ||
		    array__grow(&names->codes, names->nr_codes,
				&names->nr_allocated_codes, sizeof(new)) ||
		    hash_index__add(&names->codes_index, hash, (uint32_t)names->nr_codes))
			return -ENOMEM;
		code = &names->codes[names->nr_codes++];
		*code = new;
	} else if (code->epoch != machine__nr_map_changes(names->machine) &&
		   refresh_code(names, code)) {
		return -ENOMEM;
	}
	*ret = code->name;
	return 0;
}

/* --- questions --------------------------------------------------------------------------- */

int frame_names__of(struct frame_names *names, const struct gpu_sample *sample, size_t i,
		    const struct frame_name **ret)
{
	const struct gpu_frame *frame = &sample->frames[i];

	if (frame->name)
		return find_text(names, frame, i, ret);
	return find_code(names, sample->pid, frame->ip, ret);
}

static int find_comm(struct frame_names *names, const struct gpu_sample *sample,
		     const struct frame_name **ret)
{
	const char *comm = machine__comm(names->machine, sample->pid, sample->tid);
	char unknown[16];

	if (!*comm) {
		snprintf(unknown, sizeof(unknown), ":%" PRIu32, sample->tid);
		comm = unknown;
	}
	return frame_names__get(names, comm, NULL, FRAME_CLASS_ROOT, ret);
}

int frame_names__comm(struct frame_names *names, const struct gpu_sample *sample,
		      const struct frame_name **ret)
{
	struct known_comm *known = &names->comms[sample->tid % NR_COMMS];
	uint64_t nr_changes = machine__nr_comm_changes(names->machine) + 1;

	if (known->nr_changes != nr_changes || known->tid != sample->tid ||
	    known->pid != sample->pid) {
		*known = (struct known_comm){.pid = sample->pid, .tid = sample->tid};
		if (find_comm(names, sample, &known->name))
			return -ENOMEM;
		known->nr_changes = nr_changes;
	}
	*ret = known->name;
	return 0;
}

size_t frame_names__nr(const struct frame_names *names)
{
	return names->nr;
}

const struct frame_name *frame_names__at(const struct frame_names *names, uint32_t id)
{
	return names->items[id];
}

uint64_t frame_names__epoch(const struct frame_names *names)
{
	return machine__nr_map_changes(names->machine);
}
