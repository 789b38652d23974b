// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/folded_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/visible.h"

/* The parts of a name of frame_names, by its id */
struct known_name {
	bool is_known;
	uint32_t nr;
	size_t first; /* in numbers */
};

struct folded_names {
	struct frame_names *texts; /* of parts, by number */
	struct known_name *known;
	size_t nr_known;
	uint32_t *numbers; /* of the parts of all names, behind each other */
	size_t nr_numbers, nr_allocated_numbers;
	struct folded_part *parts; /* once they are sorted */
};

int folded_names__new(struct folded_names **ret)
{
	const struct sink_input nothing = {.machine = NULL};
	struct folded_names *names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	if (frame_names__new(&nothing, &names->texts)) {
		free(names);
		return -ENOMEM;
	}
	*ret = names;
	return 0;
}

void folded_names__delete(struct folded_names *names)
{
	if (!names)
		return;
	frame_names__delete(names->texts);
	free(names->known);
	free(names->numbers);
	free(names->parts);
	free(names);
}

/* --- what is made of a name -------------------------------------------------------------- */

static const char anonymous[] = "(anonymous namespace)";

/* "net/http.(*Client).Do" */
static bool is_go_method(const char *name)
{
	const char *open = strstr(name, ".(");

	return open && strstr(open + 2, ").");
}

/* Where a name ends: at the first parenthesis that isn't (anonymous namespace)'s */
static size_t cut_parameters(const char *name)
{
	const char *at = name;

	if (is_go_method(name))
		return strlen(name);
	while ((at = strchr(at, '('))) {
		if (strncmp(at, anonymous, strlen(anonymous)) != 0)
			return (size_t)(at - name);
		at++;
	}
	return strlen(name);
}

/* Without the +0x1f at its end, in place */
static void cut_offset(char *name)
{
	char *plus = strrchr(name, '+');

	if (plus && plus != name && !strncmp(plus, "+0x", 3) && plus[3] &&
	    !plus[3 + strspn(plus + 3, "0123456789abcdef")])
		*plus = '\0';
}

/* Make a name what it is in a line, in place. */
static void clean(char *name)
{
	char *to = name;

	name[cut_parameters(name)] = '\0';
	visible__clean(name);
	for (const char *from = name; *from; from++) {
		if (*from == '"' || *from == '\'')
			continue;
		*to++ = *from == ';' ? ':' : *from;
	}
	*to = '\0';
}

/* The same, and with _ for spaces: the process's name */
static void clean_root(char *name)
{
	visible__clean(name);
	for (; *name; name++)
		*name = *name == ' ' ? '_' : *name == ';' ? ':' : *name;
}

/* --- its parts --------------------------------------------------------------------------- */

static int add_part(struct folded_names *names, const char *text)
{
	const struct frame_name *part;

	if (!*text)
		return 0;
	if (frame_names__get(names->texts, text, NULL, FRAME_CLASS_NATIVE, &part) ||
	    array__grow(&names->numbers, names->nr_numbers, &names->nr_allocated_numbers,
			sizeof(*names->numbers)))
		return -ENOMEM;
	names->numbers[names->nr_numbers++] = part->id;
	return 0;
}

/* Of a->b two */
static int add_parts(struct folded_names *names, char *text)
{
	char *arrow;

	for (; (arrow = strstr(text, "->")); text = arrow + 2) {
		*arrow = '\0';
		clean(text);
		if (add_part(names, text))
			return -ENOMEM;
	}
	clean(text);
	return add_part(names, text);
}

static int add_name(struct folded_names *names, const struct frame_name *name)
{
	char *text = strdup(name->text);
	int err;

	if (!text)
		return -ENOMEM;
	if (name->class == FRAME_CLASS_ROOT) {
		clean_root(text);
		err = add_part(names, text);
	} else {
		if (name->class != FRAME_CLASS_NATIVE || !name->file)
			cut_offset(text);
		err = add_parts(names, text);
	}
	free(text);
	return err;
}

/* Room for the name with an id; NULL without memory */
static struct known_name *known_of(struct folded_names *names, uint32_t id)
{
	if (id >= names->nr_known) {
		size_t nr = 2 * (size_t)id + 64;
		struct known_name *known = reallocarray(names->known, nr, sizeof(*known));

		if (!known)
			return NULL;
		memset(known + names->nr_known, 0,
		       (nr - names->nr_known) * sizeof(*known));
		names->known = known;
		names->nr_known = nr;
	}
	return &names->known[id];
}

ssize_t folded_names__parts(struct folded_names *names, const struct frame_name *name,
			    const uint32_t **ret)
{
	struct known_name *known = known_of(names, name->id);

	if (!known)
		return -ENOMEM;
	if (!known->is_known) {
		known->first = names->nr_numbers;
		if (add_name(names, name))
			return -ENOMEM;
		known->nr = (uint32_t)(names->nr_numbers - known->first);
		known->is_known = true;
	}
	*ret = names->numbers + known->first;
	return known->nr;
}

/* --- their order -------------------------------------------------------------------------- */

static int compare_parts(const void *a, const void *b)
{
	const struct frame_name *const *x = a, *const *y = b;

	return strcmp((*x)->text, (*y)->text);
}

int folded_names__sort(struct folded_names *names, uint32_t **ret_numbers)
{
	uint32_t nr = (uint32_t)frame_names__nr(names->texts);
	const struct frame_name **order = calloc(nr + 1ul, sizeof(*order));
	uint32_t *numbers = calloc(nr + 1ul, sizeof(*numbers));

	names->parts = calloc(nr + 1ul, sizeof(*names->parts));
	if (!order || !numbers || !names->parts) {
		free(order);
		free(numbers);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < nr; i++)
		order[i] = frame_names__at(names->texts, i);
	qsort(order, nr, sizeof(*order), compare_parts);
	for (uint32_t i = 0; i < nr; i++) {
		numbers[order[i]->id] = i;
		names->parts[i] = (struct folded_part){.text = order[i]->text,
						       .bytes = strlen(order[i]->text)};
	}
	free(order);
	*ret_numbers = numbers;
	return 0;
}

size_t folded_names__nr_parts(const struct folded_names *names)
{
	return frame_names__nr(names->texts);
}

const struct folded_part *folded_names__part(const struct folded_names *names,
					     uint32_t number)
{
	return &names->parts[number];
}
