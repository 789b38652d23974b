// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/kernel_names.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX	"[GPU_Kernel]"
#define UNKNOWN "[unknown]"

struct kernel_name {
	const char *mangled; /* first: key */
	char *shown;
};

static int compare_names(const void *a, const void *b)
{
	const struct kernel_name *left = a, *right = b;

	return strcmp(left->mangled, right->mangled);
}

static void free_name(void *data)
{
	struct kernel_name *name = data;

	free(name->shown);
	free(name);
}

/* NULL without memory */
static struct kernel_name *make_name(const char *mangled, enum demangle_style style)
{
	struct kernel_name *name = calloc(1, sizeof(*name));
	char *demangled = demangle(*mangled ? mangled : UNKNOWN, style);

	if (name && demangled) {
		name->mangled = mangled;
		if (asprintf(&name->shown, PREFIX "%s", demangled) < 0)
			name->shown = NULL;
	}
	free(demangled);
	if (name && name->shown)
		return name;
	free(name);
	return NULL;
}

const char *kernel_names__get(struct kernel_names *names, const char *mangled,
			      enum demangle_style style)
{
	const struct kernel_name key = {.mangled = mangled};
	struct kernel_name *name, **found;

	found = tfind(&key, &names->tree, compare_names);
	if (found)
		return (*found)->shown;
	name = make_name(mangled, style);
	if (!name)
		return NULL;
	if (!tsearch(name, &names->tree, compare_names)) {
		free_name(name);
		return NULL;
	}
	return name->shown;
}

void kernel_names__release(struct kernel_names *names)
{
	tdestroy(names->tree, free_name);
	names->tree = NULL;
}
