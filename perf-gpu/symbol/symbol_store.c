// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/symbol_store.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stored_file {
	const char *name; /* first: key */
	int fd;
};

struct symbol_store {
	void *files; /* tree of tsearch(3) */
};

static const char *const kind_names[] = {
	[SYMBOL_STORE_ELF] = "elf",
	[SYMBOL_STORE_VDSO] = "vdso",
	[SYMBOL_STORE_DEBUG] = "debug",
};

#define NR_KINDS (sizeof(kind_names) / sizeof(*kind_names))

const char *symbol_store__name(enum symbol_store_kind kind, const struct build_id *id,
			       char ret[SYMBOL_STORE_NAME_BYTES])
{
	char text[BUILD_ID_TEXT_BYTES];

	build_id__format(id, text);
	snprintf(ret, SYMBOL_STORE_NAME_BYTES, "%s%.2s/%s/%s", SYMBOL_STORE_BUILD_IDS,
		 text, text + 2, kind_names[kind]);
	return ret;
}

static size_t count_digits(const char *text)
{
	return strspn(text, "0123456789abcdef");
}

bool symbol_store__is_by_id(const char *name)
{
	size_t nr_bytes = strlen(SYMBOL_STORE_BUILD_IDS), nr_digits;

	if (strncmp(name, SYMBOL_STORE_BUILD_IDS, nr_bytes) != 0)
		return false;
	name += nr_bytes;
	if (count_digits(name) != 2 || name[2] != '/')
		return false;
	name += 3;
	nr_digits = count_digits(name);
	if (!nr_digits || nr_digits % 2 || nr_digits + 2 > 2 * BUILD_ID_MAX_BYTES ||
	    name[nr_digits] != '/')
		return false;
	name += nr_digits + 1;
	for (size_t i = 0; i < NR_KINDS; i++)
		if (!strcmp(name, kind_names[i]))
			return true;
	return false;
}

bool symbol_store__is_by_path(const char *name)
{
	size_t nr_bytes = strlen(SYMBOL_STORE_ROOT);

	if (strncmp(name, SYMBOL_STORE_ROOT, nr_bytes) != 0 ||
	    !strncmp(name, SYMBOL_STORE_CACHE "/", strlen(SYMBOL_STORE_CACHE "/")))
		return false;
	name += nr_bytes;
	if (*name != '/' || strlen(name) >= PATH_MAX)
		return false;
	while (*name) {
		/* Behind a slash: a name, which is no "", "." or ".." */
		nr_bytes = strcspn(++name, "/");
		if (nr_bytes == 0 || (nr_bytes == 1 && name[0] == '.') ||
		    (nr_bytes == 2 && name[0] == '.' && name[1] == '.'))
			return false;
		name += nr_bytes;
	}
	return true;
}

static int stored_file__compare(const void *a, const void *b)
{
	const struct stored_file *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void stored_file__delete(void *node)
{
	struct stored_file *file = node;

	close(file->fd);
	free(file);
}

int symbol_store__new(struct symbol_store **ret)
{
	struct symbol_store *store = calloc(1, sizeof(*store));

	if (!store)
		return -ENOMEM;
	*ret = store;
	return 0;
}

void symbol_store__delete(struct symbol_store *store)
{
	if (!store)
		return;
	tdestroy(store->files, stored_file__delete);
	free(store);
}

int symbol_store__find(const struct symbol_store *store, const char *name)
{
	struct stored_file key = {.name = name}, **found;

	found = tfind(&key, &store->files, stored_file__compare);
	return found ? (*found)->fd : -ENOENT;
}

int symbol_store__add(struct symbol_store *store, const char *name, int fd)
{
	const size_t name_bytes = strlen(name) + 1;
	struct stored_file *file;

	if (symbol_store__find(store, name) >= 0)
		return -EEXIST;
	file = malloc(sizeof(*file) + name_bytes);
	if (!file)
		return -ENOMEM;
	file->name = memcpy(file + 1, name, name_bytes);
	file->fd = fd;
	if (!tsearch(file, &store->files, stored_file__compare)) {
		free(file);
		return -ENOMEM;
	}
	return 0;
}

int symbol_store__find_id(const struct symbol_store *store, enum symbol_store_kind kind,
			  const struct build_id *id)
{
	char name[SYMBOL_STORE_NAME_BYTES];

	if (id->nr_bytes < SYMBOL_STORE_MIN_ID_BYTES)
		return -ENOENT;
	return symbol_store__find(store, symbol_store__name(kind, id, name));
}

int symbol_store__find_path(const struct symbol_store *store, const char *path)
{
	char name[sizeof(SYMBOL_STORE_ROOT) + PATH_MAX];
	int nr_bytes = snprintf(name, sizeof(name), "%s%s", SYMBOL_STORE_ROOT, path);

	if (nr_bytes < 0 || (size_t)nr_bytes >= sizeof(name))
		return -ENOENT;
	return symbol_store__find(store, name);
}

struct visitor {
	int (*visit)(const char *name, int fd, void *context);
	void *context;
	int ret;
};

static void visit_node(const void *node, VISIT order, void *closure)
{
	const struct stored_file *file = *(struct stored_file *const *)node;
	struct visitor *visitor = closure;

	if ((order == postorder || order == leaf) && !visitor->ret)
		visitor->ret = visitor->visit(file->name, file->fd, visitor->context);
}

int symbol_store__for_each(const struct symbol_store *store,
			   int (*visit)(const char *name, int fd, void *context),
			   void *context)
{
	struct visitor visitor = {.visit = visit, .context = context};

	twalk_r(store->files, visit_node, &visitor);
	return visitor.ret;
}
